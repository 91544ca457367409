"""One dispatcher: stands by for the lease of a channel and partition, and sends while it holds it."""

from functools import partial

import anyio

from channels.base import Channel
from channels.leading import Leader, Lease
from channels.outbox.delivery import Delivery
from channels.outbox.feed import Feed
from channels.outbox.ledger import Ledger
from channels.outbox.term import Term
from daemon.config import PushConfig
from daemon.process import Process


class Dispatcher:
    """Sends the replies of one channel instance and partition, whenever it can have the lease."""

    def __init__(self, process: Process, channel: Channel, config: PushConfig, *, partition: int, feed: Feed) -> None:
        self._process = process
        self._channel = channel
        self._partition = partition
        self._timeout_s = config.send_timeout_s
        self._feed = feed
        self._term: Term | None = None
        self._leader = Leader(
            process,
            key=process.bus.keys.leader(partition, channel.name),
            channel=channel.name,
            longest_s=config.send_timeout_s,
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
            term = self._term = Term(self._process, delivery, partial(self._feed.look, self._partition), sends)
            with self._feed.read(self._partition, term):
                await self._leader.unless_stopping(term.run)
            scope.deadline = anyio.current_time() + self._process.config.run.grace_s
        self._term = None

    def _delivery(self, lease: Lease) -> Delivery:
        return Delivery(
            channel=self._channel,
            ledger=Ledger(self._process.bus, partition=self._partition, channel=self._channel.name, nonce=lease.nonce),
            lease=lease,
            timeout_s=self._timeout_s,
            stopping=self._process.stopping,
        )
