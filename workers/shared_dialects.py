"""Facts about models' servers, shared by the workers. They are optional, so Redis may be unavailable."""

from contextlib import suppress

from daemon.config import ModelConfig
from daemon.errors import BusError
from daemon.model import recall, remember
from daemon.process import Process


async def recalled(process: Process, model: ModelConfig) -> None:
    """Use what other workers have learnt about a model."""
    with suppress(BusError):
        await recall(process.bus, model)


async def remembered(process: Process, model: ModelConfig) -> None:
    """Share what this worker has learnt about a model since the last time."""
    with suppress(BusError):
        await remember(process.bus, model)
