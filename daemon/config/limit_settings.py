"""The usage limits of a bot."""

from typing import Annotated

from msgspec import Meta

from daemon.config.section import Limit, Section

Money = Annotated[float, Meta(ge=0, le=1_000_000)]
"""In units of a currency; in billionths it is still exact in Redis' scripts. 0: no limit."""
Reserve = Annotated[float, Meta(ge=0, le=0.9)]


class EachConfig(Section, frozen=True):
    """A limit for each person, for each chat, and for the whole bot; 0: no limit."""

    person: Limit = 0
    """A sender of a channel instance, in all their chats with the bot."""
    chat: Limit = 0
    """A session."""
    bot: Limit = 0


class CostConfig(Section, frozen=True):
    """As ``EachConfig``, in the currency of ``model.prices``."""

    person: Money = 0.0
    chat: Money = 0.0
    bot: Money = 0.0


class LimitsConfig(Section, frozen=True):
    """What a bot may be used for."""

    tokens_per_day: EachConfig = EachConfig()
    """In and out, by days of the bot's time zone."""
    cost_per_day: CostConfig = CostConfig()
    """What these tokens may cost."""
    reserved_for_memory: Reserve = 0.0
    """Share of both that only consolidations and the search in memory may use."""
    messages_per_minute: EachConfig = EachConfig()

    @property
    def any_daily(self) -> bool:
        """Whether any limit of a day's tokens or money is set."""
        return self.tokens_per_day != EachConfig() or self.cost_per_day != CostConfig()

    @property
    def any_messages(self) -> bool:
        """Whether any limit of messages is set."""
        return self.messages_per_minute != EachConfig()
