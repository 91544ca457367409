"""The doctor's report of models that fail, and of what the workers have learnt about their servers."""

from daemon.bus import Bus
from daemon.cli.doctor_finding import Finding, error, ok, warning
from daemon.config import Config, ModelConfig, summary_model_of
from daemon.durations import duration
from daemon.model import account_of, read_failing, stored

_NAMES = {"outage": "outage", "setup": "set-up fault", "refused": "refusals"}


async def examine_models(bus: Bus, config: Config) -> list[Finding]:
    """A finding for each model that cannot be asked, and for each whose server refused something.

    Raises:
        BusUnavailable: the server became unavailable meanwhile.
    """
    return [finding for model in _models(config) for finding in await _examine(bus, model)]


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
