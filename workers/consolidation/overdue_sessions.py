"""Finds the sessions that wait for a consolidation. If no consolidation worker comes for one, an agent does."""

import anyio
import structlog

from daemon.errors import BusError, ConfigError, brief
from workers.consolidation.consolidator import Consolidator
from workers.consolidation.shared_stores import Stores

STAND_IN_S = 60.0
"""After so long an agent consolidates a session itself: a sweep of the consolidation workers takes a few seconds."""

_log = structlog.get_logger()


async def overdue(stores: Stores, *, by_s: float = 0.0) -> list[str]:
    """The sessions whose time for consolidation came at least ``by_s`` seconds ago, of all partitions."""
    found: list[str] = []

    async def look(partition: int) -> None:
        try:
            found.extend(await stores.locks.due(partition, overdue_s=by_s))
        except BusError as error:  # other partitions may lie elsewhere
            _log.debug("queue.away", reason=brief(error))

    # At once, so that they share pipelines.
    async with anyio.create_task_group() as tg:
        for partition in range(stores.bus.keys.partitions):
            tg.start_soon(look, partition)
    return found


async def stand_in(consolidator: Consolidator, *, after_s: float = STAND_IN_S) -> None:
    """Consolidate the sessions for which no consolidation worker comes within ``after_s``, one at a time, for ever."""
    while True:
        await anyio.sleep(after_s)
        for session in await overdue(consolidator.stores, by_s=after_s):
            _log.debug("session.overdue", session=session)
            try:
                await consolidator.consolidate(session)
            except (BusError, ConfigError) as error:
                _log.warning("consolidation.put_off", session=session, reason=brief(error))
            except Exception:  # noqa: BLE001  one session's trouble must not end the work of the process
                _log.exception("consolidation.broken", session=session)
