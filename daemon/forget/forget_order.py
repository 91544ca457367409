"""What is to be forgotten, as a job keeps it, and what it comes to: which sessions, scopes and people."""

from dataclasses import dataclass
from typing import Literal

import msgspec

from daemon.bus import Bus
from daemon.forget.text_matcher import Needle
from daemon.forget.tombstone import EVERYTHING, Wanted
from daemon.session import sessions_of, sessions_where
from daemon.sessionkey import SessionKey

KIND = "forget"
"""Of the jobs."""

Whole = Literal["", "session", "scope", "person"]


class Order(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job's spec: whose; what was looked for is a secret of the job's."""

    whole: Whole = ""
    """What goes as a whole; empty: a text, wherever it stands in the scopes."""
    name: str
    """Whom or what it is about, for people: a session, a scope, a person."""
    scopes: tuple[str, ...] = ()
    """Whose memory: the home first, then those that are linked into it."""
    session: str = ""
    """Of ``session``."""
    people: tuple[str, ...] = ()
    """Of ``person``: every name that the person has, ``<channel>:<sender>``."""
    bot: str = ""
    """Of ``person``: name of the bot whose groups are looked through."""
    chat: str = ""
    """The session in which somebody asked for it."""


class Search(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job's secret: the text that is looked for, and the groups of what was chosen of the places it stands in."""

    text: str
    chosen: tuple[str, ...] | None = None
    """None: all."""

    @property
    def wanted(self) -> Wanted:
        """It, as it is looked for."""
        return Needle(self.text, None if self.chosen is None else frozenset(self.chosen))


def wanted_of(search: Search | None) -> Wanted:
    """What is looked for; everything where there is nothing to look for."""
    return EVERYTHING if search is None else search.wanted


@dataclass(frozen=True, kw_only=True)
class Ground:
    """Where an order leads, as the sessions stand now."""

    sessions: tuple[tuple[str, str], ...]
    """Those of the scopes, each with its own scope."""
    others: tuple[tuple[str, str], ...] = ()
    """Of an order about a person: sessions of the same bot in which others speak too."""
    is_alone: bool = False
    """Of an order about a session: no other one shares its memory."""

    @property
    def all(self) -> tuple[tuple[str, str], ...]:
        """Both, sorted."""
        return tuple(sorted((*self.sessions, *self.others)))


async def ground_of(bus: Bus, order: Order) -> Ground:
    """What ``order`` is about.

    Raises:
        BusUnavailable: Redis is away.
    """
    found = await sessions_of(bus, frozenset(order.scopes))
    if order.whole == "session":
        named = tuple(each for each in found if each[0] == order.session)
        return Ground(sessions=named, is_alone=len(found) == len(named))
    if order.whole != "person":
        return Ground(sessions=tuple(found))
    direct = {str(SessionKey.parse(person)) for person in order.people}
    own, others = list(found), list[tuple[str, str]]()
    known = {session for session, _ in found}
    for session, scope in await sessions_where(bus, lambda scope: scope.split(":")[0] == order.bot):
        if session in direct and session not in known:
            own.append((session, scope))  # nobody else was in it, whoever the memory belongs to
        elif session not in known and scope.split(":")[1:2] != ["person"]:
            others.append((session, scope))
    return Ground(sessions=tuple(sorted(own)), others=tuple(sorted(others)))
