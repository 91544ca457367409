"""The location of the memory of a scope: its own, or the memory that it was joined with."""

from dataclasses import dataclass

from daemon.bus import Bus, load_script
from daemon.errors import MemoryMoving

HOME = load_script(__file__, "home.lua")

HOPS_MAX = 8
"""Memories that point to each other: one as a rule, two for the moment in which a third joins."""


@dataclass(frozen=True, kw_only=True)
class Home:
    """The location of the memory of a scope, for a turn."""

    scope: str
    is_bare: bool
    """Nothing was ever taken into it: no history, no note, no version, no link."""


async def home_for_turn(bus: Bus, scope: str) -> Home:
    """Like ``home_of``, in one call, and whether the memory has any content."""
    keys = bus.keys
    joined, there = await bus.run(HOME, [keys.memory(scope), keys.history(scope), keys.notes(scope)], [])
    if joined:
        return Home(scope=await home_of(bus, joined.decode()), is_bare=False)
    return Home(scope=scope, is_bare=not there)


async def home_of(bus: Bus, scope: str) -> str:
    """The scope whose memory, files and tools ``scope`` uses: itself unless it was merged into another one.

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
    """The error for writing a memory that is being merged."""
    return MemoryMoving(f"the memory of {scope} is being merged with another memory. Try again in a moment.")
