"""All keys of a kind, read from every node. The result is complete, but takes time proportional to the database."""

from collections.abc import AsyncGenerator
from typing import Any

from daemon.bus.command_batch import translated
from daemon.bus.connection import Bus
from daemon.bus.pipeline_connection import AWAY, Client, Part, pipeline

# Commands that run on every node of a database.


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


PIECE = 1_000
"""Keys that the server looks at in one call: about half a millisecond during which it does nothing else."""


async def scan(bus: Bus, kind: str) -> AsyncGenerator[list[str]]:
    """The names in all keys ``<prefix>:{n}:<kind>:<name>``, in pieces, without order. Each name is returned once.

    What is made or deleted meanwhile may be missing or not.

    Raises:
        BusUnavailable: Redis is away, or a node of its cluster.
    """
    seen = set[str]()
    async for keys in scan_keys(bus, f"{bus.keys.prefix}:{{*}}:{kind}:*"):
        names = {key.decode().split(f"}}:{kind}:", 1)[1] for key in keys} - seen
        seen |= names
        if names:
            yield sorted(names)


async def scan_keys(bus: Bus, pattern: str) -> AsyncGenerator[list[bytes]]:
    """All keys that match ``pattern``, in pieces. A key may be returned twice. Otherwise as ``scan``."""
    nodes: list[Client | None] = [*bus.cluster.nodes] if bus.cluster is not None else [None]
    for node in nodes:
        at = b"0"
        while True:
            at, keys = await _piece(bus, node, at, pattern)
            yield keys
            if int(at) == 0:
                break


async def _piece(bus: Bus, node: Client | None, at: bytes, pattern: str) -> Any:
    command = ("SCAN", at, "MATCH", pattern, "COUNT", PIECE)
    if node is None:
        return await bus.call(*command)
    try:
        [found] = await pipeline(node, [command])
    except AWAY as error:
        raise translated(error) from error
    if isinstance(found, BaseException):
        raise translated(found) from found
    return found
