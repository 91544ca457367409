"""Parts of replies that were cut while they were sent, and what became of them."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from daemon.bus import Bus, pairs
from daemon.clock import stamp


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """A part that was cut while it was sent."""

    time: str
    """When somebody went on with it: ISO 8601, UTC."""
    session: str
    reply: str
    part: int
    """From 0."""
    attempt: int
    """The one that was cut."""
    action: str
    """``resent`` or ``given up``."""


async def read_unknown(bus: Bus, *, limit: int) -> list[Unknown]:
    """The newest unknown outcomes of all partitions, oldest first.

    Raises:
        BusUnavailable: Redis is away.
    """
    found: list[Unknown] = []
    for partition in range(bus.keys.partitions):
        entries: Any = await bus.call("XREVRANGE", bus.keys.unknown(partition), "+", "-", "COUNT", limit)
        found += [_unknown(stream_id, values) for stream_id, values in entries]
    return sorted(found, key=lambda outcome: outcome.time)[-limit:]


def _unknown(stream_id: bytes, fields: Any) -> Unknown:
    at = dt.datetime.fromtimestamp(int(stream_id.split(b"-")[0]) / 1000, dt.UTC)
    texts = {name.decode(): value.decode(errors="replace") for name, value in pairs(fields)}
    return Unknown(
        time=stamp(at),
        session=texts.get("session", ""),
        reply=texts.get("reply", ""),
        part=_number(texts.get("part", "")),
        attempt=_number(texts.get("attempt", "")),
        action=texts.get("action", ""),
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0
