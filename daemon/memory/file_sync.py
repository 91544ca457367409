"""Synchronizes the files of a scope's memory with Redis once. All functions block.

Redis is the truth and the files are what people and tools read, but for one thing: a MEMORY.md that is not what was
last written is a person's edit. The folder's lock is held from the look at it to the last write, so that of several
processes one takes it in. The side-car is written last; what somebody wrote who was killed in between is known by its
text.
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
import structlog

from daemon.durable import folder_below, folder_lock, plain_file, write_whole
from daemon.memory.locked_memory import Recall
from daemon.memory.memory_file import (
    MEMORY,
    SIDE_CAR,
    FileState,
    ListPosition,
    SideCar,
    Stat,
    checksum,
    look,
    read_side_car,
    stat_of,
    write_side_car,
)
from daemon.memory.memory_records import Note

# A scope's memory in Redis, for code that writes its files in a thread.


class StoredMemory(Protocol):
    """The memory of one scope; errors are those of ``Memories``."""

    def current(self) -> Recall:
        """The current MEMORY.md."""
        ...

    def history(self, first: int) -> Sequence[str]:
        """The texts of the history's entries from index ``first`` on."""
        ...

    def notes(self, first: int) -> Sequence[Note]:
        """The notes from index ``first`` on."""
        ...

    def forgets(self) -> int:
        """Number of deletions in the data that the files show."""
        ...

    def version_that_reads(self, text: str, *, after: int) -> int:
        """The newest version after ``after`` with the text ``text``; 0 if none exists."""
        ...

    def edit(self, text: str, *, of: int) -> Recall:
        """Store ``text`` as a user's edit of version ``of``. Returns the new MEMORY.md."""
        ...


# Files that only grow, such as HISTORY.md and a day's notes: entries separated by blank lines. All functions block.


def size_of(folder: int, name: str) -> int | None:
    """Size of a file in bytes; None if it does not exist.

    Raises:
        OSError: it is no plain file.
    """
    try:
        with plain_file(folder, name) as descriptor:
            return os.fstat(descriptor).st_size
    except FileNotFoundError:
        return None


def grow(folder: int, name: str, *, known: int, texts: Sequence[str], everything: Callable[[], Sequence[str]]) -> int:
    """Append the missing entries to a file. Returns its size in bytes.

    Args:
        folder: descriptor of the opened and locked folder.
        name: of the file.
        known: its bytes when it was last written; 0: nobody knows what it holds.
        texts: what came since.
        everything: gives all that the file is to hold, ``texts`` too; asked when it is missing, or shorter than it was.

    Raises:
        OSError: it could not be written.
    """
    size = size_of(folder, name)
    if size is None or size < known:
        content = paragraphs(everything())
        if content or size is not None:
            write_whole(folder, name, content)
        return len(content)
    if not texts:
        return known
    with plain_file(folder, name, change=True) as descriptor:
        unknown = os.pread(descriptor, size, 0) if size != known else None
        _append(descriptor, _missing(texts, unknown, known))
        return os.fstat(descriptor).st_size


def rewrite(folder: int, name: str, texts: Sequence[str]) -> int:
    """Replace the content of a file. Returns its size in bytes.

    Raises:
        OSError: it could not be written.
    """
    content = paragraphs(texts)
    if content or size_of(folder, name) is not None:
        write_whole(folder, name, content)
    return len(content)


def _missing(texts: Sequence[str], content: bytes | None, known: int) -> bytes:
    """What is to be appended; ``content`` is the file's when it is longer than it is known to be."""
    addition = (b"\n" if known else b"") + paragraphs(texts)
    if content is None:
        return addition
    if addition.startswith(content[known:]):
        # Somebody was killed in the middle of writing it: it goes on where it ended.
        return addition[len(content) - known :]
    # Somebody else wrote into it: what stands there already is not put there twice.
    lines = b"\n" + content + b"\n"
    absent = [text for text in texts if b"\n" + text.strip("\n").encode() + b"\n" not in lines]
    if not absent:
        return b""
    return (b"\n" if content.endswith(b"\n") else b"\n\n") + paragraphs(absent)


def _append(descriptor: int, addition: bytes) -> None:
    os.lseek(descriptor, 0, os.SEEK_END)
    while addition:
        addition = addition[os.write(descriptor, addition) :]
    os.fsync(descriptor)


def paragraphs(texts: Sequence[str]) -> bytes:
    """Entries in the format of their file."""
    return b"\n".join(text.strip("\n").encode() + b"\n" for text in texts)


