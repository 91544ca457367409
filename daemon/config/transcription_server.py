"""The servers that transcribe a bot's voice messages and speak its answers: its own servers, or that of its model."""

from typing import TypeVar

from msgspec.structs import replace

from daemon.config.schema import BotConfig, SpeechConfig, TranscriptionConfig

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
