"""Logs accepted messages that a new Redis master lacks, because replicas follow the master with a delay."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import anyio
import structlog

from daemon.errors import BusError

RECENT = 4_096
"""Messages that are remembered: more than replicas that work are behind."""

RETRY_S = 0.5
"""Pause before a new master is asked, or asked again."""

_log = structlog.get_logger()


class _Message(NamedTuple):
    session: str
    message_id: str
    seen_key: str


class Failovers:
    """Checks after each failover which recent messages are missing. ``run`` must be running in a task group."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        """``call`` sends a command."""
        self._call = call
        self._recent: deque[_Message] = deque(maxlen=RECENT)
        self._changed = anyio.Event()

    def accepted(self, session: str, message_id: str, seen_key: str) -> None:
        """Remember a message. ``seen_key`` exists on each server that accepted the message."""
        self._recent.append(_Message(session, message_id, seen_key))

    def changed(self) -> None:
        """Record that another server became the master."""
        self._changed.set()

    async def run(self) -> None:
        """Log the missing messages after each failover, for ever."""
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            await anyio.sleep(RETRY_S)  # the old one may have answered a last time
            recent = tuple(self._recent)
            self._recent.clear()
            for message in recent:
                if not await self._is_there(message):
                    _log.warning(
                        "message.lost",
                        session=message.session,
                        message_id=message.message_id,
                        reason="the new Redis master does not have this message; the sender must send it again",
                    )

    async def _is_there(self, message: _Message) -> bool:
        while True:
            try:
                return bool(await self._call("EXISTS", message.seen_key))
            except BusError:
                await anyio.sleep(RETRY_S)
