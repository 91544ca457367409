"""One process's connection to Redis, embedded or one's own."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from daemon.bus.joined import Client, Joined, Part
from daemon.bus.keys import Keys
from daemon.bus.script import Script
from daemon.config import RedisConfig
from daemon.errors import BusError, BusUnavailable, ConfigError
from daemon.server import EmbeddedServer

SCHEMA = 1
"""Version of the contract in Redis; a database with a higher one is refused."""

OLDEST_SERVER = (6, 2)
"""First server with XAUTOCLAIM, ZADD GT and LMOVE, all of which the contract uses or will use."""

SOCKET_TIMEOUT_S = 5.0
"""A server that says nothing for so long is away."""

PATIENCE_S = 5.0
"""How long a call is sent again before its caller is told that Redis is away."""

START_PATIENCE_S = 30.0
"""How long a starting process waits for a server that loads its data."""


class Bus:
    """Scripts and reads, with the key names they need; survives a restart of the server.

    Made by ``open_bus``, which owns its tasks.
    """

    def __init__(self, client: Client, *, prefix: str, revive: Callable[[], Awaitable[None]]) -> None:
        self._client = client
        self.revive = revive
        self._joined = Joined(client, revive=revive, patience_s=PATIENCE_S)
        self.keys = Keys(prefix=prefix, partitions=1)

    @property
    def client(self) -> Client:
        """The client below, for what a pipeline cannot do: blocking reads and publish/subscribe."""
        return self._client

    @property
    def failing(self) -> BaseException | None:
        """Why Redis does not answer just now; None while it does."""
        return self._joined.failing

    async def call(self, *command: Part) -> Any:
        """The answer to a read, or to a write that may be repeated.

        Raises:
            BusUnavailable: Redis is away; what was sent may or may not have been carried out.
            BusError: Redis refused it.
        """
        return await self._joined.call(*command)

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Part]) -> Any:
        """The result of ``script``; errors as for ``call``."""
        return await self._joined.call("EVALSHA", script.sha, len(keys), *keys, *args, script=script)

    async def serve(self) -> None:
        """Send what is called, for ever; started by ``open_bus``."""
        await self._joined.run()

    async def check(self, partitions: int | None, *, patience_s: float) -> None:
        """Make sure that this database can be used, and fix its number of partitions at first use.

        Raises:
            ConfigError: server too old, data of a newer Millpond, or another number of partitions.
        """
        _check_version(await self._info(patience_s))
        self.keys = await self._fixed_keys(partitions)

    async def _info(self, patience_s: float) -> str:
        until = anyio.current_time() + patience_s
        while True:
            try:
                info: dict[str, Any] = await self.call("INFO", "server")
            except BusUnavailable:
                if anyio.current_time() > until:
                    raise
            else:
                return str(info.get("redis_version", ""))

    async def _fixed_keys(self, partitions: int | None) -> Keys:
        meta = self.keys.meta
        await self.call("HSETNX", meta, "schema", SCHEMA)
        await self.call("HSETNX", meta, "partitions", partitions or 1)
        schema, fixed = (int(value) for value in await self.call("HMGET", meta, "schema", "partitions"))
        if schema > SCHEMA:
            raise ConfigError(f"this database was written by a newer Millpond (schema {schema}, ours is {SCHEMA})")
        if partitions not in (None, fixed):
            raise ConfigError(
                f"redis.partitions: this database was made with {fixed} partitions, and the number is fixed; "
                f"set it to {fixed} or leave it out"
            )
        return Keys(prefix=self.keys.prefix, partitions=fixed)


def _check_version(version: str) -> None:
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < OLDEST_SERVER:
        raise ConfigError(
            f"the server says it is Redis {version or '(unknown)'}; Millpond needs 6.2 or newer, or Valkey"
        )


@asynccontextmanager
async def open_bus(config: RedisConfig, data_dir: Path, *, patience_s: float = START_PATIENCE_S) -> AsyncGenerator[Bus]:
    """A bus for the length of the block; starts the embedded server when no URL is configured.

    ``patience_s``: how long a server that is not there yet, or reads its data, is waited for.

    Raises:
        ConfigError, EngineRefused: this database cannot be used; the text says what to do.
        BusUnavailable: the server did not come up in time.
    """
    if config.url:
        client, revive = await _of_url(config.url.reveal())
    else:
        client, revive = await _of_embedded(EmbeddedServer(data_dir, binary=config.server))
    bus = Bus(client, prefix=config.prefix, revive=revive)
    try:
        async with _served(bus):
            refused = await _refusal(bus, config.partitions, patience_s)
            if refused is None:
                yield bus
    finally:
        with anyio.move_on_after(1, shield=True):
            await client.aclose()
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
            serving.cancel()


async def _refusal(bus: Bus, partitions: int | None, patience_s: float) -> ConfigError | BusError | None:
    """What is wrong with the database; raised outside the task group, where it is no group of errors."""
    try:
        await bus.check(partitions, patience_s=patience_s)
    except (ConfigError, BusError) as error:
        return error
    return None


_Connected = tuple[Client, Callable[[], Awaitable[None]]]
"""A client, and what brings its server back."""

_redis: Any = Redis  # see Client: the library's types are partial
_OPTIONS: dict[str, Any] = {
    "socket_timeout": SOCKET_TIMEOUT_S,
    "socket_connect_timeout": SOCKET_TIMEOUT_S,
    # One owner of retries: Joined sends again, and only what may be repeated.
    "retry": Retry(NoBackoff(), 0),
}


async def _of_url(url: str) -> _Connected:
    async def revive() -> None:
        """One's own server is somebody else's to restart."""

    try:
        return _redis.from_url(url, **_OPTIONS), revive
    except ValueError as error:
        raise ConfigError(f"redis.url cannot be used: {error}") from None


async def _of_embedded(server: EmbeddedServer) -> _Connected:
    address = await server.ensure()
    lock = anyio.Lock()

    async def revive() -> None:
        async with lock:
            await server.ensure()

    return _redis(unix_socket_path=str(address.socket), password=address.password.reveal(), **_OPTIONS), revive
