"""A separate connection for pipelines, because taking a connection from a pool costs as much as ten commands."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import anyio
import hiredis
import structlog
from redis import exceptions as redis_errors
from redis.asyncio.connection import DefaultParser

# Replies whose form depends on the protocol: RESP3 has maps and pairs, RESP2 has flat lists.


def pairs(reply: Any) -> list[tuple[Any, Any]]:
    """A reply of names and values (HGETALL, ZRANGE WITHSCORES, ZPOPMIN, XREAD) as pairs."""
    if not reply:
        return []
    items: list[Any] = list(reply.items() if hasattr(reply, "items") else reply)
    if isinstance(items[0], list | tuple):
        return [(pair[0], pair[1]) for pair in items]
    return list(zip(items[::2], items[1::2], strict=True))


Part = bytes | str | int | float

Client = Any
"""A ``redis.asyncio.Redis``. Its types are partial and what comes back is typed by the command: Any says so once."""

ANSWER_TIMEOUT_S = 5.0
"""A server that has not answered after so long is away."""

SILENT_S = 0.25
"""An answer that is this late is lost if the server answers on another connection.

If a network drops a connection without closing it, all commands behind one lost answer would wait until their timeout.
"""

SLOW_BYTES_PER_S = 1_000_000
"""A large command gets additional time at this speed, because a slow network is not a silent one."""

PROBES = 2
"""Answers on the other connection, one after the other: after the first the server has looked at every connection."""

CONNECT_S = 1.0
"""Timeout of the first attempt to open a connection, after which a second attempt begins."""

CLOSE_S = 1.0
"""Longest wait for a connection to close."""

AWAY = (redis_errors.ConnectionError, redis_errors.TimeoutError, OSError)
"""Exceptions of the library by which a server is not there."""

_log = structlog.get_logger()
_parser: Any = DefaultParser  # see Client

# The library's own types know commands of one word only.
packed: Callable[[tuple[Part, ...]], bytes] = cast("Any", hiredis).pack_command
"""A command as it is sent.

Raises:
    UnicodeEncodeError: a part is no valid Unicode.
"""

PROBE = packed(("ECHO", "there?"))
"""Not PING, because a server that cannot write to its disk refuses PING."""


class PipelineConnection:
    """A connection to the server of a client, opened on first use. The caller limits every wait."""

    def __init__(self, client: Client, *, shaped: bool = True) -> None:
        """``shaped``: answers are given in the library's shapes, not as they come, which is cheaper."""
        self._client = client
        self._shaped = shaped
        self._connection: Any = None

    async def exchange(self, commands: Sequence[tuple[Part, bytes]], *, block_s: float = 0.0) -> list[Any]:
        """The answers to commands, each given as its name and packed; a refused one is answered by its exception.

        ``block_s``: how long the server may wait before it answers.

        Raises:
            TimeoutError: an answer is lost.
        """
        if self._connection is not None and not is_current(self._client, self._connection):
            await self.aclose()
        if self._connection is None:
            self._connection = await connected(self._client)
        connection = self._connection
        try:
            return await _exchanged(self._client, connection, commands, shaped=self._shaped, block_s=block_s)
        except BaseException:
            # Replies are still under way: nobody else may get them.
            self._connection = None
            await connection.disconnect(nowait=True)
            raise

    async def ask(self, commands: Sequence[tuple[Part, ...]], *, block_s: float = 0.0) -> list[Any]:
        """The answers to commands, for which the server may wait for ``block_s``; each that failed by its exception.

        They are sent once, whatever happens.
        """
        try:
            with anyio.fail_after(block_s + ANSWER_TIMEOUT_S):
                return await self.exchange([(command[0], packed(command)) for command in commands], block_s=block_s)
        except AWAY as error:
            return [error] * len(commands)

    async def aclose(self) -> None:
        """Close the connection. The next exchange opens a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with anyio.move_on_after(CLOSE_S, shield=True):
                await connection.disconnect()


async def connected(client: Client, **options: Any) -> Any:
    """A connection of the caller's own to a client's server; the caller limits every wait, and disconnects it."""
    with anyio.move_on_after(CONNECT_S):
        return await _connected(client, options)
    return await _connected(client, options)


async def _connected(client: Client, options: Mapping[str, Any]) -> Any:
    pool = client.connection_pool
    # Without the library's own time-out, which starts a task for every pipeline.
    connection = pool.connection_class(**{**pool.connection_kwargs, "socket_timeout": None, **options})
    try:
        await connection.connect()
    except BaseException:
        await connection.disconnect(nowait=True)
        raise
    return connection


def master_of(client: Client) -> tuple[str, int] | None:
    """Host and port of the last master according to the sentinels; None without sentinels."""
    return getattr(client.connection_pool, "master_address", None)


def is_current(client: Client, connection: Any) -> bool:
    """Whether a connection leads to the master. A former master answers until the sentinels reach it."""
    master = master_of(client)
    return master is None or (connection.host, connection.port) == master


async def pipeline(client: Client, commands: Sequence[tuple[Part, ...]]) -> list[Any]:
    """As ``PipelineConnection.exchange``, for occasional use, on a connection of the client's pool.

    Raises:
        TimeoutError: not all answers came within ``ANSWER_TIMEOUT_S``.
    """
    pool = client.connection_pool
    connection = await pool.get_connection()
    try:
        with anyio.fail_after(ANSWER_TIMEOUT_S):
            if not is_current(client, connection):
                await connection.disconnect()
                await connection.connect()
            return await _exchanged(client, connection, [(command[0], packed(command)) for command in commands])
    except BaseException:
        await connection.disconnect(nowait=True)
        raise
    finally:
        await pool.release(connection)


async def _exchanged(
    client: Client,
    connection: Any,
    commands: Sequence[tuple[Part, bytes]],
    *,
    shaped: bool = True,
    block_s: float = 0.0,
) -> list[Any]:
    # Packed in C and read reply by reply: a third of the CPU of the library's own pipeline.
    sent = b"".join(packed for _, packed in commands)
    await connection.send_packed_command(sent, check_health=False)
    answers: list[Any] = []
    silence = Silence(client, connection)
    while True:
        with anyio.move_on_after(block_s + silent_s(len(sent))):
            for name, _ in commands[len(answers) :]:
                answers.append(await answer_to(client, connection, name if shaped else ""))
            return answers
        await silence.look()


def silent_s(sent_bytes: int) -> float:
    """Seconds after which the answer to a command of ``sent_bytes`` bytes is late."""
    return SILENT_S + sent_bytes / SLOW_BYTES_PER_S


def reads_of(connection: Any) -> int:
    """Number of times that a connection has received data, including parts of answers."""
    reads: int = connection._parser.reads  # noqa: SLF001 - the library shows it nowhere else
    return reads


class CountingParser(_parser):  # type: ignore[misc]  # the library chooses one of several classes
    """The library's parser, which also counts reads: an answer that arrives in parts is not lost."""

    def __init__(self, socket_read_size: int) -> None:
        _parser.__init__(self, socket_read_size)
        self.reads = 0

    async def read_from_socket(self) -> bool:
        """See the library."""
        await _parser.read_from_socket(self)
        self.reads += 1
        return True


