"""The health of models, as all workers know it: whether one can be called, its failures, and what its server takes.

Nothing depends on it: while Redis is unavailable, each worker asks as if nothing were known. See
``daemon.model.model_status`` and ``daemon.model.dialect_store``.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from daemon.config import ModelConfig
from daemon.errors import BusError, ModelError, ModelRefused
from daemon.model import (
    Chunk,
    FailingModel,
    Model,
    Request,
    account_of,
    failing,
    note_failing,
    note_failure,
    note_working,
    recall,
    remember,
)
from daemon.process import Process


async def ask_anew(process: Process) -> None:
    """Have all models asked at the next message: the configuration may be another one than when they failed."""
    with suppress(BusError):
        for bot in process.config.bots.values():
            await note_working(process.bus, bot.model)


REFUSED_SESSIONS = 3
"""Refused messages of so many sessions in a row, without an answer between them, are the fault of something that all
of these sessions share, such as the bot's prompt."""


class ModelHealth:
    """Of all models of a process."""

    def __init__(self, process: Process) -> None:
        self._bus = process.bus
        self._failing: set[tuple[str, str]] = set()
        """Models that this process knows to fail; of the others it asks Redis nothing."""
        self._refused: dict[str, set[str]] = {}
        """By bot: sessions whose messages were refused since the bot's last answer."""

    async def obstacle(self, model: ModelConfig, *, was_parked: bool) -> FailingModel | None:
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

    async def failed(self, model: ModelConfig, failure: FailingModel, *, retry_after_s: float | None) -> FailingModel:
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

    async def refused(self, bot: str, model: ModelConfig, session: str, error: ModelRefused) -> FailingModel | None:
        """Note that a message was given up since ``model`` refused it; what administrators are to know of it."""
        sessions = self._refused.setdefault(bot, set())
        sessions.add(session)
        if len(sessions) < REFUSED_SESSIONS:
            return None
        text = f"The server rejected messages from {REFUSED_SESSIONS} conversations in a row ({error.brief})."
        with suppress(BusError):
            return await note_failing(
                self._bus, model, "refused", f"{text} Check the bot's files and tools, and the model's settings."
            )
        return None

    async def answered(self, bot: str, model: ModelConfig) -> None:
        """Note that a message was answered."""
        sessions = self._refused.pop(bot, ())
        if len(sessions) >= REFUSED_SESSIONS:
            with suppress(BusError):
                await note_working(self._bus, model)


def _name(model: ModelConfig) -> tuple[str, str]:
    return account_of(model), model.name


# Failures of models, counted for operators.


async def noted(process: Process, error: Exception) -> None:
    """Count a failure, if Redis takes it: nothing depends on it."""
    if isinstance(error, ModelError | TimeoutError):
        with suppress(BusError):
            await note_failure(process.bus, process.clock, error)


class LoggedModel:
    """A ``Model`` whose failures are counted, and whose server's peculiarities are shared."""

    def __init__(self, model: Model, config: ModelConfig, process: Process) -> None:
        self.name = model.name
        self._config = config
        self._model = model
        self._process = process

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """As ``Model.stream``."""
        try:
            async with aclosing(self._model.stream(request)) as chunks:
                async for chunk in chunks:
                    yield chunk
            await remembered(self._process, self._config)
        except ModelError as error:
            await noted(self._process, error)
            raise

    async def aclose(self) -> None:
        """Close the model's connections."""
        await self._model.aclose()


# What workers have learnt about models' servers, and share.


async def recalled(process: Process, model: ModelConfig) -> None:
    """Use what other workers have learnt about a model."""
    with suppress(BusError):
        await recall(process.bus, model)


async def remembered(process: Process, model: ModelConfig) -> None:
    """Share what this worker has learnt about a model since the last time."""
    with suppress(BusError):
        await remember(process.bus, model)
