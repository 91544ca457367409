"""Where a scope's memory is: its own, or the one that it was joined with."""

from daemon.bus import Bus
from daemon.errors import MemoryMoving

HOPS_MAX = 8
"""Memories that point to each other: one as a rule, two for the moment in which a third joins."""


async def home_of(bus: Bus, scope: str) -> str:
    """The scope whose memory, files and tools those of ``scope`` are; its own unless it was joined with another.

    Raises:
        BusUnavailable: Redis is away.
    """
    for _ in range(HOPS_MAX):
        joined: bytes | None = await bus.call("HGET", bus.keys.memory(scope), "joined")
        if not joined:
            break
        scope = joined.decode()
    return scope


def moving(scope: str) -> MemoryMoving:
    """What is said to whoever wants to write a memory that cannot be written."""
    return MemoryMoving(f"the memory of {scope} is being joined with another one just now; try again in a moment")
