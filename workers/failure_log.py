"""Counts failures of models for operators."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from daemon.config import ModelConfig
from daemon.errors import BusError, ModelError
from daemon.model import Chunk, Model, Request, note_failure
from daemon.process import Process
from workers.shared_dialects import remembered


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
