"""The role ``channels``: every configured channel that has its replies sent to a platform."""

import anyio
import structlog

from daemon.process import Process

PULL = ("terminal", "web")
"""Types whose viewers read the log; each has a home of its own (a person's terminal, the role ``web``)."""

_log = structlog.get_logger()


async def serve(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Run the push channels; with none configured it says so and waits for the end."""
    _log.info("channels.started", count=0)
    task_status.started()
    await process.stopping.wait()
