"""``[health]``: how a process is, told to machines, whatever its roles.

Nothing here says what anybody wrote, and nothing can be changed: so it wants no token, and answers under every name.
"""

import anyio
import structlog
from starlette.applications import Starlette

from channels.http import address_of, listen, serving
from channels.web.health import Health
from daemon.process import Process

_log = structlog.get_logger()


async def serve(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Answer until cancelled; started when it listens.

    Raises:
        ConfigError: it cannot listen where it is configured to.
    """
    config = process.config.health
    with await listen("health", config.host, config.port) as listening:
        async with serving(Starlette(routes=Health(process).routes), listening):
            _log.info("health.started", address=address_of(listening, config.host))
            task_status.started()
            await anyio.sleep_forever()
