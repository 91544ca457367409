"""Upkeep of leases: renews those of this process, wakes overdue sessions, and receives stop commands."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import anyio
import msgspec
import structlog

from daemon.bus import mend, reap
from daemon.concurrency import SharedTimeout, until_tick
from daemon.errors import BusError, LeaseLost, brief
from daemon.events import Stop
from daemon.process import Process
from daemon.session import Claim, Sessions, after

# Holds a claim during the work on it. A stop command or a lost lease ends the work early.

_T = TypeVar("_T")


class ClaimHold:
    """One claim in the hands of this process."""

    def __init__(self, claim: Claim, *, held_until: float) -> None:
        self.claim = claim
        self.held_until = held_until
        """When the lease ends unless it is renewed, by this process's monotonic clock."""
        self.stop_upto = ""
        """Stream id of the stop that ends this work; empty while nobody asked."""
        self._lost = False
        self._scope: anyio.CancelScope | None = None

    def stop(self, upto: str) -> None:
        """End the work because a person wants it, unless the stop is older than what is being answered."""
        waiting = self.claim.begun.waiting
        # A message that its sender deleted is its own stop.
        if upto and waiting and not after(waiting[0].stream_id, upto):
            self.stop_upto = upto
            self._cancel()

    def lose(self) -> None:
        """End the work because somebody else may hold the session by now."""
        self._lost = True
        self._cancel()

    async def until(self, work: Callable[[], Awaitable[_T]], *, limit: SharedTimeout) -> _T | None:
        """What ``work`` gives, or None when a stop cut it short.

        Raises:
            LeaseLost: the lease was lost meanwhile.
            TimeoutError: it took longer than ``limit``.
        """
        if not self.stop_upto and not self._lost:
            with limit() as self._scope:
                return await work()
        if self._lost:
            raise LeaseLost(f"session {self.claim.session} is now held by another worker. The turn was not saved.")
        if not self.stop_upto:
            raise TimeoutError(f"the answer was not completed within {limit.seconds:g} s")
        return None

    def _cancel(self) -> None:
        if self._scope is not None:
            self._scope.cancel()


REAP_EVERY_S = 1.0
"""Longest pause between two passes of the reaper: with the lease it bounds how late a crash is noticed."""

MEND_EVERY_S = 60.0
"""How often is looked for sessions that have lost their deadline: only a hand can take it away."""

REAP_SOONEST_S = 0.02
"""Shortest pause: many deadlines close together share a pass."""

STOPS_KEPT = 1_000
"""Stops remembered for sessions that this process may be claiming just now."""

_log = structlog.get_logger()
_decode_stop = msgspec.json.Decoder(Stop).decode


class LeaseUpkeep:
    """Looks after the claims of one process; one pass for all of them, however many there are."""

    def __init__(self, process: Process, sessions: Sessions, held: Mapping[str, ClaimHold | None]) -> None:
        self._process = process
        self._queue = process.config.queue
        self._sessions = sessions
        self._held = held
        self._stops: OrderedDict[str, str] = OrderedDict()
        self._resting = anyio.CancelScope()
        """Of the pause between two passes of the reaper."""
        sessions.on_pause = self._reap_in
        self._now = asyncio.get_running_loop().time

    def hold(self, claim: Claim) -> ClaimHold:
        """A claim just made, with the stop that may have been asked for before this process knew that it has it."""
        hold = ClaimHold(claim, held_until=self._now() + self._queue.lease_s)
        if upto := claim.begun.stop_upto or self._stops.get(claim.session):
            hold.stop(upto)
        return hold

    async def renew_and_reap(self) -> None:
        """Renew, then reap, for ever: a process that slept must not wake its own sessions for others first."""
        renew_at = anyio.current_time() + self._queue.renew_s
        mend_at = anyio.current_time() + MEND_EVERY_S
        while True:
            if anyio.current_time() >= renew_at:
                renew_at = anyio.current_time() + self._queue.renew_s
                await self._renew()
            if anyio.current_time() >= mend_at:
                mend_at = anyio.current_time() + MEND_EVERY_S
                await self._mend()
            self._resting = anyio.CancelScope()
            pause_s = min(await self._reap(), renew_at - anyio.current_time())
            self._reap_in(pause_s)
            with self._resting:
                await anyio.sleep_forever()

    def _reap_in(self, seconds: float) -> None:
        """Have the next pass begin in so many seconds, unless it begins before."""
        at = anyio.current_time() + max(seconds, REAP_SOONEST_S)
        self._resting.deadline = min(self._resting.deadline, at)

    async def _renew(self) -> None:
        async with anyio.create_task_group() as tg:
            for hold in [hold for hold in self._held.values() if hold is not None]:
                tg.start_soon(self._renew_one, hold)

    async def _renew_one(self, hold: ClaimHold) -> None:
        asked_at = anyio.current_time()
        try:
            hold.stop(await self._sessions.renew(hold.claim))
        except LeaseLost:
            hold.lose()
        except BusError:
            if anyio.current_time() > hold.held_until:
                hold.lose()
        else:
            hold.held_until = asked_at + self._queue.lease_s

    async def _reap(self) -> float:
        """Wake what is overdue, give back what may be held in vain, and say how long the next pass may wait."""
        try:
            await self._sessions.release_abandoned()
            woken, nearest_s = await reap(self._process.bus, self._queue)
        except BusError as error:
            _log.debug("reaper.away", reason=brief(error))
            return until_tick(REAP_EVERY_S)
        if woken:
            _log.debug("reaper.woke", count=woken)
        pause_s = until_tick(REAP_EVERY_S)
        return pause_s if nearest_s is None else min(nearest_s, pause_s)

    async def _mend(self) -> None:
        try:
            mended = await mend(self._process.bus)
        except BusError as error:
            _log.debug("reaper.away", reason=brief(error))
        else:
            if mended:
                _log.warning("due.mended", count=mended)

    async def hear_stops(self) -> None:
        """Pass on every nudge, for ever."""
        async with self._process.listener.hear(self._process.bus.keys.nudges) as nudges:
            while True:
                heard = await nudges.next()
                if heard is None:
                    continue  # whatever was missed comes back with the next renewal
                stop = _decode_stop(heard)
                self._stops[stop.session] = stop.upto
                while len(self._stops) > STOPS_KEPT:
                    self._stops.popitem(last=False)
                hold = self._held.get(stop.session)
                if hold is not None:
                    hold.stop(stop.upto)
