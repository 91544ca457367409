"""The doctor's report of models that fail, of what the workers have learnt about their servers, and of speech."""

from daemon.bus import Bus
from daemon.cli.doctor_finding import Finding, error, ok, warning
from daemon.clock import SystemClock
from daemon.config import BotConfig, Config, ModelConfig, speech_of, summary_model_of, transcription_of
from daemon.durations import duration
from daemon.errors import ModelError
from daemon.model import account_of, read_failing, speech_synthesizer, stored

SPOKEN = "Hello"
"""The text of the test."""

_NAMES = {"outage": "outage", "setup": "set-up fault", "refused": "refusals"}


async def examine_models(bus: Bus, config: Config) -> list[Finding]:
    """A finding for each model that cannot be asked, and for each whose server refused something.

    Raises:
        BusUnavailable: the server became unavailable meanwhile.
    """
    return [finding for model in _models(config) for finding in await _examine(bus, model)]


async def examine_speech(name: str, bot: BotConfig, *, probe: bool) -> list[Finding]:
    """Whether a bot's answers to voice messages can be spoken; with ``probe``, a word is."""
    check, config = f"speech of {name}", speech_of(bot)
    if config is None:
        return []
    if transcription_of(bot) is None:
        text = f"bots.{name}.transcription is not set, so the model does not know what a voice message says"
        return [warning(check, text)]
    if not probe:
        return [ok(check, f"{config.name} was not tested (--probe-model tests the model)")]
    synthesizer = await speech_synthesizer(config, SystemClock())
    try:
        content = await synthesizer.speech_of(SPOKEN)
    except ModelError as failure:
        return [error(check, str(failure))]
    finally:
        await synthesizer.aclose()
    return [ok(check, f"{config.name} spoke a word ({len(content):,} bytes)")]


def _models(config: Config) -> list[ModelConfig]:
    """Each model of the configuration once, fallbacks and summary models too."""
    models = [model for bot in config.bots.values() for model in (bot.model, summary_model_of(bot))]
    return list({(each.name, account_of(each)): each for model in models for each in model.chain}.values())


async def _examine(bus: Bus, model: ModelConfig) -> list[Finding]:
    found: list[Finding] = []
    if failing := await read_failing(bus, model):
        text = f"{failing.reason} ({_NAMES[failing.kind]} for {duration(failing.since_s, 'en')})"
        found.append(error(f"model {model.name}", text))
    learnt = await stored(bus, model)
    if learnt and (lines := learnt.lines(model)):
        found.append((ok if learnt.window_tokens is None else warning)(f"server of {model.name}", "; ".join(lines)))
    return found
