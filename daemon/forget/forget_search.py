"""Looking for something in every tier, and gathering the places that say the same."""

from dataclasses import dataclass

from daemon.forget.forget_context import TIERS, Found, Stores, Tier, Work
from daemon.forget.forget_order import Order, ground_of
from daemon.forget.sweep import pass_over
from daemon.forget.text_matcher import Needle, folded, group_of
from daemon.forget.tombstone import EVERYTHING
from daemon.printable import printable

MATCHES_MOST = 30
"""Matches that a person is shown; more have to be named more closely."""

EXCERPT_CHARS = 80


@dataclass(frozen=True, kw_only=True)
class Match:
    """Something that is said in one place or in several."""

    group: str
    tier: Tier
    """The first of ``TIERS`` in which it stands."""
    time: str
    """Of the oldest place; empty: unknown."""
    excerpt: str
    """At most ``EXCERPT_CHARS`` of it, around what was looked for."""
    places: int


@dataclass(frozen=True, kw_only=True)
class Matches:
    """What was found."""

    shown: tuple[Match, ...]
    """At most ``MATCHES_MOST``, by tier and then by time."""
    more: int
    """How many there are besides."""
    counts: dict[str, int]
    """Places by tier."""
    failed: tuple[str, ...]
    """What could not be looked through, and why."""
    waits: bool = False
    """The archive cannot be used at present, so it was not searched."""


async def matches_of(stores: Stores, order: Order, text: str) -> Matches:
    """Where ``text`` stands in what ``order`` is about.

    Raises:
        BusUnavailable: Redis is away.
    """
    work = await _looked(stores, order, Work(stores=stores, wanted=Needle(text), looks=True))
    groups: dict[str, list[tuple[Found, str]]] = {}
    for place in work.places:
        for hit in dict.fromkeys(place.hits):
            groups.setdefault(group_of(hit), []).append((place, hit))
    found = sorted(
        (_match(group, places, text) for group, places in groups.items()),
        key=lambda match: (TIERS.index(match.tier), match.time, match.excerpt),
    )
    return Matches(
        shown=tuple(found[:MATCHES_MOST]),
        more=max(0, len(found) - MATCHES_MOST),
        counts=dict(work.counts),
        failed=tuple(work.failed),
        waits=work.waits,
    )


async def extent_of(stores: Stores, order: Order) -> dict[str, int]:
    """How much there is, by tier, of what ``order`` wants gone as a whole. Errors as for ``matches_of``."""
    work = await _looked(stores, order, Work(stores=stores, wanted=EVERYTHING, looks=True))
    return {tier: work.counts[tier] for tier in TIERS if work.counts[tier]}


async def _looked(stores: Stores, order: Order, work: Work) -> Work:
    async def progress() -> None:
        pass

    await pass_over(work, order, await ground_of(stores.bus, order), {}, progress)
    return work


def _match(group: str, places: list[tuple[Found, str]], text: str) -> Match:
    place, hit = min(places, key=lambda found: TIERS.index(found[0].tier))
    times = [found.time for found, _ in places if found.time]
    return Match(
        group=group,
        tier=place.tier,
        time=min(times, default=""),
        excerpt=_excerpt(hit, text),
        places=len(places),
    )


def _excerpt(hit: str, text: str) -> str:
    """A part of ``hit`` around ``text``, on one line."""
    line = " ".join(printable(hit).split())
    if len(line) <= EXCERPT_CHARS:
        return line
    at = max(0, line.casefold().find(folded(text).strip().split(" ")[0]))
    first = max(0, min(at - EXCERPT_CHARS // 3, len(line) - EXCERPT_CHARS + 1))
    shown = line[first : first + EXCERPT_CHARS - 2]
    return f"{'…' if first else ''}{shown}{'…' if first + len(shown) < len(line) else ''}"
