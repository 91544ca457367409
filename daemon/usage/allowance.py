"""What a bot's limits allow a person, a chat and the bot on a day."""

from dataclasses import dataclass
from typing import Literal

from daemon.config import BotConfig, CostConfig, EachConfig
from daemon.usage.account import NANO

Whose = Literal["person", "chat", "bot"]
KINDS: tuple[Whose, ...] = ("person", "chat", "bot")


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
