"""Results of the web tools for all workers: a fixed number of places in Redis, each with the newest result put there.

The place of a result follows from its name, so the cache is bounded without an index. A place remembers a hash of the
name alone: a query is the words of a person. Forgetting removes all places (``daemon/forget/web_cache.py``).
"""

import hashlib
import zlib

import msgspec

from daemon.bus import Bus
from daemon.config import BotConfig

TEXT_MAX_CHARS = 100_000
"""Longest text that is kept, and the most that a page is read of."""


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    digest: bytes
    text: bytes
    """Compressed by zlib."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Entry).decode


class WebCache:
    """The results of one bot: what one bot may read, another one may not."""

    def __init__(self, bus: Bus, name: str, bot: BotConfig) -> None:
        self._bus = bus
        self._bot = name
        self._ttl_ms = round(bot.web.cache_ttl_s * 1000)

    async def get(self, *name: str) -> str | None:
        """The text of a name; None if it is not known. Raises BusUnavailable."""
        digest = self._digest(name)
        found = await self._bus.call("GET", self._bus.keys.web(digest[0]))
        if not found:
            return None
        entry = _decode(found)
        return zlib.decompress(entry.text).decode() if entry.digest == digest else None

    async def put(self, text: str, *name: str) -> None:
        """Keep a text, at most ``TEXT_MAX_CHARS`` of it. Raises BusUnavailable."""
        digest = self._digest(name)
        entry = _Entry(digest=digest, text=zlib.compress(text[:TEXT_MAX_CHARS].encode("utf-8", "replace")))
        await self._bus.call("SET", self._bus.keys.web(digest[0]), _encode(entry), "PX", self._ttl_ms)

    def _digest(self, name: tuple[str, ...]) -> bytes:
        return hashlib.sha256(msgspec.json.encode((self._bot, name))).digest()
