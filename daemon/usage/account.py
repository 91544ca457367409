"""What usage is counted by: who used a bot, on which day, and how much of each model."""

import datetime as dt
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote
from zoneinfo import ZoneInfo

import msgspec

from daemon.sessionkey import encode_part

By = Literal["day", "bot", "person", "session", "model"]
"""What accounts can be added up by."""

NANO = 1_000_000_000
"""Billionths in a currency's unit."""


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
    """Of ``tokens_in``."""
    tokens_out: int = 0
    estimated: int = 0
    """Of the calls: those whose tokens were counted by us, since the provider did not say."""
    costs_nano: dict[str, int] = field(default_factory=dict[str, int])
    """Currency → billionths of its unit; currencies are never added to each other."""

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
        self.tokens_out += other.tokens_out
        self.estimated += other.estimated
        for currency, nano in other.costs_nano.items():
            self.costs_nano[currency] = self.costs_nano.get(currency, 0) + nano

    def costs(self) -> str:
        """The costs for people: ``0.0123 EUR``, or empty when nothing has a price."""
        shown = (f"{nano / NANO:.4f} {currency}".rstrip() for currency, nano in sorted(self.costs_nano.items()) if nano)
        return ", ".join(shown)


def day_of(moment: dt.datetime, time_zone: str) -> str:
    """The day that it is at ``moment`` in an IANA time zone, ``2026-11-20``."""
    zone = dt.UTC if time_zone == "UTC" else ZoneInfo(time_zone)
    return moment.astimezone(zone).date().isoformat()
