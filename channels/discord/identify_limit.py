"""When the next session of a bot may begin, whose connections share Discord's limits of new sessions."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

from channels.discord.api_types import STARTS_FEW, SessionStarts
from daemon.errors import SendRefused

IDENTIFY_EVERY_S = 5.0
"""Shortest time between two new sessions (Gateway, "Rate Limiting")."""

FEW_STARTS = "Discord allows this bot only a few more sessions today, so Millpond starts them at longer intervals"


class IdentifyLimit:
    """The limit of one bot."""

    def __init__(self) -> None:
        self._concurrency = 1
        self._next_at: dict[int, float] = {}
        """By the key of the limit (``anyio.current_time``)."""
        self._next_of_few_at = 0.0
        self._turn = anyio.Lock()

    @asynccontextmanager
    async def turn(self, shard: int) -> AsyncGenerator[None]:
        """Wait until a session of ``shard`` may begin; others wait until the end of the block.

        Raises: SendRefused: that takes long.
        """
        async with self._turn:
            if (wait_s := self._next_of_few_at - anyio.current_time()) > IDENTIFY_EVERY_S:
                raise SendRefused(FEW_STARTS, retry_after_s=wait_s)
            await anyio.sleep_until(max(self._next_at.get(self._key(shard), 0.0), self._next_of_few_at))
            yield

    def count(self, shard: int, starts: SessionStarts) -> None:
        """A session of ``shard`` begins. Raises: SendRefused: Discord allows none."""
        self._concurrency = max(1, starts.max_concurrency)
        now, reset_s = anyio.current_time(), starts.reset_after / 1_000
        if starts.remaining <= 0:
            raise SendRefused("Discord does not allow this bot to start any more sessions today", retry_after_s=reset_s)
        rest_s = reset_s / starts.remaining if starts.remaining < STARTS_FEW else 0.0
        self._next_at[self._key(shard)] = now + IDENTIFY_EVERY_S
        self._next_of_few_at = now + rest_s

    def _key(self, shard: int) -> int:
        """Sessions with different keys may begin at a time (Gateway, "Sharding": ``rate_limit_key``)."""
        return shard % self._concurrency
