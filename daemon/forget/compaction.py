"""Having the server write its files anew: what was removed stands in the old ones until then."""

from typing import Any

import anyio

from daemon.bus import Bus, on_every_node
from daemon.errors import BusError, BusUnavailable

PATIENCE_S = 600.0
"""How long one server may take."""

LOOK_S = 0.1

IN_PROGRESS = "already in progress"
"""What servers say to the second of two who want it at the same time (``rewriteAppendOnlyFileBackground``)."""


async def compacted(bus: Bus) -> list[str]:
    """Compact what every server keeps on its disk; why that could not be done, for people.

    Raises:
        BusUnavailable: Redis is away.
    """
    try:
        with anyio.fail_after(PATIENCE_S):
            await _until_idle(bus)
            while not await _has_begun(bus):
                await _until_idle(bus)
            await _until_idle(bus)
            abouts = await _persistence(bus)
    except TimeoutError:
        return [f"the Redis server did not rewrite its files within {PATIENCE_S:.0f} s. Run `BGREWRITEAOF` later."]
    except BusUnavailable:
        raise
    except BusError as error:
        return [
            f"the server does not let Millpond compact its files ({error}). The files contain the deleted data until "
            f"the server rewrites them automatically."
        ]
    if any(about.get("aof_last_bgrewrite_status", "ok") != "ok" for about in abouts):
        return [
            ("the server could not rewrite its files. Free some space on the server's disk, and run `BGREWRITEAOF`.")
        ]
    return []


async def _has_begun(bus: Bus) -> bool:
    """Whether the servers write anew; False when somebody else had one of them begin just before."""
    abouts = await _persistence(bus)
    try:
        await on_every_node(bus, "BGREWRITEAOF" if any(_number(about, "aof_enabled") for about in abouts) else "BGSAVE")
    except BusError as error:
        if IN_PROGRESS not in str(error):
            raise
        return False
    return True


async def _until_idle(bus: Bus) -> None:
    while await _is_busy(bus):  # noqa: ASYNC110 - the server tells nobody when it has written a file
        await anyio.sleep(LOOK_S)


async def _is_busy(bus: Bus) -> bool:
    names = ("aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress")
    return any(_number(about, name) for about in await _persistence(bus) for name in names)


async def _persistence(bus: Bus) -> list[dict[str, Any]]:
    return await on_every_node(bus, "INFO", "persistence")


def _number(about: dict[str, Any], name: str) -> int:
    return int(about.get(name, 0))
