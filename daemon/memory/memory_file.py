"""The file MEMORY.md in its folder. All functions block."""

import hashlib
import os
import time
from collections.abc import Sequence

import msgspec

from daemon.durable import plain_file, write_whole
from daemon.errors import UNREADABLE

# A record of the text that Millpond last wrote into a memory's files. It identifies later edits by users.

SIDE_CAR = ".millpond.json"
SIDECAR_MAX_BYTES = 4 * 1024 * 1024
"""A larger one is none of ours."""


class ListPosition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The part of a list in Redis that the files contain."""

    count: int = 0
    last: str = ""
    """SHA-256 of the last text; another one in its place shows that Redis lost what it had."""

    def and_then(self, texts: Sequence[str]) -> "ListPosition":
        """The state after ``texts`` were added."""
        if not texts:
            return self
        return ListPosition(count=self.count + len(texts), last=checksum(texts[-1].encode()))


class SideCar(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a folder's files after the last synchronization."""

    version: int = 0
    """The one that MEMORY.md held."""
    text: str = ""
    """SHA-256 of that version: the same number can be given twice after a failover."""
    memory: str = ""
    """SHA-256 of MEMORY.md itself, which may differ in how its lines end; empty: it was never written."""
    history: ListPosition = ListPosition()
    notes: ListPosition = ListPosition()
    forgets: int = 0
    """How often something that the files show had been forgotten by then."""
    sizes: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Bytes of HISTORY.md and of each day's file."""


def checksum(content: bytes) -> str:
    """SHA-256 of a text."""
    return hashlib.sha256(content).hexdigest()


def read_side_car(folder: int) -> SideCar:
    """The content of a folder's sidecar; empty if it is missing or corrupted.

    Raises:
        OSError: it cannot be read.
    """
    try:
        with plain_file(folder, SIDE_CAR) as descriptor, open(descriptor, "rb", closefd=False) as file:
            return msgspec.json.decode(file.read(SIDECAR_MAX_BYTES), type=SideCar)
    except (FileNotFoundError, *UNREADABLE):
        return SideCar()


def write_side_car(folder: int, side_car: SideCar) -> None:
    """Write ``side_car`` to the folder.

    Raises:
        OSError: it was not written.
    """
    write_whole(folder, SIDE_CAR, msgspec.json.format(msgspec.json.encode(side_car), indent=1) + b"\n")


MEMORY = "MEMORY.md"

MAX_BYTES = 1_000_000
"""A larger one is a mistake: all of it would stand in every prompt."""

SETTLE_S = 0.2
"""How long it must have been left alone before it is read: an editor may be in the middle of saving it."""

SETTLE_LOOKS = 5

Stat = tuple[int, int, int]
"""Inode, time of the last change (ns), bytes."""


class FileState(msgspec.Struct, frozen=True, kw_only=True):
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


def look(folder: int, *, clean: Stat | None, written: str) -> FileState:
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


def _look(folder: int, clean: Stat | None) -> FileState:
    stat = stat_of(folder)
    if stat is None or stat == clean:
        return FileState(stat=stat)
    try:
        content = _content(folder)
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return FileState(stat=stat, refused="the file is not UTF-8. Save it as UTF-8")
    except ValueError as error:
        return FileState(stat=stat, refused=str(error))
    except PermissionError as error:
        return FileState(stat=stat, refused=f"{error.strerror}. Correct the file's permissions")
    except OSError as error:
        return FileState(
            stat=stat, refused=f"{error.strerror}. Replace the file with a regular file, or remove the file"
        )
    settled = not 0 <= time.time() - stat[1] / 1e9 < SETTLE_S
    return FileState(stat=stat, text=text, checksum=checksum(content), settled=settled)


def _content(folder: int) -> bytes:
    with plain_file(folder, MEMORY) as descriptor, open(descriptor, "rb", closefd=False) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"the file is larger than {MAX_BYTES:,} bytes. Shorten it")
    return content
