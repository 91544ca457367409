"""What tests of hearing Slack share: an intake that does as it is told, and a process with sections that hear."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import anyio

from channels.arrival import Arrival
from channels.batch import one_by_one
from channels.slack.api import connect
from channels.slack.event_inlet import hear
from daemon.config import BotConfig, Config, SlackConfig
from daemon.errors import BusUnavailable
from daemon.process import Process
from tests.limits import HANG_S


@dataclass
class Heard:
    """An intake that keeps what it is given, as soon as it may."""

    arrivals: list[Arrival] = field(default_factory=list[Arrival])
    away: int = 0  # how often it says that it cannot keep anything
    slow: str = ""  # A chat whose messages wait for ``go``
    go: anyio.Event = field(default_factory=anyio.Event)
    begun: int = 0
    _changed: anyio.Event = field(default_factory=anyio.Event)

    async def take_run(self, arrivals: Sequence[Arrival]) -> int:
        return await one_by_one(self, arrivals)

    async def take(self, arrival: Arrival) -> None:
        self.begun += 1
        self._change()
        await anyio.lowlevel.checkpoint()
        if self.slow == arrival.chat:
            await self.go.wait()
        if self.away:
            self.away -= 1
            raise BusUnavailable("away")
        self.arrivals.append(arrival)
        self._change()

    async def until(self, count: int) -> list[str]:
        with anyio.fail_after(HANG_S):
            while len(self.arrivals) < count:
                await self._changed.wait()
        return self.texts

    async def until_begun(self, count: int) -> None:
        with anyio.fail_after(HANG_S):
            while self.begun < count:
                await self._changed.wait()

    @property
    def texts(self) -> list[str]:
        return [arrival.text for arrival in self.arrivals]

    def _change(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


def replica(process: Process, **channels: SlackConfig) -> Process:
    config = Config(queue=process.config.queue, channels=dict(channels), bots={"pond": BotConfig()})
    return replace(process, config=config, stopping=anyio.Event())


async def hear_one(process: Process, name: str, heard: Heard) -> None:
    config = process.config.channels[name]
    assert isinstance(config, SlackConfig)
    async with connect(config.base_url, config.bot_token) as api:
        await hear(process, name, config, api, heard)
