"""One answer that the network loses: the connection stays open and silent, and its calls are sent again soon."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import ByteStream, SocketAttribute
from structlog.testing import capture_logs

from daemon.bus import Bus, Heard, Listener, open_bus
from daemon.config import RedisConfig, Secret
from daemon.server import Address
from tests.limits import HANG_S
from tests.tables import each_row

pytestmark = pytest.mark.anyio

GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)
LOST = "the answer to this is lost"
LARGE = "x" * 8_000_000
"""So much that no socket buffers it: its sender waits for a connection that takes nothing."""
BUSY = "the server is busy until it is asked again"


class Network:
    """Forwards to the server, and forgets one connection as soon as a text has passed; nobody is told.

    An answer ``BUSY`` arrives as from a busy server: only when another connection is opened, and before its answers.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self.text = LOST
        self.has_lost = False
        self._asked_elsewhere: anyio.Event | None = None
        self._has_answered = anyio.Event()

    async def serve(self, *, task_status: anyio.abc.TaskStatus[int]) -> None:
        async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
            task_status.started(listener.extra(SocketAttribute.local_port))
            await listener.serve(self._forward)

    async def _forward(self, client: ByteStream) -> None:
        if self._asked_elsewhere is not None:
            self._asked_elsewhere.set()
            await self._has_answered.wait()
        async with (
            client,
            await anyio.connect_tcp("127.0.0.1", self._address.port) as server,
            anyio.create_task_group() as tg,
        ):
            answers = anyio.CancelScope()
            tg.start_soon(self._answer, server, client, answers)
            with suppress(*GONE):
                async for received in client:
                    if BUSY.encode() in received:
                        # Before the server has the command: nothing is asked elsewhere sooner, however slow this is.
                        self._asked_elsewhere, self._has_answered = anyio.Event(), anyio.Event()
                    loses = self.text.encode() in received and not self.has_lost
                    if loses:
                        answers.cancel()
                    await server.send(received)
                    if loses:
                        self.has_lost = True
                        await anyio.sleep_forever()
            tg.cancel_scope.cancel()

    async def _answer(self, server: ByteStream, client: ByteStream, scope: anyio.CancelScope) -> None:
        with suppress(*GONE), scope:
            async for received in server:
                if self._asked_elsewhere is None or BUSY.encode() not in received:
                    await client.send(received)
                    continue
                await self._asked_elsewhere.wait()
                self._asked_elsewhere = None
                await client.send(received)
                self._has_answered.set()


@pytest.fixture
async def network(address: Address) -> AsyncIterator[tuple[Network, int]]:
    async with anyio.create_task_group() as tg:
        network = Network(address)
        yield network, await tg.start(network.serve)
        tg.cancel_scope.cancel()


@pytest.fixture
async def far(
    network: tuple[Network, int], address: Address, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bus]:
    """A bus behind the network, whose patience lasts longer than any test."""
    for limit in ("connection.PATIENCE_S", "pipeline_connection.ANSWER_TIMEOUT_S", "pubsub.ANSWER_TIMEOUT_S"):
        monkeypatch.setattr(f"daemon.bus.{limit}", 10 * HANG_S)
    monkeypatch.setattr("daemon.bus.pipeline_connection.SLOW_BYTES_PER_S", 10 * len(LARGE))
    url = Secret(f"redis://:{address.password.reveal()}@127.0.0.1:{network[1]}")
    async with open_bus(RedisConfig(url=url, prefix=prefix), Path("/nowhere")) as bus:
        yield bus
        await bus.call("DEL", bus.keys.meta)


async def test_a_lost_answer_does_not_hold_up_the_calls_behind_it(far: Bus, network: tuple[Network, int]) -> None:
    """All calls of a process waited for five seconds, and failed then."""
    answers: dict[str, bytes] = {}

    async def ask(text: str) -> None:
        answers[text] = await far.call("ECHO", text)

    asked = ["before", LOST, LARGE, *map(str, range(200))]
    with capture_logs() as logs, anyio.fail_after(HANG_S):
        async with anyio.create_task_group() as tg:
            for number, text in enumerate(asked):
                tg.start_soon(ask, text)
                if number < 3:
                    await anyio.wait_all_tasks_blocked()
        await ask("after")

    assert network[0].has_lost
    assert answers == {text: text.encode() for text in (*asked, "after")}
    assert [log["event"] for log in logs] == ["connection.silent"]


async def heard(bus: Bus) -> list[Heard]:
    """What a reader hears after its subscription was lost."""
    listener = Listener(bus)
    async with anyio.create_task_group() as tg, listener.hear(LOST) as reader:
        tg.start_soon(listener.run)
        found: Heard = None
        while found is None:
            await bus.call("PUBLISH", LOST, "heard")
            with anyio.move_on_after(0.01):
                found = await reader.next()
        tg.cancel_scope.cancel()
    return [found]


async def over_a_line(bus: Bus, command: tuple[Any, ...]) -> list[Any]:
    line = bus.line()
    try:
        return await line.ask([command], block_s=0.1)
    finally:
        await line.aclose()


BLOCKS = ("XREAD", "BLOCK", 100, "STREAMS", LOST, "$")


@each_row(
    ("ask", "text", "events"),
    [
        (lambda bus: bus.each([("ECHO", LOST)]), LOST, ["connection.silent"]),
        (lambda bus: bus.block([("BZPOPMIN", LOST, 0.1)], block_s=0.1), LOST, ["connection.silent"]),
        (lambda bus: over_a_line(bus, BLOCKS), LOST, ["connection.silent"]),
        (heard, "SUBSCRIBE", ["connection.silent", "listener.lost"]),
        # A connection that is being opened.
        (lambda bus: over_a_line(bus, ("PING",)), "HELLO", []),
    ],
)
async def test_a_lost_answer_is_noticed_soon_by_all_who_wait_for_it(
    far: Bus, network: tuple[Network, int], ask: Callable[[Bus], Awaitable[Any]], text: str, events: list[str]
) -> None:
    network[0].has_lost, network[0].text = False, text

    with capture_logs() as logs, anyio.fail_after(HANG_S):
        [answer] = await ask(far)

    assert network[0].has_lost
    assert [log["event"] for log in logs] == events
    assert isinstance(answer, TimeoutError) if events == ["connection.silent"] else answer in (b"heard", True)


async def test_a_busy_server_is_not_taken_for_a_lost_answer(far: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("streaming_connection", "pipeline_connection"):
        monkeypatch.setattr(f"daemon.bus.{module}.SILENT_S", 0.001)
    with capture_logs() as logs, anyio.fail_after(HANG_S):
        assert await far.call("ECHO", BUSY) == BUSY.encode()
        assert await far.each([("ECHO", BUSY)]) == [BUSY.encode()]

    assert logs == []
