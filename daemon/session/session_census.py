"""Sessions with pending messages that are held or backing off, read at a bounded cost."""

from collections.abc import Callable
from typing import Any

import anyio
import msgspec

from daemon.bus import Bus, pairs, translated
from daemon.session.session_reader import SessionReader

LIMIT = 1_000
"""Sessions that are looked at unless told otherwise."""

FIELDS = ("worker", "fence", "lease", "retry_at", "parked_at", "parked_why")
"""Of a session's hash."""
TOGETHER = 100
"""So many in one tick of the event loop, some 8 ms of it: whoever looks may have turns to run."""


class SessionStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The current state of a session with pending messages."""

    session: str
    worker: str
    """Who holds it; empty when nobody does."""
    fence: int
    lease_left_s: float
    """0 when nobody holds it."""
    retry_in_s: float
    """0 unless it rests after a failure."""
    retry_at_ms: int = 0
    """Until when it rests, by the server's clock."""
    parked_at_ms: int = 0
    """Since when, of one that was parked: for no fault of its message. 0 of one that backs off."""
    reason: str = ""
    """Why it was parked."""

    @property
    def held(self) -> bool:
        """Whether a worker holds the session."""
        return self.lease_left_s > 0

    @property
    def parked(self) -> bool:
        """Whether the session backs off after a failure."""
        return self.retry_in_s > 0 and not self.held


async def standings(bus: Bus, *, limit: int = LIMIT) -> list[SessionStatus]:
    """The state of about ``limit`` sessions, by name.

    Those with the furthest deadlines are looked at: rests and leases lie further off than wake-ups, so that many ready
    sessions hide neither.

    Raises:
        BusUnavailable: Redis is away.
    """
    each = -(-limit // bus.keys.partitions)
    now_ms = await SessionReader(bus).now_ms()
    found: list[SessionStatus] = []
    for partition in range(bus.keys.partitions):
        names: list[bytes] = await bus.call("ZREVRANGE", bus.keys.due(partition), 0, each - 1)
        for at in range(0, len(names), TOGETHER):
            async with anyio.create_task_group() as tg:  # one tick, one pipeline
                for name in names[at : at + TOGETHER]:
                    tg.start_soon(_look, bus, name.decode(), now_ms, found)
    return sorted(found, key=lambda standing: standing.session)


async def oldest_s(bus: Bus, stream: Callable[[int], str]) -> float:
    """Age of the oldest entry of a ``stream`` that each partition has; 0 if all are empty.

    Errors as for ``standings``.
    """
    oldest_ms = now_ms = await SessionReader(bus).now_ms()
    for entries in await _each(bus, lambda partition: ("XRANGE", stream(partition), "-", "+", "COUNT", 1)):
        for stream_id, _ in entries:
            oldest_ms = min(oldest_ms, int(stream_id.split(b"-")[0]))
    return (now_ms - oldest_ms) / 1000


async def overdue_s(bus: Bus) -> float:
    """Longest time by which the consolidation of a session is overdue; 0 if none is.

    Errors as for ``standings``.
    """
    first_ms = now_ms = await SessionReader(bus).now_ms()
    for found in await _each(bus, lambda partition: ("ZRANGE", bus.keys.unsettled(partition), 0, 0, "WITHSCORES")):
        for _, score in pairs(found):
            first_ms = min(first_ms, int(float(score)))
    return (now_ms - first_ms) / 1000


async def _each(bus: Bus, command: Callable[[int], tuple[str | int, ...]]) -> list[Any]:
    """The answers of all partitions, asked together."""
    answers = await bus.each([command(partition) for partition in range(bus.keys.partitions)])
    for answer in answers:
        if isinstance(answer, BaseException):
            raise translated(answer) from answer
    return answers


async def _look(bus: Bus, session: str, now_ms: int, found: list[SessionStatus]) -> None:
    values = await bus.call("HMGET", bus.keys.session(session), *FIELDS)
    worker, fence, lease_ms, retry_ms, parked_ms, reason = (value or b"" for value in values)
    left_s = max(0.0, (_number(lease_ms) - now_ms) / 1000)
    standing = SessionStatus(
        session=session,
        worker=worker.decode() if left_s else "",
        fence=_number(fence),
        lease_left_s=left_s,
        retry_in_s=max(0.0, (_number(retry_ms) - now_ms) / 1000),
        retry_at_ms=_number(retry_ms),
        parked_at_ms=_number(parked_ms),
        reason=reason.decode(errors="replace"),
    )
    found.append(standing)


def _number(value: bytes) -> int:
    """A field; damage of one session must not end a look at all: `millpond data check` tells of it."""
    return int(value) if value.isdigit() else 0
