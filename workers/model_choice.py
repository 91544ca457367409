"""Which of a bot's models a session uses: the people of a session may choose another one."""

import msgspec

from daemon.config import BotConfig, ModelConfig


def choices(bot: BotConfig) -> list[str]:
    """The names of a bot's models, its own first."""
    return bot.model.names


def with_model(bot: BotConfig, name: str) -> BotConfig:
    """``bot`` with name and window of another of its models; the very same when that is its own, or unknown."""
    names = choices(bot)
    if name not in names[1:]:
        return bot
    model: ModelConfig = next(model for model in bot.model.chain if model.name == name)
    return msgspec.structs.replace(bot, model=model)