# HISTORY.md and the files of single days, which only grow, synchronized with Redis. All functions block.

HISTORY = "HISTORY.md"

_is_day = re.compile(r"\d{4}-\d{2}-\d{2}").fullmatch
"""What a note's day looks like; its file is called by it, so nothing else may stand there."""


def is_shown(name: str) -> bool:
    """Whether a file with this name shows data of Redis."""
    return name in (MEMORY, HISTORY, SIDE_CAR) or bool(_is_day(name.removesuffix(".md")))


_Entry = TypeVar("_Entry")


def history_written(folder: int, side: SideCar, stored: StoredMemory) -> SideCar:
    """The sidecar after HISTORY.md was synchronized.

    Raises:
        OSError: it could not be written.
    """
    told, texts = _since(side.history, stored.history, str)
    known = side.sizes.get(HISTORY, 0) if told.count else 0
    count = told.count + len(texts)
    # Not what has come meanwhile: that is the next look's.
    size = grow(folder, HISTORY, known=known, texts=texts, everything=lambda: stored.history(0)[:count])
    return _with_sizes(side, {HISTORY: size}, history=told.and_then(texts))


def days_written(folder: int, side: SideCar, stored: StoredMemory) -> SideCar:
    """The sidecar after the files of all days were synchronized. Errors as for ``history_written``."""
    told, notes = _since(side.notes, stored.notes, lambda note: note.text)
    days: dict[str, list[str]] = {day: [] for name in side.sizes if _is_day(day := name.removesuffix(".md"))}
    for note in notes:
        if _is_day(note.date):
            days.setdefault(note.date, []).append(note.text)
    sizes, count = dict[str, int](), told.count + len(notes)
    for day, texts in days.items():
        known = side.sizes.get(f"{day}.md", 0) if told.count else 0
        sizes[f"{day}.md"] = grow(folder, f"{day}.md", known=known, texts=texts, everything=_all_of(day, stored, count))
    return _with_sizes(side, sizes, notes=told.and_then([note.text for note in notes]))


def written_anew(folder: int, side: SideCar, stored: StoredMemory) -> SideCar:
    """The sidecar after HISTORY.md and all days were rewritten, because a part of them was forgotten.

    Errors as for ``history_written``.
    """
    forgets = stored.forgets()
    if forgets == side.forgets:
        return side
    history, notes = stored.history(0), stored.notes(0)
    sizes = {HISTORY: rewrite(folder, HISTORY, history)}
    for day in {name.removesuffix(".md") for name in side.sizes} | {note.date for note in notes}:
        if _is_day(day):
            sizes[f"{day}.md"] = rewrite(folder, f"{day}.md", [note.text for note in notes if note.date == day])
    told = {
        "history": ListPosition().and_then(history),
        "notes": ListPosition().and_then([note.text for note in notes]),
    }
    return msgspec.structs.replace(_with_sizes(side, sizes, **told), forgets=forgets)


def _since(
    told: ListPosition, ask: Callable[[int], Sequence[_Entry]], text_of: Callable[[_Entry], str]
) -> tuple[ListPosition, Sequence[_Entry]]:
    """What the files hold, and what came since; when Redis has lost what they hold, nothing, and all there is."""
    if told.count:
        last, *since = ask(told.count - 1) or (None,)
        if last is not None and checksum(text_of(last).encode()) == told.last:
            return told, since
    return ListPosition(), ask(0)


def _all_of(day: str, stored: StoredMemory, count: int) -> Callable[[], Sequence[str]]:
    return lambda: [note.text for note in stored.notes(0)[:count] if note.date == day]


def _with_sizes(side: SideCar, sizes: dict[str, int], **told: ListPosition) -> SideCar:
    sizes = side.sizes | {name: size for name, size in sizes.items() if size}
    return msgspec.structs.replace(side, sizes=sizes, **told)


LOCK_WAIT_S = 2.0

_log = structlog.get_logger()
_with = msgspec.structs.replace
_NOTHING = Recall(text="", version=0)


