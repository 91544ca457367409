"""Waits until replicas have received writes, and reports messages that a new master lacks."""

from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, NamedTuple, Never

import anyio
import msgspec
import structlog

from daemon.bus.command_batch import translated
from daemon.bus.pipeline_connection import Client, Part, PipelineConnection
from daemon.errors import BusError, TooFewReplicas

# Waits until replicas have received writes. All waiting callers share one question to the server.

ACKNOWLEDGE_S = 1.0
"""How long replicas may take; one that keeps up takes as long as the network does."""


@dataclass(eq=False)
class _Round:
    """Those who wait for the same answer."""

    acknowledged: int | None = None
    """Replicas that have what had been written when the question was sent; None: not asked yet."""


class Replication:
    """Asks how many replicas have received all writes."""

    def __init__(self, client: Client, channel: str, *, at_least: int) -> None:
        """Nothing happens yet.

        Args:
            client: of the server that is written to.
            channel: a channel on which nobody listens.
            at_least: replicas that have to acknowledge.
        """
        self._line = PipelineConnection(client)
        self._channel = channel
        self._at_least = at_least
        self._next = _Round()
        """Whoever comes now is answered with it."""
        self._asking = anyio.Lock()

    async def confirm(self) -> None:
        """Return when enough replicas have received all earlier writes.

        Raises:
            TooFewReplicas: they have not, within ``ACKNOWLEDGE_S``.
            BusUnavailable: Redis is away.
        """
        own = self._next
        async with self._asking:
            if own.acknowledged is None:
                self._next = _Round()  # what is written from here on may come too late for this question
                own.acknowledged = await self._ask()
        if own.acknowledged < self._at_least:
            raise TooFewReplicas(
                f"Redis stored the write, but only {own.acknowledged} replicas confirmed the change within "
                f"{ACKNOWLEDGE_S:g} s. redis.min_replicas requires {self._at_least}. Check the replicas."
            )

    async def aclose(self) -> None:
        """Close the connection."""
        await self._line.aclose()

    async def _ask(self) -> int:
        # WAIT counts from the last write of its own connection, so there has to be one. Replicas are sent all writes in
        # one order: who has this one has all before it.
        write = ("PUBLISH", self._channel, "")
        wait = ("WAIT", self._at_least, round(ACKNOWLEDGE_S * 1000))
        for answer in (answers := await self._line.ask([write, wait], block_s=ACKNOWLEDGE_S)):
            if isinstance(answer, BaseException):
                raise translated(answer) from answer
        return int(answers[-1])


# Reports accepted messages that a new Redis master lacks, since replicas follow the master with a delay.

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
                        reason="this message was lost when Redis switched to another master; the sender must send it "
                        "again",
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


class LostMessages(msgspec.Struct, frozen=True, kw_only=True):
    """Accepted messages that were lost in failovers within the last ``KEPT_S`` seconds."""

    count: int
    sessions: tuple[str, ...]
    """Their sessions, sorted."""
    since_s: float
    """Time since the newest loss."""


async def read_lost(call: Callable[..., Awaitable[Any]], key: str) -> LostMessages | None:
    """The lost messages that are stored under ``key``, or None. Errors as for ``Bus.call``."""
    found = [(name.decode(), float(at_s)) for name, at_s in await call("ZRANGE", key, 0, -1, "WITHSCORES")]
    if not found:
        return None
    seconds, _ = await call("TIME")
    newest_s = max(at_s for _, at_s in found)
    sessions = sorted({name.rpartition(" ")[0] for name, _ in found})
    return LostMessages(count=len(found), sessions=tuple(sessions), since_s=max(0.0, int(seconds) - newest_s))
