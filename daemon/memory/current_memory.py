"""MEMORY.md of every scope as it reads now, and as the prompts of a session show it.

What prompts ask for with every turn is kept at hand. Providers charge little for a prompt that begins like the one
before, so that the prompts of a session show one version until the session is consolidated: the field ``pinned:<s>``.
What a person changed, what was linked or forgotten is shown at once: the field ``pinned``.
"""

from collections import OrderedDict

import msgspec

from daemon.bus import Bus, load_script
from daemon.errors import UNREADABLE
from daemon.memory.locked_memory import Recall, decode_version

PIN = load_script(__file__, "pin.lua")

CACHED = 256
"""Scopes whose MEMORY.md a process keeps at hand."""

_NOTHING = Recall(text="", version=0)


class PinnedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """MEMORY.md as the prompts of a session show it."""

    scope: str
    """Whose memory it is: the home of the scope that was asked for."""
    text: str | None
    """Of the pinned version; None: nobody knows it any more."""
    version: int
    """0: none was there."""
    current: Recall


class CurrentMemory:
    """Reads current memories. All methods raise BusUnavailable if Redis is unavailable."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._cached: OrderedDict[str, tuple[bytes, Recall]] = OrderedDict()

    async def recall(self, scope: str) -> Recall:
        """MEMORY.md of the scope's home. The text is fetched only if it changed since the last call."""
        key = self._bus.keys.memory(scope)
        version, checksum, joined = await self._bus.call("HMGET", key, "version", "checksum", "joined")
        if joined:
            return await self.recall(joined.decode())
        return await self._recalled(scope, version, checksum)

    async def pinned(self, scope: str, session: str) -> PinnedMemory:
        """As ``recall``, with the version that the prompts of ``session`` show."""
        key = self._bus.keys.memory(scope)
        names = ("version", "checksum", "joined", "pinned", f"pinned:{session}", "versions_base")
        version, checksum, joined, *pins, base = await self._bus.call("HMGET", key, *names)
        if joined:
            return await self.pinned(joined.decode(), session)
        current = await self._recalled(scope, version, checksum)
        pin = max(int(pin or 0) for pin in pins)
        # A failover may have lost the version that was pinned.
        text = current.text if pin >= current.version else await self._text(scope, pin, int(base or 0))
        return PinnedMemory(scope=scope, text=text, version=min(pin, current.version), current=current)

    async def pin(self, scope: str, session: str, version: int) -> None:
        """Have the prompts of ``session`` show this version, of a scope that is a home."""
        await self._bus.run(PIN, [self._bus.keys.memory(scope)], [session, version])

    async def _text(self, scope: str, version: int, base: int) -> str | None:
        """Not kept at hand: what was forgotten in it must be gone at once."""
        if not version:
            return ""
        at = version - 1 - base
        found = await self._bus.call("LINDEX", self._bus.keys.versions(scope), at) if at >= 0 else None
        try:
            decoded = decode_version(found) if found else None
        except UNREADABLE:  # somebody changed it by hand
            return None
        return decoded.text if decoded and decoded.version == version else None

    async def _recalled(self, scope: str, version: bytes | None, checksum: bytes) -> Recall:
        if version is None:
            return _NOTHING
        cached = self._cached.get(scope)
        if cached is not None and cached[0] == checksum and cached[1].version == int(version):
            self._cached.move_to_end(scope)
            return cached[1]
        recall, read_checksum = await self.read(scope)
        self._cached[scope] = (read_checksum.encode(), recall)
        self._cached.move_to_end(scope)
        if len(self._cached) > CACHED:
            self._cached.popitem(last=False)
        return recall

    async def read(self, scope: str) -> tuple[Recall, str]:
        """MEMORY.md of exactly this scope, and its checksum."""
        key = self._bus.keys.memory(scope)
        text, version, checksum = await self._bus.call("HMGET", key, "text", "version", "checksum")
        return Recall(text=(text or b"").decode(), version=int(version or 0)), (checksum or b"").decode()
