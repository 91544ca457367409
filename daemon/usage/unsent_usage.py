"""Notes of usage that Redis has not taken yet: a process keeps them through an outage and writes them after it.

Redis counts each record once. Several files may therefore contain the same record, and several processes may write it.
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec
import structlog

from daemon.bus import Bus
from daemon.durable import folder_below, plain_file
from daemon.errors import UNREADABLE, BusError, BusUnavailable, brief
from daemon.usage.account import UsageNote, User
from daemon.usage.usage_book import NOTED_S, UsageBook
from daemon.usage.usage_limits import Allowance, Estimate, Limits, Refusal

# Usage records on disk, so that records that Redis has not stored survive the end of their process.

LATE_S = NOTED_S - 86_400
"""Age at which a note is lost: after ``NOTED_S`` from a day's first note, Redis no longer knows which it has taken."""

_log = structlog.get_logger()
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(UsageNote).decode


class UsageJournal:
    """The saved usage records of one process, in a folder that all processes of a data directory share."""

    def __init__(self, folder: Path, process: str) -> None:
        """Nothing happens yet. ``process`` is the unique name of this process."""
        self._folder, self._process = folder, process
        self._own = folder / f"{process}.jsonl"
        self._names: set[str] = set()

    def __contains__(self, note: UsageNote) -> bool:
        return note.name in self._names

    def add(self, note: UsageNote) -> None:
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

    def adopt(self) -> Sequence[UsageNote]:
        """Take over the records that other processes have saved."""
        notes: list[UsageNote] = []
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


def _read(path: Path) -> list[UsageNote]:
    notes: list[UsageNote] = []
    with folder_below(path.parent, make=False) as folder, plain_file(folder, path.name) as descriptor:
        content = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    for line in content.splitlines():
        try:
            notes.append(_decode(line))
        except UNREADABLE as error:  # the last line of a killed process may be incomplete
            _log.warning("usage.unreadable", reason=type(error).__name__)
    return notes


KEPT_MAX = 4_096
"""Notes kept at most, about 1 KB each; one more, and the oldest is lost."""

NOTE_TIMEOUT_S = 5.0
"""How long the end of a turn may wait for its note; as long as the bus tries."""

RETRY_S = 1.0
"""Pause between two attempts to write what is kept."""


class UnsentUsage:
    """Writes notes; keeps each of them until Redis has taken it."""

    def __init__(self, bus: Bus, saved: UsageJournal) -> None:
        """``saved``: what is kept is saved there, too."""
        self._bus, self._saved = bus, saved
        self._book = UsageBook(bus)
        self._limits = Limits(bus)
        self._kept: dict[UsageNote, float] = {}
        """Notes, the oldest first, and when each was made, on the event loop's clock."""
        self._any_kept = anyio.Event()

    @property
    def kept(self) -> Sequence[UsageNote]:
        """Notes that Redis has not confirmed, the oldest first."""
        return tuple(self._kept)

    async def note(self, note: UsageNote) -> None:
        """Write a note, or keep it for ``run`` when Redis does not take it at once; never raises.

        Shielded: the calls were made, whether or not the process stops.
        """
        self._kept[note] = anyio.current_time()
        if len(self._kept) > KEPT_MAX:
            self._lose(next(iter(self._kept)), f"more than {KEPT_MAX} usage records are waiting to be written to Redis")
        if self._bus.failing:
            self._saved.add(note)
        reason = f"Redis did not respond within {NOTE_TIMEOUT_S:g} s"
        with anyio.move_on_after(NOTE_TIMEOUT_S, shield=True):
            try:
                await self._write(note)
            except BusError as error:
                reason = str(error)
            else:
                return
        self._saved.add(note)
        _log.warning("usage.kept", reason=reason, count=len(self._kept))
        self._any_kept.set()

    async def run(self) -> None:
        """Write what is kept, for ever; first what processes kept that are gone."""
        for note in self._saved.adopt():
            self._kept[note] = anyio.current_time()
        await self.written()
        while True:
            await self._any_kept.wait()
            await self.written()

    async def reserve(
        self,
        user: User,
        day: str,
        allowance: Allowance,
        *,
        call: str = "",
        estimate: Estimate | None = None,
        message: str = "",
    ) -> Refusal | None:
        """As ``Limits.reserve``, but what is kept is offered to Redis first: the accounts are to be complete."""
        if self._kept:
            await self._all_written()
        return await self._limits.reserve(user, day, allowance, call=call, estimate=estimate, message=message)

    async def written(self) -> None:
        """Return when nothing is kept any more."""
        while self._kept:
            if not await self._all_written():
                await anyio.sleep(RETRY_S)
        self._saved.clear()
        self._any_kept = anyio.Event()

    def close(self) -> None:
        """Report what is lost with this process, or kept for the next one."""
        for note in self.kept:
            if note not in self._saved:
                self._lose(note, "the process stopped before Redis stored the usage record")
        if self._kept:
            _log.warning(
                "usage.kept",
                reason="the next Millpond process will write the remaining usage records",
                count=len(self._kept),
            )

    async def _all_written(self) -> bool:
        """Try each note once, or up to the first that finds Redis unavailable."""
        refused = False
        for note, since in tuple(self._kept.items()):
            if anyio.current_time() - since > LATE_S:
                self._lose(note, "Redis was unavailable for a day")
                continue
            try:
                await self._write(note)
            except BusUnavailable:
                return False
            except BusError:
                refused = True  # the others are written all the same
        return not refused

    async def _write(self, note: UsageNote) -> None:
        await self._book.note(note.name, note.user, note.day, note.used, second=note.second)
        self._kept.pop(note, None)

    def _lose(self, note: UsageNote, reason: str) -> None:
        if self._kept.pop(note, None) is not None:
            _log.warning("usage.lost", reason=reason, model=",".join(note.used), bot=note.user.bot)
