"""Remaining amounts of a bot's daily limits, and how long these amounts last at the current rate. Pure."""

from collections.abc import Mapping, Sequence
from typing import Literal

import anyio
import msgspec

from daemon.bus import Bus
from daemon.clock import Clock
from daemon.config import BotConfig, Config, EachConfig
from daemon.errors import BadSessionKey
from daemon.sessionkey import SessionKey
from daemon.usage.account import DAY_S, NANO, Amount, day_of, second_of
from daemon.usage.usage_book import UsageBook
from daemon.usage.usage_limits import KINDS, Allowance, Whose
from daemon.wording import Language
from daemon.wording import text as say
from daemon.wording.durations import duration

WINDOW_MIN_S = 600
"""Shortest time over which a rate is measured: the first message of a day alone shows no rate."""


class DailyLimit(msgspec.Struct, frozen=True, kw_only=True):
    """A setting that limits the usage of a day."""

    setting: str
    """As in ``limits.<setting>.person``."""
    currency: str | None
    """None: the limit is in tokens."""
    each: EachConfig
    """In tokens, or in billionths of the currency's unit."""


class RemainingLimit(msgspec.Struct, frozen=True, kw_only=True):
    """How much of one limit is left today."""

    limited: DailyLimit
    whose: Whose
    name: str
    """Name in the accounts."""
    used: int
    """In tokens, or in billionths of the currency's unit, as ``limit``."""
    limit: int
    lasts_s: float | None
    """How long the rest lasts at the current rate; None if nothing was used today."""
    day_left_s: int
    """Until the end of the bot's day."""

    @property
    def left(self) -> int:
        """0 if the limit is used up."""
        return max(0, self.limit - self.used)

    @property
    def share(self) -> float:
        """The used share of the limit; 1 and more if the limit is used up."""
        return self.used / self.limit

    @property
    def lasts_all_day(self) -> bool:
        """Whether the rest lasts until the end of the day."""
        return self.lasts_s is not None and self.lasts_s >= self.day_left_s

    def shown(self, amount: int, language: Language) -> str:
        """``amount`` with its unit: ``1,640 tokens``, ``0.41 EUR``."""
        if self.limited.currency is None:
            return say("usage_tokens", language, count=self._bare(amount))
        return f"{self._bare(amount)} {self.limited.currency}".rstrip()

    def text(self, language: Language) -> str:
        """What is left, and how long it lasts: ``890 of 1,000 tokens left, enough for about 2 hours …``."""
        left, limit = self._bare(self.left), self.shown(self.limit, language)
        return say("usage_left", language, left=left, limit=limit) + self.lasts(language)

    def lasts(self, language: Language) -> str:
        """How long the rest lasts, as a part of a sentence; empty if nothing is known or left."""
        if self.lasts_s is None or not self.left:
            return ""
        if self.lasts_all_day:
            return say("usage_lasts_day", language)
        return say("usage_lasts", language, time=duration(self.lasts_s, language))

    def _bare(self, amount: int) -> str:
        """Money with four digits, as costs; whole hundredths with two."""
        return f"{amount:,}" if self.limited.currency is None else f"{amount / NANO:.4f}".removesuffix("00")


def daily_limits(bot: BotConfig) -> Sequence[DailyLimit]:
    """The limits of a day for the turns of ``bot``, as far as any are set: without the share reserved for memory."""
    allowance = Allowance.of(bot)
    limits = (
        DailyLimit(setting="tokens_per_day", currency=None, each=allowance.tokens),
        DailyLimit(setting="cost_per_day", currency=allowance.currency, each=allowance.nano),
    )
    return [limit for limit in limits if limit.each != EachConfig()]


def currencies_of(bot: BotConfig) -> Sequence[str]:
    """The currencies of the prices of a bot's models."""
    return sorted({model.prices.currency for model in bot.model.chain})


def left_of(bot: BotConfig, whose: Whose, name: str, amount: Amount, *, second: int) -> list[RemainingLimit]:
    """What is left of each limit of a person, a chat or the bot, who used ``amount`` up to ``second`` of the day."""
    return [
        _left(limited, whose, name, amount, second=second)
        for limited in daily_limits(bot)
        if getattr(limited.each, whose)
    ]


def _left(limited: DailyLimit, whose: Whose, name: str, amount: Amount, *, second: int) -> RemainingLimit:
    limit: int = getattr(limited.each, whose)
    used = amount.tokens if limited.currency is None else amount.costs_nano.get(limited.currency, 0)
    lasts_s = max(0, limit - used) * window_s(amount, second=second) / used if used else None
    return RemainingLimit(
        limited=limited, whose=whose, name=name, used=used, limit=limit, lasts_s=lasts_s, day_left_s=DAY_S - second
    )


def window_s(amount: Amount, *, second: int) -> float:
    """The time over which ``amount`` was used, up to ``second`` of the day.

    Usage at a steady rate lies on average in the middle of this time. Recent usage shortens the time, a pause makes
    it longer.
    """
    if not amount.tokens:
        return float(WINDOW_MIN_S)
    return max(float(WINDOW_MIN_S), 2 * (second - amount.token_seconds / amount.tokens))


# The limits of today of all bots, and the people and chats that are closest to them.

NEAREST = 20
"""People, or chats, listed for each limit."""

_ACCOUNTS: Mapping[Whose, Literal["person", "session", "bot"]] = {"person": "person", "chat": "session", "bot": "bot"}


async def nearest(bus: Bus, config: Config, clock: Clock) -> list[tuple[str, RemainingLimit]]:
    """What is left of each limit today: name of the bot and the rest, the most used limit first.

    Raises:
        BusUnavailable: Redis is away.
    """
    found: list[tuple[str, RemainingLimit]] = []
    async with anyio.create_task_group() as tg:
        for bot in config.bots:
            tg.start_soon(_of_bot, UsageBook(bus), config, clock, bot, found)
    return sorted(found, key=lambda each: -each[1].share)


async def _of_bot(
    book: UsageBook, config: Config, clock: Clock, bot: str, found: list[tuple[str, RemainingLimit]]
) -> None:
    own, now = config.bots[bot], clock.now()
    day, second = day_of(now, own.time_zone), second_of(now, own.time_zone)
    for whose in KINDS:
        if not any(getattr(limited.each, whose) for limited in daily_limits(own)):
            continue
        accounts = await book.read([day], by=_ACCOUNTS[whose])
        if whose == "bot":
            accounts = {bot: accounts.get(bot, Amount())}
        rows = [
            left
            for name, amount in accounts.items()
            if _belongs(config, bot, whose, name)
            for left in left_of(own, whose, name, amount, second=second)
        ]
        found += [(bot, left) for left in sorted(rows, key=lambda left: -left.share)[:NEAREST]]


def _belongs(config: Config, bot: str, whose: Whose, name: str) -> bool:
    """Whether an account is one of ``bot``: sessions do not name their bot, but their channel does."""
    if whose == "bot":
        return True
    if whose == "person":
        return name.startswith(f"{bot} ")
    try:
        channel = config.channels.get(SessionKey.parse(name).channel)
    except BadSessionKey:
        return False
    return channel is not None and channel.bot == bot
