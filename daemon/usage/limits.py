"""Limits of what a bot may be used for: tokens a day, out of the accounts, and messages a minute, out of buckets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from daemon.bus import Bus, load_script
from daemon.config import EachConfig
from daemon.usage.account import User
from daemon.usage.book import NOTED_S
from daemon.usage.note import Note

SPENT = load_script(__file__, "spent.lua")
BUCKET = load_script(__file__, "bucket.lua")

BUCKET_S = 120.0
"""How long an unused bucket is kept: it has been full for a minute by then."""

Whose = Literal["", "chat", "person", "bot"]


@dataclass(frozen=True, kw_only=True)
class Spent:
    """Whether a day's tokens are used up."""

    whose: Whose
    """Whose limit was reached; empty: nobody's."""
    tell: bool
    """Whether this message's people are to be told; later ones of the day were."""


@dataclass(frozen=True, kw_only=True)
class Room:
    """What the buckets of messages hold, as far as there are limits."""

    wait_s: float
    """Until there is room; 0: it was taken."""
    tell: bool
    """Whether this claim is the first that has to wait."""
    chat: int
    person: int
    bot: int


class Limits:
    """Looks at the limits of one database's bots."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def spent(
        self, user: User, day: str, limits: EachConfig, *, message: str, kept: Sequence[Note] = ()
    ) -> Spent:
        """Whether one of the limits of tokens is used up on ``day``; ``message`` is the first that is concerned.

        ``kept``: notes that this process has not seen written, which count, too.

        Raises:
            BusUnavailable: Redis is away.
        """
        keys = self._bus.keys
        accounts = [keys.usage(day, kind) for kind in ("bot", "person", "session")]
        whose, tell = await self._bus.run(
            SPENT,
            [keys.usage_told(day), *accounts, keys.usage_noted(day)],
            [
                *(user.session, message, NOTED_S * 1000),
                *(user.bot, limits.bot, user.person, limits.person, user.session, limits.chat),
                *(part for note in kept if note.day == day for part in (note.name, *note.tokens_of(user))),
            ],
        )
        return Spent(whose=whose.decode(), tell=bool(tell))

    async def take(self, user: User, limits: EachConfig, *, message: str, count: int, claim: str) -> Room:
        """Take room for ``count`` messages of a session, once for each first ``message`` (its stream id).

        Args:
            user: whose messages they are.
            limits: messages a minute.
            message: stream id of the first of them; those of a session rise.
            count: how many are answered together; 0 only looks.
            claim: name of the claim, which tells one that has to wait again from a command that came twice.

        Raises:
            BusUnavailable: Redis is away; taking the same again is safe.
        """
        keys, bot = self._bus.keys, user.bot
        names = (("chat", user.session), ("person", user.person.partition(" ")[2]), ("bot", bot))
        wait_ms, tell, *left = await self._bus.run(
            BUCKET,
            [keys.bucket(bot, kind, name) for kind, name in names],
            [message, count, claim, limits.chat, limits.person, limits.bot, round(BUCKET_S * 1000)],
        )
        return Room(wait_s=wait_ms / 1000, tell=bool(tell), chat=left[0], person=left[1], bot=left[2])

    async def look(self, user: User, limits: EachConfig) -> Room:
        """What room there is, without taking any. Errors as for ``take``."""
        return await self.take(user, limits, message="0-0", count=0, claim="")
