"""Standing by for a lease, doing what is to be done while it is held, standing by again."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import anyio
import structlog

from channels.leading.lease import Lease, Terms
from daemon.bus import Subscription
from daemon.errors import BusError
from daemon.process import Process

STANDBY_S = 5.0
"""How often the lease is asked for, should the word that it is free get lost."""

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
        )

    async def run(self, work: Callable[[Lease], Awaitable[None]]) -> None:
        """Whenever the lease can be had, do ``work`` with it, until the process stops; ``work`` ends by itself then."""
        leaders = self._process.bus.keys.leaders
        async with self._process.listener.hear(leaders) as resigned:
            while not self._process.stopping.is_set():
                lease = Lease(bus=self._process.bus, terms=self._terms)
                try:
                    await self.unless_stopping(partial(self._stand_by, lease, resigned))
                    if lease.left_s > 0:
                        _log.info("lease.taken", channel=self._channel, fence=lease.fence)
                        await work(lease)
                finally:
                    await lease.resign(channel=leaders, said=self._terms.key)

    @asynccontextmanager
    async def kept(self, lease: Lease) -> AsyncGenerator[anyio.CancelScope]:
        """Renew the lease for the length of the block, which is cancelled when it is lost."""

        async def keep(scope: anyio.CancelScope) -> None:
            await lease.keep()
            _log.warning("lease.lost", channel=self._channel, fence=lease.fence)
            scope.cancel()

        async with anyio.create_task_group() as background:
            with anyio.CancelScope() as scope:
                background.start_soon(keep, scope)
                yield scope
            background.cancel_scope.cancel()

    async def unless_stopping(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do ``work``; it is cancelled when the process stops."""

        async def cancel_at_stop() -> None:
            await self._process.stopping.wait()
            tg.cancel_scope.cancel()

        async with anyio.create_task_group() as tg:
            tg.start_soon(cancel_at_stop)
            await work()
            tg.cancel_scope.cancel()

    async def _stand_by(self, lease: Lease, resigned: Subscription) -> None:
        while True:
            try:
                left_s = await lease.ask()
            except (BusError, TimeoutError) as error:
                _log.warning("lease.away", channel=self._channel, reason=str(error))
                left_s = AWAY_PAUSE_S
            if lease.left_s > 0:
                return
            with anyio.move_on_after(min(left_s, STANDBY_S)):
                while await resigned.next() not in (None, self._terms.key.encode()):
                    pass
