"""Rules for the usage limits of bots."""

from collections.abc import Iterator

from daemon.config.config_reader import Finding
from daemon.config.embedding_server import embeddings_of
from daemon.config.limit_settings import CostConfig
from daemon.config.prices import PricesConfig
from daemon.config.schema import BotConfig, Config, FallbackConfig
from daemon.config.summary_model import summary_model_of
from daemon.config.transcription_server import speech_of, transcription_of


def limit_findings(config: Config) -> Iterator[Finding]:
    """Limits of money that the prices of the bot's models cannot be held against."""
    for name, bot in config.bots.items():
        if bot.limits.cost_per_day != CostConfig():
            yield from _cost(f"bots.{name}", bot, config)


def _cost(path: str, bot: BotConfig, config: Config) -> Iterator[Finding]:
    first, *others = bot.model.chain
    priced = [(f"{path}.model.prices", first.prices)]
    priced += [(f"{path}.model.fallbacks[{place}].prices", each.prices) for place, each in enumerate(others, 1)]
    if bot.summary_model != FallbackConfig():
        priced.append((f"{path}.summary_model.prices", summary_model_of(bot).prices))
    if embeddings := embeddings_of(config.memory_search, bot):
        priced.append(("memory_search.embeddings.prices", embeddings.prices))
    if config.memory_search.reranker.model:
        priced.append(("memory_search.reranker.prices", config.memory_search.reranker.prices))
    if transcription := transcription_of(bot):
        priced.append((f"{path}.transcription.prices", transcription.prices))
    if speech := speech_of(bot):
        priced.append((f"{path}.speech.prices", speech.prices))
    here = f"{path}.limits.cost_per_day"
    if not first.offline:
        for there, prices in priced:
            if prices == PricesConfig():
                text = f"a cost limit requires a price for every model, but {there} is not set. Set input and output"
                yield Finding(here, text, (there,))
    currencies = {prices.currency for _, prices in priced if prices != PricesConfig()}
    if len(currencies) > 1:
        names = ", ".join(sorted(repr(currency) for currency in currencies))
        text = f"a cost limit requires a price for every model, all in the same currency. Got {names}"
        yield Finding(here, text, tuple(there for there, _ in priced))
