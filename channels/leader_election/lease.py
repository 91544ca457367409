"""The lease of a dispatcher: one process sends the replies of a channel and partition, and knows until when."""

import secrets
import time
from dataclasses import dataclass, field

import anyio

from channels.leader_election.lease_balance import WISH_S, Leads
from daemon.bus import Bus, load_script
from daemon.errors import BusError

LEAD = load_script(__file__, "lead.lua")
RESIGN = load_script(__file__, "resign.lua")

CALL_TIMEOUT_S = 10.0
"""How long asking for the lease may take: longer than the bus tries."""

RESIGN_TIMEOUT_S = 1.0

RENEW_ONLY = -1
"""Stands for the fence where nothing is to be taken."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How long leases are, and whose."""

    key: str
    lease_s: float
    renew_s: float
    """Pause between renewals; short enough that most of the time enough is left for a send."""
    worker: str
    """Name of the process."""
    leads: Leads = field(default_factory=Leads)
    """Its leases."""


@dataclass(kw_only=True)
class Lease:
    """One process's time as the dispatcher, or its attempt to become it."""

    bus: Bus
    terms: Terms
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
