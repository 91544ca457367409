"""Whether the Redis user of a process may do all that its roles do: looked at when it starts, said by ``/readyz``."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import anyio
import structlog

from daemon.bus import Bus
from daemon.bus.permissions import missing
from daemon.errors import BusError
from daemon.process import Process

AGAIN_S = 10.0
"""After permissions were missing: rules that an operator corrects count at once, also for open connections."""

_log = structlog.get_logger()


@dataclass
class RedisRights:
    """What the Redis user of this process may not do; shared by the process's services."""

    reason: str = ""
    """A sentence with the missing permissions; empty while none is known to be missing."""


async def watch(process: Process, *, roles: Sequence[str], task_status: anyio.abc.TaskStatus[None]) -> None:
    """A service: say which permissions are missing for these roles, until none is.

    The embedded server has one user, who may do everything.
    """
    task_status.started()
    forbidden = process.shared(RedisRights)
    while process.config.redis.url:
        with suppress(BusError):  # whoever needs the server is told
            lacking = await lacks(process.bus, roles)
            if lacking and lacking != forbidden.reason:
                _log.error("redis.forbidden", reason=lacking)
            forbidden.reason = lacking
            if not lacking:
                return
        await anyio.sleep(AGAIN_S)


async def lacks(bus: Bus, roles: Sequence[str]) -> str:
    """The permissions that are missing for ``roles``, with the remedy; empty when none is.

    Raises:
        BusUnavailable: Redis is away.
    """
    found = {role: await missing(bus, role) for role in roles}
    parts = [f"{', '.join(rules)} for the role {role}" for role, rules in found.items() if rules]
    if not parts:
        return ""
    return (
        f"The Redis user lacks the permissions {'; '.join(parts)}. Add the missing rules with ACL SETUSER. To print "
        "each role's rules, run `millpond redis-acl`."
    )
