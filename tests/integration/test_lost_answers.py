"""One answer that the network loses: the connection stays open and silent, and its calls are sent again soon."""

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteStream, SocketAttribute
from structlog.testing import capture_logs

from daemon.bus import Bus, open_bus
from daemon.config import RedisConfig, Secret
from daemon.server import Address
from tests.limits import HANG_S

pytestmark = pytest.mark.anyio

GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)
LOST = "the answer to this is lost"
LARGE = "x" * 8_000_000
"""So much that no socket buffers it: its sender waits for a connection that takes nothing."""
BUSY = "for i = 1, 30000000 do end return 'done'"
"""Keeps the server from everything else for a moment."""


class Network:
    """Forwards to the server, and forgets one connection as soon as ``LOST`` has passed; nobody is told."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self.has_lost = False

    async def serve(self, *, task_status: anyio.abc.TaskStatus[int]) -> None:
        async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
            task_status.started(listener.extra(SocketAttribute.local_port))
            await listener.serve(self._forward)

    async def _forward(self, client: ByteStream) -> None:
        async with client, await anyio.connect_unix(self._address.socket) as server, anyio.create_task_group() as tg:
            answers = anyio.CancelScope()
            tg.start_soon(self._answer, server, client, answers)
            with suppress(*GONE):
                async for received in client:
                    loses = LOST.encode() in received and not self.has_lost
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
                await client.send(received)


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
    for limit in ("connection.PATIENCE_S", "line.ANSWER_TIMEOUT_S"):
        monkeypatch.setattr(f"daemon.bus.{limit}", 10 * HANG_S)
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


async def test_a_busy_server_is_not_taken_for_a_lost_answer(far: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("daemon.bus.stream.SILENT_S", 0.001)
    with capture_logs() as logs, anyio.fail_after(HANG_S):
        assert await far.call("EVAL", BUSY, 0) == b"done"

    assert logs == []
