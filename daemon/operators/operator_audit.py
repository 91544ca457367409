"""What operators did, in order: a bounded stream without any text of a conversation."""

import datetime as dt
from typing import Any

import msgspec

from daemon.bus import Bus, pairs
from daemon.clock import stamp

KEPT = 10_000
"""Deeds that are kept, or a few more."""

FIELD_MAX = 512
"""Characters of a field: what names a target may be as long as a session key."""


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was done, or tried."""

    at: str
    """ISO 8601, UTC, by the server's clock."""
    who: str
    """A visitor's short id, ``token``, or empty when nobody was logged in."""
    action: str
    """``login``, ``logout``, or what was done to what: ``dead.replay``, ``memory.restore`` and so on."""
    target: str
    """What it was done to: a name, a key, an id; never a text."""
    outcome: str


class OperatorAudit:
    """The stream of one database."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def note(self, *, who: str, action: str, target: str, outcome: str) -> None:
        """Write a deed down; it may stand twice when Redis was away meanwhile. Errors as for ``Bus.call``."""
        fields = {"who": who, "action": action, "target": target, "outcome": outcome}
        words = [word for name, value in fields.items() for word in (name, value[:FIELD_MAX])]
        await self._bus.call("XADD", self._bus.keys.audit, "MAXLEN", "~", KEPT, "*", *words)

    async def newest(self, *, limit: int) -> list[AuditEntry]:
        """The newest deeds, the newest first; errors as for ``Bus.call``."""
        found: Any = await self._bus.call("XREVRANGE", self._bus.keys.audit, "+", "-", "COUNT", limit)
        return [_deed(stream_id, fields) for stream_id, fields in found]


def _deed(stream_id: bytes, fields: Any) -> AuditEntry:
    values = {name.decode(): value.decode(errors="replace") for name, value in pairs(fields)}
    at = dt.datetime.fromtimestamp(int(stream_id.split(b"-")[0]) / 1000, dt.UTC)
    names = ("who", "action", "target", "outcome")
    return AuditEntry(at=stamp(at), **{name: values.get(name, "") for name in names})
