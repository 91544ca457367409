"""Notes of usage on disk: those that Redis has not taken outlive the process that made them.

Redis adds each name once, so a note may stand in several files, and be written by several processes.
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import structlog

from daemon.errors import UNREADABLE, brief
from daemon.usage.book import NOTED_S
from daemon.usage.note import Note

LATE_S = NOTED_S - 86_400
"""Age at which a note is lost: after ``NOTED_S`` from a day's first note, Redis no longer knows which it has taken."""

_log = structlog.get_logger()
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Note).decode


class KeptNotes:
    """The notes of one process in a folder that all processes of a data directory share."""

    def __init__(self, folder: Path, process: str) -> None:
        """Nothing happens yet; ``process`` is a name that no other process has."""
        self._folder, self._process = folder, process
        self._own = folder / f"{process}.jsonl"
        self._names: set[str] = set()

    def __contains__(self, note: Note) -> bool:
        return note.name in self._names

    def add(self, note: Note) -> None:
        """Keep a note; a disk that takes nothing is told in the log."""
        if note in self:
            return
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._own, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(_encode(note) + b"\n")
        except OSError as error:
            _log.warning("usage.unsaved", reason=brief(error))
        else:
            self._names.add(note.name)

    def adopt(self) -> Sequence[Note]:
        """The notes that other processes have kept, which are this one's from now on."""
        notes: list[Note] = []
        others = [path for path in self._folder.glob("*.jsonl") if not path.name.startswith(self._process)]
        for number, path in enumerate(others):
            mine = self._folder / f"{self._process}-{number}.jsonl"
            # Renamed first: a process that lives and keeps more begins another file.
            with suppress(OSError):
                path.replace(mine)
                late = time.time() - mine.stat().st_mtime > LATE_S
                notes += [] if late else _read(mine)
        self._names.update(note.name for note in notes)
        return notes

    def clear(self) -> None:
        """Remove what this process has kept: all of it was written."""
        if self._names:
            for path in self._folder.glob(f"{self._process}*.jsonl"):
                path.unlink(missing_ok=True)
            self._names.clear()


def _read(path: Path) -> list[Note]:
    notes: list[Note] = []
    for line in path.read_bytes().splitlines():
        try:
            notes.append(_decode(line))
        except UNREADABLE as error:  # cut off when its process was killed
            _log.warning("usage.unreadable", reason=type(error).__name__)
    return notes
