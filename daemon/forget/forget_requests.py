"""``/forget``: what was found is remembered for a while without its text, until a person has chosen."""

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from daemon.bus import Bus
from daemon.forget.forget_context import (
    KIND,
    TIERS,
    ForgetContext,
    ForgetOrder,
    ForgetSearch,
    ForgetStores,
    FoundPlace,
    Tier,
    ground_of,
)
from daemon.forget.sweep import pass_over
from daemon.forget.text_matcher import LEAST_CHARS, MOST_CHARS, TextMatcher, folded, group_of
from daemon.forget.tombstone import EVERYTHING
from daemon.jobs import Jobs, NotifiedChat
from daemon.printable import printable
from daemon.wording import Language
from daemon.wording import text as say

# Looking for something in every tier, and gathering the places that say the same.

MATCHES_MOST = 30
"""Matches that a person is shown; more have to be named more closely."""

EXCERPT_CHARS = 80


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is said in one place or in several."""

    group: str
    tier: Tier
    """The first of ``TIERS`` in which it stands."""
    time: str
    """Of the oldest place; empty: unknown."""
    excerpt: str
    """At most ``EXCERPT_CHARS`` of it, around what was looked for."""
    places: int


class Matches(msgspec.Struct, frozen=True, kw_only=True):
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


async def matches_of(stores: ForgetStores, order: ForgetOrder, text: str) -> Matches:
    """Where ``text`` stands in what ``order`` is about.

    Raises:
        BusUnavailable: Redis is away.
    """
    work = await _looked(stores, order, ForgetContext(stores=stores, wanted=TextMatcher(text), looks=True))
    groups: dict[str, list[tuple[FoundPlace, str]]] = {}
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


async def extent_of(stores: ForgetStores, order: ForgetOrder) -> dict[str, int]:
    """How much there is, by tier, of what ``order`` wants gone as a whole. Errors as for ``matches_of``."""
    work = await _looked(stores, order, ForgetContext(stores=stores, wanted=EVERYTHING, looks=True))
    return {tier: work.counts[tier] for tier in TIERS if work.counts[tier]}


async def _looked(stores: ForgetStores, order: ForgetOrder, work: ForgetContext) -> ForgetContext:
    async def progress() -> None:
        pass

    await pass_over(work, order, await ground_of(stores.bus, order), {}, progress)
    return work


def _match(group: str, places: list[tuple[FoundPlace, str]], text: str) -> Match:
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


# What people are told: the numbered places in which something stands, and what became of them.

FAILED_MOST = 10
"""Reasons that are told of what could not be done."""


def matches_text(matches: Sequence[Match], more: int, language: Language, *, how: bool = True) -> str:
    """The list of matches, and ``how`` to choose of them in a chat."""
    lines = [
        say(
            "forget_match",
            language,
            number=number,
            tier=say(f"tier_{match.tier}", language),
            date=match.time[:10] or "?",
            places=say("forget_places", language, count=match.places) if match.places > 1 else "",
            text=match.excerpt,
        )
        for number, match in enumerate(matches, 1)
    ]
    if more:
        lines.append(say("forget_more", language, count=more))
    return "\n".join((*lines, "", say("forget_choose", language)) if how else lines)


def report_text(report: Mapping[str, Any], language: Language, *, for_operator: bool = False) -> str:
    """The result of a job. Reasons of failed steps name folders, addresses and keys: only operators see them."""
    removed: Mapping[str, int] = report["removed"]
    lines = [say("forget_done" if removed else "forget_nothing_left", language)]
    lines += [
        say("forget_removed", language, tier=say(f"tier_{tier}", language), count=removed[tier])
        for tier in TIERS
        if removed.get(tier)
    ]
    failed: Sequence[str] = report["failed"]
    if failed:
        reasons = [f"- {reason}" for reason in failed[:FAILED_MOST]] if for_operator else []
        heading = "forget_failed" if for_operator else "forget_incomplete"
        lines += ["", say(heading, language, count=len(failed)), *reasons]
    backups: Sequence[str] = report["backups"]
    lines += ["", say("forget_untouched", language), *(f"- {path}" for path in backups)]
    return "\n".join(lines)


KEPT_S = 600.0
"""How long a list can be chosen from: what is chosen by numbers is to be what was seen."""

ALL = frozenset({"all", "全部", "所有"})

_NUMBERS = re.compile(r"\d{1,3}(?:[\s,，、]+\d{1,3})*")

_encode = msgspec.json.Encoder().encode


class PendingChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A list that somebody was shown."""

    text: str
    groups: tuple[str, ...]
    """Of the matches, in the order of their numbers."""
    by: str
    """Id of who asked: what others chose from his list would be another one's."""

    @property
    def question(self) -> str:
        """Tells the list from all lists with other entries."""
        return "\n".join((self.text, *self.groups))


