"""Envelopes that came over a socket and wait to be taken: those of a chat in order, different chats side by side.

An envelope is acknowledged once it was taken, and never before. One that cannot be kept, because Redis is away, is held
and tried again in its place: Slack says it three times more at most, the last time some minutes later, and what was not
kept by then would be lost.
"""

import random
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.abc
import msgspec
import structlog

from channels.slack.workspaces import App, Kind, address_of
from daemon import metrics

AT_A_TIME = 256
"""Chats whose envelopes are taken side by side; most of that time goes by in waiting for names."""

CHAT_MAX = 2_000
"""Envelopes of one chat that wait; those beyond are not acknowledged, and Slack says them again."""

WAITING_MAX_BYTES = 67_108_864
"""Size of all that wait, of all chats."""

HOLD_S = 600.0
"""How long one is held that cannot be kept: until after Slack's last repetition, which comes within six minutes."""

REST_MIN_S, REST_MAX_S = 0.2, 5.0
"""Rest before it is tried again, doubled with each time."""

_KINDS: Mapping[str, Kind] = {"events_api": "events_api", "slash_commands": "slash_commands"}
_log = structlog.get_logger()


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """What comes over a socket, be it an envelope or a word about the connection."""

    type: str = ""
    envelope_id: str = ""
    payload: msgspec.Raw = msgspec.Raw(b"{}")
    reason: Any = ""
    """Of ``disconnect``: why."""
    num_connections: Any = 0
    """Of ``hello``: how many the app has now."""


@dataclass(frozen=True, kw_only=True)
class _Waiting:
    envelope: Envelope
    acknowledge: Callable[[], Awaitable[None]]
    size_bytes: int
    until: float
    """When it is given up, by the clock of the event loop."""


class Envelopes:
    """Takes envelopes of one app, whichever of its connections they come by."""

    def __init__(self, app: App, tg: anyio.abc.TaskGroup, *, channel: str) -> None:
        """``tg`` has a task for each chat with something that waits."""
        self._app = app
        self._tg = tg
        self._channel = channel
        self._chats: dict[bytes, deque[_Waiting]] = {}
        self._waiting_bytes = 0
        self._limiter = anyio.CapacityLimiter(AT_A_TIME)

    def put(self, envelope: Envelope, acknowledge: Callable[[], Awaitable[None]]) -> None:
        """Have it taken behind those of its chat that wait already; returns at once.

        ``acknowledge`` is called when it was taken; it does not raise.
        """
        key, size_bytes = _chat_of(envelope), len(bytes(envelope.payload))
        chat = self._chats.get(key)
        waits = len(chat) if chat else 0
        if waits >= CHAT_MAX or self._waiting_bytes + size_bytes > WAITING_MAX_BYTES:
            metrics.UPDATES.labels(self._channel, "crowded").inc()
            _log.warning("event.crowded", channel=self._channel, count=waits)
            return
        until = anyio.current_time() + HOLD_S
        waiting = _Waiting(envelope=envelope, acknowledge=acknowledge, size_bytes=size_bytes, until=until)
        self._waiting_bytes += size_bytes
        if chat is not None:
            chat.append(waiting)
            return
        chat = self._chats[key] = deque([waiting])
        self._tg.start_soon(self._run, key, chat)

    async def _run(self, key: bytes, chat: deque[_Waiting]) -> None:
        while chat:
            waiting = chat[0]
            if await self._taken(waiting):
                await waiting.acknowledge()
            chat.popleft()
            self._waiting_bytes -= waiting.size_bytes
        del self._chats[key]

    async def _taken(self, waiting: _Waiting) -> bool:
        rest_s = REST_MIN_S
        while True:
            async with self._limiter:
                if await self._app.take(_kind(waiting.envelope), waiting.envelope.payload):
                    return True
            if anyio.current_time() > waiting.until:
                metrics.UPDATES.labels(self._channel, "lost").inc()
                _log.error("event.lost", channel=self._channel, waited_s=HOLD_S)
                return False
            await anyio.sleep(rest_s * random.uniform(0.5, 1.0))
            rest_s = min(2 * rest_s, REST_MAX_S)


def _kind(envelope: Envelope) -> Kind:
    return _KINDS.get(envelope.type, "other")


def _chat_of(envelope: Envelope) -> bytes:
    try:
        return address_of(envelope.payload).chat
    except (ValueError, RecursionError):
        return b""
