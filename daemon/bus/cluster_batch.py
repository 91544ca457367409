"""Joined commands on a cluster. Each node has its own pipelines, so an unavailable node does not delay the others."""

from collections.abc import Sequence
from typing import Any

import anyio
from anyio.abc import TaskGroup
from redis import exceptions as redis_errors

from daemon.bus.cluster import Cluster, address_of
from daemon.bus.command_batch import CommandBatch, OtherNode, is_later, translated
from daemon.bus.pipeline_connection import Client, Part, pipeline
from daemon.bus.script_batch import Script
from daemon.errors import BusUnavailable

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.001, 0.2
"""Before a redirected command is sent again; while a slot moves, nodes may send it back and forth."""


class ClusterBatch:
    """As ``CommandBatch``, but each command goes to the node of its key. ``run`` must be running in a task group."""

    def __init__(self, cluster: Cluster, *, patience_s: float) -> None:
        self._cluster = cluster
        self._patience_s = patience_s
        self._lanes: dict[Client, CommandBatch] = {}
        self._tasks: TaskGroup | None = None

    @property
    def failing(self) -> BaseException | None:
        """The reason why a node does not answer right now; None if all nodes answer."""
        lanes = [self._lanes[node] for node in self._cluster.nodes if node in self._lanes]
        return next((lane.failing for lane in lanes if lane.failing), None)

    @property
    def refusing(self) -> BaseException | None:
        """The reason why a node refuses writes; None if all nodes accept writes."""
        lanes = [self._lanes[node] for node in self._cluster.nodes if node in self._lanes]
        return next((lane.refusing for lane in lanes if lane.refusing), None)

    async def call(self, *command: Part, script: Script | None = None) -> Any:
        """The answer to ``command`` from the right node. Errors as for ``CommandBatch.call``."""
        pause_s, until = FIRST_PAUSE_S, anyio.current_time() + self._patience_s
        while True:
            try:
                return await self._lane(command).call(*command, script=script)
            except OtherNode as error:
                asked = error.__cause__
                if isinstance(asked, redis_errors.MovedError):
                    self._cluster.follow(asked)
                elif isinstance(asked, redis_errors.AskError):
                    answer = await self._ask(asked, command, script)
                    if not is_later(answer):
                        return _said(answer)
                if anyio.current_time() > until:
                    raise
            await anyio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    async def run(self) -> None:
        """Send the queued calls, for ever."""
        async with anyio.create_task_group() as self._tasks:
            await anyio.sleep_forever()

    def _lane(self, command: tuple[Part, ...]) -> CommandBatch:
        client = self._cluster.client_of(command)
        if client not in self._lanes:
            if self._tasks is None:
                raise BusUnavailable("the connection to the Redis cluster is not open yet. Try again in a moment.")
            lane = self._lanes[client] = CommandBatch(
                client,
                revive=self._cluster.learn,
                patience_s=self._patience_s,
                belongs=lambda command: self._belongs(command, client),
            )
            self._tasks.start_soon(lane.run)
        return self._lanes[client]

    def _belongs(self, command: Sequence[Part], client: Client) -> bool:
        try:
            return self._cluster.client_of(command) is client
        except BusUnavailable:
            return True  # to nobody else, at least

    async def _ask(self, asked: redis_errors.AskError, command: tuple[Part, ...], script: Script | None) -> Any:
        """What the node says to which a key has moved ahead of its slot."""
        # Rare, so a script goes along each time.
        ahead: list[tuple[Part, ...]] = [("SCRIPT", "LOAD", script.text)] if script else []
        client = self._cluster.client_at(address_of(asked))
        try:
            return (await pipeline(client, [*ahead, ("ASKING",), command]))[-1]
        except (redis_errors.RedisError, OSError) as error:
            return error


def _said(answer: Any) -> Any:
    if isinstance(answer, BaseException):
        raise translated(answer) from answer
    return answer
