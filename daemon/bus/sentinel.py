"""Connections to the current master of a service that Redis Sentinels monitor."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Never

import anyio
import structlog
from redis import exceptions as redis_errors
from redis.asyncio import Redis
from redis.asyncio.sentinel import (
    MasterNotFoundError,
    Sentinel,
    SentinelConnectionPool,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
)

from daemon.bus.pipeline_connection import Client
from daemon.config.address import SentinelAddress

ASK_S = 1.0
"""How long a sentinel may take to answer before the next one is asked."""

LOOK_S = 1.0
"""Interval at which each process asks the sentinels for the master."""

_log = structlog.get_logger()
_redis: Any = Redis  # see Client: the library's types are partial
_sentinel: Any = Sentinel
_library: Any = SentinelConnectionPool
_connection: Any = SentinelManagedConnection


class _MasterConnection:
    """A mixin for ``SentinelManagedConnection`` that uses a server only if the server confirms that it is the master.

    For some seconds after a failover, sentinels may still report the old master, which has returned as a replica.
    """

    async def connect_to(self, address: tuple[str, int]) -> None:
        """See the library.

        Raises:
            redis.ConnectionError: the server is not the master.
        """
        connection: Any = self
        await _connection.connect_to(connection, address)
        # Not ROLE, which a careful administrator forbids.
        await connection.send_command("INFO", "replication")
        if b"role:master" not in await connection.read_response():
            await connection.disconnect()
            host, port = address
            raise redis_errors.ConnectionError(f"{host}:{port} is not the current Redis master")


class _PlainConnection(_MasterConnection, SentinelManagedConnection): ...


class _TlsConnection(_MasterConnection, SentinelManagedSSLConnection): ...


class MasterPool(SentinelConnectionPool):
    """Opens each connection to the current master according to the sentinels, and logs a change of the master.

    As soon as ``follow`` finds a new master, connections to the old master are no longer used.
    """

    _told: tuple[str, int] | None = None
    """The master that the log names."""
    on_failover: Callable[[], None] | None = None
    """Called when another server is the master."""

    async def get_master_address(self) -> tuple[str, int]:
        """Host and port of the current master.

        Raises:
            redis.ConnectionError: no sentinel knows one.
        """
        pool: Any = self
        try:
            host, port = await _library.get_master_address(self)
        except MasterNotFoundError as error:
            # The library's text shows all options of the connections.
            asked = [each.connection_pool.connection_kwargs for each in pool.sentinel_manager.sentinels]
            where = ", ".join(f"{each['host']}:{each['port']}" for each in asked)
            raise redis_errors.ConnectionError(
                f"none of the sentinels at {where} reported a reachable Redis master named {pool.service_name!r}. "
                "Check the sentinels."
            ) from error
        except redis_errors.ResponseError as error:
            raise redis_errors.ConnectionError(
                f"a server in redis.url is not a Redis Sentinel ({error}). Correct the addresses, or use redis:// for "
                "a single server without sentinels"
            ) from error
        # Compared without a wait in between: several connections are opened at a time.
        before, self._told = self._told, (host, port)
        if before is None:
            _log.info("redis.master", address=f"{host}:{port}")
        elif before != (host, port):
            old_host, old_port = before
            reason = (
                f"{old_host}:{old_port} is no longer the Redis master. Changes that this server had not replicated "
                "are lost"
            )
            _log.warning("redis.failover", address=f"{host}:{port}", reason=reason)
            if self.on_failover is not None:
                self.on_failover()
        return host, port

    async def follow(self) -> Never:
        """Ask for the current master every second, because an old master may still answer on open connections."""
        while True:
            await anyio.sleep(LOOK_S)
            await self.look()

    async def look(self) -> None:
        """Ask for the current master, for open connections. Never raises."""
        with suppress(redis_errors.RedisError, OSError):
            await self.get_master_address()

    async def disconnect(self, inuse_connections: bool = True) -> None:
        """Close connections. If those in use are included, also close those to the sentinels."""
        pool: Any = self
        await super().disconnect(inuse_connections=inuse_connections)
        if inuse_connections:
            await pool.sentinel_manager.aclose()


def master_client(address: SentinelAddress, options: Mapping[str, Any]) -> Client:
    """A client of the master; ``options`` are those of its connections. Nothing is asked yet."""
    tls = address.tls or {}
    timeouts = dict.fromkeys(("socket_timeout", "socket_connect_timeout"), ASK_S)
    sentinels = _sentinel(
        address.sentinels,
        sentinel_kwargs={
            **timeouts,
            **tls,
            "ssl": address.tls is not None,
            "driver_info": options["driver_info"],
            "retry": options["retry"],
            "username": address.sentinel_user or None,
            "password": address.sentinel_password.reveal() or None,
        },
    )
    made: Any = MasterPool
    pool = made(
        address.service,
        sentinels,
        **options,
        **tls,
        connection_class=_PlainConnection if address.tls is None else _TlsConnection,
        username=address.user or None,
        password=address.password.reveal() or None,
        db=address.database,
    )
    return _redis.from_pool(pool)
