"""``[health]``: the state of a process for machines, with any role.

Its endpoints contain no text of conversations and change nothing. They need no token and accept any host name.
"""

import anyio
import structlog
from starlette.applications import Starlette

from channels.http import address_of, listen, serving
from channels.web.health_endpoints import Health
from daemon.process import Process

_log = structlog.get_logger()


async def serve(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Serve until cancelled; started once it listens.

    Raises:
        ConfigError: it cannot listen on its configured address.
    """
    config = process.config.health
    with await listen("health", config.host, config.port) as listening:
        async with serving(Starlette(routes=Health(process).routes), listening):
            _log.info("health.started", address=address_of(listening, config.host))
            task_status.started()
            await anyio.sleep_forever()