_decode = msgspec.json.Decoder(PendingChoice).decode


class ForgetChoice(msgspec.Struct, frozen=True):
    """What stands behind ``/forget``."""

    kind: Literal["nothing", "text", "numbers", "all", "short", "long"]
    numbers: tuple[int, ...] = ()


def choice_of(argument: str) -> ForgetChoice:
    """What a person wants by ``argument``."""
    plain = folded(argument).strip()
    if not plain:
        return ForgetChoice("nothing")
    if plain in ALL:
        return ForgetChoice("all")
    if _NUMBERS.fullmatch(plain):
        return ForgetChoice("numbers", tuple(dict.fromkeys(map(int, re.findall(r"\d+", plain)))))
    if len(plain) < LEAST_CHARS and plain.isascii():
        return ForgetChoice("short")
    return ForgetChoice("long" if len(plain) > MOST_CHARS else "text")


class ForgetRequests:
    """The lists that are open, and the jobs that come of them. All methods raise BusUnavailable."""

    def __init__(self, bus: Bus, jobs: Jobs) -> None:
        self._bus = bus
        self._jobs = jobs

    async def keep(self, session: str, text: str, matches: Matches, *, by: str) -> PendingChoice:
        """Remember what somebody was shown, instead of an earlier list."""
        pending = PendingChoice(text=text, groups=tuple(match.group for match in matches.shown), by=by)
        key = self._bus.keys.forgetting(session)
        await self._bus.call("SET", key, _encode(pending), "PX", round(KEPT_S * 1000))
        return pending

    async def pending(self, session: str, *, by: str) -> PendingChoice | None:
        """The list that somebody was shown; None: none, or too long ago."""
        raw = await self._bus.call("GET", self._bus.keys.forgetting(session))
        found = _decode(raw) if raw else None
        return found if found and found.by == by else None

    async def order(
        self, order: ForgetOrder, search: ForgetSearch | None, *, name: str, tell: NotifiedChat | None = None
    ) -> str:
        """Have it done; the job's id, which is the same for the same ``name``."""
        digest = hashlib.sha256(f"{order.chat} {order.name} {name}".encode()).hexdigest()[:16]
        job_id = f"{KIND}-{digest}"
        await self._jobs.create(KIND, order, job_id=job_id, secret=search, tell=tell)
        return job_id


# Copies that somebody made in the data directory: forgetting leaves them alone, and names them. It blocks.

LOOKED_DEPTH = 2
"""Folders inside each other that are looked into."""

MOST = 20

_COPY = r"backup|sicherung|备份|\.(?:bak|old|orig|tar|tgz|zip|7z|zst|dump|rdb)\b|~$"
_IS_COPY = re.compile(_COPY, re.IGNORECASE).search

_OURS = frozenset({"redis", "transcripts", "files"})
"""Folders in which what looks like a copy is none, or was looked through."""


def backups_in(data_dir: Path) -> list[str]:
    """Paths in ``data_dir`` that look like copies, at most ``MOST``."""
    found: list[str] = []
    for folder, folders, files in os.walk(data_dir):
        depth = len(Path(folder).relative_to(data_dir).parts)
        found += [str(Path(folder, name)) for name in sorted((*folders, *files)) if _IS_COPY(name)]
        inside = depth < LOOKED_DEPTH
        folders[:] = [name for name in folders if inside and name not in _OURS and not _IS_COPY(name)]
    return found[:MOST]
