"""The sessions of each scope: read once for each process, then updated from recent activity.

A session's scope never changes, so what was read of it once counts for ever.
"""

import sys
from collections import OrderedDict
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import suppress
from typing import Any, cast

import anyio

from daemon.bus import Bus, Part, pairs, scan
from daemon.errors import BusError, BusUnavailable

PIECE = 1_000
"""Sessions that are listed at once."""

ASKED = 100
"""Reads that are asked together: some milliseconds in which the event loop does nothing else."""

STEP_S = 5.0
"""How long one piece of the first look may take; whoever is cancelled meanwhile waits for its end."""

FRESH_S = 0.25
"""So long who was active is not asked for again: nobody writes in one chat and asks for it in another one sooner."""

STILL_S = 10.0
"""So long what was seen counts where looking again takes longer than one may wait: the process has much to do, and a
search for each turn that has nothing to find would be more."""

SLACK_MS = 2_000
"""Activity is noted a little after it was, and by the clocks of several servers after a failover."""


class SessionBook:
    """The sessions of scopes. All methods raise BusUnavailable if Redis is unavailable."""

    def __init__(self, bus: Bus) -> None:
        """Nothing is asked yet."""
        self.bus = bus
        self._active_ms: dict[str, int] = {}
        """When each session that is known was active last, as far as that was seen."""
        self._scope: dict[str, str] = {}
        self._of: dict[str, OrderedDict[str, None]] = {}
        """By scope; who was active last stands last."""
        self._is_complete = False
        self._first_look: AsyncGenerator[list[str]] | None = None
        self._unnoted: list[str] = []
        self._since_ms = 0
        self._looked_at = float("-inf")
        """By the event loop's clock."""
        self._lock = anyio.Lock()

    async def of(self, scopes: Collection[str]) -> list[str]:
        """The sessions of the scopes, those that were active last first.

        The first call looks at every session of the database; one that is cancelled leaves it to the next to go on.
        """
        await self.look()
        found = [session for scope in scopes for session in reversed(self._of.get(scope, ()))]
        if len(scopes) > 1:
            found.sort(key=self._active_ms.__getitem__, reverse=True)
        return found

    async def scopes(self) -> list[str]:
        """Every scope with a session, the one whose sessions were active last first. See ``of``."""
        await self.look()
        active = {scope: max(map(self._active_ms.__getitem__, sessions)) for scope, sessions in self._of.items()}
        return sorted(active, key=active.__getitem__, reverse=True)

    async def has_other(self, scope: str, session: str, *, within_s: float) -> bool:
        """Whether ``scope`` may have any session but this one.

        Those count that are ``FRESH_S`` old; where seeing them takes longer than ``within_s``, those that are
        ``STILL_S`` old. True also where even these have not been looked through yet, in a large database.
        """
        if named_by(scope) == session:
            return False
        if not self._was_looked_at(FRESH_S):
            with suppress(TimeoutError), anyio.move_on_after(within_s):
                await self.look(fresh_s=FRESH_S)
            if not self._was_looked_at(STILL_S):
                return True
        return any(each != session for each in self._of.get(scope, ()))

    async def look(self, *, fresh_s: float = 0.0) -> None:
        """Look who is new and who was active, unless that was done ``fresh_s`` ago."""
        async with self._lock:
            if not self._is_complete:
                await self._look_at_all()
            if not self._was_looked_at(fresh_s):
                now = anyio.current_time()
                await self._look_at_active()
                self._looked_at = now

    def _was_looked_at(self, within_s: float) -> bool:
        return anyio.current_time() - self._looked_at < within_s

    async def _look_at_all(self) -> None:
        # The index of sessions may miss one; where it does not, it tells the order.
        found = self._first_look = self._first_look or scan(self.bus, "session")
        try:
            while not self._is_complete:
                # Not cut short: a generator that is cancelled would begin again, and in a large database never end.
                with anyio.fail_after(STEP_S, shield=True):
                    names = await anext(found, None)
                    self._unnoted += names or ()
                while self._unnoted:
                    await self._note(self._unnoted[-ASKED:])
                    del self._unnoted[-ASKED:]
                self._is_complete = names is None
        except (BusError, TimeoutError):
            self._first_look = None
            raise

    def active_ms(self, session: str) -> int:
        """When a session that ``of`` gave was active last, as far as that is known; 0: nobody knows."""
        return self._active_ms[session]

    async def _look_at_active(self) -> None:
        least, offset = max(0, self._since_ms - SLACK_MS), 0
        while True:
            command = ("ZRANGE", self.bus.keys.sessions, least, "+inf", "BYSCORE", "LIMIT", offset, PIECE)
            found = [(name.decode(), int(float(ms))) for name, ms in pairs(await self.bus.call(*command, "WITHSCORES"))]
            await self._note([name for name, _ in found])
            for name, ms in found:  # in the order of their times
                self._touch(name, ms)
            if len(found) < PIECE:
                return
            offset += PIECE

    def _touch(self, session: str, ms: int) -> None:
        if self._active_ms.get(session, ms) < ms:
            self._active_ms[session] = ms
            self._of[self._scope[session]].move_to_end(session)
        self._since_ms = max(self._since_ms, ms)

    async def _note(self, sessions: Sequence[str]) -> None:
        new = [session for session in sessions if session not in self._active_ms]
        if not new:
            return
        asked = [("HGET", self.bus.keys.session(session), "scope") for session in new]
        for session, found in zip(new, await answers(self.bus, asked), strict=True):
            if found is not None:  # else it is not there yet, or no more
                scope = self._scope[session] = sys.intern(found.decode())
                self._active_ms[session] = 0
                self._of.setdefault(scope, OrderedDict())[session] = None


async def answers(bus: Bus, commands: Sequence[tuple[Part, ...]]) -> list[Any]:
    """The answers to reads, asked together; None for a key of a wrong type, which `millpond data check` reports.

    Raises:
        BusUnavailable: Redis is away.
    """
    found: list[Any] = [None] * len(commands)

    async def ask(at: int) -> None:
        try:
            found[at] = await bus.call(*commands[at])
        except BusUnavailable:
            raise
        except BusError:
            found[at] = None

    try:
        for first in range(0, len(commands), ASKED):
            async with anyio.create_task_group() as tg:  # one tick, few pipelines
                for at in range(first, min(len(commands), first + ASKED)):
                    tg.start_soon(ask, at)
    except BaseExceptionGroup as group:
        failed: BaseException = group
        raise _first(failed) from failed
    return found


def named_by(scope: str) -> str:
    """The one session of a scope that is a group's or a single session's; empty: there may be any number. Pure."""
    _, kind, session, *_ = (*scope.split(":", 2), "", "")
    return session if kind in ("group", "session") else ""


def _first(error: BaseException) -> BaseException:
    if not isinstance(error, BaseExceptionGroup):
        return error
    return _first(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
