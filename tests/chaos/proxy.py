"""A proxy before the server that loses replies and lets old commands arrive late.

Commands are forwarded whole. By a seeded dice, the reply to a script call is dropped (the command is carried out, the
client's connection is cut), and a copy of a script call arrives again later. Nothing but script calls is touched: they
alone promise to be harmless when they arrive twice or late.
"""

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
import hiredis
from anyio.abc import ByteStream, SocketAttribute, TaskGroup, TaskStatus

GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)
"""What a stream raises when the other side is not there (any more)."""

LOOPBACK = "127.0.0.1"
DRAIN_S = 2.0  # how long the server's answers are awaited for a client that is gone: what it sent is carried out
LATE_MIN_S = 0.1  # the soonest that a copy arrives
AWAY_PAUSE_S = 0.2  # before a late copy is offered again to a server that is away
LATE_LIMIT_S = 30.0  # how long it is offered
_NOTHING = object()

Command = Sequence[bytes]


class Observer(Protocol):
    """Sees every command before it reaches the server, and every answer before anybody else."""

    def asked(self, command: Command) -> None:
        """It is about to be sent."""

    def answered(self, command: Command, reply: Any) -> None:
        """The server's answer to it."""


@dataclass
class Faults:
    """How often what goes wrong; may be changed at any time."""

    drop: float = 0.0  # chance that the reply to a script call is dropped
    late: float = 0.0  # chance that a copy of a script call arrives later
    late_max_s: float = 20.0


class Commands:
    """Takes bytes, gives whole RESP values; of a client these are its commands, of a server its replies."""

    def __init__(self) -> None:
        self._reader = hiredis.Reader(notEnoughData=_NOTHING)

    def feed(self, received: bytes) -> list[Any]:
        self._reader.feed(received)
        found = []
        while (value := self._reader.gets()) is not _NOTHING:
            found.append(value)
        return found


def packed(command: Command) -> bytes:
    """A command as it is sent."""
    return hiredis.pack_command(tuple(command))


def is_script_call(command: Command) -> bool:
    return command[0].upper() == b"EVALSHA"


class Proxy:
    """Listens on a port of 127.0.0.1, forwards to another."""

    def __init__(
        self, server_port: int, password: str, *, dice: random.Random, faults: Faults, observer: Observer | None = None
    ) -> None:
        self.faults = faults
        self.dice = dice
        self.observer = observer
        self.dropped = 0
        """Replies that no client got."""
        self.late = 0
        """Copies that were carried out."""
        self.pending = 0
        """Copies under way."""
        self._server_port = server_port
        self._login = packed((b"AUTH", password.encode()))
        self._tasks: TaskGroup | None = None

    async def serve(self, *, task_status: TaskStatus[int]) -> None:
        """Listen until cancelled; started with the port."""
        listener = await anyio.create_tcp_listener(local_host=LOOPBACK)
        async with listener, anyio.create_task_group() as self._tasks:
            task_status.started(listener.extra(SocketAttribute.local_port))
            await listener.serve(self._forward)

    async def _forward(self, client: ByteStream) -> None:
        async with client:
            try:
                server = await anyio.connect_tcp(LOOPBACK, self._server_port)
            except OSError:
                return
            async with server:
                await _Connection(self, client, server).run()

    def remember(self, command: Command) -> None:
        assert self._tasks is not None
        self.pending += 1
        # As many soon as late: most of what a copy could spoil is over within a second.
        delay_s = LATE_MIN_S * (self.faults.late_max_s / LATE_MIN_S) ** self.dice.random()
        self._tasks.start_soon(self._arrive, command, delay_s)

    async def _arrive(self, command: Command, delay_s: float) -> None:
        await anyio.sleep(delay_s)
        with anyio.move_on_after(LATE_LIMIT_S):
            while (reply := await self._alone(command)) is None:  # noqa: ASYNC110 - a server says nothing when it is back
                await anyio.sleep(AWAY_PAUSE_S)
            self.late += not isinstance(reply, hiredis.ReplyError)  # a server that has just started knows no script
        self.pending -= 1

    async def _alone(self, command: Command) -> Any:
        """The reply to a command on a connection of its own, which nobody reads but us; None: the server is away."""
        try:
            async with await anyio.connect_tcp(LOOPBACK, self._server_port) as server:
                await server.send(self._login + packed(command))
                replies, reader = [], Commands()
                while len(replies) < 2:
                    replies += reader.feed(await server.receive())
                return replies[1]
        except GONE:
            return None


class _Connection:
    def __init__(self, proxy: Proxy, client: ByteStream, server: ByteStream) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server
        self._open: deque[Command] = deque()
        """Commands without an answer."""
        self._matched = True
        """Whether each command has one answer: not on a connection that subscribes."""
        self._deaf = False
        """The client gets nothing more."""
        self._heard = anyio.Event()

    async def run(self) -> None:
        async with anyio.create_task_group() as tg:
            tg.start_soon(self._answers, tg.cancel_scope.cancel)
            await self._commands()
            self._deaf = True
            await self._client.aclose()
            with anyio.move_on_after(DRAIN_S):
                while self._open and self._matched:
                    await self._heard.wait()
            tg.cancel_scope.cancel()

    async def _commands(self) -> None:
        reader = Commands()
        try:
            while not self._deaf:
                commands = self._taken(reader.feed(await self._client.receive()))
                await self._server.send(b"".join(map(packed, commands)))
        except GONE:
            return

    def _taken(self, commands: Sequence[Command]) -> list[Command]:
        """Those that reach the server: all, or up to one whose reply is dropped."""
        proxy, taken = self._proxy, []
        for command in commands:
            taken.append(command)
            self._open.append(command)
            if proxy.observer:
                proxy.observer.asked(command)
            if command[0].upper() in (b"SUBSCRIBE", b"PSUBSCRIBE"):
                self._matched = False
            if not is_script_call(command):
                continue
            if proxy.dice.random() < proxy.faults.late:
                proxy.remember(command)
            if proxy.dice.random() < proxy.faults.drop:
                proxy.dropped += 1
                self._deaf = True
                break
        return taken

    async def _answers(self, over: Callable[[], None]) -> None:
        reader = Commands()
        try:
            while True:
                received = await self._server.receive()
                self._note(reader.feed(received))
                await self._pass_on(received)
        except GONE:
            over()

    def _note(self, replies: Sequence[Any]) -> None:
        if self._matched:
            for reply in replies:
                command = self._open.popleft()
                if self._proxy.observer:
                    self._proxy.observer.answered(command, reply)
        self._heard.set()
        self._heard = anyio.Event()

    async def _pass_on(self, received: bytes) -> None:
        if self._deaf:
            return
        try:
            await self._client.send(received)
        except GONE:
            self._deaf = True
