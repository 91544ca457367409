"""Leader election by leases: one process at a time does what only one may do."""

import math
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial

import anyio
import msgspec
import structlog

from daemon.bus import Bus, Subscription, load_script
from daemon.errors import BusError, brief
from daemon.process import Process

# How many leases a process holds: who holds many gives some of them to processes that hold fewer.

CEDE_EVERY_S = 10.0
"""Shortest time between two leases that a process gives away. By then who stands by has asked again for all others
(``STANDBY_S``), and said how many it holds now: several would be given for the same want."""

WISH_S = 10.0
"""How long a wish counts: whoever stands by asks twice in this time."""

NOBODY = -1
"""Stands for the leases of whoever stands by, when nobody does."""


class LeaseBalance:
    """The leases of one process, for all channels; see ``Process.shared``."""

    def __init__(self) -> None:
        self.count = 0
        self._next_at = -math.inf

    @contextmanager
    def one_more(self) -> Generator[None]:
        """A lease is held for the length of the block."""
        self.count += 1
        try:
            yield
        finally:
            self.count -= 1

    def cedes(self, theirs: int) -> bool:
        """Whether a lease is given away now to a process that holds ``theirs``, or nobody (``NOBODY``)."""
        # Between two numbers next to each other a lease would go to and fro for ever.
        if theirs == NOBODY or self.count - theirs < 2 or time.monotonic() < self._next_at:
            return False
        self._next_at = time.monotonic() + CEDE_EVERY_S
        return True


# The lease of a dispatcher: one process sends the replies of a channel and partition, and knows until when.

LEAD = load_script(__file__, "lead.lua")
RESIGN = load_script(__file__, "resign.lua")

CALL_TIMEOUT_S = 10.0
"""How long asking for the lease may take: longer than the bus tries."""

RESIGN_TIMEOUT_S = 1.0

RENEW_ONLY = -1
"""Stands for the fence where nothing is to be taken."""


class LeaseTerms(msgspec.Struct, frozen=True, kw_only=True):
    """How long leases are, and whose."""

    key: str
    lease_s: float
    renew_s: float
    """Pause between renewals; short enough that most of the time enough is left for a send."""
    worker: str
    """Name of the process."""
    leads: LeaseBalance = msgspec.field(default_factory=LeaseBalance)
    """Its leases."""


@dataclass(kw_only=True)
class Lease:
    """One process's time as the dispatcher, or its attempt to become it."""

    bus: Bus
    terms: LeaseTerms
    nonce: str = field(default_factory=lambda: secrets.token_hex(8))
    fence: int = 0
    """Its number; 0 until it was seen."""
    ending: anyio.Event = field(default_factory=anyio.Event)
    """Set when it is given to another process, or this one stops: begin nothing, finish what runs."""
    _held_until: float = 0.0
    """By this process's monotonic clock, so that a stalled process knows that it is over."""
    _renewed: anyio.Event = field(default_factory=anyio.Event)

    async def ask(self) -> float:
        """Take the lease if it is free: 0 when it is held now, else the seconds until it may be.

        Raises:
            BusUnavailable, TimeoutError: Redis is away; asking again is safe.
        """
        # Cut in the middle, it might be held under a nonce that nobody uses.
        with anyio.fail_after(CALL_TIMEOUT_S, shield=True):
            status, left_ms, _ = await self._lead(self.fence)
            if status == b"free":
                status, left_ms, _ = await self._lead(self.fence)
        if status == b"held":
            return 0.0
        return left_ms / 1000 if status == b"busy" else self.terms.renew_s

    async def keep(self) -> None:
        """Renew for as long as it is held; returns when it is lost.

        When a process that holds fewer wishes for it, ``ending`` is set.
        """
        while self.left_s > 0:
            await anyio.sleep(min(self.terms.renew_s, self.left_s))
            with anyio.move_on_after(max(self.left_s, 0.0)):
                try:
                    status, _, theirs = await self._lead(RENEW_ONLY)
                except BusError:
                    continue  # the bus has tried for a while; so does this, until the lease is over
                if status != b"held":
                    return
                if not self.ending.is_set() and self.terms.leads.cedes(theirs):
                    self.ending.set()

    @property
    def left_s(self) -> float:
        """How long it surely lasts."""
        return self._held_until - time.monotonic()

    def outlasts(self, seconds: float) -> bool:
        """Whether it surely lasts for so long."""
        return self._held_until - time.monotonic() >= seconds

    async def outlasting(self, seconds: float) -> None:
        """Wait until it surely lasts for so long: until the next renewal, at most."""
        while self.left_s < seconds:
            await self._renewed.wait()

    async def resign(self, *, channel: str, said: str) -> None:
        """Give it back, if it is held, and say so on ``channel``."""
        self._held_until = 0.0
        with anyio.move_on_after(RESIGN_TIMEOUT_S, shield=True):
            try:
                await self.bus.run(RESIGN, [self.terms.key], [self.nonce, channel, said])
            except BusError:
                return  # it runs out by itself

    async def _lead(self, fence: int) -> tuple[bytes, int, int]:
        asked_at, terms = time.monotonic(), self.terms
        status, seen, left_ms, theirs = await self.bus.run(
            LEAD,
            [terms.key],
            [self.nonce, fence, round(terms.lease_s * 1000), terms.worker, terms.leads.count, round(WISH_S * 1000)],
        )
        self.fence = seen
        if status == b"held":
            self._held_until = asked_at + terms.lease_s
            self._renewed.set()
            self._renewed = anyio.Event()
        return status, left_ms, theirs


# Standing by for a lease, doing what is to be done while it is held, standing by again.

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
        self._terms = LeaseTerms(
            key=key,
            lease_s=queue.lease_s,
            renew_s=min(queue.renew_s, (queue.lease_s - longest_s) / 3),
            worker=process.name,
            leads=process.shared(LeaseBalance),
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
