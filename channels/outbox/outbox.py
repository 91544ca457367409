"""The outbox of one channel instance: a dispatcher for each partition, and one reader for all of them."""

from functools import partial

import anyio

from channels.base import Channel
from channels.leader_election import Leader, Lease
from channels.live_display import DisplayLeader, LiveDisplay
from channels.outbox.delivery import Delivery, Means
from channels.outbox.delivery_state import DeliveryState
from channels.outbox.leader_term import LeaderTerm
from channels.outbox.out_feed import OutFeed
from channels.outbox.reply_parts import ReplyParts
from channels.posted_messages import PostedMessages
from channels.send_rate import TokenBucket
from daemon.concurrency import SharedTimeout
from daemon.config import PushConfig
from daemon.process import Process

# One dispatcher: stands by for the lease of a channel and partition, and sends while it holds it.


class Dispatcher:
    """Sends the replies of one channel instance and partition, whenever it can have the lease."""

    def __init__(self, process: Process, means: Means, *, partition: int, feed: OutFeed) -> None:
        self._process = process
        self._means = means
        self._partition = partition
        self._feed = feed
        self._term: LeaderTerm | None = None
        self._leader = Leader(
            process,
            key=process.bus.keys.leader(partition, means.channel.name),
            channel=means.channel.name,
            longest_s=means.limit.seconds,
        )

    @property
    def in_flight(self) -> int:
        """Chats that something is being sent to."""
        return self._term.in_flight if self._term else 0

    async def run(self) -> None:
        """Stand by, lead, stand by again, until the process stops."""
        await self._leader.run(self._lead)

    async def _lead(self, lease: Lease) -> None:
        delivery = self._delivery(lease)
        async with (
            self._leader.kept(lease) as scope,
            delivery.ledger.kept(),
            anyio.create_task_group() as sends,
        ):
            term = self._term = LeaderTerm(self._process, delivery, partial(self._feed.look, self._partition), sends)
            lead = DisplayLeader(partition=self._partition, lease=lease, sends=sends, holds=term.holds)
            with self._feed.read(self._partition, term), self._means.showing.leading(lead):
                await self._leader.until_ending(lease, term.run)
            scope.deadline = anyio.current_time() + self._process.config.run.grace_s
        self._term = None

    def _delivery(self, lease: Lease) -> Delivery:
        name, bus = self._means.channel.name, self._process.bus
        return Delivery(
            means=self._means,
            ledger=DeliveryState(
                bus,
                partition=self._partition,
                channel=name,
                nonce=lease.nonce,
                attempts_max=self._process.config.queue.attempts_max,
            ),
            lease=lease,
        )


class Outbox:
    """Sends the replies of one channel instance, and shows what is being written."""

    def __init__(self, process: Process, channel: Channel, config: PushConfig) -> None:
        bot = process.config.bots.get(config.bot)
        pace = TokenBucket(process.bus, channel.name)
        self.showing = LiveDisplay(process, channel, config, pace)
        """Told of what is accepted on the channel."""
        self._feed = OutFeed(process.bus, channel.name)
        means = Means(
            channel=channel,
            contents=ReplyParts(channel, parts_max=config.parts_max, language=bot.language if bot else "en"),
            pace=pace,
            showing=self.showing,
            limit=SharedTimeout(config.send_timeout_s),
            posted=PostedMessages(process.bus, channel.name),
            hears_reactions=config.hear_reactions,
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
