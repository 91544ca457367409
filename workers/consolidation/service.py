"""The role ``consolidation``: reads ``session-grew`` as a member of the group ``consolidators``.

The event is a hint, the session's state decides: a commit that finds a session above its threshold puts it into
``unsettled``. What stands there too long, because its event was lost or its worker died, is found by the sweep. Beside
that it does jobs, see ``daemon.jobs``.
"""

from contextlib import aclosing

import anyio
import msgspec
import structlog
from anyio.lowlevel import checkpoint

from daemon.archive_maintenance import collect_orphans, keep_no_longer
from daemon.concurrency import Slots, until_tick
from daemon.errors import UNREADABLE, BusError, ConfigError, brief
from daemon.events import SessionGrew
from daemon.heartbeat import beat
from daemon.job_handlers import job_runner
from daemon.people import link_configured
from daemon.process import Process
from workers.consolidation.consolidation_kits import Kits
from workers.consolidation.consolidator import Consolidator, stores_of
from workers.consolidation.grew_reader import Event, GrewReader, overdue
from workers.consolidation.session_titles import HEAD_MAX, SessionTitles

AWAY_PAUSE_S = 0.5

LOOK_S = 1.0
"""How often is looked, while there is no room, whether the process is to stop."""

_log = structlog.get_logger()
_decode = msgspec.json.Decoder(SessionGrew).decode


async def serve(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Consolidate until the process stops; what is under way then is given back after the grace time."""
    kits = Kits(process)
    stores = stores_of(process)
    worker = Worker(process, Consolidator(stores, kits), SessionTitles(process, stores, kits))
    jobs = job_runner(process)
    try:
        async with anyio.create_task_group() as tg:
            tg.start_soon(beat, process, "consolidation", lambda: worker.holding)
            tg.start_soon(worker.sweep)
            tg.start_soon(collect_orphans, process)
            tg.start_soon(keep_no_longer, process)
            tg.start_soon(jobs.run, process.stopping)
            tg.start_soon(link_configured, process)
            worker.slots.open(tg)
            worker.entitling.open(tg)
            await process.unless_stopping(kits.warm)
            tg.start_soon(process.recaller.run)
            task_status.started()
            await worker.read()
            worker.slots.close()
            worker.entitling.close()
            with anyio.move_on_after(process.config.run.grace_s):
                await worker.done()
            tg.cancel_scope.cancel()
    finally:
        with anyio.move_on_after(1, shield=True):
            await kits.aclose()
            # Audits search.
            await process.recaller.aclose()


class Worker:
    """Consolidates the sessions that one process hears of."""

    def __init__(self, process: Process, consolidator: Consolidator, entitling: SessionTitles) -> None:
        self._process = process
        self._consolidator = consolidator
        self._config = process.config
        self._busy: set[str] = set()
        self._room = anyio.Condition()
        self.slots: Slots[str] = Slots(self._consolidate)
        self._entitling = entitling
        self._untitled: set[str] = set()
        self.entitling: Slots[str] = Slots(self._entitle)

    @property
    def holding(self) -> int:
        """Sessions it is at."""
        return len(self._busy)

    async def read(self) -> None:
        """Hear of sessions until the process stops; no more than there is room for."""
        async with aclosing(GrewReader(self._process.bus, consumer=self._process.name)) as reader:
            while not self._process.stopping.is_set():
                # Reading is shielded, so this is where the loop can be cancelled.
                await checkpoint()
                try:
                    for event in await reader.read():
                        await self._hear(event)
                        await reader.remove(event[0], event[1])
                except BusError as error:
                    _log.debug("queue.away", reason=brief(error))
                    await anyio.sleep(AWAY_PAUSE_S)

    async def sweep(self) -> None:
        """Look for sessions that nobody came for, for ever."""
        while True:
            await anyio.sleep(until_tick(self._config.queue.wakeup_s))
            for session in await overdue(self._consolidator.stores):
                _log.debug("session.overdue", session=session)
                await self._take(session)

    async def done(self) -> None:
        """Wait until nothing is under way."""
        async with self._room:
            while self._busy:
                await self._room.wait()

    async def _hear(self, event: Event) -> None:
        try:
            grew = _decode(event[2])
        except UNREADABLE as error:
            # Only a hint: the session's own state says what there is to do.
            _log.warning("event.unreadable", reason=type(error).__name__)
            return
        if grew.head <= HEAD_MAX and grew.session not in self._untitled:
            self._untitled.add(grew.session)
            self.entitling.give(grew.session)
        if await self._consolidator.stores.locks.wants(grew.session):
            await self._take(grew.session)

    async def _entitle(self, session: str) -> None:
        try:
            await self._entitling.entitle(session)
        finally:
            self._untitled.discard(session)

    async def _take(self, session: str) -> None:
        async with self._room:
            while len(self._busy) >= self._config.consolidation.slots and not self._process.stopping.is_set():
                with anyio.move_on_after(LOOK_S):
                    await self._room.wait()
        if session not in self._busy and not self._process.stopping.is_set():
            self._busy.add(session)
            self.slots.give(session)

    async def _consolidate(self, session: str) -> None:
        try:
            await self._consolidator.consolidate(session)
        except (BusError, ConfigError) as error:
            _log.warning("consolidation.put_off", session=session, reason=brief(error))
        except Exception:  # noqa: BLE001  one session's trouble must not end the work on all others
            _log.exception("consolidation.broken", session=session)
        finally:
            self._busy.discard(session)
            with anyio.CancelScope(shield=True):
                async with self._room:
                    self._room.notify_all()
