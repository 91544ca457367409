"""Remaining amounts of a bot's daily limits, and how long these amounts last at the current rate. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from daemon.config import BotConfig, EachConfig
from daemon.durations import duration
from daemon.usage.account import DAY_S, NANO, Amount
from daemon.usage.allowance import Allowance, Whose
from daemon.wording import Language
from daemon.wording import text as say

WINDOW_MIN_S = 600
"""Shortest time over which a rate is measured: the first message of a day alone shows no rate."""


@dataclass(frozen=True, kw_only=True)
class DailyLimit:
    """A setting that limits the usage of a day."""

    setting: str
    """As in ``limits.<setting>.person``."""
    currency: str | None
    """None: the limit is in tokens."""
    each: EachConfig
    """In tokens, or in billionths of the currency's unit."""


@dataclass(frozen=True, kw_only=True)
class Left:
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


def left_of(bot: BotConfig, whose: Whose, name: str, amount: Amount, *, second: int) -> list[Left]:
    """What is left of each limit of a person, a chat or the bot, who used ``amount`` up to ``second`` of the day."""
    return [
        _left(limited, whose, name, amount, second=second)
        for limited in daily_limits(bot)
        if getattr(limited.each, whose)
    ]


def _left(limited: DailyLimit, whose: Whose, name: str, amount: Amount, *, second: int) -> Left:
    limit: int = getattr(limited.each, whose)
    used = amount.tokens if limited.currency is None else amount.costs_nano.get(limited.currency, 0)
    lasts_s = max(0, limit - used) * window_s(amount, second=second) / used if used else None
    return Left(
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
