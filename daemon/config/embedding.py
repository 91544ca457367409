"""The server that turns what a bot remembers into vectors: its own, or that of its model."""

from msgspec.structs import replace

from daemon.config.remembering import EmbeddingsConfig, MemorySearchConfig
from daemon.config.schema import BotConfig


def embeddings_of(search: MemorySearchConfig, bot: BotConfig) -> EmbeddingsConfig | None:
    """What is asked, address and key filled in; None when there is no server that could be asked.

    Without a ``base_url`` of its own it is asked at the model's, with the model's key unless it has one.
    """
    given = search.embeddings
    if not given.model:
        return None
    if given.base_url:
        return given
    if bot.model.offline and not given.api_key:
        return None
    return replace(given, base_url=bot.model.base_url, api_key=given.api_key or bot.model.api_key)
