"""Where the embedded server's files lie, the locks among them, and what ``server.json`` says. Standard library only."""

import contextlib
import fcntl
import json
import os
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from daemon.durable import folder_below, plain_file, private_folder

CONTENT_MAX_BYTES = 65_536
"""Of the small files; Millpond writes a few hundred bytes."""


@dataclass(frozen=True)
class Layout:
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
class State:
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


def read_state(layout: Layout) -> State | None:
    """What ``server.json`` says; None when there is none or it cannot be understood.

    Raises:
        PermissionError: it belongs to somebody else.
    """
    try:
        found = json.loads(content_of(layout.state))
        return State(str(found["socket"]), int(found["port"]), str(found["password"]), int(found["pid"]))
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
