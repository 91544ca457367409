"""The outbox of one channel instance: a dispatcher for each partition, and one reader for all of them."""

import anyio

from channels.base import Channel
from channels.outbox.dispatcher import Dispatcher
from channels.outbox.feed import Feed
from daemon.config import PushConfig
from daemon.process import Process


class Outbox:
    """Sends the replies of one channel instance."""

    def __init__(self, process: Process, channel: Channel, config: PushConfig) -> None:
        self._feed = Feed(process.bus, channel.name)
        self._dispatchers = [
            Dispatcher(process, channel, config, partition=partition, feed=self._feed)
            for partition in range(process.bus.keys.partitions)
        ]

    @property
    def in_flight(self) -> int:
        """Chats that something is being sent to."""
        return sum(dispatcher.in_flight for dispatcher in self._dispatchers)

    async def run(self) -> None:
        """Send until the process stops and every send is over."""
        async with anyio.create_task_group() as reading:
            reading.start_soon(self._feed.run)
            async with anyio.create_task_group() as tg:
                for dispatcher in self._dispatchers:
                    tg.start_soon(dispatcher.run)
            reading.cancel_scope.cancel()
