"""Consuming sessions: wake up, claim, renew while the work goes on, stop it when asked, hand over at the end.

A session is worked on by one worker at a time, under a lease. This module keeps the lease and knows nothing of turns:
it gives each claim to an ``Answer`` and takes from it the claim of the session's next turn.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar, cast

import anyio
import msgspec
import structlog

from daemon import metrics
from daemon.bus import reap, take, wake
from daemon.errors import BusError, BusUnavailable, LeaseLost
from daemon.events import Stop
from daemon.process import Process
from daemon.session import Claim, Sessions, after
from workers.backoff import after_attempts

CLAIM_TIMEOUT_S = 10.0
"""How long a claim may take: longer than the bus tries."""

RELEASE_TIMEOUT_S = 5.0
"""How long giving a session back may take; after that its lease has to run out."""

REAP_EVERY_S = 1.0
"""Longest pause between two passes of the reaper: with the lease it bounds how late a crash is noticed."""

REAP_SOONEST_S = 0.02
"""Shortest pause: many deadlines close together share a pass."""

AWAY_PAUSE_S = 0.5
"""Pause when Redis is away."""

STOPS_KEPT = 1_000
"""Stops remembered for sessions that this process may be claiming just now."""

_log = structlog.get_logger()
_T = TypeVar("_T")
_decode_stop = msgspec.json.Decoder(Stop).decode


class StopSignal:
    """Tells the work on one claim that a person wants it to end."""

    def __init__(self, claim: Claim | None = None) -> None:
        self._first = claim.begun.waiting[0].stream_id if claim and claim.begun.waiting else ""
        self._scope: anyio.CancelScope | None = None
        self.upto = ""
        """Stream id of the stop; empty while nobody asked."""

    def request(self, upto: str) -> None:
        """End the work, unless the stop is older than the message that is being answered."""
        if upto and self._first and after(upto, self._first):
            self.upto = upto
            if self._scope is not None:
                self._scope.cancel()

    async def until(self, work: Callable[[], Awaitable[_T]]) -> _T | None:
        """What ``work`` gives, or None when a stop cut it short."""
        if self.upto:
            return None
        with anyio.CancelScope() as self._scope:
            return await work()
        return None


class Answer(Protocol):
    """The work on one claim."""

    async def __call__(self, claim: Claim, stop: StopSignal, *, go_on: Callable[[], bool]) -> Claim | None:
        """Work off the claim; the claim of the session's next turn, or None when the session was let go.

        Raises:
            LeaseLost: somebody else holds the session.
        """
        ...


class Consumer:
    """Claims sessions as long as slots are free, until the process stops."""

    def __init__(self, process: Process, sessions: Sessions, answer: Answer, *, slots: int) -> None:
        self._process = process
        self._queue = process.config.queue
        self._sessions = sessions
        self._answer = answer
        self._slots = slots
        self._held: dict[str, StopSignal] = {}
        self._again: set[str] = set()
        self._stops: OrderedDict[str, str] = OrderedDict()
        self._freed = anyio.Event()

    @property
    def holding(self) -> int:
        """How many sessions it holds or is claiming."""
        return len(self._held)

    async def run(self) -> None:
        """Consume until the process stops, then let the turns in progress finish, then hand over the rest."""
        async with anyio.create_task_group() as background:
            background.start_soon(self._hear_stops)
            background.start_soon(self._reap)
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as turns:
                    await self._take(turns)
                    scope.deadline = anyio.current_time() + self._process.config.run.grace_s
            background.cancel_scope.cancel()

    async def _take(self, turns: anyio.abc.TaskGroup) -> None:
        stopping = self._process.stopping
        while not stopping.is_set():
            free = self._slots - len(self._held)
            if free <= 0:
                self._freed = anyio.Event()
                with anyio.move_on_after(REAP_EVERY_S):
                    await self._freed.wait()
                continue
            sessions = await self._taken(free)
            if stopping.is_set():
                await wake(self._process.bus, sessions)
                return
            for session in sessions:
                if session in self._held:
                    self._again.add(session)
                else:
                    self._held[session] = StopSignal()
                    turns.start_soon(self._work, session)

    async def _taken(self, at_most: int) -> list[str]:
        try:
            # Never cancelled: what is popped and not read would sleep until the reaper finds it.
            with anyio.CancelScope(shield=True):
                return await take(self._process.bus, at_most=at_most)
        except BusError as error:
            _log.warning("queue.away", reason=str(error))
            await anyio.sleep(AWAY_PAUSE_S)
        return []

    async def _work(self, session: str) -> None:
        with structlog.contextvars.bound_contextvars(session=session, worker=self._process.name):
            try:
                await self._claim_and_hold(session)
                while session in self._again and not self._process.stopping.is_set():
                    # Woken between our last commit and now: the wake-up was ours to use.
                    self._again.discard(session)
                    await self._claim_and_hold(session)
            except BusUnavailable as error:
                _log.warning("turn.abandoned", reason=str(error))
            finally:
                self._held.pop(session, None)
                self._again.discard(session)
                self._freed.set()

    async def _claim_and_hold(self, session: str) -> None:
        with anyio.fail_after(CLAIM_TIMEOUT_S, shield=True):
            # Cancelled in the middle, the session would be held under a nonce that nobody knows.
            claim = await self._sessions.claim(session)
        while claim is not None:
            claim = await self._hold(claim)

    async def _hold(self, claim: Claim) -> Claim | None:
        stop = self._held[claim.session] = StopSignal(claim)
        stop.request(claim.begun.stop_upto or self._stops.get(claim.session, ""))
        try:
            return await self._renewed(claim, stop)
        except LeaseLost:
            metrics.LEASES_LOST.inc()
            _log.warning("lease.lost", fence=claim.fence, attempt=claim.begun.attempts)
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(RELEASE_TIMEOUT_S, shield=True):
                await self._sessions.hand_over(claim)
                _log.info("turn.handed_over", fence=claim.fence)
            raise
        except BusUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - the service's top: a bug in one turn must not end the others
            _log.exception("turn.failed", reason=type(error).__name__, attempt=claim.begun.attempts)
            await self._sessions.back_off(claim, delay_s=after_attempts(claim.begun.attempts, self._queue))
        return None

    async def _renewed(self, claim: Claim, stop: StopSignal) -> Claim | None:
        following = None
        try:
            async with anyio.create_task_group() as tg:
                tg.start_soon(self._renew, claim, stop)
                following = await self._answer(claim, stop, go_on=lambda: not self._process.stopping.is_set())
                tg.cancel_scope.cancel()
        except ExceptionGroup as group:
            # The work or the renewal failed and the other was cancelled; a lost lease is what matters most.
            failures = _flat(group)
            raise next((failure for failure in failures if isinstance(failure, LeaseLost)), failures[0]) from group
        return following

    async def _renew(self, claim: Claim, stop: StopSignal) -> None:
        held_until = anyio.current_time() + self._queue.lease_s
        while True:
            await anyio.sleep(self._queue.renew_s)
            asked_at = anyio.current_time()
            try:
                stop.request(await self._sessions.renew(claim))
                held_until = asked_at + self._queue.lease_s
            except BusUnavailable as error:
                if anyio.current_time() > held_until:
                    raise LeaseLost(f"Redis was away for longer than the lease of {claim.session}") from error

    async def _reap(self) -> None:
        while True:
            try:
                woken, nearest_s = await reap(self._process.bus, self._queue)
            except BusError as error:
                _log.debug("reaper.away", reason=str(error))
                nearest_s = None
            else:
                if woken:
                    _log.debug("reaper.woke", count=woken)
            pause_s = REAP_EVERY_S if nearest_s is None else min(max(nearest_s, REAP_SOONEST_S), REAP_EVERY_S)
            await anyio.sleep(pause_s)

    async def _hear_stops(self) -> None:
        async with self._process.listener.hear(self._process.bus.keys.nudges) as nudges:
            while True:
                heard = await nudges.next()
                if heard is None:
                    continue  # whatever was missed comes back with the next renewal
                stop = _decode_stop(heard)
                self._stops[stop.session] = stop.upto
                while len(self._stops) > STOPS_KEPT:
                    self._stops.popitem(last=False)
                if stop.session in self._held:
                    self._held[stop.session].request(stop.upto)


def _flat(error: Exception) -> list[Exception]:
    """The exceptions of a group and of the groups in it."""
    if not isinstance(error, ExceptionGroup):
        return [error]
    inner: tuple[Exception, ...] = cast("ExceptionGroup[Exception]", error).exceptions
    return [failure for part in inner for failure in _flat(part)]
