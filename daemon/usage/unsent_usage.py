"""Notes of usage that Redis has not taken yet: a process keeps them through an outage and writes them after it."""

from collections.abc import Sequence

import anyio
import structlog

from daemon.bus import Bus
from daemon.errors import BusError, BusUnavailable
from daemon.usage.account import User
from daemon.usage.allowance import Allowance
from daemon.usage.usage_book import UsageBook
from daemon.usage.usage_journal import LATE_S, KeptNotes
from daemon.usage.usage_limits import Estimate, Limits, Refusal
from daemon.usage.usage_note import Note

KEPT_MAX = 4_096
"""Notes kept at most, about 1 KB each; one more, and the oldest is lost."""

NOTE_TIMEOUT_S = 5.0
"""How long the end of a turn may wait for its note; as long as the bus tries."""

RETRY_S = 1.0
"""Pause between two attempts to write what is kept."""

_log = structlog.get_logger()


class Ledger:
    """Writes notes; keeps each of them until Redis has taken it."""

    def __init__(self, bus: Bus, saved: KeptNotes) -> None:
        """``saved``: what is kept is saved there, too."""
        self._bus, self._saved = bus, saved
        self._book = UsageBook(bus)
        self._limits = Limits(bus)
        self._kept: dict[Note, float] = {}
        """Notes, the oldest first, and when each was made, on the event loop's clock."""
        self._any_kept = anyio.Event()

    @property
    def kept(self) -> Sequence[Note]:
        """Notes that Redis has not confirmed, the oldest first."""
        return tuple(self._kept)

    async def note(self, note: Note) -> None:
        """Write a note, or keep it for ``run`` when Redis does not take it at once; never raises.

        Shielded: the calls were made, whether or not the process stops.
        """
        self._kept[note] = anyio.current_time()
        if len(self._kept) > KEPT_MAX:
            self._lose(next(iter(self._kept)), f"more than {KEPT_MAX} usage records are waiting for Redis")
        if self._bus.failing:
            self._saved.add(note)
        reason = f"Redis did not answer within {NOTE_TIMEOUT_S:g} s"
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

    async def _write(self, note: Note) -> None:
        await self._book.note(note.name, note.user, note.day, note.used, second=note.second)
        self._kept.pop(note, None)

    def _lose(self, note: Note, reason: str) -> None:
        if self._kept.pop(note, None) is not None:
            _log.warning("usage.lost", reason=reason, model=",".join(note.used), bot=note.user.bot)
