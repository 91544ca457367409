"""One dispatcher: stands by for the lease of a channel and partition, and sends while it holds it."""

from collections.abc import Awaitable, Callable
from functools import partial

import anyio
import structlog

from channels.base import Channel
from channels.outbox.delivery import Delivery
from channels.outbox.feed import Feed
from channels.outbox.lease import Lease, Terms
from channels.outbox.ledger import Ledger
from channels.outbox.term import Term
from daemon.bus import Subscription
from daemon.config import PushConfig
from daemon.errors import BusError
from daemon.process import Process

STANDBY_S = 5.0
"""How often the lease is asked for, should the word that it is free get lost."""

AWAY_PAUSE_S = 0.5
"""Pause when Redis is away."""

_log = structlog.get_logger()


class Dispatcher:
    """Sends the replies of one channel instance and partition, whenever it can have the lease."""

    def __init__(self, process: Process, channel: Channel, config: PushConfig, *, partition: int, feed: Feed) -> None:
        self._process = process
        self._bus = process.bus
        queue = process.config.queue
        self._channel = channel
        self._partition = partition
        self._timeout_s = config.send_timeout_s
        self._feed = feed
        self._term: Term | None = None
        self._terms = Terms(
            key=self._bus.keys.leader(partition, channel.name),
            lease_s=queue.lease_s,
            renew_s=min(queue.renew_s, (queue.lease_s - config.send_timeout_s) / 3),
            worker=process.name,
        )

    @property
    def in_flight(self) -> int:
        """Chats that something is being sent to."""
        return self._term.in_flight if self._term else 0

    async def run(self) -> None:
        """Stand by, lead, stand by again, until the process stops."""
        async with self._process.listener.hear(self._bus.keys.leaders) as resigned:
            while not self._process.stopping.is_set():
                lease = Lease(bus=self._bus, terms=self._terms)
                try:
                    await self._unless_stopping(partial(self._stand_by, lease, resigned))
                    if lease.left_s > 0:
                        await self._lead(lease)
                finally:
                    await lease.resign(channel=self._bus.keys.leaders, said=self._terms.key)

    async def _stand_by(self, lease: Lease, resigned: Subscription) -> None:
        while True:
            try:
                left_s = await lease.ask()
            except (BusError, TimeoutError) as error:
                _log.warning("outbox.away", channel=self._channel.name, reason=str(error))
                left_s = AWAY_PAUSE_S
            if lease.left_s > 0:
                return
            with anyio.move_on_after(min(left_s, STANDBY_S)):
                while await resigned.next() not in (None, self._terms.key.encode()):
                    pass

    async def _lead(self, lease: Lease) -> None:
        _log.info("outbox.leads", channel=self._channel.name, fence=lease.fence)
        delivery = self._delivery(lease)
        async with anyio.create_task_group() as background:
            with anyio.CancelScope() as scope:
                background.start_soon(self._keep, lease, scope)
                async with delivery.ledger.kept(), anyio.create_task_group() as sends:
                    term = self._term = Term(self._process, delivery, partial(self._feed.look, self._partition), sends)
                    with self._feed.read(self._partition, term):
                        await self._unless_stopping(term.run)
                    scope.deadline = anyio.current_time() + self._process.config.run.grace_s
            background.cancel_scope.cancel()
        self._term = None

    def _delivery(self, lease: Lease) -> Delivery:
        return Delivery(
            channel=self._channel,
            ledger=Ledger(self._bus, partition=self._partition, channel=self._channel.name, nonce=lease.nonce),
            lease=lease,
            timeout_s=self._timeout_s,
            stopping=self._process.stopping,
        )

    async def _keep(self, lease: Lease, scope: anyio.CancelScope) -> None:
        await lease.keep()
        _log.warning("lease.lost", channel=self._channel.name, fence=lease.fence)
        scope.cancel()

    async def _unless_stopping(self, work: Callable[[], Awaitable[None]]) -> None:
        async def cancel_at_stop() -> None:
            await self._process.stopping.wait()
            tg.cancel_scope.cancel()

        async with anyio.create_task_group() as tg:
            tg.start_soon(cancel_at_stop)
            await work()
            tg.cancel_scope.cancel()
