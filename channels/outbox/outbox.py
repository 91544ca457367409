"""The outbox of one channel instance: a dispatcher for each partition, and one reader for all of them."""

import anyio

from channels.base import Channel
from channels.live_display import Showing
from channels.outbox.delivery import Means
from channels.outbox.dispatcher import Dispatcher
from channels.outbox.out_feed import Feed
from channels.outbox.reply_parts import Contents
from channels.send_rate import Pace
from daemon.config import PushConfig
from daemon.process import Process
from daemon.shared_timeout import Limit


class Outbox:
    """Sends the replies of one channel instance, and shows what is being written."""

    def __init__(self, process: Process, channel: Channel, config: PushConfig) -> None:
        bot = process.config.bots.get(config.bot)
        pace = Pace(process.bus, channel.name)
        self.showing = Showing(process, channel, config, pace)
        """Told of what is accepted on the channel."""
        self._feed = Feed(process.bus, channel.name)
        means = Means(
            channel=channel,
            contents=Contents(channel, parts_max=config.parts_max, language=bot.language if bot else "en"),
            pace=pace,
            showing=self.showing,
            limit=Limit(config.send_timeout_s),
        )
        self._dispatchers = [
            Dispatcher(process, means, partition=partition, feed=self._feed)
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
            reading.start_soon(self.showing.run)
            async with anyio.create_task_group() as tg:
                for dispatcher in self._dispatchers:
                    tg.start_soon(dispatcher.run)
            reading.cancel_scope.cancel()
