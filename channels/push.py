"""The role ``channels``: every configured channel that has its replies sent to a platform."""

import anyio
import structlog

from daemon.heartbeat import beat
from daemon.process import Process

_log = structlog.get_logger()


async def serve(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Run the push channels; with none configured it says so and waits for the end."""
    _log.info("channels.started", count=0)
    async with anyio.create_task_group() as tg:
        tg.start_soon(beat, process, "channels", lambda: 0)
        task_status.started()
        await process.stopping.wait()
        tg.cancel_scope.cancel()
