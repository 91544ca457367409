"""Moves the beginning of a scope's lists to the archive, so that Redis holds a bounded part of each memory.

Any process may do it at any time: what is archived is compared with what Redis holds before anything leaves, and an
index stays what it was. Readers (``daemon.memory.scope_lists``) see no difference.
"""

from daemon.archive import Archive, Shelf
from daemon.bus import Bus
from daemon.errors import ArchiveError
from daemon.memory.scope_lists import Kind, ScopeLists

KEPT: dict[Kind, int] = {"versions": 20, "history": 200, "notes": 200}
"""How many records of each list stay in Redis at least: what people look at, and what a file lags behind by."""

SHELVED: dict[Kind, int] = {"versions": 10, "history": 50, "notes": 50}
"""How many leave at once, when there are so many more: one file of the archive each."""

AT_ONCE = 20
"""Files that are written one after the other at most: a memory from before there was this goes bit by bit."""


class Shelving:
    """Moves old records of all scopes to the archive."""

    def __init__(self, bus: Bus, lists: ScopeLists, archive: Archive) -> None:
        self._bus = bus
        self._lists = lists
        self._archive = archive

    async def shelve(self, scope: str) -> None:
        """Archive the records beyond the number that is kept.

        Raises:
            ArchiveError: the archive cannot be used; what was not moved is still in Redis.
            BusUnavailable: Redis is away; what is left is moved the next time.
        """
        for kind in KEPT:
            for _ in range(AT_ONCE):
                if not await self._one(kind, scope):
                    break

    async def _one(self, kind: Kind, scope: str) -> bool:
        """Whether a file's worth of records left Redis."""
        there = await self._lists.piece(kind, scope, None, 0)
        upto = there.base + SHELVED[kind]
        if there.upto - there.base < KEPT[kind] + SHELVED[kind] or await self._needed(kind, scope) < upto:
            return False
        try:
            return await self._archive.trim(Shelf.of(kind, scope), upto) >= upto
        except ArchiveError:
            if (await self._lists.piece(kind, scope, None, 0)).base == there.base:
                raise
            return True  # somebody else did it at the same time

    async def _needed(self, kind: Kind, scope: str) -> float:
        """The first index that scripts still ask for in Redis; ``trim.lua`` keeps it anyway."""
        keys, found = self._bus.keys, list[bytes]()
        if kind == "history":
            found = await self._bus.call("LRANGE", keys.undigested(scope), 0, -1)
        elif kind == "versions":
            numbers = await self._bus.call("HMGET", keys.memory(scope), "version", "rejected")
            return min((int(number) - 1 for number in numbers if number), default=float("inf"))
        return min(map(int, found), default=float("inf"))
