"""Reports accepted messages that a new Redis master lacks, since replicas follow the master with a delay."""

from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, NamedTuple, Never

import anyio
import structlog

from daemon.bus.pipeline_connection import Part
from daemon.errors import BusError

RECENT = 4_096
"""Messages that are remembered: more than replicas that work are behind."""

KEPT_S = 7 * 86_400
"""How long lost messages are reported."""

RETRY_S = 0.5
"""Pause before a new master is asked, or asked again."""

_log = structlog.get_logger()


class _Message(NamedTuple):
    session: str
    message_id: str
    seen_key: str


class Failovers:
    """Checks after each failover which recent messages are missing. ``run`` must be running in a task group."""

    def __init__(
        self, call: Callable[..., Awaitable[Any]], follow: Callable[[], Coroutine[Any, Any, Never]], lost_key: str
    ) -> None:
        """Nothing happens yet.

        Args:
            call: sends a command.
            follow: asks for the current master, for ever.
            lost_key: name of the key that stores lost messages.
        """
        self._call, self._follow, self._lost_key = call, follow, lost_key
        self._recent: deque[_Message] = deque(maxlen=RECENT)
        self._changed = anyio.Event()

    def accepted(self, session: str, message_id: str, seen_key: str) -> None:
        """Remember a message. ``seen_key`` exists on each server that accepted the message."""
        self._recent.append(_Message(session, message_id, seen_key))

    def changed(self) -> None:
        """Record that another server became the master."""
        self._changed.set()

    async def run(self) -> None:
        """Follow the master, and report the missing messages after each failover, for ever."""
        async with anyio.create_task_group() as tg:
            tg.start_soon(self._follow)
            tg.start_soon(self._tell)

    async def _tell(self) -> Never:
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            await anyio.sleep(RETRY_S)  # the old one may have answered a last time
            recent = tuple(self._recent)
            self._recent.clear()
            for message in recent:
                if not await self._patiently("EXISTS", message.seen_key):
                    await self._keep(message)
                    _log.warning(
                        "message.lost",
                        session=message.session,
                        message_id=message.message_id,
                        reason="this message was lost when Redis changed its master server; the sender must send the "
                        "message again",
                    )

    async def _keep(self, message: _Message) -> None:
        seconds, _ = await self._patiently("TIME")
        await self._patiently("ZADD", self._lost_key, int(seconds), f"{message.session} {message.message_id}")
        await self._patiently("ZREMRANGEBYRANK", self._lost_key, 0, -RECENT - 1)
        await self._patiently("EXPIRE", self._lost_key, KEPT_S)

    async def _patiently(self, *command: Part) -> Any:
        while True:
            try:
                return await self._call(*command)
            except BusError:
                await anyio.sleep(RETRY_S)


@dataclass(frozen=True, kw_only=True)
class Lost:
    """Accepted messages that were lost in failovers within the last ``KEPT_S`` seconds."""

    count: int
    sessions: tuple[str, ...]
    """Their sessions, sorted."""
    since_s: float
    """Time since the newest loss."""


async def read_lost(call: Callable[..., Awaitable[Any]], key: str) -> Lost | None:
    """The lost messages that are stored under ``key``, or None. Errors as for ``Bus.call``."""
    found = [(name.decode(), float(at_s)) for name, at_s in await call("ZRANGE", key, 0, -1, "WITHSCORES")]
    if not found:
        return None
    seconds, _ = await call("TIME")
    newest_s = max(at_s for _, at_s in found)
    sessions = sorted({name.rpartition(" ")[0] for name, _ in found})
    return Lost(count=len(found), sessions=tuple(sessions), since_s=max(0.0, int(seconds) - newest_s))
