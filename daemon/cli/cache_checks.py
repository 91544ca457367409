"""The doctor's report of prompt caches: the share of each bot's input that providers read from their caches."""

from daemon.bus import Bus
from daemon.cli.doctor_finding import Finding, ok, warning
from daemon.clock import Clock
from daemon.config import BotConfig, Config
from daemon.model import stored
from daemon.model.dialect import differences, known_of, server_of
from daemon.usage import UsageBook, last_days

DAYS = 2
"""Days that are examined, including today: long enough for quiet bots, and a remedy shows on the next day."""
CALLS_MIN = 50
"""With fewer model calls, the first calls of conversations, which no cache can know, decide the share."""
PROMPT_MIN_TOKENS = 1_024
"""Providers do not cache shorter prompts (OpenAI; Anthropic from 1,024 tokens on, depending on the model)."""
HINTS = {"key", "cache", "marks"}
"""Fields of ``Dialect`` for the hints that requests contain for prompt caches."""
SHARE_MIN = 0.5
"""Consecutive prompts share more than nine tenths of their bytes (``benchmarks cache``)."""


FULL_PRICE = (
    "The provider reports cached tokens, but no price of cached input is set, so Millpond counts cached tokens at the "
    "full price. Set model.prices.cached_input."
)


async def examine_caching(bus: Bus, config: Config, clock: Clock) -> list[Finding]:
    """Findings for each bot with enough model calls whose provider reports cached tokens, and for missing prices.

    Raises:
        BusUnavailable: the server became unavailable meanwhile.
    """
    found: list[Finding] = []
    accounts = await UsageBook(bus).read(last_days(config, DAYS, clock), by="bot")
    for name, bot in config.bots.items():
        amount = accounts.get(name)
        if amount is None or amount.cached_share is None:
            continue
        if amount.cached_in and bot.model.prices.input and bot.model.prices.cached_input is None:
            found.append(warning(f"prices of {name}", FULL_PRICE))
        if amount.calls < CALLS_MIN or amount.cacheable_in < amount.calls * PROMPT_MIN_TOKENS:
            continue
        text = f"{amount.cached_share:.0%} of the input tokens since yesterday came from the provider's prompt cache"
        if amount.cached_share >= SHARE_MIN:
            found.append(ok(f"prompt cache of {name}", text))
        else:
            found.append(warning(f"prompt cache of {name}", f"{text}. {await _cause(bus, config, bot)}"))
    return found


async def _cause(bus: Bus, config: Config, bot: BotConfig) -> str:
    """The most likely cause of a low share, and the remedy."""
    if config.memory_search.place == "system":
        return (
            'The setting memory_search.place is "system", so the memories found for a message change the beginning '
            'of each prompt. Set memory_search.place to "user".'
        )
    learnt = await stored(bus, bot.model)
    if learnt and learnt.dialect and HINTS & set(differences(known_of(server_of(bot.model)), learnt.dialect)):
        return (
            f"The server of {bot.model.name} refused the markers for prompt caches, so it may not find the cached "
            "prompts of a conversation. Use a server or gateway that accepts prompt_cache_key and cache_control."
        )
    return (
        "Likely causes are long pauses between messages (a provider often keeps its cache for only 5 minutes), a "
        "gateway that sends the requests of a conversation to different servers, and bootstrap files or tools that "
        "change often. Extend the lifetime of the cache at the provider, or send the requests of a "
        "conversation to one server. `millpond trace ID` shows the cached share of a turn's tokens."
    )
