"""``/forget``: what was found is remembered for a while without its text, until a person has chosen."""

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

import msgspec

from daemon.bus import Bus
from daemon.forget.forget_order import KIND, Order, Search
from daemon.forget.forget_search import Matches
from daemon.forget.text_matcher import LEAST_CHARS, MOST_CHARS, folded
from daemon.jobs import Jobs, Tell

KEPT_S = 600.0
"""How long a list can be chosen from: what is chosen by numbers is to be what was seen."""

ALL = frozenset({"all", "全部", "所有"})

_NUMBERS = re.compile(r"\d{1,3}(?:[\s,，、]+\d{1,3})*")

_encode = msgspec.json.Encoder().encode


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """A list that somebody was shown."""

    text: str
    groups: tuple[str, ...]
    """Of the matches, in the order of their numbers."""
    by: str
    """Id of who asked: what others chose from his list would be another one's."""


_decode = msgspec.json.Decoder(Pending).decode


@dataclass(frozen=True)
class Choice:
    """What stands behind ``/forget``."""

    kind: Literal["nothing", "text", "numbers", "all", "short", "long"]
    numbers: tuple[int, ...] = ()


def choice_of(argument: str) -> Choice:
    """What a person wants by ``argument``."""
    plain = folded(argument).strip()
    if not plain:
        return Choice("nothing")
    if plain in ALL:
        return Choice("all")
    if _NUMBERS.fullmatch(plain):
        return Choice("numbers", tuple(dict.fromkeys(map(int, re.findall(r"\d+", plain)))))
    if len(plain) < LEAST_CHARS and plain.isascii():
        return Choice("short")
    return Choice("long" if len(plain) > MOST_CHARS else "text")


class Asking:
    """The lists that are open, and the jobs that come of them. All methods raise BusUnavailable."""

    def __init__(self, bus: Bus, jobs: Jobs) -> None:
        self._bus = bus
        self._jobs = jobs

    async def keep(self, session: str, text: str, matches: Matches, *, by: str) -> None:
        """Remember what somebody was shown, instead of an earlier list."""
        pending = Pending(text=text, groups=tuple(match.group for match in matches.shown), by=by)
        key = self._bus.keys.forgetting(session)
        await self._bus.call("SET", key, _encode(pending), "PX", round(KEPT_S * 1000))

    async def pending(self, session: str, *, by: str) -> Pending | None:
        """The list that somebody was shown; None: none, or too long ago."""
        raw = await self._bus.call("GET", self._bus.keys.forgetting(session))
        found = _decode(raw) if raw else None
        return found if found and found.by == by else None

    async def order(self, order: Order, search: Search | None, *, name: str, tell: Tell | None = None) -> str:
        """Have it done; the job's id, which is the same for the same ``name``."""
        digest = hashlib.sha256(f"{order.chat} {order.name} {name}".encode()).hexdigest()[:16]
        job_id = f"{KIND}-{digest}"
        await self._jobs.create(KIND, order, job_id=job_id, secret=search, tell=tell)
        return job_id
