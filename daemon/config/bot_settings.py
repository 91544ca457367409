"""The smaller sections of a bot: prices, limits, reminders, and the tools of the shell and of the web."""

from typing import Annotated, Literal

from msgspec import Meta

from daemon.config.secret import Secret
from daemon.config.section import NO_SECRET, Count, Limit, PathText, Price, Seconds, Section

# The prices of models.


class PricesConfig(Section, frozen=True):
    """The prices of a model per million tokens. Without prices, calls are counted but cost nothing."""

    input: Price = 0.0
    cached_input: Price | None = None
    """Of the part of a prompt that the provider had kept; unset: as ``input``."""
    cache_write: Price | None = None
    """Of the part of a prompt that the provider wrote to its cache; unset: as ``input``."""
    output: Price = 0.0
    currency: Annotated[str, Meta(max_length=16)] = ""
    """Shown beside costs; costs of different currencies are never added."""


# ``[bots.<name>.exec]``: the tool ``exec``, which runs shell commands in a sandbox.


class ExecConfig(Section, frozen=True):
    """Who may have commands run, and how far they may go."""

    allow: Literal["admins", "everyone"] = "admins"
    """``admins``: only in turns whose messages all come from administrators."""
    approval: bool = False
    """Whether each command waits until an administrator approves it."""
    approval_s: Seconds = 300.0
    """How long it waits; time in which a person reads a message."""
    network: bool = False
    """Whether commands may use the network of this machine, which includes its own servers."""
    timeout_s: Seconds = 30.0
    memory_max_mb: Count = 512
    """Memory of all processes together, and address space of each one, in MiB."""
    processes_max: Count = 64
    folder_max_mb: Count = 1_024
    """Size of the scope's folder, in MiB. A command that lets it grow beyond that is stopped."""
    output_max_bytes: Count = 100_000
    """A command that prints more is stopped."""


# ``[bots.<name>.web]``: the tools ``web_search`` and ``web_fetch``.

Provider = Literal["", "brave", "tavily", "searxng"]


class WebToolsConfig(Section, frozen=True):
    """How a bot searches the web and reads its pages."""

    search: Provider = ""
    """The provider of ``web_search``."""
    search_url: str = ""
    """Its address; required for SearXNG, else the provider's own."""
    api_key: Secret = NO_SECRET
    api_key_file: PathText = ""
    timeout_s: Seconds = 20.0
    """For one search or one page with all its redirects."""
    page_max_bytes: Count = 2_000_000
    """The rest of a longer page is left out, before and after decompression."""
    robots: bool = True
    """Whether ``web_fetch`` obeys robots.txt."""
    private_hosts: tuple[str, ...] = ()
    """Host names that may have addresses that are not public."""
    cache_ttl_s: Seconds = 900.0
    """How long a result is used again."""
    calls_per_minute: Limit = 20
    """Of both tools together, for each person."""


# The usage limits of a bot.

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


# The limits of a bot's reminders, and of the turns that they begin.

QuietHours = Annotated[str, Meta(pattern=r"^(|([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d)\Z")]


class RemindersConfig(Section, frozen=True):
    """How often a bot may speak without being asked, when, and to whom.

    What exceeds a limit is put off and never dropped. No source: guesses at what nobody takes for a flood.
    """

    chat_max: Count = 100
    """Reminders that a chat may have."""
    person_per_day: Limit = 50
    """Reminders of one person that may fire on a day of the bot's time zone; 0: no limit."""
    bot_per_day: Limit = 1_000
    """The same for the whole bot."""
    quiet_hours: QuietHours = ""
    """``22:00-07:00``: on the clock of the reminder's time zone, nothing fires between them; empty: none."""
    written_within_days: Limit = 90
    """A reminder waits if nobody has written to its chat for so many days; 0: it does not."""
