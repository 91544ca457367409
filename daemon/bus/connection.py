"""A process's connection to Redis, either the embedded server or an external server."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
from anyio.abc import TaskGroup
from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.connection import UnixDomainSocketConnection, parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo

from daemon.bus.activity_index import ActivityIndex
from daemon.bus.cluster import PARTITIONS, Cluster, PartitionChanges
from daemon.bus.cluster_batch import ClusterBatch
from daemon.bus.command_batch import CommandBatch
from daemon.bus.keys import Keys
from daemon.bus.migrations import NEEDS, SCHEMA, migrate, refuse_newer
from daemon.bus.pipeline_connection import AWAY, Client, CountingParser, Part, PipelineConnection, master_of, pipeline
from daemon.bus.replication import Failovers, Replication
from daemon.bus.script_batch import Script, ScriptBatch, ScriptRequest, Shared, load_script
from daemon.bus.sentinel import MasterPool, master_client
from daemon.bus.suspension import Suspension
from daemon.config import RedisConfig
from daemon.config.address import FORM, SentinelAddress, is_sentinel, sentinel_address
from daemon.errors import BusError, BusUnavailable, ConfigError, LoginRefused, TooFewReplicas
from daemon.server import EmbeddedServer

TOUCH = load_script(__file__, "touch.lua")

OLDEST_SERVER = (6, 2)
"""First server with XAUTOCLAIM, ZADD GT and LMOVE, all of which the contract uses or will use."""

SOCKET_TIMEOUT_S = 5.0
"""A server that says nothing for so long is away."""

PATIENCE_S = 5.0
"""How long a call is sent again before its caller is told that Redis is away."""

START_PATIENCE_S = 30.0
"""How long a starting process waits for a server that loads its data."""

LAST_NOTE_S = 0.5
"""How long closing waits for the index of sessions, which is complete without it as soon as a turn ends."""


async def _nothing() -> None:
    """One's own server is somebody else's to restart."""


class Connected(msgspec.Struct, frozen=True):
    """A client of a server, and the function that reconnects it."""

    client: Client
    revive: Callable[[], Awaitable[None]] = _nothing
    """Brings the server back."""
    gone: Callable[[], Awaitable[str]] | None = None
    """Why the server's data folder is not the one that was opened, a sentence; None: nobody can say."""
    options: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """Of its connections; with another host and port, those of the other nodes of its cluster."""


