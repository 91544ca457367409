"""Who was linked with whom: an index for people, and for whoever has to find all parts of one memory.

What counts is the field ``joined`` of a memory; this is written by the jobs that change it.
"""

import msgspec

from daemon.bus import Bus, pairs
from daemon.memory.memory_location import home_of


class Link(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One scope that is part of another's memory."""

    home: str
    """Whose."""
    by: str
    """``code``, ``config``, or who linked them by hand."""
    time: str
    """When: ISO 8601, UTC."""


_decode = msgspec.json.Decoder(Link).decode
_encode = msgspec.json.Encoder().encode


class People:
    """The links of one database. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def links(self) -> dict[str, Link]:
        """Every link, by the scope that is a part of another's memory."""
        found = pairs(await self._bus.call("HGETALL", self._bus.keys.people))
        return {scope.decode(): _decode(link) for scope, link in sorted(found)}

    async def link_of(self, scope: str) -> Link | None:
        """How the scope is linked; None when it is not, or is a home itself."""
        found = await self._bus.call("HGET", self._bus.keys.people, scope)
        return _decode(found) if found else None

    async def family(self, scope: str) -> list[str]:
        """All scopes that share a memory with this one, their home first; alone, the scope itself."""
        home = await home_of(self._bus, scope)
        return [home, *await self.parts(home)]

    async def parts(self, home: str) -> list[str]:
        """The scopes that are part of the memory of ``home``."""
        return [scope for scope, link in (await self.links()).items() if link.home == home]

    async def note(self, scope: str, link: Link) -> None:
        """Put a link into the index."""
        await self._bus.call("HSET", self._bus.keys.people, scope, _encode(link))

    async def remove(self, scope: str) -> None:
        """Take a link out of the index."""
        await self._bus.call("HDEL", self._bus.keys.people, scope)
