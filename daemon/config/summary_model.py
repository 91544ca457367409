"""The model that summarizes a bot's conversations: its own model, or a cheaper one."""

from msgspec.structs import replace

from daemon.config.prices import PricesConfig
from daemon.config.schema import BotConfig, FallbackConfig, ModelConfig, filled


def summary_model_of(bot: BotConfig) -> ModelConfig:
    """``summary_model`` if it is set, otherwise the bot's own model with its fallbacks.

    What it leaves open is as the bot's own model has it. Prices are taken over only where it is the same model.
    """
    given = bot.summary_model
    if given == FallbackConfig():
        return bot.model
    own = replace(bot.model, fallbacks=())
    is_same = given.name in ("", own.name) and not given.base_url and given.api in (None, own.api)
    prices = own.prices if is_same and given.prices == PricesConfig() else given.prices
    return filled(own, replace(given, name=given.name or own.name, prices=prices))
