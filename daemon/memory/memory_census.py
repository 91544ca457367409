"""An overview of all memories: their owners and sizes."""

from collections.abc import Callable

import anyio
import msgspec

from daemon.bus import Bus, scan
from daemon.errors import ArchiveError, NoSuchVersion
from daemon.memory.memories import Memories

LOOKED_AT_MAX = 2_000
"""Memories of which is told when they changed; more have to be named more closely."""


class MemorySize(msgspec.Struct, frozen=True, kw_only=True):
    """The size of the memory of a scope."""

    scope: str
    version: int
    time: str
    """When that version was written; empty: there is none, or nobody can tell."""
    entries: int
    """Of its history."""
    notes: int


class MemoryCensus(msgspec.Struct, frozen=True, kw_only=True):
    """The requested memories."""

    known: list[MemorySize]
    """The one that changed last first."""
    more: int
    """How many there are besides."""


async def census_of(bus: Bus, memories: Memories, *, fits: Callable[[str], bool], limit: int) -> MemoryCensus:
    """The memories of the matching scopes. A memory that was joined with another belongs to that memory.

    Raises:
        BusUnavailable: Redis is away.
    """
    names = sorted([name async for found in scan(bus, "memory") for name in found if fits(name)])
    known: list[MemorySize] = []
    async with anyio.create_task_group() as tg:  # one tick, few pipelines
        for name in names[:LOOKED_AT_MAX]:
            tg.start_soon(_look, bus, memories, name, known)
    known.sort(key=lambda each: (each.time, each.scope), reverse=True)
    return MemoryCensus(known=known[:limit], more=len(known[limit:]) + len(names[LOOKED_AT_MAX:]))


async def _look(bus: Bus, memories: Memories, scope: str, known: list[MemorySize]) -> None:
    keys = bus.keys
    fields = await bus.call("HMGET", keys.memory(scope), "version", "joined", "history_base", "notes_base")
    number, joined, entries, notes = (value or b"" for value in fields)
    if joined:
        return
    found = MemorySize(
        scope=scope,
        version=int(number or 0),
        time=await _time(memories, scope, int(number or 0)),
        entries=int(entries or 0) + await bus.call("LLEN", keys.history(scope)),
        notes=int(notes or 0) + await bus.call("LLEN", keys.notes(scope)),
    )
    known.append(found)


async def _time(memories: Memories, scope: str, number: int) -> str:
    try:
        return (await memories.version(scope, number)).time if number else ""
    except (ArchiveError, NoSuchVersion):
        return ""
