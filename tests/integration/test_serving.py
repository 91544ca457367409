"""An application served for the length of a block: what is under way at its end is answered, and nothing is left."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.testing import capture_logs

from channels.http import address_of, listen, protocol, read_body, serving
from daemon.errors import ConfigError
from tests import weblab
from tests.limits import HANG_S
from tests.tables import each_row


class App:
    """``/now`` answers, ``/gate`` once it may, ``/bug`` raises, ``/body`` takes 100 bytes."""

    def __init__(self) -> None:
        self.entered, self.gate = anyio.Event(), anyio.Event()
        paths = {"/now": self.now, "/gate": self.wait, "/bug": self.bug, "/body": self.body}
        self.asgi = Starlette(routes=[Route(path, to, methods=["GET", "POST"]) for path, to in paths.items()])

    async def now(self, _request: Request) -> Response:
        return PlainTextResponse("now")

    async def wait(self, _request: Request) -> Response:
        self.entered.set()
        await self.gate.wait()
        return PlainTextResponse("at last")

    async def bug(self, _request: Request) -> Response:
        raise RuntimeError("a bug")

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
async def test_what_is_under_way_at_the_end_is_answered(cancelled: bool) -> None:
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
        await anyio.wait_all_tasks_blocked()
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
    monkeypatch.setattr(protocol, "SHUTDOWN_S", 0)
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


async def test_a_port_that_is_taken_is_told_by_its_key() -> None:
    with await listen("channels.x.webhook", "127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(ConfigError, match=rf"channels\.x\.webhook\.port: port {port} on 127\.0\.0\.1 is in use"):
            await listen("channels.x.webhook", "127.0.0.1", port)
