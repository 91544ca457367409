"""Where the embedded server's files lie, the locks among them, and what ``server.json`` says. Standard library only."""

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Generator
from dataclasses import asdict, dataclass
from pathlib import Path

from daemon.durable import folder_below, plain_file, private_folder

CONTENT_MAX_BYTES = 65_536
"""Of the small files; Millpond writes a few hundred bytes."""


@dataclass(frozen=True)
class ServerFiles:
    """The files of the server that belongs to one data directory."""

    data_dir: Path
    """Absolute and resolved, so that every process means the same one."""

    @property
    def folder(self) -> Path:
        """Private folder (0700) of all that follows, and of the append-only files."""
        return self.data_dir / "redis"

    @property
    def engine(self) -> Path:
        """Marker beside the data: which engine wrote it, in which version."""
        return self.folder / "engine.json"

    @property
    def state(self) -> Path:
        """How to reach the server (0600: holds the password)."""
        return self.folder / "server.json"

    @property
    def conf(self) -> Path:
        """The server's own configuration (0600: holds the password), written at each start."""
        return self.folder / "server.conf"

    @property
    def log(self) -> Path:
        """What server and keeper print."""
        return self.folder / "server.log"

    @property
    def start_lock(self) -> Path:
        """Held alone to start or stop the server, shared to look at it."""
        return self.folder / "start.lock"

    @property
    def alive_lock(self) -> Path:
        """Held by the server itself, through a descriptor that it inherits."""
        return self.folder / "alive.lock"

    @property
    def keeper_lock(self) -> Path:
        """Held by the keeper in the same way."""
        return self.folder / "keeper.lock"

    @property
    def wanted(self) -> Path:
        """Touched by whoever is about to connect, so that the keeper waits for it."""
        return self.folder / "wanted"

    def create(self) -> None:
        """Make the folder, readable by its owner only.

        Raises:
            OSError: it cannot be made or written.
        """
        private_folder(self.folder)
        if self.folder.stat().st_mode & 0o077:
            self.folder.chmod(0o700)

    def want(self) -> None:
        """Tell the keeper that somebody is about to connect."""
        self.wanted.touch(mode=0o600)

    def wanted_ns(self) -> int:
        """When the server was last wanted, as a mark that changes; 0 when unknown."""
        try:
            return self.wanted.stat().st_mtime_ns
        except OSError:
            return 0


@dataclass(frozen=True)
class ServerState:
    """What ``server.json`` keeps from one start to the next, so that clients find the server where it was."""

    socket: str
    port: int
    """On 127.0.0.1."""
    password: str
    pid: int
    """For people to read; 0 while the server starts. Never trusted."""

    def __repr__(self) -> str:
        return f"State(socket={self.socket!r}, port={self.port}, pid={self.pid})"


def content_of(path: Path) -> bytes:
    """The content of a small file; reading a pipe in its place does not wait for a writer.

    Raises:
        OSError: the file is missing, cannot be read, or is not a regular file.
    """
    with folder_below(path.parent, make=False) as folder, plain_file(folder, path.name) as descriptor:
        return os.pread(descriptor, CONTENT_MAX_BYTES, 0)


def read_state(layout: ServerFiles) -> ServerState | None:
    """What ``server.json`` says; None when there is none or it cannot be understood.

    Raises:
        PermissionError: it belongs to somebody else.
    """
    try:
        found = json.loads(content_of(layout.state))
        return ServerState(str(found["socket"]), int(found["port"]), str(found["password"]), int(found["pid"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def try_lock(path: Path, *, shared: bool = False) -> int | None:
    """A descriptor that holds the flock of ``path``, or None when somebody else holds it; never waits.

    The lock lasts until every copy of the descriptor is closed, a child's inherited one included: so nobody unlocks,
    everybody closes.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def shared_lock(path: Path) -> Generator[bool]:
    """Hold ``path`` together with other readers; False when somebody holds it alone."""
    descriptor = try_lock(path, shared=True)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)


# Files and folders that nobody but this user may enter.

MAX_SOCKET_BYTES = 100
"""Longest path of a unix socket: ``sun_path`` holds 104 bytes on macOS, 108 on Linux (unix(7)), with its final zero."""


def write_state(layout: ServerFiles, state: ServerState) -> None:
    """Keep ``state`` in ``server.json``."""
    write_private(layout.state, json.dumps(asdict(state)) + "\n")


def write_private(path: Path, text: str) -> None:
    """Replace ``path`` by a file (0600) with ``text``, whole or not at all, also if the machine stops meanwhile."""
    # mkstemp makes the file 0600 from its first moment.
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def socket_path(data_dir: Path, runtime_dir: str) -> Path:
    """A short path for the unix socket, in a folder that only this user can enter.

    Args:
        data_dir: what the folder is named after.
        runtime_dir: ``$XDG_RUNTIME_DIR``, or empty.

    Raises:
        OSError: no such folder can be made.
    """
    name = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:10]
    places = [Path(runtime_dir) / f"millpond-{name}"] if runtime_dir else []
    # The shared /tmp is meant: it is short everywhere, and the folder's owner is checked.
    places.append(Path(f"/tmp/millpond-{os.geteuid()}-{name}"))  # noqa: S108 - its owner is checked below
    for place in places:
        if len(os.fsencode(place / "redis.sock")) <= MAX_SOCKET_BYTES and make_own(place):
            return place / "redis.sock"
    # Somebody else sits on our name in /tmp: any other name does as well, server.json remembers it.
    return Path(tempfile.mkdtemp(prefix="millpond-", dir="/tmp")) / "redis.sock"


def make_own(folder: Path) -> bool:
    """Whether ``folder`` exists now, is no link, belongs to this user and is closed to everybody else."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if folder.is_symlink() or found.st_uid != os.geteuid():
            return False
        if found.st_mode & 0o077:
            folder.chmod(0o700)
    except OSError:
        return False
    return True


# The identity of the data folder: a removed folder, or a lost mount, would lose everything that is written later.

Identity = tuple[int, int]
"""Device and inode of an opened folder."""


def identity_of(layout: ServerFiles) -> Identity | None:
    """The identity of the folder with the server's data; None if it, or the marker in it, is missing. Blocks.

    The marker ``engine.json`` is written before the server's first start: a folder without it was emptied.

    Raises:
        OSError: the file system cannot say.
    """
    try:
        found = os.stat(layout.folder)  # noqa: PTH116 - one system call
        os.stat(layout.engine)  # noqa: PTH116 - as above
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
