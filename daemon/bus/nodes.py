"""Commands that run on every node of a database."""

from typing import Any

from daemon.bus.command_batch import translated
from daemon.bus.connection import Bus
from daemon.bus.pipeline_connection import AWAY, Part, pipeline


async def on_every_node(bus: Bus, *command: Part) -> list[Any]:
    """The answer of each node to a command that may be repeated.

    Raises:
        BusUnavailable: Redis is away, or a node of its cluster.
        BusError: one refused it.
    """
    if bus.cluster is None:
        return [await bus.call(*command)]
    answers: list[Any] = []
    for node in bus.cluster.nodes:
        try:
            [found] = await pipeline(node, [command])
        except AWAY as error:
            raise translated(error) from error
        if isinstance(found, BaseException):
            raise translated(found) from found
        answers.append(found)
    return answers
