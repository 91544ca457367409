"""The cache of the web tools: its results may repeat a person's words, and can be fetched again."""

from daemon.forget.forget_context import Work

PLACES = 256
"""All there are: the first byte of a hash (``workers/tools/web/cache.py``)."""


async def forget_web_cache(work: Work) -> None:
    """Remove all of it, unless ``work`` only looks. Raises BusUnavailable."""
    if not work.looks:
        bus = work.stores.bus
        await bus.call("DEL", *map(bus.keys.web, range(PLACES)))
