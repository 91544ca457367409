"""The stream of commands to a server: ahead of their answers, in order, and what becomes of them when it breaks."""

import asyncio
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from redis import exceptions as redis_errors

import daemon.bus.streaming_connection
from daemon.bus import Bus
from daemon.bus.command_batch import CommandBatch
from daemon.bus.pipeline_connection import packed
from daemon.bus.streaming_connection import StreamingConnection
from daemon.errors import BusUnavailable
from tests.conftest import Lab
from tests.limits import HANG_S


@dataclass(eq=False)
class Call:
    number: int
    command: tuple[str, ...] = field(init=False)
    packed: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.command = ("ECHO", str(self.number))
        self.packed = packed(self.command)


@dataclass
class Ends:
    answers: list[tuple[int, Any]] = field(default_factory=list[tuple[int, Any]])
    lost: list[int] = field(default_factory=list[int])
    why: list[BaseException] = field(default_factory=list[BaseException])

    def stream(self, client: Any, limit_s: float = HANG_S) -> StreamingConnection[Call]:
        return StreamingConnection(client, limit_s=limit_s, answered=self.answered, lost=self.gone)

    def answered(self, call: Call, answer: Any) -> None:
        self.answers.append((call.number, answer))

    def gone(self, calls: Sequence[Call], error: BaseException) -> None:
        self.lost += [call.number for call in calls]
        self.why.append(error)

    async def until(self, count: int) -> None:
        with anyio.fail_after(HANG_S):
            while len(self.answers) + len(self.lost) < count:
                await anyio.lowlevel.checkpoint()


async def test_answers_come_in_order_to_commands_that_did_not_wait_for_each_other(bus: Bus) -> None:
    ends = Ends()
    stream = ends.stream(bus.client)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stream.run)
        for number in range(0, 300, 3):
            await stream.send([Call(number + at) for at in range(3)])
        assert len(stream.under_way) > 3

        await ends.until(300)
        tasks.cancel_scope.cancel()

    assert ends.answers == [(number, str(number).encode()) for number in range(300)]


async def connections(bus: Bus) -> int:
    """All there are to the server, that of this very question among them."""
    found: bytes = await bus.call("CLIENT", "LIST")
    return len(found.splitlines())


async def test_however_much_is_asked_it_goes_over_one_connection(bus: Bus) -> None:
    before = await connections(bus)

    async with anyio.create_task_group() as tasks:
        for number in range(1_000):
            tasks.start_soon(bus.call, "ECHO", str(number))

    assert await connections(bus) == before


async def test_connections_that_are_cut_again_and_again_mix_no_answers_up(bus: Bus) -> None:
    answers: dict[int, bytes] = {}
    cut = 0

    async def ask(number: int) -> None:
        answers[number] = await bus.call("ECHO", str(number))

    async with anyio.create_task_group() as tasks:
        for first in range(0, 4_000, 200):
            for number in range(first, first + 200):
                tasks.start_soon(ask, number)
                if number == first + 100:
                    while len(answers) <= first:
                        await anyio.lowlevel.checkpoint()
            cut += int(await bus.client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"))

    assert answers == {number: str(number).encode() for number in range(4_000)}
    assert cut >= 20


async def test_a_server_that_hangs_is_waited_for_no_shorter_than_the_patience_says(lab: Lab) -> None:
    server = (await lab.bus.call("INFO", "server"))["process_id"]
    joined = CommandBatch(lab.bus.client, revive=anyio.lowlevel.checkpoint, patience_s=0.2)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(joined.run)
        assert await joined.call("ECHO", "a") == b"a"
        began = anyio.current_time()
        os.kill(server, signal.SIGSTOP)
        try:
            with anyio.fail_after(HANG_S), pytest.raises(BusUnavailable):
                await joined.call("ECHO", "b")
        finally:
            os.kill(server, signal.SIGCONT)
        took_s = anyio.current_time() - began

        assert took_s > 0.19
        assert await joined.call("ECHO", "c") == b"c"
        tasks.cancel_scope.cancel()


NOBODY = SimpleNamespace(connection_pool=None)
"""A client whose connections a test makes."""


class Connection:
    def __init__(self) -> None:
        self.answers: asyncio.Queue[Any] = asyncio.Queue()
        self.cut = False
        self.closed = False

    async def send_packed_command(self, _packed: bytes, *, check_health: bool) -> None:
        assert not check_health
        await anyio.lowlevel.checkpoint()
        if self.cut:
            raise redis_errors.ConnectionError("cut")

    async def disconnect(self, *, nowait: bool = False) -> None:
        self.closed = True
        await anyio.lowlevel.checkpoint()
        assert nowait or not self.cut


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Connection]:
    found: list[Connection] = []

    async def connected(_client: Any) -> Connection:
        await anyio.lowlevel.checkpoint()
        found.append(Connection())
        return found[-1]

    async def answer_to(_client: Any, connection: Connection, _name: str) -> Any:
        answer = await connection.answers.get()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    monkeypatch.setattr(daemon.bus.streaming_connection, "connected", connected)
    monkeypatch.setattr(daemon.bus.streaming_connection, "answer_to", answer_to)
    monkeypatch.setattr(daemon.bus.streaming_connection, "takes", lambda _connection, _data: False)
    return found


