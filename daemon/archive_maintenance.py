"""Keeping the archive: every process of ``millpond run`` says which one it uses, and orphans are deleted from it."""

import anyio
import structlog

from daemon import metrics
from daemon.archive.orphans import COLLECT_EVERY_S
from daemon.data.retention import EVERY_S, retain
from daemon.errors import MillpondError, brief
from daemon.process import Process

AGAIN_S = 60.0
"""After a failure: a disk or a store that is away is not away for a moment."""

_log = structlog.get_logger()


async def mark_archive(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """A service: note which archive this process reads, also when it writes none, and probe it while it hangs.

    Messages may leave Redis only when whoever shows them can read them back.
    """
    task_status.started()
    async with anyio.create_task_group() as tg:
        tg.start_soon(process.archive.storage.probe)
        await _mark(process)
        await process.stopping.wait()
        tg.cancel_scope.cancel()


async def _mark(process: Process) -> None:
    while not process.stopping.is_set():
        try:
            await process.archive.files.opened()
        except MillpondError as error:
            _log.warning("archive.failed", reason=brief(error))
            with anyio.move_on_after(AGAIN_S):
                await process.stopping.wait()
        else:
            return


async def keep_no_longer(process: Process) -> None:
    """Delete what is older than ``[retention]`` keeps it, for ever; all processes together once an hour."""
    while True:
        try:
            count = await retain(process.bus, process.archive, process.config.retention, process.clock)
        except MillpondError as error:
            _log.warning("retention.failed", reason=brief(error))
        else:
            if count:
                _log.info("retention.done", count=count)
        await anyio.sleep(EVERY_S)


async def collect_orphans(process: Process) -> None:
    """Delete files that nothing lists, for ever; all processes together once an hour."""
    while True:
        try:
            found = await process.archive.collect()
        except MillpondError as error:
            _log.warning("archive.failed", reason=brief(error))
        else:
            metrics.ORPHANS.inc(len(found.orphans))
            if found.orphans:
                _log.info("archive.collected", count=len(found.orphans))
        await anyio.sleep(COLLECT_EVERY_S)
