"""A search in the memories and messages of all scopes, for operators: by words, in the built-in engine."""

from collections.abc import Sequence

import anyio
import msgspec

from daemon.bus import Bus
from daemon.memory.memory_merge import home_of
from daemon.recall.recall import Recaller
from daemon.recall.search_results import Hit, ResultPlace

AT_ONCE = 4
"""Scopes that are searched at the same time; each opens an index of its own."""

OF_SCOPE = 10
"""Most hits of one scope."""


class LocatedHit(msgspec.Struct, frozen=True, kw_only=True):
    """A hit, and the place to which it leads."""

    scope: str
    """A home."""
    hit: Hit
    place: ResultPlace | None
    """None: it is gone since."""


class GlobalResults(msgspec.Struct, frozen=True, kw_only=True):
    """The results of one search."""

    hits: Sequence[LocatedHit]
    """The best first."""
    searched: int
    """Memories that were searched."""
    left: int
    """Memories for which the time was too short, those that were active longest ago."""


class GlobalSearch:
    """Searches all scopes of a database."""

    def __init__(self, bus: Bus, recaller: Recaller) -> None:
        self._bus = bus
        self._recaller = recaller

    async def search(self, query: str, *, first: str = "", limit: int, within_s: float) -> GlobalResults:
        """The best hits of all scopes, those that were active last first, as far as the time suffices.

        ``first``: the home that is searched before all others; empty: none.

        Raises:
            BusUnavailable: Redis is unavailable.
        """
        found, searched, homes = list[LocatedHit](), 0, list[str]()

        async def work(waiting: list[str]) -> None:
            nonlocal searched
            while waiting:
                home = waiting.pop()
                hits = await self._recaller.located(home, query, limit=OF_SCOPE)
                found.extend(LocatedHit(scope=home, hit=hit, place=place) for hit, place in hits)
                searched += 1

        with anyio.move_on_after(within_s):
            homes = await self._homes(first)
            waiting = homes[::-1]
            try:
                async with anyio.create_task_group() as tg:
                    for _ in range(AT_ONCE):
                        tg.start_soon(work, waiting)
            except ExceptionGroup as group:
                raise group.exceptions[0] from group
        return GlobalResults(hits=ranked(found, query)[:limit], searched=searched, left=len(homes) - searched)

    async def _homes(self, first: str) -> list[str]:
        homes = {first: None} if first else {}
        for scope in await self._recaller.scopes():
            homes[await home_of(self._bus, scope)] = None
        return list(homes)


def ranked(found: Sequence[LocatedHit], query: str) -> list[LocatedHit]:
    """The hits by the share of the words that they contain, then by score, then the newest first. Pure.

    Scores are relative to the best hit of each scope, so they cannot rank hits of several scopes alone.
    """
    words = query.casefold().split()

    def rank(each: LocatedHit) -> tuple[float, float, str]:
        text = each.hit.snippet.casefold()
        return sum(word in text for word in words) / max(1, len(words)), each.hit.score, each.hit.time

    return sorted(found, key=rank, reverse=True)
