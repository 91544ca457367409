"""Published messages: stop notifications for workers, and events for viewers of a session.

One connection a process, however many watch. Everything heard here is advisory: whoever may have missed something (at
the start, after a reconnect, when it read too slowly) hears a ``None`` and reads the truth again.
"""

import math
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import msgspec
import structlog
from redis import exceptions as redis_errors

from daemon.bus.connection import Bus
from daemon.bus.pipeline_connection import ANSWER_TIMEOUT_S, SILENT_S, Client, Silence, connected, is_current, packed
from daemon.bus.script_batch import load_script
from daemon.concurrency import until_tick
from daemon.config import QueueConfig
from daemon.events import Live, ToolEvent

BUFFER = 256
"""Messages kept for a slow reader; one more, and it loses them all and hears a None instead."""

POLL_S = 1.0
"""A server that says nothing from one tick to the next is asked whether it is there."""

PAUSE_S = 0.05
"""First pause before another connection is opened; doubles up to a second."""

_log = structlog.get_logger()

Heard = bytes | None
"""A published message, or None: something may have been missed."""


class Subscription:
    """The messages that one reader has not read yet."""

    def __init__(self) -> None:
        self._heard: deque[Heard] = deque([None])
        self._event = anyio.Event()

    def put(self, heard: Heard) -> None:
        """Add a message without waiting, so that a slow reader does not delay others."""
        if heard is None or len(self._heard) >= BUFFER:
            self._heard.clear()
            heard = None
        self._heard.append(heard)
        self._event.set()

    async def next(self) -> Heard:
        """Wait for the next message and return it."""
        while not self._heard:
            self._event = anyio.Event()
            await self._event.wait()
        return self._heard.popleft()


class Listener:
    """Distributes published messages to the subscribers of their channel. ``run`` must be running in a task group."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._readers: dict[str, set[Subscription]] = {}
        self._patterns: dict[str, set[Subscription]] = {}
        self._connection: Any = None
        """On which is heard; None while there is none."""
        self._pause_s = PAUSE_S

    @asynccontextmanager
    async def hear(self, channel: str) -> AsyncGenerator[Subscription]:
        """Subscribe to ``channel`` during the block."""
        async with self._reading(self._readers, channel, "SUBSCRIBE") as reader:
            yield reader

    @asynccontextmanager
    async def hear_all(self, pattern: str) -> AsyncGenerator[Subscription]:
        """Subscribe to all channels that match the Redis pattern ``pattern`` during the block."""
        async with self._reading(self._patterns, pattern, "PSUBSCRIBE") as reader:
            yield reader

    @asynccontextmanager
    async def _reading(
        self, all_readers: dict[str, set[Subscription]], name: str, what: str
    ) -> AsyncGenerator[Subscription]:
        reader = Subscription()
        readers = all_readers.setdefault(name, set())
        readers.add(reader)
        try:
            if len(readers) == 1:
                await self._tell(what, name)
                # For those who joined meanwhile, too: until now nothing was heard.
                _dispatch(readers, None)
            yield reader
        finally:
            readers.discard(reader)
            if not readers:
                all_readers.pop(name, None)
                with anyio.move_on_after(1, shield=True):
                    await self._tell(what.replace("SUB", "UNSUB"), name)

    async def run(self) -> None:
        """Keep the connection open, for ever."""
        while True:
            try:
                await self._listen()
            except (redis_errors.RedisError, OSError) as error:
                _log.debug("listener.lost", reason=type(error).__name__)
            # Whoever calls meanwhile brings the server back.
            await anyio.sleep(self._pause_s)
            self._pause_s = min(2 * self._pause_s, 1.0)

    async def _listen(self) -> None:
        client = self._bus.any_server()
        with anyio.fail_after(ANSWER_TIMEOUT_S):
            # In RESP2, in which what is published comes as a plain list.
            connection = await connected(client, protocol=2)
        try:
            asked, patterns = set(self._readers), set(self._patterns)
            # Somebody has to subscribe to something: only then is a ping answered as what is published is told.
            await _send(connection, "SUBSCRIBE", f"{self._bus.keys.prefix}:listeners", *asked)
            await _send(connection, "PSUBSCRIBE", *patterns)
            self._connection, self._pause_s = connection, PAUSE_S
            # Whoever asked while that was on its way was told nothing: the connection was not there yet.
            await _send(connection, "SUBSCRIBE", *self._readers.keys() - asked)
            await _send(connection, "PSUBSCRIBE", *self._patterns.keys() - patterns)
            for readers in (*self._readers.values(), *self._patterns.values()):
                _dispatch(readers, None)
            while is_current(client, connection):
                if not await self._hear(connection, until_tick(POLL_S)):
                    await self._until_answered(client, connection)
            raise redis_errors.ConnectionError("another server has become the Redis master")
        finally:
            self._connection = None
            with anyio.move_on_after(1, shield=True):
                await connection.disconnect()

    async def _until_answered(self, client: Client, connection: Any) -> None:
        """Ask the server whether it is there: one that was stopped leaves its connections open.

        Raises:
            TimeoutError: it does not answer, or not on this connection.
        """
        await _send(connection, "PING", "there?")
        silence = Silence(client, connection)
        with anyio.fail_after(ANSWER_TIMEOUT_S):
            while not await self._hear(connection, SILENT_S):
                await silence.look()

    async def _hear(self, connection: Any, seconds: float) -> bool:
        """Hand on what comes within so many seconds; whether anything did."""
        heard = False
        # One limit for all of it: the library's, one for each message, costs as much as the message.
        with anyio.move_on_after(seconds):
            while True:
                with suppress(redis_errors.ResponseError):  # a ping is refused while the server's disk is full
                    self._hand_on(await connection.read_response(timeout=math.inf, disconnect_on_error=False))
                heard = True
        return heard

    def _hand_on(self, told: Any) -> None:
        match told:
            case [b"message", channel, data]:
                _dispatch(self._readers.get(channel.decode(), ()), data)
            case [b"pmessage", pattern, _, data]:
                _dispatch(self._patterns.get(pattern.decode(), ()), data)
            case _:
                """The answer to a subscription, or to a ping."""

    async def _tell(self, what: str, channel: str) -> None:
        connection = self._connection
        if connection is None or not connection.is_connected:
            return  # the next connection subscribes to all that is asked for
        try:
            await _send(connection, what, channel)
        except (redis_errors.RedisError, OSError) as error:
            _log.debug("listener.lost", reason=type(error).__name__)


def _dispatch(readers: Iterable[Subscription], heard: Heard) -> None:
    for reader in readers:
        reader.put(heard)


async def _send(connection: Any, what: str, *names: str) -> None:
    if names:
        with anyio.fail_after(ANSWER_TIMEOUT_S):
            await connection.send_packed_command(packed((what, *names)), check_health=False)


# Temporary events for viewers: text being written, and tools in progress. No other part relies on these events.

LIVE = load_script(__file__, "live.lua")

_encode = msgspec.json.Encoder().encode


async def show_live(bus: Bus, whole: Live, piece: Live, *, nonce: str, config: QueueConfig) -> None:
    """Publish ``piece``, and keep ``whole`` (the text so far) for viewers who join."""
    session = whole.session
    await bus.run(
        LIVE,
        [bus.keys.session(session), bus.keys.live(session)],
        [nonce, round(config.live_ttl_s * 1000), _encode(whole), bus.keys.events(session), _encode(piece)],
    )


async def notify(bus: Bus, event: ToolEvent) -> None:
    """Publish that a tool began or ended."""
    await bus.call("PUBLISH", bus.keys.events(event.session), _encode(event))
