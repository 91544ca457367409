"""Tells on a cluster which partitions changed, because no command there can wait for keys of several slots.

Each node is asked to tell of changes to one key a partition, as to a client that caches them (CLIENT TRACKING in
broadcasting mode, Redis 6.0). All of it is a hint: every partition is looked at now and then in any case.
"""

import random
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import anyio
import structlog
from redis import exceptions as redis_errors

from daemon.bus.cluster import Address, Cluster
from daemon.errors import BusUnavailable

LOOK_S = 5.0
"""Each partition is looked at so often, whatever is heard."""

RETRY_S = 0.5
"""Pause before a node is asked again to tell; without its telling, each partition is looked at so often."""

POLL_S = 1.0
"""A node that tells nothing for so long is asked whether it is there."""

PROTOCOL = 2
"""Here the library shows the names of the keys; with RESP3 it keeps them to itself."""

TOLD = "__redis__:invalidate"
"""Channel on which a server tells of changes to a connection of that protocol."""

_log = structlog.get_logger()


class Changes:
    """Partitions whose key may have changed since the last look. ``run`` must be running in a task group."""

    def __init__(self, cluster: Cluster, keys: Sequence[str]) -> None:
        """All are worth a look at first.

        Args:
            cluster: whose nodes tell.
            keys: one a partition, in order.
        """
        self._cluster = cluster
        self._partitions = {key.encode(): partition for partition, key in enumerate(keys)}
        self._open = set(self._partitions.values())
        self._event = anyio.Event()

    def put(self, partition: int) -> None:
        """Add a partition to the changed ones."""
        self._open.add(partition)
        self._event.set()

    async def next(self, at_most: int, *, within_s: float) -> list[int]:
        """Up to ``at_most`` changed partitions, waiting for the first. No other caller gets these partitions."""
        with anyio.move_on_after(within_s):
            while not self._open:
                self._event = anyio.Event()
                await self._event.wait()
        # Any: in a fixed order, those that change all the time would keep the others waiting.
        chosen = random.sample(sorted(self._open), min(at_most, len(self._open)))
        self._open.difference_update(chosen)
        return chosen

    async def run(self) -> None:
        """Read the notifications of all nodes, for ever."""
        async with anyio.create_task_group() as tg:
            tg.start_soon(self._look)
            while True:
                moved = self._cluster.changed
                async with anyio.create_task_group() as hearing:
                    keys = [key.decode() for key in self._partitions]
                    for address, held in self._cluster.nodes_of(keys).items():
                        hearing.start_soon(self._hear, address, held)
                    await moved.wait()
                    hearing.cancel_scope.cancel()

    async def _look(self) -> None:
        while True:
            await anyio.sleep(LOOK_S)
            self._put(self._partitions)

    async def _hear(self, address: Address, keys: Sequence[str]) -> None:
        client = self._cluster.connect(address, protocol=PROTOCOL)
        try:
            while True:
                try:
                    await self._listen(client, keys)
                except (redis_errors.RedisError, OSError) as error:
                    _log.debug("listener.lost", reason=type(error).__name__)
                self._put(key.encode() for key in keys)
                with suppress(BusUnavailable):
                    await self._cluster.learn()
                await anyio.sleep(RETRY_S)
        finally:
            with anyio.move_on_after(1, shield=True):
                await client.aclose()

    async def _listen(self, client: Any, keys: Sequence[str]) -> None:
        connection = await client.connection_pool.get_connection()
        try:
            number = await _answer(connection, "CLIENT", "ID")
            prefixes = [part for key in keys for part in ("PREFIX", key)]
            await _answer(connection, "CLIENT", "TRACKING", "ON", "REDIRECT", number, "BCAST", *prefixes)
            await _answer(connection, "SUBSCRIBE", TOLD)
            self._put(key.encode() for key in keys)
            while True:
                self._take_in(await _told(connection))
        finally:
            with anyio.move_on_after(1, shield=True):
                await connection.disconnect(nowait=True)
                await client.connection_pool.release(connection)

    def _take_in(self, told: Any) -> None:
        match told:
            case [b"message", _, [*keys]]:
                self._put(keys)
            case [b"message", *_]:  # the whole database was flushed
                self._put(self._partitions)
            case _:
                """The answer to a ping."""

    def _put(self, keys: Iterable[bytes]) -> None:
        for key in keys:
            partition = self._partitions.get(key)
            if partition is not None:
                self.put(partition)


async def _answer(connection: Any, *command: str | int) -> Any:
    await connection.send_command(*command)
    return await connection.read_response()


async def _told(connection: Any) -> Any:
    for _ in range(2):
        try:
            told = await connection.read_response(timeout=POLL_S)
        except redis_errors.ResponseError:  # a ping is refused while the server's disk is full
            told = ()
        if told is not None:
            return told
        await connection.send_command("PING")
    raise redis_errors.TimeoutError("a server (node) of the Redis cluster does not answer")
