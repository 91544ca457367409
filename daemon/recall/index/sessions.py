"""Which sessions belong to a scope: found out once for each process, and from then on by who was active since.

A session's scope never changes, so what was read of it once counts for ever.
"""

from collections import OrderedDict
from collections.abc import Collection, Sequence
from typing import Any

import anyio

from daemon.bus import Bus, Part, pairs, scan
from daemon.errors import BusError

PIECE = 1_000
"""Sessions that are looked at at once."""

SLACK_MS = 2_000
"""Activity is noted a little after it was, and by the clocks of several servers after a failover."""


class SessionBook:
    """Who belongs where. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus) -> None:
        """Nothing is asked yet."""
        self._bus = bus
        self._active_ms: dict[str, int] = {}
        """When each session that is known was active last, as far as that was seen."""
        self._scope: dict[str, str] = {}
        self._of: dict[str, OrderedDict[str, None]] = {}
        """By scope; who was active last stands last."""
        self._is_complete = False
        self._since_ms = 0
        self._lock = anyio.Lock()

    async def of(self, scopes: Collection[str]) -> list[str]:
        """The sessions of the scopes, those that were active last first.

        The first call looks at every session of the database; one that is cancelled leaves what it has found.
        """
        async with self._lock:
            if not self._is_complete:
                # The index of sessions may miss one; where it does not, it tells the order.
                async for names in scan(self._bus, "session"):
                    await self._note(names)
                self._is_complete = True
            await self._look_at_active()
        found = [session for scope in scopes for session in reversed(self._of.get(scope, ()))]
        if len(scopes) > 1:
            found.sort(key=self._active_ms.__getitem__, reverse=True)
        return found

    def active_ms(self, session: str) -> int:
        """When a session that ``of`` gave was active last, as far as that is known; 0: nobody knows."""
        return self._active_ms[session]

    async def _look_at_active(self) -> None:
        least, offset = max(0, self._since_ms - SLACK_MS), 0
        while True:
            command = ("ZRANGE", self._bus.keys.sessions, least, "+inf", "BYSCORE", "LIMIT", offset, PIECE)
            found = [
                (name.decode(), int(float(ms))) for name, ms in pairs(await self._bus.call(*command, "WITHSCORES"))
            ]
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
        asked = [("HGET", self._bus.keys.session(session), "scope") for session in new]
        for session, scope in zip(new, await answers(self._bus, asked), strict=True):
            if scope is not None:  # else it is not there yet, or no more
                self._active_ms[session] = 0
                self._scope[session] = scope.decode()
                self._of.setdefault(scope.decode(), OrderedDict())[session] = None


async def answers(bus: Bus, commands: Sequence[tuple[Part, ...]]) -> list[Any]:
    """The answers to reads, asked together. Errors as for ``Bus.call``."""
    found: list[Any] = [None] * len(commands)

    async def ask(at: int) -> None:
        found[at] = await bus.call(*commands[at])

    try:
        async with anyio.create_task_group() as tg:  # one tick, few pipelines
            for at in range(len(commands)):
                tg.start_soon(ask, at)
    except* BusError as group:
        raise _first(group) from group
    return found


def _first(group: BaseExceptionGroup[BusError]) -> BusError:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
