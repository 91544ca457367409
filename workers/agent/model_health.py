"""Whether a bot's model can be called, according to all workers; see ``daemon.model.failing``.

Nothing depends on it: while Redis is unavailable, each worker asks as if nothing were known.
"""

from contextlib import suppress

from daemon.config import ModelConfig
from daemon.errors import BusError
from daemon.model import Failing, failing, note_failing, note_working
from daemon.process import Process


async def ask_anew(process: Process) -> None:
    """Have all models asked at the next message: the configuration may be another one than when they failed."""
    with suppress(BusError):
        for bot in process.config.bots.values():
            await note_working(process.bus, bot.model)


class ModelHealth:
    """Of all models of a process."""

    def __init__(self, process: Process) -> None:
        self._bus = process.bus
        self._failing: set[tuple[str, str]] = set()
        """Models that this process knows to fail; of the others it asks Redis nothing."""

    async def obstacle(self, model: ModelConfig, *, was_parked: bool) -> Failing | None:
        """Why a turn has to wait; None: it asks the model.

        Args:
            model: the turn's.
            was_parked: whether the turn's session was parked before, by whichever worker.
        """
        if not was_parked and _name(model) not in self._failing:
            return None
        with suppress(BusError):
            return await failing(self._bus, model)
        return None

    async def failed(self, model: ModelConfig, failure: Failing, *, retry_after_s: float | None) -> Failing:
        """Note a failed call; the failure with the time since when it has lasted."""
        self._failing.add(_name(model))
        with suppress(BusError):
            return await note_failing(self._bus, model, failure.kind, failure.reason, retry_after_s=retry_after_s)
        return failure

    async def works(self, model: ModelConfig, *, was_parked: bool) -> None:
        """Note an answer."""
        if was_parked or _name(model) in self._failing:
            with suppress(BusError):
                await note_working(self._bus, model)
                self._failing.discard(_name(model))


def _name(model: ModelConfig) -> tuple[str, str]:
    return model.base_url, model.name