class Bus:
    """Runs scripts and commands, and knows the names of keys. A restart of the server is survived.

    Made by ``open_bus``, which owns its tasks.
    """

    def __init__(self, connected: Connected, *, prefix: str, min_replicas: int = 0) -> None:
        self._connected = connected
        self._client = connected.client
        self.revive = connected.revive
        self._joined: CommandBatch | ClusterBatch = CommandBatch(
            self._client, revive=self.revive, patience_s=PATIENCE_S
        )
        self._blocking = PipelineConnection(self._client, shaped=False)
        self._blocked = anyio.Lock(fast_acquire=True)
        self._changes: dict[str, PartitionChanges] = {}
        self._tasks: TaskGroup | None = None
        self._together = ScriptBatch(self.run)
        self.keys = Keys(prefix=prefix, partitions=1)
        self.schema = SCHEMA  # of the database; a higher one than ours has kinds of keys that we do not know
        self.suspension = Suspension()
        self.activity = ActivityIndex(lambda sessions: self.run(TOUCH, [self.keys.sessions], sessions))
        self._replication = (
            Replication(self._client, f"{prefix}:replicated", at_least=min_replicas) if min_replicas else None
        )
        self.failovers: Failovers | None = None
        """Of a server that sentinels replace; None: nobody does."""
        if isinstance(pool := self._client.connection_pool, MasterPool):
            self.failovers = Failovers(self.call, pool.follow, self.keys.lost)
            pool.on_failover = self.failovers.changed
        self.cluster: Cluster | None = None
        """The cluster behind it; None: one server holds all partitions."""

    @property
    def client(self) -> Client:
        """The underlying client, for commands that a pipeline cannot run."""
        return self._client

    @property
    def failing(self) -> BaseException | None:
        """The reason why Redis does not answer right now; None if Redis answers."""
        return self._joined.failing

    @property
    def refusing(self) -> BaseException | None:
        """The reason why Redis refuses writes, as a sentence; None if no refusal is known."""
        return self._joined.refusing

    async def call(self, *command: Part) -> Any:
        """The answer to a read, or to a write that may be repeated.

        Raises:
            BusUnavailable: Redis is away; what was sent may or may not have been carried out.
            BusError: Redis refused it.
        """
        self.suspension.check()
        return await self._joined.call(*command)

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Part]) -> Any:
        """The result of ``script``; errors as for ``call``."""
        self.suspension.check()
        return await self._joined.call("EVALSHA", script.sha, len(keys), *keys, *args, script=script)

    def share(self, script: Script, shared: Shared, own: ScriptRequest) -> Awaitable[Any]:
        """The result of a script for ``own``. One run of the script serves all requests of this and the next loop tick.

        ``shared`` are its keys and arguments that are the same for all of them. Errors as for ``call``.
        """
        return self._together.ask(script, shared, own)

    @property
    def master(self) -> tuple[str, int] | None:
        """Host and port of the current master according to the sentinels; None without sentinels."""
        return None if self.cluster else master_of(self._client)

    async def replicated(self, master: tuple[str, int] | None) -> None:
        """Return when ``redis.min_replicas`` replicas have received all earlier writes.

        ``master``: what ``master`` was before the write, which is nowhere else.

        Raises:
            TooFewReplicas: they have not, and may have it later.
            BusUnavailable: Redis is away.
        """
        if self._replication is not None:
            await self._replication.confirm()
            if self.master != master:
                raise TooFewReplicas(
                    "Redis has switched to another master, which might not have received this write. "
                    "Repeat the request."
                )

    async def each(self, commands: Sequence[tuple[Part, ...]]) -> list[Any]:
        """The answers to commands that are sent only once. The answer to a failed command is its exception.

        For what takes something out of Redis: sent again it would take more.
        """
        if suspended := self.suspension.answers(len(commands)):
            return suspended
        if self.cluster is not None:
            return await self.cluster.each(commands)
        try:
            return await pipeline(self._client, commands)
        except AWAY as error:
            return [error] * len(commands)

    async def block(self, commands: Sequence[tuple[Part, ...]], *, block_s: float = 0.0) -> list[Any]:
        """As ``each`` on a single server, on a connection for blocking commands. Only one caller uses it at a time.

        ``block_s``: how long the server waits before it answers.

        Answers are given as they come: a pop's scores take more time to shape than all the rest of it.
        """
        if suspended := self.suspension.answers(len(commands)):
            return suspended
        async with self._blocked:
            return await self._blocking.ask(commands, block_s=block_s)

    def line(self) -> PipelineConnection:
        """A new connection to the single server, for reads that wait."""
        return PipelineConnection(self._client)

    def any_server(self) -> Client:
        """A client of a server that delivers all published messages."""
        return self._client if self.cluster is None else self.cluster.any_node()

    async def aclose(self) -> None:
        """Close all connections, except those of tasks that are still running."""
        await self._blocking.aclose()
        if self._replication is not None:
            await self._replication.aclose()
        await self._client.aclose()

    def changes(self, kind: str, key: Callable[[int], str]) -> PartitionChanges | None:
        """Partitions whose ``key`` changed; None if one blocking read covers all partitions."""
        if self.cluster is None or self._tasks is None:
            return None
        if kind not in self._changes:
            keys = [key(partition) for partition in range(self.keys.partitions)]
            self._changes[kind] = PartitionChanges(self.cluster, keys)
            self._tasks.start_soon(self._changes[kind].run)
        return self._changes[kind]

    async def serve(self) -> None:
        """Send the commands of all callers, for ever. ``open_bus`` starts this task."""
        async with anyio.create_task_group() as self._tasks:
            self._tasks.start_soon(self._joined.run)
            self._tasks.start_soon(self._together.run)
            self._tasks.start_soon(self.activity.run)
            if self._connected.gone is not None:
                self._tasks.start_soon(self.suspension.watch, self._connected.gone)
            if self.failovers is not None:
                self._tasks.start_soon(self.failovers.run)

    async def check(self, partitions: int | None, *, patience_s: float, restoring: bool = False) -> None:
        """Verify that this database can be used. The first use fixes the number of partitions.

        ``restoring``: for whoever restores a backup into it, also where that was cut short before.

        Raises:
            ConfigError: server too old, data of a newer Millpond, another number of partitions, or half restored.
        """
        about = await self._info(patience_s)
        _refuse_sentinel(about)
        _check_version(str(about.get("redis_version", "")))
        if about.get("cluster_enabled") and self._replication is not None:
            raise ConfigError("redis.min_replicas cannot be used with a Redis cluster. Remove the key")
        if about.get("cluster_enabled") and self._tasks is not None:
            await self._spread(self._tasks)
        self.keys = await self._fixed_keys(partitions, restoring=restoring)
        if not restoring:
            await migrate(self)

    async def _spread(self, tasks: TaskGroup) -> None:
        """Go on with all nodes of the cluster that the server belongs to."""
        cluster = Cluster(self._client, self._connected.options)
        await cluster.learn()
        self.cluster = self._client = cluster
        self.revive = cluster.learn
        self._joined = ClusterBatch(cluster, patience_s=PATIENCE_S)
        tasks.start_soon(self._joined.run)
        await anyio.lowlevel.checkpoint()

    async def _info(self, patience_s: float) -> dict[str, Any]:
        until = anyio.current_time() + patience_s
        while True:
            try:
                about: dict[str, Any] = await self.call("INFO")
            except BusUnavailable as error:
                if isinstance(error, LoginRefused) or anyio.current_time() > until:
                    raise
            else:
                return about

    async def _fixed_keys(self, partitions: int | None, *, restoring: bool) -> Keys:
        new = {"schema": SCHEMA, "needs": NEEDS, "partitions": partitions or (PARTITIONS if self.cluster else 1)}
        for name, value in new.items():
            await self.call("HSETNX", self.keys.meta, name, value)
        schema, needs, fixed, restored = await self.call("HMGET", self.keys.meta, *new, "restoring")
        self.schema = int(schema)
        refuse_newer(self.schema, int(needs))
        if restored and not restoring:
            raise ConfigError(
                "a restore into this database is running or was interrupted, so the database cannot be "
                "used yet. Wait until the restore is complete, or run `millpond data restore FOLDER` again."
            )
        if partitions not in (None, int(fixed)) and not restoring:
            raise ConfigError(
                f"redis.partitions does not match: this database has {int(fixed)} partitions. Set redis.partitions "
                f"to {int(fixed)}, or remove this setting. To change the number of partitions, restore a backup "
                "(docs/data.md)."
            )
        return Keys(prefix=self.keys.prefix, partitions=int(fixed))


