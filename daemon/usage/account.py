"""What usage is counted by: who used a bot, on which day, and how much of each model."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote
from zoneinfo import ZoneInfo

import msgspec

from daemon.clock import Clock
from daemon.config import Config
from daemon.sessionkey import encode_part

By = Literal["day", "bot", "person", "session", "model"]
"""What accounts can be added up by."""

NANO = 1_000_000_000
"""Billionths in a currency's unit."""

DAY_S = 86_400


class User(msgspec.Struct, frozen=True, kw_only=True):
    """Whose turn it is: a bot, and the person and the chat that it answers."""

    bot: str
    session: str
    """Session key."""
    channel: str
    """Channel instance."""
    sender_id: str

    @property
    def person(self) -> str:
        """The person's name in the accounts, ``<bot> <channel instance>:<sender>``: limits are a bot's own.

        Empty for what is done for nobody in particular.
        """
        if not self.sender_id:
            return ""
        return f"{self.bot} {encode_part(self.channel)}:{encode_part(self.sender_id)}"


def user_of_scope(scope: str, session: str = "") -> User:
    """Who uses what is done for the memory of a scope: its person, or nobody in particular.

    Its chat is ``session``, or else the one whose memory it is.
    """
    bot, kind, *name = scope.split(":")
    if kind == "person":
        channel, sender_id = map(unquote, name)
    else:
        session = session or ":".join(name)
        channel, sender_id = unquote(session.partition(":")[0]), ""
    return User(bot=unquote(bot), session=session, channel=channel, sender_id=sender_id)


@dataclass(kw_only=True)
class Amount:
    """How much was used."""

    messages: int = 0
    """Messages that were answered."""
    calls: int = 0
    tokens_in: int = 0
    cached_in: int = 0
    """Of ``tokens_in``: read from the provider's cache."""
    cacheable_in: int = 0
    """Of ``tokens_in``: the input of calls whose provider reports cached tokens."""
    tokens_out: int = 0
    estimated: int = 0
    """Of the calls: those whose tokens were counted by us, since the provider did not say."""
    costs_nano: dict[str, int] = field(default_factory=dict[str, int])
    """Currency → billionths of its unit; currencies are never added to each other."""
    cached_nano: dict[str, int] = field(default_factory=dict[str, int])
    """Of ``costs_nano``: the cost of ``cached_in``."""
    token_seconds: int = field(default=0, compare=False)
    """The sum, over all notes of a day, of ``tokens`` times the second of the day at which they were noted."""

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.tokens_in + self.tokens_out

    def add(self, other: "Amount") -> None:
        """Add what ``other`` holds."""
        self.messages += other.messages
        self.calls += other.calls
        self.tokens_in += other.tokens_in
        self.cached_in += other.cached_in
        self.cacheable_in += other.cacheable_in
        self.tokens_out += other.tokens_out
        self.estimated += other.estimated
        self.token_seconds += other.token_seconds
        _add(self.costs_nano, other.costs_nano)
        _add(self.cached_nano, other.cached_nano)

    def costs(self, *, digits: int = 4) -> str:
        """The costs for people: ``0.0123 EUR``, or empty when nothing has a price."""
        return _shown(self.costs_nano, digits)

    def cached_costs(self, *, digits: int = 4) -> str:
        """The costs of cached tokens, as ``costs``."""
        return _shown(self.cached_nano, digits)

    @property
    def cached_share(self) -> float | None:
        """The share of the input that was cached, 0 to 1; None if no provider reports cached tokens."""
        return min(1.0, self.cached_in / self.cacheable_in) if self.cacheable_in else None


def _add(nano: dict[str, int], other: Mapping[str, int]) -> None:
    for currency, more in other.items():
        nano[currency] = nano.get(currency, 0) + more


def _shown(nano: Mapping[str, int], digits: int) -> str:
    return ", ".join(f"{each / NANO:.{digits}f} {currency}".rstrip() for currency, each in sorted(nano.items()) if each)


def day_of(moment: dt.datetime, time_zone: str) -> str:
    """The day that it is at ``moment`` in an IANA time zone, ``2026-11-20``."""
    return _local(moment, time_zone).date().isoformat()


def last_days(config: Config, count: int, clock: Clock) -> Sequence[str]:
    """The last ``count`` days, newest first, up to the latest current date of any bot's time zone."""
    newest = dt.date.fromisoformat(max(day_of(clock.now(), bot.time_zone) for bot in config.bots.values()))
    return [(newest - dt.timedelta(days=back)).isoformat() for back in range(count)]


def second_of(moment: dt.datetime, time_zone: str) -> int:
    """The second of that day, by the clock on the wall."""
    local = _local(moment, time_zone)
    return local.hour * 3_600 + local.minute * 60 + local.second


def _local(moment: dt.datetime, time_zone: str) -> dt.datetime:
    return moment.astimezone(dt.UTC if time_zone == "UTC" else ZoneInfo(time_zone))


# What a piece of work used, as it is noted in the accounts.


@dataclass(frozen=True, kw_only=True, eq=False)
class UsageNote:
    """What a piece of work used."""

    name: str
    """Name of the work; Redis adds each name to a day's accounts once."""
    user: User
    day: str
    """``2026-11-20``, the bot's day."""
    second: int = 0
    """Of that day."""
    used: Mapping[str, Amount]
    """By model."""
