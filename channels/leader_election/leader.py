"""Standing by for a lease, doing what is to be done while it is held, standing by again."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import anyio
import structlog

from channels.leader_election.lease import Lease, Terms
from channels.leader_election.lease_balance import Leads
from daemon.bus import Subscription
from daemon.errors import BusError, brief
from daemon.process import Process

STANDBY_S = 5.0
"""How often the lease is asked for, should the word that it is free get lost."""

CEDED_PAUSE_S = 1.0
"""Whoever gave it away asks for it again after this: by then the one who wished for it has heard that it is free."""

AWAY_PAUSE_S = 0.5
"""Pause when Redis is away."""

_log = structlog.get_logger()


class Leader:
    """One process's part in the leadership of ``key``, for ``channel``."""

    def __init__(self, process: Process, *, key: str, channel: str, longest_s: float) -> None:
        """``longest_s``: what one step of the work may take, during which the lease must surely last."""
        queue = process.config.queue
        self._process = process
        self._channel = channel
        self._terms = Terms(
            key=key,
            lease_s=queue.lease_s,
            renew_s=min(queue.renew_s, (queue.lease_s - longest_s) / 3),
            worker=process.name,
            leads=process.shared(Leads),
        )

    async def run(self, work: Callable[[Lease], Awaitable[None]]) -> None:
        """Whenever the lease can be had, do ``work`` with it, until the process stops.

        ``work`` ends by itself then, and when the lease is given to another process: see ``Lease.ending``.
        """
        leaders = self._process.bus.keys.leaders
        async with self._process.listener.hear(leaders) as resigned:
            while not self._process.stopping.is_set():
                lease = Lease(bus=self._process.bus, terms=self._terms)
                try:
                    await self._unless(self._process.stopping, partial(self._stand_by, lease, resigned))
                    if lease.left_s > 0:
                        _log.info("lease.taken", channel=self._channel, fence=lease.fence)
                        with self._terms.leads.one_more():
                            await work(lease)
                finally:
                    await lease.resign(channel=leaders, said=self._terms.key)
                if lease.ending.is_set():
                    await self._unless(self._process.stopping, partial(anyio.sleep, CEDED_PAUSE_S))

    @asynccontextmanager
    async def kept(self, lease: Lease) -> AsyncGenerator[anyio.CancelScope]:
        """Renew the lease for the length of the block, which is cancelled when it is lost."""

        async def keep(scope: anyio.CancelScope) -> None:
            await lease.keep()
            _log.warning("lease.lost", channel=self._channel, fence=lease.fence)
            scope.cancel()

        async def end_at_stop() -> None:
            await self._process.stopping.wait()
            lease.ending.set()

        async with anyio.create_task_group() as background:
            background.start_soon(end_at_stop)
            with anyio.CancelScope() as scope:
                background.start_soon(keep, scope)
                yield scope
            background.cancel_scope.cancel()

    async def until_ending(self, lease: Lease, work: Callable[[], Awaitable[None]]) -> None:
        """Do ``work`` inside ``kept``; it is cancelled when the lease is to be given back."""
        await self._unless(lease.ending, work)
        if lease.ending.is_set() and not self._process.stopping.is_set():
            _log.info("lease.ceded", channel=self._channel, fence=lease.fence)

    async def _unless(self, over: anyio.Event, work: Callable[[], Awaitable[None]]) -> None:
        async def cancel() -> None:
            await over.wait()
            tg.cancel_scope.cancel()

        async with anyio.create_task_group() as tg:
            tg.start_soon(cancel)
            await work()
            tg.cancel_scope.cancel()

    async def _stand_by(self, lease: Lease, resigned: Subscription) -> None:
        while True:
            try:
                left_s = await lease.ask()
            except (BusError, TimeoutError) as error:
                _log.warning("lease.away", channel=self._channel, reason=brief(error))
                left_s = AWAY_PAUSE_S
            if lease.left_s > 0:
                return
            with anyio.move_on_after(min(left_s, STANDBY_S)):
                while await resigned.next() not in (None, self._terms.key.encode()):
                    pass
