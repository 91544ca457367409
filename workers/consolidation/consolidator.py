"""Consolidates a session: takes its lock, runs the rounds and releases the lock. A process has one consolidator."""

from functools import partial

import anyio
import structlog
from anyio.abc import TaskGroup
from structlog.contextvars import bound_contextvars

from daemon.errors import LockLost, brief
from daemon.memory import Memories
from daemon.memory.memory_files import MemoryFiles
from daemon.process import Process
from daemon.session import ConsolidationLock, ConsolidationLocks
from workers.admin_messages import LimitWarnings
from workers.consolidation.consolidation_kits import Kits
from workers.consolidation.consolidation_request import (
    BACKGROUND,
    ConsolidationReport,
    ConsolidationRequest,
    SharedStores,
)
from workers.consolidation.consolidation_rounds import ConsolidationRounds
from workers.consolidation.lock_holder import LockOutcome, hold

LOOK_S = 0.2
"""How often a turn that waits for somebody else's consolidation looks whether it is over."""

_log = structlog.get_logger()


def stores_of(process: Process) -> SharedStores:
    """What consolidations need of a process."""
    config, memories = process.config, Memories(process.bus, process.archive)
    return SharedStores(
        config=config,
        bus=process.bus,
        locks=ConsolidationLocks(process.bus, config.queue, worker=process.name),
        memories=memories,
        archive=process.archive,
        files=MemoryFiles(memories, workspace_of=process.workspace, clock=process.clock),
        ledger=process.ledger,
        warnings=LimitWarnings(process.bus, config, process.clock),
        clock=process.clock,
        recalls=partial(process.recaller.snippets, limit=config.memory_search.max_results),
        wrote=process.recaller.wrote,
    )


class Consolidator:
    """Consolidates sessions, for the background, for turns that wait, and for whoever asks."""

    def __init__(self, stores: SharedStores, kits: Kits) -> None:
        self.stores = stores
        self._kits = kits
        self._tasks: TaskGroup | None = None

    def open(self, tasks: TaskGroup) -> None:
        """From now on, a consolidation for which somebody can wait no longer is finished in ``tasks``."""
        self._tasks = tasks

    async def consolidate(self, session: str, want: ConsolidationRequest = BACKGROUND) -> ConsolidationReport:
        """Consolidate as much of ``session`` as it takes to reach the target.

        Whatever ends it early, a failure or a cancellation, nothing is lost: the next one goes on from there.

        Raises:
            BusError: Redis is away.
            ConfigError: its bot is not configured here.
        """
        lock = await self.stores.locks.take(session, waits=want.awaited)
        if lock is None:
            return ConsolidationReport(outcome="busy")
        with bound_contextvars(session=session, fence=lock.fence):
            return await self._under(lock, want)

    async def aclose(self) -> None:
        """Close the models' connections."""
        await self._kits.aclose()

    async def _under(self, lock: ConsolidationLock, want: ConsolidationRequest) -> ConsolidationReport:
        report = ConsolidationReport(first=lock.cursor, upto=lock.cursor)

        async def work(ended: LockOutcome) -> None:
            nonlocal report
            rounds = ConsolidationRounds(self.stores, await self._kits.of(lock), ended, want)
            report = rounds.report
            await rounds.run()

        queue = self.stores.config.queue
        try:
            await hold(self.stores.locks, lock, work, renew_s=queue.renew_s, rest_s=queue.backoff_max_s)
        except LockLost as error:
            _log.warning("consolidation.lost", reason=brief(error))
            report.outcome = "busy"
        return report

    async def awaited(self, session: str, want: ConsolidationRequest, *, within_s: float) -> ConsolidationReport:
        """As ``consolidate``, for somebody who waits at most ``within_s``, also for one under way elsewhere.

        A consolidation that takes longer goes on: its requests are paid for.
        """
        if self._tasks is not None:
            return await _Awaited(self, session, want).report_of(self._tasks, within_s=within_s)
        report = ConsolidationReport(outcome="skipped")
        async with anyio.create_task_group() as tasks:
            report = await _Awaited(self, session, want).report_of(tasks, within_s=within_s)
            tasks.cancel_scope.cancel()
        return report


class _Awaited:
    """A consolidation for which somebody waits."""

    def __init__(self, consolidator: Consolidator, session: str, want: ConsolidationRequest) -> None:
        self._consolidator = consolidator
        self._session = session
        self._want = want
        self._report = ConsolidationReport(outcome="skipped")
        self._error: Exception | None = None
        self._is_awaited = True
        self._done = anyio.Event()

    async def report_of(self, tasks: TaskGroup, *, within_s: float) -> ConsolidationReport:
        tasks.start_soon(self._run)
        with anyio.move_on_after(within_s):
            await self._done.wait()
        self._is_awaited = False
        if self._error:
            raise self._error
        return self._report

    async def _run(self) -> None:
        try:
            self._report = await self._consolidated()
        except Exception as error:  # noqa: BLE001  for whoever waits; the process has other tasks
            self._error = error
            if not self._is_awaited:
                _log.warning("consolidation.failed", session=self._session, reason=brief(error))
        finally:
            self._done.set()

    async def _consolidated(self) -> ConsolidationReport:
        report = await self._consolidator.consolidate(self._session, self._want)
        while report.outcome == "busy" and self._is_awaited:
            self._report = report
            await anyio.sleep(LOOK_S)
            report = await self._consolidator.consolidate(self._session, self._want)
        return report
