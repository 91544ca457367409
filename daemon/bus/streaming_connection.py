"""A connection on which commands are sent before earlier commands are answered.

The server takes what comes on one connection piece by piece and answers each piece: it works on the next commands
while the answers to the last ones are worked off here. Of pipelines that wait for their answers, each on a connection
of its own, it takes all in one round and answers them together: the two sides would wait for each other in turns.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import anyio
import structlog
from anyio.lowlevel import cancel_shielded_checkpoint

from daemon.bus.pipeline_connection import (
    AWAY,
    CLOSE_S,
    SILENT_S,
    Client,
    Part,
    answer_to,
    answers_elsewhere,
    connected,
    is_current,
    reads_of,
    silent_s,
    takes,
)
from daemon.concurrency import SharedTimeout

WOKEN_AT_ONCE = 16
"""Callers that go on in one round of the event loop: each may have a millisecond's work to do with its answer."""


class SentCommand(Protocol):
    """A command that was sent."""

    @property
    def command(self) -> tuple[Part, ...]:
        """The command, beginning with its name."""
        ...

    @property
    def packed(self) -> bytes:
        """The command as bytes."""
        ...


_log = structlog.get_logger()

_C = TypeVar("_C", bound=SentCommand)


class StreamingConnection(Generic[_C]):
    """Sends commands of one caller at a time. ``run`` must be running in a task group, or no command is answered.

    ``watch`` beside it finds out sooner that a connection is dead.
    """

    def __init__(
        self,
        client: Client,
        *,
        limit_s: float,
        answered: Callable[[_C, Any], None],
        lost: Callable[[Sequence[_C], BaseException], None],
    ) -> None:
        """Nothing happens yet.

        Args:
            client: of the one server that everything is sent to.
            limit_s: a server that takes or says nothing for so long is away.
            answered: told of each answer; a refusal is an exception.
            lost: told what was sent, or could not be, and will not be answered: whether it was carried out is unknown.
        """
        self._client = client
        self._limit = SharedTimeout(limit_s)
        self._answered = answered
        self._lost = lost
        self._connection: Any = None
        self._sent: deque[_C] = deque()
        self._idle: asyncio.Future[None] | None = None
        """Of the reader, while nothing is under way."""
        self._scopes: dict[str, anyio.CancelScope] = {}
        """Of the sender and of the reader."""
        self._unwatched: asyncio.Future[None] | None = None
        """Of the watch, while nothing is under way."""

    @property
    def under_way(self) -> Sequence[_C]:
        """Commands that were sent but not answered."""
        return tuple(self._sent)

    async def send(self, calls: Sequence[_C]) -> None:
        """Send commands. The commands are answered, or lost, in their order."""
        if self._connection is not None and not is_current(self._client, self._connection):
            await self._lose(self._connection, ConnectionError("another server has become the Redis master"))
        # From now on they are under way: whoever closes all this finds them, also while a connection is opened.
        self._sent.extend(calls)
        if self._unwatched is not None and not self._unwatched.done():
            self._unwatched.set_result(None)
        connection, data = self._connection, b"".join(call.packed for call in calls)
        try:
            # A limit for every sending would cost as much as the sending, which has to wait only seldom.
            if connection is None or not takes(connection, data):
                with self._limit() as sending:
                    self._scopes["send"] = sending
                    if connection is None:
                        connection = self._connection = await connected(self._client)
                        takes(connection, data)
                    self._wake_reader()
                    await connection.send_packed_command(b"", check_health=False)  # waits for what is not taken yet
                self._limit.late(sending)
            self._wake_reader()
        except AWAY as error:
            await self._lose(connection, error)

    def _wake_reader(self) -> None:
        if self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    async def run(self) -> None:
        """Read answers, for ever."""
        try:
            while True:
                while not self._sent or self._connection is None:
                    await self._something_sent()
                connection = self._connection
                try:
                    await self._read_some(connection)
                except AWAY as error:
                    await self._lose(connection, error)
        finally:
            if self._connection is not None:
                with anyio.move_on_after(CLOSE_S, shield=True):
                    await self._connection.disconnect()

    async def watch(self) -> None:
        """Close a connection that stays silent while the server answers on another connection, for ever."""
        while True:
            while not self._sent:
                self._unwatched = asyncio.get_running_loop().create_future()
                await self._unwatched
            connection = self._connection
            reads = reads_of(connection) if connection else 0
            await anyio.sleep(silent_s(sum(len(call.packed) for call in self._sent)))
            if not self._is_silent(connection, reads) or not await answers_elsewhere(self._client):
                continue
            # Again: an answer may have come meanwhile that a busy event loop had not read yet.
            if self._is_silent(connection, reads):
                _log.warning("connection.silent", count=len(self._sent), waited_s=SILENT_S)
                await self._lose(connection, TimeoutError("a reply from Redis was lost on the connection"))

    def _is_silent(self, connection: Any, reads: int) -> bool:
        is_open = connection is not None and connection is self._connection
        return is_open and reads == reads_of(connection) and bool(self._sent)

    async def _read_some(self, connection: Any) -> None:
        with self._limit() as reading:
            self._scopes["read"] = reading
            for number in range(1, len(self._sent) + 1):
                call = self._sent[0]
                answer = await answer_to(self._client, connection, call.command[0])
                if connection is not self._connection:
                    return  # given up meanwhile: what it says is of no use to those who have asked again
                self._sent.popleft()
                self._answered(call, answer)
                if number == WOKEN_AT_ONCE:
                    await cancel_shielded_checkpoint()
                    return
        self._limit.late(reading)

    async def _something_sent(self) -> None:
        self._idle = asyncio.get_running_loop().create_future()
        try:
            await self._idle
        finally:
            self._idle = None

    async def _lose(self, connection: Any, error: BaseException) -> None:
        """Give a connection up, unless that was done already."""
        if connection is not self._connection:
            return
        self._connection = None
        calls = list(self._sent)
        self._sent.clear()
        self._lost(calls, error)
        if connection is not None:
            # A connection that takes nothing is not closed before it is empty: nobody waits for that.
            for scope in self._scopes.values():
                scope.cancel()
            await connection.disconnect(nowait=True)
