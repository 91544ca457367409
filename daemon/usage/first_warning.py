"""Selects who warns the administrators of a limit that is nearly used up."""

from daemon.bus import Bus, load_script
from daemon.usage.usage_book import NOTED_S

WARN = load_script(__file__, "warn.lua")


async def is_first_warning(bus: Bus, limit: str, day: str, *, by: str) -> bool:
    """Whether ``by`` is the first on ``day`` to warn of ``limit``, a name with spaces; true again for that one.

    Raises:
        BusUnavailable: Redis is away; asking again is safe.
    """
    return bool(await bus.run(WARN, [bus.keys.usage_told(day)], [limit, by, NOTED_S * 1000]))
