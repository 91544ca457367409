"""The current MEMORY.md of every scope. Texts that prompts need are cached."""

from collections import OrderedDict

from daemon.bus import Bus
from daemon.memory.opened import Recall

CACHED = 256
"""Scopes whose MEMORY.md a process keeps at hand."""

_NOTHING = Recall(text="", version=0)


class Current:
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
        if version is None:
            return _NOTHING
        cached = self._cached.get(scope)
        if cached is not None and cached[0] == checksum and cached[1].version == int(version):
            self._cached.move_to_end(scope)
            return cached[1]
        recall, checksum = await self.read(scope)
        self._cached[scope] = (checksum.encode(), recall)
        self._cached.move_to_end(scope)
        if len(self._cached) > CACHED:
            self._cached.popitem(last=False)
        return recall

    async def read(self, scope: str) -> tuple[Recall, str]:
        """MEMORY.md of exactly this scope, and its checksum."""
        key = self._bus.keys.memory(scope)
        text, version, checksum = await self._bus.call("HMGET", key, "text", "version", "checksum")
        return Recall(text=(text or b"").decode(), version=int(version or 0)), (checksum or b"").decode()
