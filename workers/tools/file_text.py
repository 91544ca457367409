"""Reading and writing files that folders have opened: line by line, whole, and in one step."""

import fcntl
import os
import secrets
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper

from daemon.errors import ToolError
from workers.tools.folders import FILE_MODE, Folders, Place, translated

WRITE_MAX_BYTES = 1_000_000
"""Largest file that a tool writes or changes."""

LOCK_WAIT_S = 5.0
"""How long a change waits for another one in the same folder."""

LOCK_LOOK_S = 0.01

SNIFFED_BYTES = 8_192
"""How much of a file is looked at to see whether it is text."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def is_text(descriptor: int) -> bool:
    """Whether a file looks like text: no NUL in its beginning. Goes back to the beginning."""
    head = os.read(descriptor, SNIFFED_BYTES)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return b"\0" not in head


def pieces(descriptor: int, max_chars: int) -> Iterator[str]:
    """A text's lines with their ends, long ones in pieces of ``max_chars``; what is no UTF-8 is replaced.

    Read as they are asked for, so that a file of any size takes no memory; the descriptor stays open.
    """
    with open(descriptor, "rb", closefd=False) as file, TextIOWrapper(file, "utf-8", "replace", newline="\n") as text:
        while piece := text.readline(max_chars):
            yield piece


def whole(descriptor: int, place: Place, max_bytes: int) -> bytes:
    """All of a file.

    Raises:
        ToolError: it is larger than ``max_bytes``.
    """
    with translated(place), open(descriptor, "rb", closefd=False) as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        size = os.fstat(descriptor).st_size
        raise ToolError(f"{place.shown} has {size:,} bytes; at most {max_bytes:,} can be taken")
    return content


def write(folder: int, name: str, content: bytes) -> None:
    """Put a file into an opened folder in one step: nobody sees a half of it, and a link of that name is replaced.

    Raises:
        OSError: it was not written.
    """
    draft = f".{secrets.token_hex(8)}.draft"
    descriptor = os.open(draft, _NEW, FILE_MODE, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft, dir_fd=folder)
        raise


@contextmanager
def changing(folders: Folders, place: Place, *, make: bool) -> Generator[int]:
    """The folder that holds a file, locked against other changes in it, in this process or another.

    Raises:
        ToolError: nothing may be written there, or the lock was not to be had.
    """
    with folders.changing(place, make=make) as folder:
        until = time.monotonic() + LOCK_WAIT_S
        while not _locked(folder):
            if time.monotonic() > until:
                raise ToolError(f"{place.shown} is being changed by somebody else; try again")
            time.sleep(LOCK_LOOK_S)
        yield folder  # closing it gives the lock back


def _locked(folder: int) -> bool:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
