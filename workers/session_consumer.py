"""Consumes sessions: waits for wake-ups, claims sessions, starts the work, and hands sessions over at the end.

A session is worked on by one worker at a time, under a lease. This module knows nothing of turns: it gives each claim
to an ``Answer`` and takes from it the claim of the session's next turn.
"""

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Protocol

import anyio
import structlog
from anyio.lowlevel import checkpoint
from structlog.contextvars import bind_contextvars, clear_contextvars

from daemon import metrics
from daemon.bus import take, wake
from daemon.concurrency import Slots
from daemon.config import QueueConfig
from daemon.errors import BusError, BusUnavailable, LeaseLost, brief
from daemon.process import Process
from daemon.session import SUSPECT_DEATHS, Claim, Sessions
from workers.lease_upkeep import ClaimHold, LeaseUpkeep

# The delay before the next attempt of a session.

PARK_SHARE = 0.25
"""A parked message rests for this share of the time that it has been parked: tries thin out as an outage goes on."""

LOOK_S, LOOK_MAX_S, LOOK_SHARE = 5.0, 15.0, 0.1
"""Seconds after which a message looks whether a model works that another caller tries out: a claim, no call."""


def after_attempts(attempts: int, config: QueueConfig) -> float:
    """Seconds of rest after so many counted attempts: doubling."""
    return _jittered(min(config.backoff_max_s, config.backoff_min_s * 2 ** max(0, attempts - 1)))


def after_waiting(parked_s: float, config: QueueConfig, *, at_least_s: float = 0.0) -> float:
    """Seconds of rest for a message that has been parked for ``parked_s``, for something that is away.

    ``at_least_s`` is what the other side asked for; never more than ``backoff_max_s``.
    """
    # No longer than others look: one of them may find out meanwhile that it is back.
    rest_s = _jittered(max(config.backoff_min_s, min(LOOK_MAX_S, parked_s * PARK_SHARE)))
    return min(config.backoff_max_s, max(rest_s, at_least_s))


def after_looking(parked_s: float, config: QueueConfig) -> float:
    """Seconds of rest for a message whose model another one is trying out: the longer it waits, the more seldom."""
    return _jittered(min(config.backoff_max_s, LOOK_MAX_S, max(LOOK_S, parked_s * LOOK_SHARE)))


def _jittered(seconds: float) -> float:
    # Sessions that failed together must not return as one.
    return seconds * random.uniform(0.5, 1.0)


CLAIM_TIMEOUT_S = 10.0
"""How long a claim may take: longer than the bus tries."""

RELEASE_TIMEOUT_S = 5.0
"""How long giving a session back may take; after that its lease has to run out."""

FULL_PAUSE_S = 1.0
"""Longest wait for a free slot before looking again."""

TOGETHER_S = 0.0005
"""Pause after several sessions were ready at once: those that become so meanwhile are taken and claimed together."""

PUT_OFF_S = 5.0
"""Shortest pause of a message that is to be tried alone, in a process that has other work."""

AWAY_PAUSE_S = 0.5
"""Pause when Redis is away."""

_log = structlog.get_logger()
_counter = cache(metrics.CLAIMS.labels)


class Answer(Protocol):
    """The work on one claim."""

    async def __call__(self, hold: ClaimHold, *, go_on: Callable[[], bool]) -> Claim | None:
        """Work off the claim; the claim of the session's next turn, or None when the session was let go.

        Raises:
            LeaseLost: somebody else holds the session.
        """
        ...


