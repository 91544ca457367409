"""What is published in passing: nudges for workers, and events for whoever watches a session.

One connection a process, however many watch. Everything heard here is advisory: whoever may have missed something (at
the start, after a reconnect, when it read too slowly) hears a ``None`` and reads the truth again.
"""

from collections import deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import structlog
from redis import exceptions as redis_errors

from daemon.bus.connection import Bus
from daemon.errors import MillpondError

BUFFER = 256
"""Messages kept for a slow reader; one more, and it loses them all and hears a None instead."""

POLL_S = 5.0
"""A server that says nothing for so long is asked whether it is there, and given the same time again to answer."""

_log = structlog.get_logger()

Heard = bytes | None
"""A published message, or None: something may have been missed."""


class Subscription:
    """What one reader has still to hear."""

    def __init__(self) -> None:
        self._heard: deque[Heard] = deque([None])
        self._event = anyio.Event()

    def put(self, heard: Heard) -> None:
        """Add a message without ever waiting: a slow reader delays nobody."""
        if heard is None or len(self._heard) >= BUFFER:
            self._heard.clear()
            heard = None
        self._heard.append(heard)
        self._event.set()

    async def next(self) -> Heard:
        """The next message, waiting for it."""
        while not self._heard:
            self._event = anyio.Event()
            await self._event.wait()
        return self._heard.popleft()


class Listener:
    """Hands published messages to those who asked for their channel; ``run`` must be running in a task group."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._readers: dict[str, set[Subscription]] = {}
        self._patterns: dict[str, set[Subscription]] = {}
        self._pubsub: Any = None

    @asynccontextmanager
    async def hear(self, channel: str) -> AsyncGenerator[Subscription]:
        """What is published on ``channel`` during the block."""
        async with self._reading(self._readers, channel, "subscribe") as reader:
            yield reader

    @asynccontextmanager
    async def hear_all(self, pattern: str) -> AsyncGenerator[Subscription]:
        """What is published on any channel that ``pattern`` matches, as Redis reads it, during the block."""
        async with self._reading(self._patterns, pattern, "psubscribe") as reader:
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
                    await self._tell(what.replace("sub", "unsub"), name)

    async def run(self) -> None:
        """Keep the connection, for ever."""
        while True:
            try:
                await self._listen()
            except (redis_errors.RedisError, OSError) as error:
                _log.debug("listener.lost", reason=type(error).__name__)
            await self._revive()

    async def _listen(self) -> None:
        pubsub = self._bus.client.pubsub(ignore_subscribe_messages=True)
        try:
            # A channel of our own keeps the subscriptions from ever being none, which would end the reading.
            asked, patterns = set(self._readers), set(self._patterns)
            await pubsub.subscribe(f"{self._bus.keys.prefix}:listeners", *asked)
            if patterns:
                await pubsub.psubscribe(*patterns)
            self._pubsub = pubsub
            # Whoever asked while that was on its way was told nothing: the connection was not there yet.
            if late := self._readers.keys() - asked:
                await pubsub.subscribe(*late)
            if late := self._patterns.keys() - patterns:
                await pubsub.psubscribe(*late)
            for readers in (*self._readers.values(), *self._patterns.values()):
                _dispatch(readers, None)
            while True:
                message = await _next_message(pubsub)
                if message["type"] == "message":
                    _dispatch(self._readers.get(message["channel"].decode(), ()), message["data"])
                elif message["type"] == "pmessage":
                    _dispatch(self._patterns.get(message["pattern"].decode(), ()), message["data"])
        finally:
            self._pubsub = None
            with anyio.move_on_after(1, shield=True):
                await pubsub.aclose()

    async def _revive(self) -> None:
        with anyio.move_on_after(POLL_S):
            try:
                await self._bus.revive()
            except MillpondError:
                await anyio.sleep(0.5)
            await anyio.sleep(0.05)

    async def _tell(self, what: str, channel: str) -> None:
        if self._pubsub is None:
            return  # the next connection subscribes to all that is asked for
        try:
            await getattr(self._pubsub, what)(channel)
        # AttributeError: the reader lost the connection meanwhile, and the library had taken its writer away.
        except (redis_errors.RedisError, OSError, AttributeError) as error:
            _log.debug("listener.lost", reason=type(error).__name__)


def _dispatch(readers: Iterable[Subscription], heard: Heard) -> None:
    for reader in readers:
        reader.put(heard)


async def _next_message(pubsub: Any) -> Any:
    """The next message, or the answer to a ping: a server that was stopped leaves its connections open."""
    for _ in range(2):
        # None is also what the answer to a subscription becomes.
        until = anyio.current_time() + POLL_S
        while (left_s := until - anyio.current_time()) > 0:
            message = await pubsub.get_message(timeout=left_s)
            if message is not None:
                return message
        await pubsub.ping()
    raise redis_errors.TimeoutError("the server says nothing")