@dataclass
class FolderState:
    """The state of a folder that a process remembers between two looks."""

    clean: Stat | None = None
    """File status of MEMORY.md when it last matched the written text."""
    seen: Recall = _NOTHING
    """The text in Redis at that time."""
    next_at: float = 0.0
    """From when on it is worth looking again, by the event loop's clock."""
    all_at: float = 0.0
    """From when on it is worth looking at all files, not at MEMORY.md alone."""
    said: frozenset[str] = frozenset()
    """Problems of the last look."""
    saying: set[str] = field(default_factory=set[str])
    """Problems of this look."""

    def is_new(self, complaint: str) -> bool:
        """Whether this reason was not logged at the last look."""
        self.saying.add(complaint)
        return complaint not in self.said

    def begin(self) -> None:
        """Begin a look at all files."""
        self.said, self.saying = frozenset(self.saying), set()


class FileSync:
    """The files of one scope, in the folder ``names`` below ``root``."""

    def __init__(
        self, root: Path, names: tuple[str, ...], looked: FolderState, *, lock_wait_s: float | None = None
    ) -> None:
        """``lock_wait_s``: how long another process may go on changing the folder, ``LOCK_WAIT_S`` if None."""
        self._root = root
        self._lock_wait_s = LOCK_WAIT_S if lock_wait_s is None else lock_wait_s
        self._names = names
        self.looked = looked
        self.path = root.joinpath(*names)

    def sync(self, stored: StoredMemory) -> None:
        """Synchronize the files with Redis.

        Raises:
            OSError: the folder cannot be read or written, or somebody else has held its lock for too long.
            MillpondError: Redis is away; what was written until then stands.
        """
        if not self.path.exists() and not _anything(stored):
            return  # nobody asked for an empty folder
        with folder_below(self._root, *self._names, make=True) as folder, folder_lock(folder, wait_s=self._lock_wait_s):
            before = side = read_side_car(folder)
            try:
                side = self._memory(folder, side, stored)
                side = written_anew(folder, side, stored)
                side = history_written(folder, side, stored)
                side = days_written(folder, side, stored)
            finally:
                if side != before:
                    write_side_car(folder, side)

    def untouched(self) -> bool:
        """Whether the state of MEMORY.md is unchanged since it last matched the written text.

        Raises:
            OSError: the folder cannot be read.
        """
        try:
            found = (self.path / MEMORY).lstat()
        except FileNotFoundError:
            return self.looked.clean is None
        return self.looked.clean == (found.st_ino, found.st_mtime_ns, found.st_size)

    def _memory(self, folder: int, side: SideCar, stored: StoredMemory) -> SideCar:
        found = look(folder, clean=self.looked.clean, written=side.memory)
        if found.refused:
            if self.looked.is_new(found.refused):
                reason = f"{found.refused}. Until the problem is corrected, Millpond does not update the file."
                _log.warning("memory.refused", path=str(self.path / MEMORY), reason=reason)
            return side
        if found.text is None or found.checksum == side.memory:
            self.looked.clean = found.stat if found.settled else None
        elif found.settled:
            version = self._version_of(found.text, side, stored)
            side = _with(side, version=version, text=checksum(found.text.encode()), memory=found.checksum)
        else:
            return side
        self.looked.seen = stored.current()
        return self._memory_written(folder, found, side, self.looked.seen)

    def _version_of(self, text: str, side: SideCar, stored: StoredMemory) -> int:
        """Which version a text on the disk is; a new one when it is none, for then a person wrote it."""
        current = stored.current()
        if text == current.text:
            return current.version
        if version := stored.version_that_reads(text, after=side.version):
            return version
        # Without a side-car nobody knows which version was edited: then all that there is came since. With one that is
        # newer than a Redis that was set back, nothing did.
        edited = stored.edit(text, of=min(side.version, current.version))
        _log.info("memory.edited", path=str(self.path / MEMORY))
        # With what came since below it, what lies on the disk is no version's.
        return edited.version if edited.text == text else edited.version - 1

    def _memory_written(self, folder: int, found: FileState, side: SideCar, current: Recall) -> SideCar:
        content = current.text.encode()
        text = checksum(content)
        if found.stat is None:
            if not current.version:
                return side
        elif (current.version, text) == (side.version, side.text):
            return side
        elif current.version < side.version:
            reason = "Redis lost the newest versions. Run `millpond memory edit` and save the file again."
            if self.looked.is_new(reason):
                _log.warning("memory.behind", path=str(self.path / MEMORY), reason=reason)
            return side
        if stat_of(folder) != found.stat:
            return side  # saved again meanwhile: the next look takes that in
        if text != side.memory or found.stat is None:
            write_whole(folder, MEMORY, content)
        return _with(side, version=current.version, text=text, memory=text)


def _anything(stored: StoredMemory) -> bool:
    return bool(stored.current().version or stored.history(0) or stored.notes(0))
