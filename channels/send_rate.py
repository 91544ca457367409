"""How fast a platform may be sent to: buckets in Redis that all processes share, asked for many chats at once."""

from collections.abc import Sequence

import anyio

from channels.base import Rate
from daemon.bus import Bus, ScriptRequest, Shared, load_script

PACE = load_script(__file__, "pace.lua")

PREVIEW_SHARE = 4
"""What is only shown in passing leaves this part of each bucket for replies, and at least one message."""

NAMES_MAX = 10_000
"""Chats and buckets remembered before those are forgotten whose time is over."""


class TokenBucket:
    """Lets through what is sent to one channel instance's platform.

    Who has to wait is told until when, each a little later than the one before: so those that wait for the same bucket
    come back one after the other, about in the order in which they asked; what wakes late may be overtaken.
    """

    def __init__(self, bus: Bus, channel: str) -> None:
        self._bus = bus
        self._channel = channel
        self._shared = Shared((bus.keys.pace(channel, ""),), ())
        self._queues: dict[str, float] = {}
        """When the next one that has to wait for a bucket may come back, by the event loop's clock."""
        self._promised: dict[str, float] = {}
        """When a chat that has to wait may come back."""
        self._refused: dict[str, float] = {}
        """Chats that the platform has told to wait, and until when."""

    def rest(self, chat: str, seconds: float) -> None:
        """Let nothing through to ``chat`` for ``seconds``: the platform refuses it until then (status 429)."""
        now = anyio.current_time()
        self._refused = {name: until for name, until in self._refused.items() if until > now}
        self._refused[chat] = now + seconds

    async def take(self, chat: str, rates: Sequence[Rate]) -> float:
        """Take room for one message to ``chat``: 0 when there was some, else the seconds after which to ask again.

        Raises:
            BusUnavailable: Redis is away.
        """
        if not rates:
            return 0.0
        now = anyio.current_time()
        if self._refused and (refused_s := self._refused.get(chat, 0.0) - now) > 0:
            return refused_s
        promised = self._promised.pop(chat, None)
        its_turn = promised is not None and promised <= now
        if not its_turn:
            # Whoever came earlier waits already.
            queued = [rate for rate in rates if self._queues.get(rate.bucket, 0.0) > now]
            if queued:
                return self._promise(chat, max(queued, key=lambda rate: self._queues[rate.bucket]), now, now)
        wait_ms, slowest = await self._ask(rates)
        if not wait_ms:
            return 0.0
        now = anyio.current_time()
        if its_turn:
            # Another process was faster: it is still its turn.
            self._promised[chat] = now + wait_ms / 1000
            return wait_ms / 1000
        return self._promise(chat, rates[slowest - 1], now + wait_ms / 1000, now)

    async def take_spare(self, rates: Sequence[Rate]) -> bool:
        """Take room for something that is only shown in passing, if enough is left for replies.

        Raises:
            BusUnavailable: Redis is away.
        """
        if not rates:
            return True
        now = anyio.current_time()
        if any(self._queues.get(rate.bucket, 0.0) > now for rate in rates):
            return False
        wait_ms, _ = await self._ask(rates, leave_room=True)
        return not wait_ms

    async def _ask(self, rates: Sequence[Rate], *, leave_room: bool = False) -> tuple[int, int]:
        keys = tuple(self._bus.keys.pace(self._channel, rate.bucket) for rate in rates)
        args: list[int] = [len(rates)]
        for rate in rates:
            args += (rate.count, max(1, round(rate.per_s * 1000)), _left_to_replies(rate) if leave_room else 0)
        wait_ms, slowest = await self._bus.share(PACE, self._shared, ScriptRequest(keys, tuple(args)))
        return wait_ms, slowest

    def _promise(self, chat: str, rate: Rate, free_at: float, now: float) -> float:
        at = max(free_at, self._queues.get(rate.bucket, 0.0))
        if len(self._queues) + len(self._promised) > NAMES_MAX:
            self._queues = {name: until for name, until in self._queues.items() if until > now}
            self._promised = {name: until for name, until in self._promised.items() if until > now}
        self._queues[rate.bucket] = at + rate.per_s / rate.count
        self._promised[chat] = at
        return max(at - now, 0.001)


def _left_to_replies(rate: Rate) -> int:
    """How many messages of a bucket are kept from what is only shown; of a single one, none."""
    return min(max(1, rate.count // PREVIEW_SHARE), rate.count - 1)
