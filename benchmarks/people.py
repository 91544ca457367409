"""People who write to a bot: they publish onto the bus, as every channel does, and see when they are answered."""

import secrets
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import anyio

from daemon.bus import Bus, Listener, Subscription, open_bus, publish
from daemon.clock import SystemClock, stamp
from daemon.config import QueueConfig, RedisConfig
from daemon.events import Inbound
from daemon.sessionkey import SessionKey

ANSWER_LIMIT_S = 60.0
LOOK_S = 0.01
CHANNEL = "web"


class Watch:
    """Somebody who looks at one chat."""

    def __init__(self, heard: Subscription) -> None:
        self._heard = heard

    async def answered(self) -> float:
        """Wait for the chat's next answer; when it was heard of, by ``time.monotonic()``."""
        with anyio.fail_after(ANSWER_LIMIT_S):
            while b'"type":"moved"' not in (await self._heard.next() or b""):
                """Text that is being written, a tool at work."""
        return time.monotonic()


class People:
    """All of them, on one connection."""

    def __init__(self, bus: Bus, listener: Listener) -> None:
        self.bus = bus
        self._listener = listener
        self._clock = SystemClock()
        # A chat may know messages of others who came before.
        self._name = secrets.token_hex(4)
        self._numbers = count()

    def scope(self, chat: str) -> str:
        """Whose memory a chat's is: that of the one person who writes there."""
        return f"pond:person:{CHANNEL}:{chat}"

    async def say(self, chat: str, text: str, *, scope: str = "") -> float:
        """Publish a message; when it was accepted, by ``time.monotonic()``. ``scope``: as a rule that of the chat."""
        number = next(self._numbers)
        inbound = Inbound(
            id=f"{self._name}-{number}",
            bot="pond",
            channel=CHANNEL,
            chat=chat,
            sender_id=chat,
            text=text,
            command="stop" if text == "/stop" else "",
            received_at=stamp(self._clock.now()),
            correlation=f"{self._name}-{number}",
        )
        await publish(self.bus, inbound, scope=scope or self.scope(chat), config=QueueConfig())
        return time.monotonic()

    @asynccontextmanager
    async def watching(self, chat: str) -> AsyncGenerator[Watch]:
        """Somebody who looks at a chat during the block."""
        events = self.bus.keys.events(str(SessionKey(channel=CHANNEL, chat=chat)))
        async with self._listener.hear(events) as heard:
            await heard.next()  # the None of the beginning
            yield Watch(heard)

    async def waiting(self) -> int:
        """How many messages are not answered yet."""
        return int(await self.bus.call("XLEN", self.bus.keys.inbox(0)))

    async def all_answered(self) -> None:
        """Wait until no message waits."""
        with anyio.fail_after(ANSWER_LIMIT_S):
            while await self.waiting():  # noqa: ASYNC110 - the server tells nobody
                await anyio.sleep(LOOK_S)


@asynccontextmanager
async def people(folder: Path) -> AsyncGenerator[People]:
    """People who write to the bots of a data directory."""
    async with open_bus(RedisConfig(), folder) as bus, anyio.create_task_group() as tg:
        listener = Listener(bus)
        tg.start_soon(listener.run)
        yield People(bus, listener)
        tg.cancel_scope.cancel()
