"""Consuming sessions: wake up, claim, have the work done, hand over at the end.

A session is worked on by one worker at a time, under a lease. This module knows nothing of turns: it gives each claim
to an ``Answer`` and takes from it the claim of the session's next turn.
"""

from collections.abc import Callable
from typing import Protocol

import anyio
import structlog
from anyio.lowlevel import checkpoint

from daemon import metrics
from daemon.bus import take, wake
from daemon.errors import BusError, BusUnavailable, LeaseLost
from daemon.process import Process
from daemon.session import Claim, Sessions
from workers.backoff import after_attempts
from workers.hold import Hold
from workers.upkeep import Upkeep

CLAIM_TIMEOUT_S = 10.0
"""How long a claim may take: longer than the bus tries."""

RELEASE_TIMEOUT_S = 5.0
"""How long giving a session back may take; after that its lease has to run out."""

FULL_PAUSE_S = 1.0
"""Longest wait for a free slot before looking again."""

AWAY_PAUSE_S = 0.5
"""Pause when Redis is away."""

_log = structlog.get_logger()


class Answer(Protocol):
    """The work on one claim."""

    async def __call__(self, hold: Hold, *, go_on: Callable[[], bool]) -> Claim | None:
        """Work off the claim; the claim of the session's next turn, or None when the session was let go.

        Raises:
            LeaseLost: somebody else holds the session.
        """
        ...


class Consumer:
    """Claims sessions as long as slots are free, until the process stops."""

    def __init__(self, process: Process, sessions: Sessions, answer: Answer, *, slots: int) -> None:
        self._process = process
        self._sessions = sessions
        self._answer = answer
        self._slots = slots
        self._held: dict[str, Hold | None] = {}
        """What this process works on; None while it claims."""
        self._again: set[str] = set()
        """Sessions that were woken while they were worked on."""
        self._upkeep = Upkeep(process, sessions, self._held)
        self._freed = anyio.Event()

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
                    await self._take(turns)
                    scope.deadline = anyio.current_time() + self._process.config.run.grace_s
            background.cancel_scope.cancel()

    async def _take(self, turns: anyio.abc.TaskGroup) -> None:
        stopping = self._process.stopping
        while not stopping.is_set():
            # Reading is shielded, so this is where the loop can be cancelled.
            await checkpoint()
            free = self._slots - len(self._held)
            if free <= 0:
                self._freed = anyio.Event()
                with anyio.move_on_after(FULL_PAUSE_S):
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
                    self._held[session] = None
                    turns.start_soon(self.work, session)

    async def _taken(self, at_most: int) -> list[str]:
        try:
            # Never cancelled: what is popped and not read would sleep until the reaper finds it.
            with anyio.CancelScope(shield=True):
                return await take(self._process.bus, at_most=at_most)
        except BusError as error:
            _log.warning("queue.away", reason=str(error))
            await anyio.sleep(AWAY_PAUSE_S)
        return []

    async def work(self, session: str) -> None:
        """Work off what waits in a session that was woken, as far as it can be claimed."""
        with structlog.contextvars.bound_contextvars(session=session, worker=self._process.name):
            try:
                await self._claim_and_hold(session)
                while session in self._again and not self._process.stopping.is_set():
                    # Woken between our last commit and now: the wake-up was ours to use.
                    self._again.discard(session)
                    await self._claim_and_hold(session)
            except BusUnavailable as error:
                _log.warning("claim.abandoned", reason=str(error))
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
        hold = self._held[claim.session] = self._upkeep.hold(claim)
        try:
            return await self._answer(hold, go_on=lambda: not self._process.stopping.is_set())
        except LeaseLost:
            metrics.LEASES_LOST.inc()
            _log.warning("lease.lost", fence=claim.fence, attempt=claim.begun.attempts)
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(RELEASE_TIMEOUT_S, shield=True):
                await self._sessions.hand_over(claim)
                _log.info("turn.handed_over", fence=claim.fence)
            raise
        except BusUnavailable as error:
            _log.warning("turn.abandoned", reason=str(error))
            await self._give_back(claim)
        except Exception as error:  # noqa: BLE001 - the service's top: a bug in one turn must not end the others
            _log.exception("turn.failed", reason=type(error).__name__, attempt=claim.begun.attempts)
            await self._sessions.back_off(
                claim, delay_s=after_attempts(claim.begun.attempts, self._process.config.queue)
            )
        return None

    async def _give_back(self, claim: Claim) -> None:
        """Hand over as soon as Redis is back, or the next attempt would wait for the lease to run out."""
        with anyio.move_on_after(self._process.config.queue.lease_s):
            while True:
                try:
                    return await self._sessions.hand_over(claim)
                except BusUnavailable:
                    await anyio.sleep(AWAY_PAUSE_S)