async def test_an_answer_that_comes_after_its_connection_was_given_up_is_nobodys(opened: list[Connection]) -> None:
    ends = Ends()
    stream = ends.stream(NOBODY)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stream.run)
        await stream.send([Call(1)])
        await anyio.wait_all_tasks_blocked()
        opened[0].cut = True
        await stream.send([Call(2)])
        assert (ends.lost, opened[0].closed) == ([1, 2], True)

        await stream.send([Call(3)])
        opened[0].answers.put_nowait(b"late")
        await anyio.wait_all_tasks_blocked()
        opened[1].answers.put_nowait(b"own")
        await ends.until(3)
        tasks.cancel_scope.cancel()

    assert ends.answers == [(3, b"own")]
    assert opened[1].closed


async def test_a_server_that_answers_only_some_loses_the_others_once(opened: list[Connection]) -> None:
    ends = Ends()
    stream = ends.stream(NOBODY, limit_s=0.05)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stream.run)
        await stream.send([Call(1), Call(2), Call(3)])
        opened[0].answers.put_nowait(b"one")
        await ends.until(3)
        tasks.cancel_scope.cancel()

    assert ends.answers == [(1, b"one")]
    assert ends.lost == [2, 3]
    assert [type(error) for error in ends.why] == [TimeoutError]


async def test_a_caller_during_a_connection_is_told_of_the_closing(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    async def connected(_client: Any) -> Connection:
        await anyio.sleep_forever()
        raise AssertionError

    monkeypatch.setattr(daemon.bus.streaming_connection, "connected", connected)
    joined = CommandBatch(lab.bus.client, revive=anyio.lowlevel.checkpoint, patience_s=HANG_S)

    async def ask() -> None:
        with anyio.fail_after(HANG_S), pytest.raises(BusUnavailable, match="closing"):
            await joined.call("PING")

    async with anyio.create_task_group() as asking, anyio.create_task_group() as serving:
        serving.start_soon(joined.run)
        asking.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        serving.cancel_scope.cancel()


async def test_what_cannot_be_sent_for_want_of_a_connection_is_lost_at_once(
    opened: list[Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nobody(_client: Any) -> Connection:
        raise redis_errors.ConnectionError("nobody listens")

    ends = Ends()
    stream = ends.stream(NOBODY)
    with monkeypatch.context() as patch:
        patch.setattr(daemon.bus.streaming_connection, "connected", nobody)
        await stream.send([Call(1), Call(2)])

    assert ends.lost == [1, 2]
    assert not stream.under_way
    assert not opened
