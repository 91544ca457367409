"""A separate connection for pipelines, because taking a connection from a pool costs as much as ten commands."""

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import anyio
import hiredis
from redis import exceptions as redis_errors

Part = bytes | str | int | float

Client = Any
"""A ``redis.asyncio.Redis``. Its types are partial and what comes back is typed by the command: Any says so once."""

ANSWER_TIMEOUT_S = 5.0
"""A server that has not answered after so long is away."""

CLOSE_S = 1.0
"""Longest wait for a connection to close."""

AWAY = (redis_errors.ConnectionError, redis_errors.TimeoutError, OSError)
"""Exceptions of the library by which a server is not there."""

# The library's own types know commands of one word only.
packed: Callable[[tuple[Part, ...]], bytes] = cast("Any", hiredis).pack_command
"""A command as it is sent.

Raises:
    UnicodeEncodeError: a part is no valid Unicode.
"""


class Line:
    """A connection to the server of a client, opened on first use. The caller limits every wait."""

    def __init__(self, client: Client, *, shaped: bool = True) -> None:
        """``shaped``: answers are given in the library's shapes, not as they come, which is cheaper."""
        self._client = client
        self._shaped = shaped
        self._connection: Any = None

    async def exchange(self, commands: Sequence[tuple[Part, bytes]]) -> list[Any]:
        """The answers to commands, each given as name and packed bytes. The answer to a refused command is its
        exception."""
        if self._connection is not None and not is_current(self._client, self._connection):
            await self.aclose()
        if self._connection is None:
            self._connection = await connected(self._client)
        connection = self._connection
        try:
            return await _exchanged(self._client, connection, commands, shaped=self._shaped)
        except BaseException:
            # Replies are still under way: nobody else may get them.
            self._connection = None
            await connection.disconnect(nowait=True)
            raise

    async def ask(self, commands: Sequence[tuple[Part, ...]]) -> list[Any]:
        """The answers to commands, of which the first may block. The answer to a failed command is its exception.

        They are sent once, whatever happens.
        """
        try:
            with anyio.fail_after(ANSWER_TIMEOUT_S):
                return await self.exchange([(command[0], packed(command)) for command in commands])
        except AWAY as error:
            return [error] * len(commands)

    async def aclose(self) -> None:
        """Close the connection. The next exchange opens a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with anyio.move_on_after(CLOSE_S, shield=True):
                await connection.disconnect()


async def connected(client: Client, **options: Any) -> Any:
    """A new connection to a client's server. The caller limits every wait, and disconnects it."""
    pool = client.connection_pool
    # Without the library's own time-out, which starts a task for every pipeline.
    connection = pool.connection_class(**{**pool.connection_kwargs, "socket_timeout": None, **options})
    await connection.connect()
    return connection


def master_of(client: Client) -> tuple[str, int] | None:
    """Host and port of the last master according to the sentinels; None without sentinels."""
    return getattr(client.connection_pool, "master_address", None)


def is_current(client: Client, connection: Any) -> bool:
    """Whether a connection leads to the master. A former master answers until the sentinels reach it."""
    master = master_of(client)
    return master is None or (connection.host, connection.port) == master


async def pipeline(client: Client, commands: Sequence[tuple[Part, ...]]) -> list[Any]:
    """As ``Line.exchange``, for occasional use, on a connection of the client's pool.

    Raises:
        TimeoutError: not all answers came within ``ANSWER_TIMEOUT_S``.
    """
    pool = client.connection_pool
    connection = await pool.get_connection()
    try:
        with anyio.fail_after(ANSWER_TIMEOUT_S):
            return await _exchanged(client, connection, [(command[0], packed(command)) for command in commands])
    except BaseException:
        await connection.disconnect(nowait=True)
        raise
    finally:
        await pool.release(connection)


async def _exchanged(
    client: Client, connection: Any, commands: Sequence[tuple[Part, bytes]], *, shaped: bool = True
) -> list[Any]:
    # Packed in C and read reply by reply: a third of the CPU of the library's own pipeline.
    await connection.send_packed_command(b"".join(packed for _, packed in commands), check_health=False)
    return [await answer_to(client, connection, name if shaped else "") for name, _ in commands]


async def answer_to(client: Client, connection: Any, name: Part) -> Any:
    """The next answer on a connection, converted to the form of this command, if it has one.

    A command that was refused is answered by its exception.
    """
    try:
        # The library's own time-out, one a reply, costs as much as the rest of reading it.
        reply = await connection.read_response(timeout=math.inf)
    except redis_errors.ResponseError as error:
        return error
    shaped = client.response_callbacks.get(name)
    return shaped(reply) if shaped else reply
