"""The servers of a bot's other models: embeddings, transcription and summaries."""

from typing import TypeVar

from msgspec.structs import replace

from daemon.config.bot_settings import PricesConfig
from daemon.config.memory_settings import EmbeddingsConfig, MemorySearchConfig
from daemon.config.schema import BotConfig, FallbackConfig, ModelConfig, SpeechConfig, TranscriptionConfig, filled

# The server that computes vectors of a bot's memory: its own server, or that of its model.


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


# The servers that transcribe a bot's voice messages and speak its answers: its own servers, or that of its model.

_Given = TypeVar("_Given", TranscriptionConfig, SpeechConfig)


def transcription_of(bot: BotConfig) -> TranscriptionConfig | None:
    """The server to call, with address and key; None if the bot transcribes no speech.

    Without a ``base_url`` of its own it is asked at the model's, with the model's key unless it has one. A model behind
    Anthropic's API has no such server: then it is asked at OpenAI's.
    """
    return _whole(bot, bot.transcription)


def speech_of(bot: BotConfig) -> SpeechConfig | None:
    """As ``transcription_of``, of the server that turns text into speech."""
    return _whole(bot, bot.speech)


def _whole(bot: BotConfig, given: _Given) -> _Given | None:
    if not given.name:
        return None
    if given.base_url or bot.model.api != "openai":
        return given
    return replace(given, base_url=bot.model.base_url, api_key=given.api_key or bot.model.api_key)


# The model that summarizes a bot's conversations: its own model, or a cheaper one.


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
