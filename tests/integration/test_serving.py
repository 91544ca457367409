"""An application served for the length of a block: what is under way at its end is answered, and nothing is left."""

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress

import anyio
import httpx2
import pytest
from prometheus_client import REGISTRY
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.testing import capture_logs

from channels.http import address_of, http_server, listen, read_body, server_socket, serving
from channels.http.server_socket import Peers
from channels.testing.loop_clock import put_forward
from daemon.errors import ConfigError
from tests import weblab
from tests.limits import HANG_S, until
from tests.tables import each_row


class App:
    """``/now`` answers, ``/gate`` once it may, ``/bug`` raises, ``/body`` takes 100 bytes, ``/flood`` answers 50 MB."""

    def __init__(self) -> None:
        self.entered, self.gate = anyio.Event(), anyio.Event()
        paths = {"/now": self.now, "/gate": self.wait, "/bug": self.bug, "/body": self.body, "/flood": self.flood}
        self.asgi = Starlette(routes=[Route(path, to, methods=["GET", "POST"]) for path, to in paths.items()])

    async def now(self, _request: Request) -> Response:
        return PlainTextResponse("now")

    async def wait(self, _request: Request) -> Response:
        self.entered.set()
        await self.gate.wait()
        return PlainTextResponse("at last")

    async def bug(self, _request: Request) -> Response:
        raise RuntimeError("a bug")

    async def flood(self, _request: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(50):  # more than the kernel keeps
                yield b"x" * 1_000_000

        return StreamingResponse(pieces())

    async def body(self, request: Request) -> Response:
        return PlainTextResponse(str(len(await read_body(request, max_bytes=100))))


@asynccontextmanager
async def client_of(listening: socket.socket) -> AsyncIterator[httpx2.AsyncClient]:
    async with weblab.client_of(address_of(listening, "127.0.0.1")) as client:
        yield client


async def test_it_is_reached_within_the_block_and_not_after() -> None:
    listening = await listen("channels.x.webhook", "127.0.0.1", 0)
    async with client_of(listening) as client:
        async with serving(App().asgi, listening):
            assert (await client.get("/now")).text == "now"
        with pytest.raises(httpx2.TransportError):
            await client.get("/now")


@each_row("cancelled", [False, True])
async def test_what_is_under_way_at_the_end_is_answered(cancelled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("channels.http.http_server.SHUTDOWN_S", round(HANG_S))
    app, listening = App(), await listen("channels.x.webhook", "127.0.0.1", 0)
    answers: list[str] = []
    ended = anyio.Event()

    async def ask() -> None:
        async with client_of(listening) as client:
            answers.append((await client.get("/gate")).text)

    async def serve(scope: anyio.CancelScope) -> None:
        with scope:
            async with serving(app.asgi, listening):
                tg.start_soon(ask)
                await app.entered.wait()
                if cancelled:
                    scope.cancel()
                    await anyio.sleep_forever()
                tg.start_soon(open_gate)
        ended.set()

    async def open_gate() -> None:
        await until(lambda: listening.fileno() == -1)  # the server has begun to stop
        app.gate.set()

    with anyio.fail_after(HANG_S):
        async with anyio.create_task_group() as tg:
            tg.start_soon(serve, anyio.CancelScope())
            if cancelled:
                await app.entered.wait()
                tg.start_soon(open_gate)
            await ended.wait()

    assert answers == ["at last"]


async def test_what_does_not_end_is_cut_off_and_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "SHUTDOWN_S", 0)
    app, listening = App(), await listen("channels.x.webhook", "127.0.0.1", 0)
    failed: list[type[Exception]] = []

    async def ask() -> None:
        async with client_of(listening) as client:
            try:
                await client.get("/gate")
            except httpx2.TransportError as error:
                failed.append(type(error))

    async with anyio.create_task_group() as tg, serving(app.asgi, listening):
        tg.start_soon(ask)
        await app.entered.wait()

    assert len(failed) == 1


async def bare(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise RuntimeError("a bug")


@each_row("app", [App().asgi, bare])
async def test_a_bug_is_logged_answered_and_stops_nothing(app: ASGIApp) -> None:
    listening = await listen("channels.x.webhook", "127.0.0.1", 0)
    async with client_of(listening) as client, serving(app, listening):
        for _ in range(2):
            with capture_logs() as lines:
                answer = await client.get("/bug")
            assert answer.status_code == 500
            assert [line["event"] for line in lines] == ["request.failed"]


@each_row(("size", "status"), [(100, 200), (101, 413)])
@each_row("announced", [True, False])
async def test_a_body_has_its_limit(size: int, status: int, announced: bool) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(size):
            yield b"x"

    listening = await listen("channels.x.webhook", "127.0.0.1", 0)
    async with client_of(listening) as client, serving(App().asgi, listening):
        answer = await client.post("/body", content=b"x" * size if announced else pieces())

    assert answer.status_code == status


HEAD = b"GET /now HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"


@contextmanager
def closed(outcome: str, times: int = 1) -> Iterator[None]:
    """The block in which the server closes ``times`` connections for the reason ``outcome``, as the metrics tell."""
    labels = {"outcome": outcome}

    def count() -> float:
        return REGISTRY.get_sample_value("millpond_connections_closed_total", labels) or 0.0

    before = count()
    yield
    assert count() - before == times


async def rest_of(stream: anyio.abc.SocketStream) -> bytes:
    """All that is still sent on a connection, up to its end."""
    found = b""
    with anyio.fail_after(HANG_S), suppress(anyio.EndOfStream, anyio.BrokenResourceError):
        while True:
            found += await stream.receive()
    return found


@each_row(
    "sent, limit_s, answer",
    [
        (b"", http_server.HEADERS_S, b""),
        (b"G", http_server.HEADERS_S, b" 408 "),
        (HEAD, http_server.HEADERS_S, b" 408 "),
        (HEAD + b"\r\nGET", http_server.HEADERS_S, b" 408 "),  # of the second request
        (POST + b"x", http_server.REST_S, b" 200 "),  # answered before it is complete
        (POST.replace(b"/now", b"/body") + b"x", server_socket.BODY_TIMEOUT_S, b" 408 "),
    ],
)
async def test_no_drip_of_bytes_puts_off_a_deadline(sent: bytes, limit_s: float, answer: bytes) -> None:
    listening = await listen("channels.x.webhook", "127.0.0.1", 0)
    with closed("late", bool(sent)):
        async with serving(App().asgi, listening), await anyio.connect_tcp(*listening.getsockname()) as dripping:
            await dripping.send(sent)
            for _ in range(5):
                with suppress(anyio.BrokenResourceError):
                    await dripping.send(b"x" if sent else b"")
                async with client_of(listening) as client:
                    assert (await client.get("/now")).text == "now"  # the byte has arrived too
                put_forward(limit_s / 4)

            found = await rest_of(dripping)

    assert answer in found if answer else found == b""


async def test_a_request_that_came_whole_has_no_deadline() -> None:
    app, listening = App(), await listen("channels.x.webhook", "127.0.0.1", 0)
    async with serving(app.asgi, listening), await anyio.connect_tcp(*listening.getsockname()) as stream:
        await stream.send(b"GET /gate HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        await app.entered.wait()
        put_forward(100 * http_server.UNREAD_S)
        await anyio.wait_all_tasks_blocked()
        app.gate.set()
        assert b"at last" in await rest_of(stream)


async def test_a_client_that_reads_nothing_is_disconnected() -> None:
    listening = await listen("channels.x.webhook", "127.0.0.1", 0)
    async with serving(App().asgi, listening), await anyio.connect_tcp(*listening.getsockname()) as stream:
        with closed("unread"):
            await stream.send(HEAD.replace(b"/now", b"/flood") + b"\r\n")
            await anyio.wait_all_tasks_blocked()
            put_forward(http_server.UNREAD_S)
            await rest_of(stream)


@each_row("sent", [b"G", HEAD.replace(b"/now", b"/flood") + b"\r\n", 2 * (HEAD.replace(b"/now", b"/gate") + b"\r\n")])
async def test_connections_that_send_or_read_nothing_keep_nobody_out(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, listening, peers = App(), await listen("channels.x.webhook", "127.0.0.1", 0), Peers(per_peer=8, total=0)
    monkeypatch.setattr(http_server, "Peers", lambda **_limits: peers)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(serving(app.asgi, listening))
        client = await stack.enter_async_context(client_of(listening))
        tg = await stack.enter_async_context(anyio.create_task_group())
        tg.start_soon(client.get, "/gate")
        await app.entered.wait()
        with closed("replaced", 74):
            for _ in range(80):
                idle = await stack.enter_async_context(await anyio.connect_tcp(*listening.getsockname()))
                await idle.send(sent)
                await until(lambda: sum(not each.waits for each in peers._peers) == 1)
            assert (await client.get("/now")).text == "now"
        assert len(peers._peers) == 8
        app.gate.set()


async def test_a_connection_too_many_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    app, listening = App(), await listen("channels.x.webhook", "127.0.0.1", 0)
    monkeypatch.setattr(http_server, "connections_max", lambda: 1)
    async with serving(app.asgi, listening), client_of(listening) as client, anyio.create_task_group() as tg:
        tg.start_soon(client.get, "/gate")
        await app.entered.wait()
        with closed("refused"):
            refused = await client.get("/now")
        app.gate.set()

    assert refused.status_code == 429 and int(refused.headers["retry-after"]) > 0
    assert "connections_per_peer" in refused.json()["error"]["message"]


async def test_a_port_that_is_taken_is_told_by_its_key() -> None:
    with await listen("channels.x.webhook", "127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(ConfigError, match=rf"channels\.x\.webhook\.port: port {port} on 127\.0\.0\.1 is in use"):
            await listen("channels.x.webhook", "127.0.0.1", port)