class SessionConsumer:
    """Claims sessions as long as slots are free, until the process stops."""

    def __init__(self, process: Process, sessions: Sessions, answer: Answer, *, slots: int) -> None:
        self._process = process
        self._sessions = sessions
        self._answer = answer
        self._slots = slots
        self._held: dict[str, ClaimHold | None] = {}
        """What this process works on; None while it claims."""
        self._again: set[str] = set()
        """Sessions that were woken while they were worked on."""
        self._upkeep = LeaseUpkeep(process, sessions, self._held)
        self._work: Slots[Claim | list[str]] = Slots(self.work)
        self._freed = anyio.Event()
        self._is_exclusive = False
        """Whether all other sessions are kept out, for one that several workers have died with."""
        self._emptied = anyio.Event()
        self._patience_s = process.config.queue.lease_s / 2
        """Time for which a suspect waits for the other turns to end. Meanwhile, this process claims no sessions."""

    @property
    def holding(self) -> int:
        """How many sessions it holds or is claiming."""
        return len(self._held)

    async def run(self) -> None:
        """Consume until the process stops, then let the turns in progress finish, then hand over the rest."""
        async with anyio.create_task_group() as background:
            background.start_soon(self._upkeep.hear_stops)
            background.start_soon(self._upkeep.renew_and_reap)
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as turns:
                    self._work.open(turns)
                    await self._take()
                    self._work.close()
                    scope.deadline = anyio.current_time() + self._process.config.run.grace_s
            background.cancel_scope.cancel()

    async def _take(self) -> None:
        stopping = self._process.stopping
        while not stopping.is_set():
            # Reading is shielded, so this is where the loop can be cancelled.
            await checkpoint()
            free = self._slots - len(self._held)
            if free <= 0 or self._is_exclusive:
                self._freed = anyio.Event()
                with anyio.move_on_after(FULL_PAUSE_S):
                    await self._freed.wait()
                continue
            sessions = await self._taken(free)
            if stopping.is_set() or self._is_exclusive:
                with suppress(BusError):  # else the reaper wakes them
                    await wake(self._process.bus, sessions)
                continue
            self._share_out(sessions)
            if len(sessions) > 1:
                await anyio.sleep(TOGETHER_S)

    def _share_out(self, sessions: Sequence[str]) -> None:
        """Have sessions claimed, those of a partition together; a slot waits for no other partition's server."""
        groups: dict[int, list[str]] = {}
        for session in sessions:
            if session in self._held:
                self._again.add(session)
            else:
                self._held[session] = None
                groups.setdefault(self._process.bus.keys.partition(session), []).append(session)
        for group in groups.values():
            self._work.give(group)

    async def _taken(self, at_most: int) -> list[str]:
        try:
            # Never cancelled: what is popped and not read would sleep until the reaper finds it.
            with anyio.CancelScope(shield=True):
                return await take(self._process.bus, at_most=at_most)
        except BusError as error:
            _log.warning("queue.away", reason=brief(error))
            await anyio.sleep(AWAY_PAUSE_S)
        return []

    async def work(self, given: Claim | list[str]) -> None:
        """Work off a claim; of sessions that were woken, the first that can be claimed, the others in other slots."""
        if isinstance(given, Claim):
            await self._work_off(given)
            return
        clear_contextvars()
        claims = await self._claim(given)
        for claim in claims[1:]:
            self._work.give(claim)
        if claims:
            await self._work_off(claims[0])

    async def _claim(self, sessions: Sequence[str]) -> list[Claim]:
        """The claims of those sessions of one partition that can be claimed; the others are no longer held."""
        claims: list[Claim] = []
        try:
            with anyio.fail_after(CLAIM_TIMEOUT_S, shield=True):
                # Cancelled in the middle, sessions would be held under a nonce that nobody knows.
                claims = await self._sessions.claim_all(sessions)
            first = sum(claim.begun.attempts <= 1 and not claim.begun.deaths for claim in claims)
            _counter("first").inc(first)
            _counter("again").inc(len(claims) - first)
        except (BusError, TimeoutError) as error:
            _log.warning("claim.abandoned", reason=brief(error), count=len(sessions))
        finally:
            for session in set(sessions).difference(claim.session for claim in claims):
                self._let_go(session)
        return claims

    async def _work_off(self, claim: Claim) -> None:
        following: Claim | None = claim
        try:
            while following is not None:
                following = await self._hold(following)
        except BusError as error:
            # It could not even be given back: its lease has to run out.
            _log.warning("claim.abandoned", reason=brief(error), count=1)
        finally:
            self._let_go(claim.session)

    async def _answer_alone(self, hold: ClaimHold) -> Claim | None:
        """Work on what may be what kills workers, with no other session in this process.

        All others would die with it, and nobody would know which of them is the cause.
        """
        delay_s = PUT_OFF_S
        if not self._is_exclusive:
            self._is_exclusive = True
            try:
                if await self._is_emptied():
                    return await self._answer(hold, go_on=self._goes_on)
            finally:
                self._is_exclusive = False
            # Other sessions are claimed for as long as they have waited. The next wait is twice as long, so that it is
            # longer than any turn sooner or later.
            delay_s = max(delay_s, self._patience_s)
            self._patience_s *= 2
        await self._sessions.put_off(hold.claim, delay_s=delay_s)
        return None

    async def _is_emptied(self) -> bool:
        """Whether the suspect is the only session left, now or within the patience."""
        self._emptied = anyio.Event()
        if len(self._held) > 1:
            with anyio.move_on_after(self._patience_s):
                await self._emptied.wait()
        if is_emptied := len(self._held) == 1:
            self._patience_s = self._process.config.queue.lease_s / 2
        return is_emptied

    def _let_go(self, session: str) -> None:
        # While others are kept out the reaper wakes it.
        if session in self._again and not self._is_exclusive and not self._process.stopping.is_set():
            # Woken between our last look at it and now: the wake-up was ours to use.
            self._again.discard(session)
            self._held[session] = None
            self._work.give([session])
            return
        self._held.pop(session, None)
        self._again.discard(session)
        self._freed.set()
        if len(self._held) == 1:
            self._emptied.set()

    async def _hold(self, claim: Claim) -> Claim | None:
        hold = self._held[claim.session] = self._upkeep.hold(claim)
        clear_contextvars()
        bind_contextvars(session=claim.session, worker=self._process.name)
        try:
            if claim.begun.deaths >= SUSPECT_DEATHS and not hold.stop_upto:
                return await self._answer_alone(hold)
            return await self._answer(hold, go_on=self._goes_on)
        except LeaseLost:
            metrics.LEASES_LOST.inc()
            _log.warning("lease.lost", fence=claim.fence, attempt=claim.begun.attempts)
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(RELEASE_TIMEOUT_S, shield=True):
                await self._sessions.hand_over(claim)
                _log.info("turn.handed_over", fence=claim.fence)
            raise
        except BusUnavailable as error:
            _log.warning("turn.abandoned", reason=brief(error))
            await self._give_back(claim)
        except Exception as error:  # noqa: BLE001 - the service's top: a bug in one turn must not end the others
            _log.exception("turn.failed", reason=type(error).__name__, attempt=claim.begun.attempts)
            await self._sessions.back_off(
                claim, delay_s=after_attempts(claim.begun.attempts, self._process.config.queue)
            )
        return None

    def _goes_on(self) -> bool:
        return not self._is_exclusive and not self._process.stopping.is_set()

    async def _give_back(self, claim: Claim) -> None:
        """Hand over as soon as Redis is back, or the next attempt would wait for the lease to run out."""
        with anyio.move_on_after(self._process.config.queue.lease_s):
            while True:
                try:
                    return await self._sessions.hand_over(claim)
                except BusUnavailable:
                    await anyio.sleep(AWAY_PAUSE_S)
