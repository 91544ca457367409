"""What administrators decided about the people and groups of one channel."""

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Generic, Literal, TypeVar

import anyio
import msgspec

from daemon.access.access_rule import AccessEntry
from daemon.bus import Bus, Heard, Listener, load_script, pairs
from daemon.errors import UNREADABLE, BusUnavailable

# What changes seldom and is asked for all the time: kept in memory, read again when it is old or has changed.

_T = TypeVar("_T")


class AccessCache(Generic[_T]):
    """The newest known answer of ``read``."""

    def __init__(self, read: Callable[[], Awaitable[_T]], *, fresh_s: float) -> None:
        """``fresh_s``: how long an answer is used, should the word that it has changed get lost."""
        self._read = read
        self._fresh_s = fresh_s
        self._known: list[_T] = []
        self._asked = False
        self._until = 0.0
        self._changes = 0
        self._lock = anyio.Lock()

    def changed(self) -> None:
        """Read it again before the next answer."""
        self._changes += 1
        self._until = 0.0

    async def get(self) -> _T:
        """The answer; while Redis is away the last one that is known.

        Raises:
            BusUnavailable: Redis is away, and nothing is known yet.
        """
        self._asked = True
        if not self._known or time.monotonic() >= self._until:
            await self._look()
        return self._known[0]

    async def renew(self) -> None:
        """Read it, if it was asked for since the last time: nobody has to wait for it when it is old."""
        if not self._asked:
            return
        self._asked = False
        async with self._lock:
            with suppress(Exception):  # whoever asks when it is old is told
                await self._again()

    async def _look(self) -> None:
        async with self._lock:  # many ask at once: one reads
            if self._known and time.monotonic() < self._until:
                return
            try:
                await self._again()
            except BusUnavailable:
                if not self._known:
                    raise

    async def _again(self) -> None:
        changes = self._changes
        self._known = [await self._read()]
        # What changed while it was read is read again.
        self._until = time.monotonic() + self._fresh_s if changes == self._changes else 0.0


CHANGE = load_script(__file__, "change.lua", with_parts=("access.part.lua",))

FRESH_S = 5.0
"""How often what was decided is read, should the word that it has changed get lost."""

Changed = Literal["done", "none", "late"]
"""``none``: there was no ban to lift; ``late``: something newer was decided."""

_decode = msgspec.json.Decoder(AccessEntry).decode


class Access:
    """The decisions about one channel, as this process knows them.

    All methods raise BusUnavailable when Redis is away.
    """

    def __init__(self, bus: Bus, channel: str) -> None:
        self._bus = bus
        self._channel = channel
        self._cached: AccessCache[Mapping[str, AccessEntry]] = AccessCache(self.read, fresh_s=FRESH_S)

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

    async def entries(self) -> Mapping[str, AccessEntry]:
        """What was decided, by id; from memory where that is fresh enough."""
        return await self._cached.get()

    async def read(self) -> Mapping[str, AccessEntry]:
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


def _read(raw: bytes) -> AccessEntry | None:
    try:
        return _decode(raw)
    except UNREADABLE:
        return None  # a hand has spoilt it: it counts as none
