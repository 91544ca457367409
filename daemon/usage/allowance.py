"""What a bot's limits allow a person, a chat and the bot on a day, and how much of that is left."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from daemon.config import BotConfig, CostConfig, EachConfig
from daemon.usage.account import NANO


@dataclass(frozen=True, kw_only=True)
class Allowance:
    """Limits of a day; 0: none."""

    tokens: EachConfig
    nano: EachConfig
    """Of money, in billionths of the unit of ``currency``."""
    currency: str

    @classmethod
    def of(cls, bot: BotConfig, *, for_memory: bool = False) -> "Allowance":
        """The limits of ``bot``; but for memory without the share that is reserved for memory."""
        limits = bot.limits
        share = 1.0 if for_memory else 1.0 - limits.reserved_for_memory
        return cls(
            tokens=_times(share, limits.tokens_per_day),
            nano=_times(share * NANO, limits.cost_per_day),
            currency=bot.model.prices.currency,
        )


def _times(factor: float, each: EachConfig | CostConfig) -> EachConfig:
    """Each limit times ``factor``, 1 at least where there is a limit."""
    person, chat, bot = (max(1, round(factor * limit)) if limit else 0 for limit in (each.person, each.chat, each.bot))
    return EachConfig(person=person, chat=chat, bot=bot)


@dataclass(frozen=True, kw_only=True)
class Quota:
    """How much of one limit is used, in tokens or in billionths of a currency's unit."""

    used: int
    reserved: int
    """By model calls in progress; at most so many will be used."""
    limit: int
    """0: none."""

    @property
    def left(self) -> int | None:
        """What may still be used; None: there is no limit."""
        return max(0, self.limit - self.used - self.reserved) if self.limit else None


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How much of its limits a person, a chat or a bot has used on a day."""

    tokens: Quota
    nano: Quota
    """Money, in billionths of the unit of ``currency``."""
    currency: str


Whose = Literal["person", "chat", "bot"]
KINDS: tuple[Whose, ...] = ("person", "chat", "bot")
Standings = Mapping[Whose, Standing]
