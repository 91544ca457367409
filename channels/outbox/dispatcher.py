"""One dispatcher: stands by for the lease of a channel and partition, and sends while it holds it."""

from functools import partial

import anyio

from channels.leader_election import Leader, Lease
from channels.live_display import Lead
from channels.outbox.delivery import Delivery, Means
from channels.outbox.delivery_state import Ledger
from channels.outbox.leader_term import Term
from channels.outbox.out_feed import Feed
from daemon.process import Process


class Dispatcher:
    """Sends the replies of one channel instance and partition, whenever it can have the lease."""

    def __init__(self, process: Process, means: Means, *, partition: int, feed: Feed) -> None:
        self._process = process
        self._means = means
        self._partition = partition
        self._feed = feed
        self._term: Term | None = None
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
            term = self._term = Term(self._process, delivery, partial(self._feed.look, self._partition), sends)
            lead = Lead(partition=self._partition, lease=lease, sends=sends, holds=term.holds)
            with self._feed.read(self._partition, term), self._means.showing.leading(lead):
                await self._leader.until_ending(lease, term.run)
            scope.deadline = anyio.current_time() + self._process.config.run.grace_s
        self._term = None

    def _delivery(self, lease: Lease) -> Delivery:
        name, bus = self._means.channel.name, self._process.bus
        return Delivery(
            means=self._means,
            ledger=Ledger(
                bus,
                partition=self._partition,
                channel=name,
                nonce=lease.nonce,
                attempts_max=self._process.config.queue.attempts_max,
            ),
            lease=lease,
        )
