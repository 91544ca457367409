"""The nodes of a cluster: the slots of each node, and a client for each node.

The library's own cluster client is not used: it refuses scripts in pipelines, sends again by itself, and drops the
connections of all nodes when one fails. What is left to do without it: a map of slots, and following redirections.

Each node is asked to tell of changes to one key a partition, as to a client that caches them (CLIENT TRACKING in
broadcasting mode, Redis 6.0). All of it is a hint: every partition is looked at now and then in any case.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import anyio
import structlog
from redis import exceptions as redis_errors
from redis.asyncio import ConnectionPool, Redis
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from daemon.bus.pipeline_connection import AWAY, Client, Part, pipeline
from daemon.errors import BusUnavailable

LEARN_EVERY_S = 0.1
"""Shortest time between two questions after the map: many calls fail at once when a node goes away."""

LEARN_TIMEOUT_S = 1.0
"""A node that was stopped takes connections and says nothing: then the next one is asked."""

PARTITIONS = 64
"""How many a database on a cluster is given at first use, so that several nodes share the work."""

Address = tuple[str, int]

_KEYLESS = frozenset({"PING", "ECHO", "TIME", "INFO", "PUBSUB", "SCRIPT", "CONFIG", "KEYS", "CLIENT", "CLUSTER"})
_KEY_AT = {"EVALSHA": 3, "EVAL": 3, "XGROUP": 2, "XINFO": 2, "OBJECT": 2, "MEMORY": 2}
"""Where a command has its first key; all others have it right behind their name (PUBLISH its channel)."""

_redis: Any = Redis  # see Client: the library's types are partial
_pool: Any = ConnectionPool


def slot_of(command: Sequence[Part]) -> int | None:
    """The slot of a command; None if any node can answer the command."""
    name = str(command[0])
    if name in _KEYLESS:
        return None
    at = 1 + _streams_at(command) if name in ("XREAD", "XREADGROUP") else _KEY_AT.get(name, 1)
    if len(command) <= at:
        return None  # whoever gets it says what is wrong with it
    key = command[at]
    return key_slot(key if isinstance(key, bytes) else str(key).encode())


def address_of(redirection: Any) -> Address:
    """The address in an ``AskError`` or ``MovedError``, whose fields have no types in the library."""
    return str(redirection.host), int(redirection.port)


def _streams_at(command: Sequence[Part]) -> int:
    return next(at for at, part in enumerate(command) if part in ("STREAMS", b"STREAMS"))


class Cluster:
    """The nodes of a cluster that accept writes. One node is known at first; ``learn`` finds the others."""

    def __init__(self, seed: Client, options: Mapping[str, Any]) -> None:
        """Nothing happens yet.

        Args:
            seed: the node that was configured.
            options: how a connection to it is made; with another host and port, one to any other node.
        """
        self._options = options
        # A node that left is kept, for it may come back; there are never many.
        self._clients: dict[Address, Client] = {(options["host"], options["port"]): seed}
        self._owners: list[Address | None] = [None] * REDIS_CLUSTER_HASH_SLOTS
        self._nodes: tuple[Address, ...] = ()
        self._lock = anyio.Lock()
        self._learned_at = -LEARN_EVERY_S
        self.changed = anyio.Event()
        """Set when a slot went to another node; a new event then takes its place."""

    @property
    def nodes(self) -> list[Client]:
        """A client for each node that holds slots."""
        return [self._clients[address] for address in self._nodes]

    def client_of(self, command: Sequence[Part]) -> Client:
        """The client of the node that must get a command.

        Raises:
            BusUnavailable: no node holds its slot just now.
        """
        slot = slot_of(command)
        owner = self._owners[slot] if slot is not None else random.choice(self._nodes or (None,))
        if owner is None:
            raise BusUnavailable(f"no node in the Redis cluster serves slot {slot}. Check the cluster's state.")
        return self._clients[owner]

    def client_at(self, address: Address) -> Client:
        """The client of the node at an address."""
        if address not in self._clients:
            self._clients[address] = self.connect(address)
        return self._clients[address]

    def connect(self, address: Address, **options: Any) -> Client:
        """A new client of a node, which the caller closes. ``options``: unusual options of its connections."""
        host, port = address
        return _redis.from_pool(_pool(**{**self._options, "host": host, "port": port, **options}))

    def nodes_of(self, keys: Sequence[str]) -> dict[Address, list[str]]:
        """The keys, grouped by the address of their node. Keys in a slot without a node are left out."""
        found: dict[Address, list[str]] = {}
        for key in keys:
            owner = self._owners[key_slot(key.encode())]
            if owner is not None:
                found.setdefault(owner, []).append(key)
        return found

    def follow(self, moved: redis_errors.MovedError) -> None:
        """Record the new node of a slot."""
        address = address_of(moved)
        # A node that does not know its own name leaves it out; the next ``learn`` finds it.
        if address[0]:
            self.client_at(address)
            owners = list(self._owners)
            owners[moved.slot_id] = address
            self._take_in(owners)

    async def learn(self) -> None:
        """Ask the nodes which slots they hold.

        Raises:
            BusUnavailable: no node answers.
        """
        async with self._lock:
            if anyio.current_time() < self._learned_at + LEARN_EVERY_S:
                return
            # In any order: a node that is cut off from the others knows only what used to be.
            for address in random.sample(sorted(self._clients), len(self._clients)):
                if ranges := await self._ranges(address):
                    self._take_in(self._owners_from(ranges, asked=address[0]))
                    self._learned_at = anyio.current_time()
                    return
        raise BusUnavailable("no node in the Redis cluster is responding. Check that the cluster is running.")

    async def _ranges(self, address: Address) -> Sequence[Any]:
        """The ranges of slots as a node tells them; none when it does not answer or knows of none."""
        with anyio.move_on_after(LEARN_TIMEOUT_S):
            try:
                [ranges] = await pipeline(self._clients[address], [("CLUSTER", "SLOTS")])
            except AWAY:
                return ()
            return () if isinstance(ranges, redis_errors.RedisError) else ranges
        return ()

    def _owners_from(self, ranges: Sequence[Any], *, asked: str) -> list[Address | None]:
        owners: list[Address | None] = [None] * REDIS_CLUSTER_HASH_SLOTS
        for first, last, (host, port, *_), *_replicas in ranges:
            # No host: the node does not know its own name, and the one that it was asked under is as good.
            address = (host.decode() if host else asked, int(port))
            self.client_at(address)
            owners[first : last + 1] = [address] * (last + 1 - first)
        return owners

    def _take_in(self, owners: list[Address | None]) -> None:
        if owners == self._owners:
            return
        self._owners = owners
        self._nodes = tuple(sorted({owner for owner in owners if owner}))
        self.changed.set()
        self.changed = anyio.Event()

    async def each(self, commands: Sequence[tuple[Part, ...]]) -> list[Any]:
        """The answers to ``commands``, with one pipeline for each node. The answer to a failed command is its
        exception."""
        answers: list[Any] = [
            BusUnavailable("no node in the Redis cluster serves this key's slot. Check the cluster's state.")
        ] * len(commands)
        by_client: dict[Client, list[int]] = {}
        for at, command in enumerate(commands):
            try:
                by_client.setdefault(self.client_of(command), []).append(at)
            except BusUnavailable as error:
                answers[at] = error

        async def ask(client: Client, places: list[int]) -> None:
            for at, answer in zip(places, await self._asked(client, [commands[at] for at in places]), strict=True):
                answers[at] = answer

        async with anyio.create_task_group() as tg:
            for client, places in by_client.items():
                tg.start_soon(ask, client, places)
        return answers

    async def _asked(self, client: Client, commands: list[tuple[Part, ...]]) -> list[Any]:
        try:
            answers = await pipeline(client, commands)
        except AWAY as error:
            with suppress(BusUnavailable):
                await self.learn()
            return [error] * len(commands)
        for answer in answers:
            if isinstance(answer, redis_errors.MovedError):
                self.follow(answer)
        return answers

    async def execute_command(self, *command: Part) -> Any:
        """The answer to a command that may block, on a separate connection. Errors are those of the library."""
        try:
            return await self.client_of(command).execute_command(*command)
        except BusUnavailable as error:
            raise redis_errors.ConnectionError(str(error)) from error
        except redis_errors.MovedError as moved:
            # Whoever reads in a loop asks again.
            self.follow(moved)
            raise redis_errors.ConnectionError(str(moved)) from moved
        except AWAY:
            with suppress(BusUnavailable):
                await self.learn()
            raise

    def any_node(self) -> Client:
        """A client of any node. Messages published on one node reach all nodes."""
        return random.choice(self.nodes)

    async def aclose(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            await client.aclose()


# Tells on a cluster which partitions changed, because no command there can wait for keys of several slots.

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


class PartitionChanges:
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
    raise redis_errors.TimeoutError("a node of the Redis cluster is not responding")