def _refuse_sentinel(about: Mapping[str, Any]) -> None:
    # Redis and Valkey name their mode by another word each.
    if "sentinel" in (about.get("redis_mode"), about.get("server_mode")):
        raise ConfigError(f"redis.url points to a Redis Sentinel, which does not store data. Write {FORM}")


def _check_version(version: str) -> None:
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < OLDEST_SERVER:
        raise ConfigError(
            f"the server is Redis {version or '(unknown)'}, which is too old. Use Redis 6.2 or newer, or Valkey."
        )


@asynccontextmanager
async def open_bus(
    config: RedisConfig, data_dir: Path, *, patience_s: float = START_PATIENCE_S, restoring: bool = False
) -> AsyncGenerator[Bus]:
    """Open a bus for a block of code. The embedded server is started if no URL is configured.

    ``patience_s``: how long a server that is not there yet, or reads its data, is waited for. ``restoring``: as for
    ``Bus.check``.

    Raises:
        ConfigError, EngineRefused: this database cannot be used; the text says what to do.
        BusUnavailable: the server did not come up in time.
    """
    if config.url:
        connected = _of_url(config.url.reveal())
    else:
        connected = await _of_embedded(EmbeddedServer(data_dir, binary=config.server))
    bus = Bus(connected, prefix=config.prefix, min_replicas=config.min_replicas)
    try:
        async with _served(bus):
            refused = await _refusal(bus, config.partitions, patience_s, restoring=restoring)
            if refused is None:
                yield bus
    finally:
        with anyio.move_on_after(1, shield=True):
            await bus.aclose()
    if refused is not None:
        raise refused


@asynccontextmanager
async def _served(bus: Bus) -> AsyncGenerator[None]:
    # Shielded, for as long as the block lasts: whoever is cancelled in it still gives back what he holds.
    serving = anyio.CancelScope(shield=True)

    async def serve() -> None:
        with serving:
            await bus.serve()

    async with anyio.create_task_group() as tg:
        tg.start_soon(serve)
        try:
            yield
        finally:
            # Who says one thing and goes is on the list of sessions, too.
            with anyio.move_on_after(LAST_NOTE_S, shield=True):
                await bus.activity.written()
            serving.cancel()


async def _refusal(
    bus: Bus, partitions: int | None, patience_s: float, *, restoring: bool
) -> ConfigError | BusError | None:
    """What is wrong with the database; raised outside the task group, where it is no group of errors."""
    try:
        await bus.check(partitions, patience_s=patience_s, restoring=restoring)
    except (ConfigError, BusError) as error:
        return error
    return None


_redis: Any = Redis  # see Client: the library's types are partial
_pool: Any = ConnectionPool
_OPTIONS: dict[str, Any] = {
    "socket_timeout": SOCKET_TIMEOUT_S,
    "socket_connect_timeout": SOCKET_TIMEOUT_S,
    "parser_class": CountingParser,
    "retry": Retry(NoBackoff(), 0),  # Joined alone sends again, and only what may be repeated
    "driver_info": DriverInfo(),  # without it each connection reads the library's version from disk
}


def _of_url(url: str) -> Connected:
    if is_sentinel(url):
        client = master_client(_sentinel_address(url), _OPTIONS)
        return Connected(client, client.connection_pool.look)
    try:
        told: Any = parse_url(url)
    except ValueError as error:
        raise ConfigError(f"redis.url cannot be used: {error}. Correct it.") from None
    client = _redis.from_pool(_pool(**_OPTIONS, **told))
    # The other nodes of a cluster are never reached by a socket file.
    shared: dict[str, Any] = {} if "path" in told else told
    return Connected(client, options={"host": "localhost", "port": 6379, **_OPTIONS, **shared})


def _sentinel_address(url: str) -> SentinelAddress:
    try:
        return sentinel_address(url)
    except ValueError:
        raise ConfigError(f"redis.url cannot be used: expected {FORM}") from None


async def _of_embedded(server: EmbeddedServer) -> Connected:
    address = await server.ensure()
    lock = anyio.Lock()

    async def revive() -> None:
        async with lock:
            await server.ensure()

    place = {"path": str(address.socket), "password": address.password.reveal()}
    client = _redis.from_pool(_pool(connection_class=UnixDomainSocketConnection, **place, **_OPTIONS))
    return Connected(client, revive, server.gone)