class Silence:
    """Distinguishes a lost answer from the late answer of a slow server or network, or of a busy process."""

    def __init__(self, client: Client, connection: Any) -> None:
        self._client, self._connection = client, connection
        self._reads = reads_of(connection)
        self._answers_elsewhere = False

    async def look(self) -> None:
        """Check the connection; called after each ``SILENT_S`` of waiting.

        Raises:
            TimeoutError: the connection received nothing since the server answered on another connection.
        """
        reads, self._reads = self._reads, reads_of(self._connection)
        if reads != self._reads:
            self._answers_elsewhere = False
        elif self._answers_elsewhere:
            _log.warning("connection.silent", waited_s=SILENT_S)
            raise TimeoutError("a response was lost on a connection to Redis")
        else:
            self._answers_elsewhere = await answers_elsewhere(self._client)


async def answers_elsewhere(client: Client) -> bool:
    """Whether the server answers on a new connection."""
    try:
        with anyio.fail_after(ANSWER_TIMEOUT_S):
            connection = await connected(client)
            try:
                for _ in range(PROBES):
                    await connection.send_packed_command(PROBE, check_health=False)
                    if isinstance(await answer_to(client, connection, "ECHO"), BaseException):
                        return False  # it says that it is busy
            finally:
                await connection.disconnect(nowait=True)
    except AWAY:
        return False
    return True


def takes(connection: Any, data: bytes) -> bool:
    """Send ``data``; whether the system has taken all of it, so that there is nothing to wait for."""
    writer = connection._writer  # noqa: SLF001 - the library's own method may wait
    writer.write(data)
    return not writer.transport.get_write_buffer_size()


async def answer_to(client: Client, connection: Any, name: Part) -> Any:
    """The next answer on a connection, converted to the form of this command, if it has one.

    A command that was refused is answered by its exception. A cancellation loses no data.
    """
    # What the library does around its parser, such as time-outs, costs more than the rest of reading an answer.
    reply = await connection._parser.read_response()  # noqa: SLF001
    if isinstance(reply, redis_errors.ResponseError):
        return reply
    shaped = client.response_callbacks.get(name)
    return shaped(reply) if shaped else reply
