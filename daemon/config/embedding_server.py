"""The server that computes vectors of a bot's memory: its own server, or that of its model."""

from msgspec.structs import replace

from daemon.config.memory_settings import EmbeddingsConfig, MemorySearchConfig
from daemon.config.schema import BotConfig


def embeddings_of(search: MemorySearchConfig, bot: BotConfig) -> EmbeddingsConfig | None:
    """The server to call, with address and key; None if no server can be used.

    Without a ``base_url`` of its own it is asked at the model's, with the model's key unless it has one. A model behind
    Anthropic's API has no such server: then it is asked at OpenAI's, if there is a key for that.
    """
    given = search.embeddings
    if not given.model:
        return None
    if given.base_url:
        return given
    if (bot.model.offline or bot.model.api != "openai") and not given.api_key:
        return None
    if bot.model.api != "openai":
        return given
    return replace(given, base_url=bot.model.base_url, api_key=given.api_key or bot.model.api_key)
