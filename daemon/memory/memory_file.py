"""The file MEMORY.md in its folder. All functions block."""

import os
import time
from dataclasses import dataclass

from daemon.durable import plain_file
from daemon.memory.sidecar import checksum

MEMORY = "MEMORY.md"

MAX_BYTES = 1_000_000
"""A larger one is a mistake: all of it would stand in every prompt."""

SETTLE_S = 0.2
"""How long it must have been left alone before it is read: an editor may be in the middle of saving it."""

SETTLE_LOOKS = 5

Stat = tuple[int, int, int]
"""Inode, time of the last change (ns), bytes."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """The state of the file."""

    stat: Stat | None = None
    """None: no such file."""
    text: str | None = None
    """None: it was not read."""
    checksum: str = ""
    """SHA-256 of its bytes, when it was read."""
    settled: bool = True
    """False: the file is being written right now."""
    refused: str = ""
    """The reason why it can neither be read nor replaced, and the remedy."""


def look(folder: int, *, clean: Stat | None, written: str) -> Found:
    """MEMORY.md of an opened folder. The file is read only if it changed.

    Args:
        folder: descriptor.
        clean: how the file looked when it was last seen to be what was written.
        written: checksum of what was written; anything else is waited for until it has settled.

    Raises:
        OSError: the folder cannot be read.
    """
    found = _look(folder, clean)
    for _ in range(SETTLE_LOOKS):
        if found.settled or found.checksum == written:
            break
        time.sleep(SETTLE_S)
        found = _look(folder, clean)
    return found


def stat_of(folder: int) -> Stat | None:
    """The file status of MEMORY.md; None if it does not exist."""
    try:
        found = os.stat(MEMORY, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def refusal(folder: int) -> str:
    """The reason why MEMORY.md of an opened folder cannot be read or replaced, with the remedy; empty if it can.

    Raises:
        OSError: the folder cannot be read.
    """
    return _look(folder, None).refused


def _look(folder: int, clean: Stat | None) -> Found:
    stat = stat_of(folder)
    if stat is None or stat == clean:
        return Found(stat=stat)
    try:
        content = _content(folder)
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return Found(stat=stat, refused="the file is not UTF-8. Save it as UTF-8")
    except ValueError as error:
        return Found(stat=stat, refused=str(error))
    except PermissionError as error:
        return Found(stat=stat, refused=f"{error.strerror}. Correct the permissions of the file")
    except OSError as error:
        return Found(stat=stat, refused=f"{error.strerror}. Replace it with a regular file, or remove it")
    settled = not 0 <= time.time() - stat[1] / 1e9 < SETTLE_S
    return Found(stat=stat, text=text, checksum=checksum(content), settled=settled)


def _content(folder: int) -> bytes:
    with plain_file(folder, MEMORY) as descriptor, open(descriptor, "rb", closefd=False) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"the file has more than {MAX_BYTES:,} bytes. Shorten it")
    return content
