"""Events that came over a connection and wait to be taken: those of a chat in order, different chats side by side.

An event is acknowledged once it was taken, and never before. One that cannot be kept, because Redis is away, is held
and tried again in its place: a platform says it a few times more at most, and what was not kept by then would be lost.
An older event that arrives meanwhile, because the process to which the platform gave it did not acknowledge it, is
taken before those that wait.
"""

import random
from collections import deque
from collections.abc import Awaitable, Callable

import anyio
import anyio.abc
import msgspec
import structlog

from daemon import metrics

AT_A_TIME = 256
"""Chats whose events are taken side by side; most of that time goes by in waiting for names."""

CHAT_MAX = 2_000
"""Events of one chat that wait; those beyond are not acknowledged, and the platform says them again."""

WAITING_MAX_BYTES = 67_108_864
"""Size of all that wait, of all chats."""

HOLD_S = 600.0
"""How long one is held that cannot be kept: until after Slack's last repetition, which comes within six minutes."""

REST_MIN_S, REST_MAX_S = 0.2, 5.0
"""Rest before it is tried again, doubled with each time."""

_log = structlog.get_logger()


class QueuedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event that is to be taken."""

    chat: bytes
    """What it is about; events with the same are taken one after the other."""
    order: float = 0.0
    """Rises from event to event of a chat; 0: unknown."""
    size_bytes: int
    take: Callable[[], Awaitable[bool]]
    """Whether it need not be said again; called until it is so."""
    acknowledge: Callable[[], Awaitable[None]]
    """Called when it was taken; does not raise."""


class EventQueue:
    """Takes the events of one app, whichever of its connections they come by."""

    def __init__(self, tg: anyio.abc.TaskGroup, *, channel: str) -> None:
        """``tg`` has a task for each chat with something that waits."""
        self._tg = tg
        self._channel = channel
        self._chats: dict[bytes, deque[tuple[QueuedEvent, float]]] = {}
        """With each event, until when it is held, by the clock of the event loop."""
        self._waiting_bytes = 0
        self._limiter = anyio.CapacityLimiter(AT_A_TIME)

    def put(self, event: QueuedEvent) -> None:
        """Have it taken behind those of its chat that wait already; returns at once."""
        chat = self._chats.get(event.chat)
        waits = len(chat) if chat else 0
        if waits >= CHAT_MAX or self._waiting_bytes + event.size_bytes > WAITING_MAX_BYTES:
            metrics.UPDATES.labels(self._channel, "crowded").inc()
            _log.warning("event.crowded", channel=self._channel, count=waits)
            return
        waiting = (event, anyio.current_time() + HOLD_S)
        self._waiting_bytes += event.size_bytes
        if chat is not None:
            place = waits
            while place and 0 < event.order < chat[place - 1][0].order:
                place -= 1
            chat.insert(place, waiting)
            return
        chat = self._chats[event.chat] = deque([waiting])
        self._tg.start_soon(self._run, event.chat, chat)

    async def _run(self, key: bytes, chat: deque[tuple[QueuedEvent, float]]) -> None:
        rest_s = REST_MIN_S
        while chat:
            event, until = first = chat[0]
            async with self._limiter:
                is_taken = await event.take()
            if is_taken:
                await event.acknowledge()
            elif anyio.current_time() > until:
                metrics.UPDATES.labels(self._channel, "lost").inc()
                _log.error("event.lost", channel=self._channel, waited_s=HOLD_S)
            else:
                await anyio.sleep(rest_s * random.uniform(0.5, 1.0))
                rest_s = min(2 * rest_s, REST_MAX_S)
                continue  # perhaps with an older one
            rest_s = REST_MIN_S
            chat.remove(first)
            self._waiting_bytes -= event.size_bytes
        del self._chats[key]
