"""The doctor's report of what the workers have learnt about models' servers."""

from daemon.bus import Bus
from daemon.cli.finding import Finding, ok, warning
from daemon.config import Config, summary_model_of
from daemon.model import stored


async def examine_learnt(bus: Bus, config: Config) -> list[Finding]:
    """A finding for each model whose server refused something; a window that is too large is a warning.

    Raises:
        BusUnavailable: the server became unavailable meanwhile.
    """
    models = {model: None for bot in config.bots.values() for model in (bot.model, summary_model_of(bot))}
    found = {
        (each.name, each.base_url): (each, learnt) for model in models for each, learnt in await stored(bus, model)
    }
    return [
        (ok if learnt.window_tokens is None else warning)(f"server of {each.name}", "; ".join(lines))
        for each, learnt in found.values()
        if (lines := learnt.lines(each))
    ]
