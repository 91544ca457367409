"""What is not answered just now, and until when: sessions after a failure, chats by an administrator's word."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from daemon.access import Pauses
from daemon.clock import stamp
from daemon.session import Standing


@dataclass(frozen=True, kw_only=True)
class Parked:
    """A session that rests after a failure."""

    session: str
    since: str
    """ISO 8601, UTC; empty of one that backs off, since its message's answer failed."""
    until: str
    """When it is tried again."""
    reason: str
    """Why; empty of one that backs off."""


@dataclass(frozen=True, kw_only=True)
class Paused:
    """A chat in which a bot rests until it is told to go on."""

    bot: str
    chat: str
    """``<channel>:<chat>``, or ``*`` for all of them."""
    since: str
    """ISO 8601, UTC."""


def parked(found: Iterable[Standing]) -> list[Parked]:
    """Those of ``found`` that rest."""
    return [
        Parked(session=one.session, since=_time(one.parked_at_ms), until=_time(one.retry_at_ms), reason=one.reason)
        for one in found
        if one.parked
    ]


async def read_paused(pauses: Pauses, bots: Sequence[str]) -> list[Paused]:
    """The chats in which ``bots`` rest; errors as for ``Pauses``."""
    return [
        Paused(bot=bot, chat=chat, since=_time(int(at.partition("-")[0])))
        for bot in bots
        for chat, at in sorted((await pauses.chats(bot)).items())
    ]


def _time(ms: int) -> str:
    return stamp(dt.datetime.fromtimestamp(ms / 1000, dt.UTC)) if ms else ""
