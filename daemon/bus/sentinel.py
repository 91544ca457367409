"""Connections to the current master of a service that Redis Sentinels monitor."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import structlog
from redis import exceptions as redis_errors
from redis.asyncio import Redis
from redis.asyncio.sentinel import MasterNotFoundError, Sentinel, SentinelConnectionPool

from daemon.bus.line import Client
from daemon.config.sentinel_address import SentinelAddress

ASK_S = 1.0
"""How long a sentinel may take to answer before the next one is asked."""

_log = structlog.get_logger()
_redis: Any = Redis  # see Client: the library's types are partial
_sentinel: Any = Sentinel
_library: Any = SentinelConnectionPool


class MasterPool(SentinelConnectionPool):
    """Opens each connection to the current master according to the sentinels, and logs a change of the master.

    A connection to a server that is the master no longer ends: the sentinels cut it, and a refused write does.
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
                f"no sentinel at {where} knows a reachable Redis master named {pool.service_name!r}. Check the "
                "sentinels."
            ) from error
        except redis_errors.ResponseError as error:
            raise redis_errors.ConnectionError(
                f"a server in redis.url is not a Redis Sentinel ({error}). Correct the addresses, or use "
                "redis:// for a server without sentinels"
            ) from error
        # Compared without a wait in between: several connections are opened at a time.
        before, self._told = self._told, (host, port)
        if before is None:
            _log.info("redis.master", address=f"{host}:{port}")
        elif before != (host, port):
            reason = (
                f"{before[0]}:{before[1]} is no longer the Redis master; writes that it had not replicated are lost"
            )
            _log.warning("redis.failover", address=f"{host}:{port}", reason=reason)
            if self.on_failover is not None:
                self.on_failover()
        return host, port

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
    """A client of the master. ``options`` are the options of its connections. No server is contacted yet."""
    timeouts = {name: min(seconds, ASK_S) for name, seconds in options.items() if name.startswith("socket_")}
    sentinels = _sentinel(
        address.sentinels,
        sentinel_kwargs={
            **options,
            **timeouts,
            "username": address.sentinel_user or None,
            "password": address.sentinel_password.reveal() or None,
        },
    )
    made: Any = MasterPool
    pool = made(
        address.service,
        sentinels,
        **options,
        username=address.user or None,
        password=address.password.reveal() or None,
        db=address.database,
    )
    return _redis.from_pool(pool)
