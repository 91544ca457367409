"""Synchronizes the files of a scope's memory with Redis once. All functions block.

Redis is the truth and the files are what people and tools read, but for one thing: a MEMORY.md that is not what was
last written is a person's edit. The folder's lock is held from the look at it to the last write, so that of several
processes one takes it in. The side-car is written last; what somebody wrote who was killed in between is known by its
text.
"""

from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import structlog

from daemon.durable import folder_below, folder_lock, write_whole
from daemon.memory.history_files import days_written, history_written, written_anew
from daemon.memory.locked_memory import Recall
from daemon.memory.memory_file import MEMORY, Found, Stat, look, stat_of
from daemon.memory.sidecar import SideCar, checksum, read_side_car, write_side_car
from daemon.memory.stored_memory import Stored

LOCK_WAIT_S = 2.0

_log = structlog.get_logger()
_with = msgspec.structs.replace
_NOTHING = Recall(text="", version=0)


@dataclass
class Looked:
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


class Projection:
    """The files of one scope, in the folder ``names`` below ``root``."""

    def __init__(self, root: Path, names: tuple[str, ...], looked: Looked, *, lock_wait_s: float | None = None) -> None:
        """``lock_wait_s``: how long another process may go on changing the folder, ``LOCK_WAIT_S`` if None."""
        self._root = root
        self._lock_wait_s = LOCK_WAIT_S if lock_wait_s is None else lock_wait_s
        self._names = names
        self.looked = looked
        self.path = root.joinpath(*names)

    def sync(self, stored: Stored) -> None:
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

    def _memory(self, folder: int, side: SideCar, stored: Stored) -> SideCar:
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

    def _version_of(self, text: str, side: SideCar, stored: Stored) -> int:
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

    def _memory_written(self, folder: int, found: Found, side: SideCar, current: Recall) -> SideCar:
        content = current.text.encode()
        text = checksum(content)
        if found.stat is None:
            if not current.version:
                return side
        elif (current.version, text) == (side.version, side.text):
            return side
        elif current.version < side.version:
            reason = "Redis lost the newest versions. Run `millpond memory edit` to store the file's text again."
            if self.looked.is_new(reason):
                _log.warning("memory.behind", path=str(self.path / MEMORY), reason=reason)
            return side
        if stat_of(folder) != found.stat:
            return side  # saved again meanwhile: the next look takes that in
        if text != side.memory or found.stat is None:
            write_whole(folder, MEMORY, content)
        return _with(side, version=current.version, text=text, memory=text)


def _anything(stored: Stored) -> bool:
    return bool(stored.current().version or stored.history(0) or stored.notes(0))
