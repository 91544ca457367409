"""Notes of usage that Redis has not taken yet: a process keeps them through an outage and writes them after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import anyio
import structlog

from daemon.bus import Bus
from daemon.errors import BusError, BusUnavailable
from daemon.usage.account import Amount, User
from daemon.usage.book import NOTED_S, UsageBook

KEPT_MAX = 4_096
"""Notes kept at most, about 1 KB each; one more, and the oldest is lost."""

LATE_S = NOTED_S - 86_400
"""Age at which a note is lost: after ``NOTED_S`` from a day's first note, Redis no longer knows which it has taken."""

NOTE_TIMEOUT_S = 5.0
"""How long the end of a turn may wait for its note; as long as the bus tries."""

RETRY_S = 1.0
"""Pause between two attempts to write what is kept."""

_log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True, eq=False)
class Note:
    """What a piece of work used."""

    name: str
    """Name of the work; Redis adds each name to a day's accounts once."""
    user: User
    day: str
    """``2026-11-20``, the bot's day."""
    used: Mapping[str, Amount]
    """By model."""

    def tokens_of(self, user: User) -> tuple[int, int, int]:
        """The tokens that count for the bot, the person and the chat of ``user``."""
        tokens = sum(amount.tokens for amount in self.used.values())
        same = (
            self.user.bot == user.bot,
            bool(user.person) and self.user.person == user.person,
            self.user.session == user.session,
        )
        bot, person, chat = (tokens if one else 0 for one in same)
        return bot, person, chat


class Ledger:
    """Writes notes; keeps each of them until Redis has taken it."""

    def __init__(self, bus: Bus) -> None:
        self._book = UsageBook(bus)
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
        reason = f"Redis did not answer within {NOTE_TIMEOUT_S:g} s"
        with anyio.move_on_after(NOTE_TIMEOUT_S, shield=True):
            try:
                await self._write(note)
            except BusError as error:
                reason = str(error)
            else:
                return
        _log.warning("usage.kept", reason=reason, count=len(self._kept))
        self._any_kept.set()

    async def run(self) -> None:
        """Write what is kept, for ever."""
        while True:
            await self._any_kept.wait()
            await self.written()

    async def written(self) -> None:
        """Return when nothing is kept any more."""
        while self._kept:
            if not await self._all_written():
                await anyio.sleep(RETRY_S)
        self._any_kept = anyio.Event()

    def close(self) -> None:
        """Report what is lost with this process."""
        for note in self.kept:
            self._lose(note, "the process stopped before Redis stored the usage record")

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
        await self._book.note(note.name, note.user, note.day, note.used)
        self._kept.pop(note, None)

    def _lose(self, note: Note, reason: str) -> None:
        if self._kept.pop(note, None) is not None:
            _log.warning("usage.lost", reason=reason, model=",".join(note.used), bot=note.user.bot)
