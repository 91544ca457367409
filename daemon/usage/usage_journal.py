"""Usage records on disk, so that records that Redis has not stored survive the end of their process.

Redis counts each record once. Several files may therefore contain the same record, and several processes may write it.
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import structlog

from daemon.durable import folder_below, plain_file
from daemon.errors import UNREADABLE, brief
from daemon.usage.usage_book import NOTED_S
from daemon.usage.usage_note import Note

LATE_S = NOTED_S - 86_400
"""Age at which a note is lost: after ``NOTED_S`` from a day's first note, Redis no longer knows which it has taken."""

_log = structlog.get_logger()
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Note).decode


class KeptNotes:
    """The saved usage records of one process, in a folder that all processes of a data directory share."""

    def __init__(self, folder: Path, process: str) -> None:
        """Nothing happens yet. ``process`` is the unique name of this process."""
        self._folder, self._process = folder, process
        self._own = folder / f"{process}.jsonl"
        self._names: set[str] = set()

    def __contains__(self, note: Note) -> bool:
        return note.name in self._names

    def add(self, note: Note) -> None:
        """Save a record, or log the reason if the disk does not accept the record."""
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
        """Take over the records that other processes have saved."""
        notes: list[Note] = []
        others = [path for path in self._folder.glob("*.jsonl") if not path.name.startswith(self._process)]
        for number, path in enumerate(others):
            mine = self._folder / f"{self._process}-{number}.jsonl"
            # Renamed first, so that a running process that saves more records begins another file.
            with suppress(OSError):
                path.replace(mine)
                late = time.time() - mine.stat().st_mtime > LATE_S
                notes += [] if late else _read(mine)
        self._names.update(note.name for note in notes)
        return notes

    def clear(self) -> None:
        """Delete the files of this process, after Redis has stored all records."""
        if self._names:
            for path in self._folder.glob(f"{self._process}*.jsonl"):
                path.unlink(missing_ok=True)
            self._names.clear()


def _read(path: Path) -> list[Note]:
    notes: list[Note] = []
    with folder_below(path.parent, make=False) as folder, plain_file(folder, path.name) as descriptor:
        content = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    for line in content.splitlines():
        try:
            notes.append(_decode(line))
        except UNREADABLE as error:  # the last line of a killed process may be incomplete
            _log.warning("usage.unreadable", reason=type(error).__name__)
    return notes
