"""The server that transcribes a bot's voice messages: its own server, or that of its model."""

from msgspec.structs import replace

from daemon.config.schema import BotConfig, TranscriptionConfig


def transcription_of(bot: BotConfig) -> TranscriptionConfig | None:
    """The server to call, with address and key; None if the bot transcribes no speech.

    Without a ``base_url`` of its own it is asked at the model's, with the model's key unless it has one. A model behind
    Anthropic's API has no such server: then it is asked at OpenAI's.
    """
    given = bot.transcription
    if not given.name:
        return None
    if given.base_url:
        return given
    if bot.model.api != "openai":
        return given
    return replace(given, base_url=bot.model.base_url, api_key=given.api_key or bot.model.api_key)
