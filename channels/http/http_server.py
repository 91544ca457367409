"""An application on a socket for the length of a block."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import structlog
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from channels.http.protocol import SHUTDOWN_S, Server

LAST_S = 1.0
"""What closing may take beyond the time that requests have to end."""

_log = structlog.get_logger()


@asynccontextmanager
async def serving(app: ASGIApp, listening: socket.socket) -> AsyncGenerator[None]:
    """Serve ``app`` on a socket of ``listen`` for the length of the block.

    At its end nothing new is taken, what is under way has two seconds to be answered, and what is left is cut off: who
    sent it got no answer, and has to send it again. That is so when the block is cancelled too.
    """
    listens, ended = anyio.Event(), anyio.Event()
    server = Server(_Logged(app), on_listening=listens.set)

    async def serve() -> None:
        try:
            # Cancelled in its middle it would cut off every request; the block's end stops it in order.
            with anyio.CancelScope(shield=True) as scope:
                scopes.append(scope)
                await server.serve([listening])
        finally:
            await server.clear()
            ended.set()

    scopes: list[anyio.CancelScope] = []
    async with anyio.create_task_group() as tg:
        tg.start_soon(serve)
        try:
            await listens.wait()
            yield
        finally:
            server.stop()
            with anyio.move_on_after(SHUTDOWN_S + LAST_S, shield=True):
                await ended.wait()
            for scope in scopes:
                scope.cancel()


class _Logged:
    """An application whose errors are logged and answered; the last place where an exception is met."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except ClientDisconnect:
            return
        except Exception:  # noqa: BLE001 - the service's top: a bug in one request must not end the others
            # Not its address: platforms are called under secret ones.
            _log.exception("request.failed")
            if not begun:
                await JSONResponse({"error": {"code": "internal"}}, 500)(scope, receive, send)
