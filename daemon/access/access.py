"""What administrators decided about the people and groups of one channel."""

from collections.abc import Mapping
from typing import Any, Literal

import anyio
import msgspec

from daemon.access.access_cache import Cached
from daemon.access.access_rule import Entry
from daemon.bus import Bus, Heard, Listener, load_script, pairs
from daemon.errors import UNREADABLE

CHANGE = load_script(__file__, "change.lua", with_parts=("access.part.lua",))

FRESH_S = 5.0
"""How often what was decided is read, should the word that it has changed get lost."""

Changed = Literal["done", "none", "late"]
"""``none``: there was no ban to lift; ``late``: something newer was decided."""

_decode = msgspec.json.Decoder(Entry).decode


class Access:
    """The decisions about one channel, as this process knows them.

    All methods raise BusUnavailable when Redis is away.
    """

    def __init__(self, bus: Bus, channel: str) -> None:
        self._bus = bus
        self._channel = channel
        self._cached: Cached[Mapping[str, Entry]] = Cached(self.read, fresh_s=FRESH_S)

    async def run(self, listener: Listener) -> None:
        """Hear of changes, for ever, so that nobody waits for them. Without it they are seen within ``FRESH_S``."""
        async with listener.hear(self._bus.keys.rulings) as rulings:
            while True:
                heard: Heard = b""
                with anyio.move_on_after(FRESH_S / 2):
                    heard = await rulings.next()
                if heard in (None, self._channel.encode()):
                    self._cached.changed()
                await self._cached.renew()

    async def entries(self) -> Mapping[str, Entry]:
        """What was decided, by id; from memory where that is fresh enough."""
        return await self._cached.get()

    async def read(self) -> Mapping[str, Entry]:
        """As ``entries``, from Redis."""
        found: Any = await self._bus.call("HGETALL", self._bus.keys.access(self._channel))
        return {name.decode(): entry for name, raw in pairs(found) if (entry := _read(raw)) is not None}

    async def decide(
        self,
        name: str,
        state: Literal["paired", "banned", "free"],
        *,
        by: str,
        time: str,
        called: str = "",
        at: str = "",
    ) -> Changed:
        """Let ``name`` in, ban it, or lift a ban; ``called`` is what people call it.

        ``at``: stream id of the command that wants it; said again, or late, it changes nothing. Empty: now.
        """
        keys = self._bus.keys
        status: bytes = await self._bus.run(
            CHANGE,
            [keys.access(self._channel)],
            [name, state, called, by, time, at, keys.rulings, self._channel],
        )
        self._cached.changed()
        changed: Changed = msgspec.convert(status.decode(), Changed)
        return changed


def _read(raw: bytes) -> Entry | None:
    try:
        return _decode(raw)
    except UNREADABLE:
        return None  # a hand has spoilt it: it counts as none
