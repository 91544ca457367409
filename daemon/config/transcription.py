"""The server that turns a bot's voice messages into text: its own, or that of its model."""

from msgspec.structs import replace

from daemon.config.schema import BotConfig, TranscriptionConfig


def transcription_of(bot: BotConfig) -> TranscriptionConfig | None:
    """What is asked, address and key filled in; None when the bot turns no speech into text.

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
