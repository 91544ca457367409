"""Files and folders that nobody but this user may enter."""

import hashlib
import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path

from daemon.server.server_files import Layout, State

MAX_SOCKET_BYTES = 100
"""Longest path of a unix socket: ``sun_path`` holds 104 bytes on macOS, 108 on Linux (unix(7)), with its final zero."""


def write_state(layout: Layout, state: State) -> None:
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
