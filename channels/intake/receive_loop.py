"""Having an adapter receive for as long as the process runs."""

import anyio
import structlog

from channels.base import Channel
from channels.intake.intake import Intake
from daemon.process import Process

REST_S = 5.0
"""Pause before an adapter that failed receives again: it deals itself with a platform that is away."""


_log = structlog.get_logger()


async def receive(process: Process, channel: Channel, intake: Intake) -> None:
    """Let ``channel`` hand in what its platform says, until the process stops."""
    async with anyio.create_task_group() as tg:
        tg.start_soon(intake.run)
        tg.start_soon(_receive, channel, intake)
        await process.stopping.wait()
        tg.cancel_scope.cancel()


async def _receive(channel: Channel, intake: Intake) -> None:
    while True:
        try:
            return await channel.receive(intake)
        except Exception as error:  # noqa: BLE001 - the service's top: a bug in one adapter must not end the others
            _log.exception("receive.failed", channel=channel.name, reason=type(error).__name__)
        await anyio.sleep(REST_S)
