"""Consolidates a session: takes its lock, runs the rounds and releases the lock. A process has one consolidator."""

from functools import partial

import anyio
import structlog
from structlog.contextvars import bound_contextvars

from daemon.errors import LockLost, brief
from daemon.memory import Memories
from daemon.memory.files import MemoryFiles
from daemon.process import Process
from daemon.session import Lock, Locks
from workers.consolidation.held import Ended, hold
from workers.consolidation.kits import Kits
from workers.consolidation.rounds import Rounds
from workers.consolidation.stores import Stores
from workers.consolidation.want import BACKGROUND, Report, Want
from workers.limit_warnings import LimitWarnings

LOOK_S = 0.2
"""How often a turn that waits for somebody else's consolidation looks whether it is over."""

_log = structlog.get_logger()


def stores_of(process: Process) -> Stores:
    """What consolidations need of a process."""
    config, memories = process.config, Memories(process.bus, process.archive)
    return Stores(
        config=config,
        bus=process.bus,
        locks=Locks(process.bus, config.queue, worker=process.name),
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

    def __init__(self, stores: Stores, kits: Kits) -> None:
        self.stores = stores
        self._kits = kits

    async def consolidate(self, session: str, want: Want = BACKGROUND) -> Report:
        """Consolidate as much of ``session`` as it takes to reach the target.

        Whatever ends it early, a failure or a cancellation, nothing is lost: the next one goes on from there.

        Raises:
            BusError: Redis is away.
            ConfigError: its bot is not configured here.
        """
        lock = await self.stores.locks.take(session)
        if lock is None:
            return Report(outcome="busy")
        with bound_contextvars(session=session, fence=lock.fence):
            return await self._under(lock, want)

    async def aclose(self) -> None:
        """Close the models' connections."""
        await self._kits.aclose()

    async def _under(self, lock: Lock, want: Want) -> Report:
        report = Report(first=lock.cursor, upto=lock.cursor)

        async def work(ended: Ended) -> None:
            nonlocal report
            rounds = Rounds(self.stores, await self._kits.of(lock), ended, want)
            report = rounds.report
            await rounds.run()

        queue = self.stores.config.queue
        try:
            await hold(self.stores.locks, lock, work, renew_s=queue.renew_s, rest_s=queue.backoff_max_s)
        except LockLost as error:
            _log.warning("consolidation.lost", reason=brief(error))
            report.outcome = "busy"
        return report

    async def awaited(self, session: str, want: Want, *, within_s: float) -> Report:
        """As ``consolidate``, for somebody who waits at most ``within_s``, also for one under way elsewhere."""
        report = Report(outcome="skipped")
        with anyio.move_on_after(within_s):
            report = await self.consolidate(session, want)
            while report.outcome == "busy":
                await anyio.sleep(LOOK_S)
                report = await self.consolidate(session, want)
        return report
