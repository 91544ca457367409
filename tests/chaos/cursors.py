"""The cursors of a run, read all the time, past the proxy: none may ever be seen to go back."""

from collections.abc import Sequence
from contextlib import suppress

import anyio
from redis.asyncio import Redis
from redis.exceptions import RedisError

LOOK_S = 0.05


class Cursors:
    """Reads them until cancelled."""

    def __init__(self, redis: Redis, keys: Sequence[str], *, every_s: float = LOOK_S) -> None:
        """``keys``: of the sessions' hashes; ``every_s``: how often they are read."""
        self._redis = redis
        self._keys = keys
        self._every_s = every_s
        self._last = dict.fromkeys(keys, 0)
        self.looks = 0
        self.back: list[str] = []
        """Where one was seen below what it had been."""

    @property
    def total(self) -> int:
        """The sum of all, which grows as conversations are consolidated."""
        return sum(self._last.values())

    async def watch(self) -> None:
        """Look again and again; a server that is away has nothing to say."""
        while True:
            with suppress(RedisError, OSError):
                await self.look()
            await anyio.sleep(self._every_s)

    async def look(self) -> None:
        pipeline = self._redis.pipeline(transaction=False)
        for key in self._keys:
            pipeline.hget(key, "cursor")
        found = [int(cursor or 0) for cursor in await pipeline.execute()]
        self.looks += 1
        for key, cursor in zip(self._keys, found, strict=True):
            if cursor < self._last[key]:
                self.back.append(f"{key}: from {self._last[key]} to {cursor}")
            self._last[key] = cursor
