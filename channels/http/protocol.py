"""uvicorn's server inside our own task group: no signal handlers, no logs of its own, nothing left behind."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from socket import socket

import anyio
import h11
import msgspec
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

SHUTDOWN_S = 2
"""Whole seconds that uvicorn waits for requests when it stops; ours end before."""

CLEAR_S = 1.0
"""How long what was cut off may take to notice."""

_NOT_HTTP = msgspec.json.encode(
    {
        "error": {
            "code": "bad_request",
            "message": "This is not a valid HTTP request. Send one Host header and less than 64 kB of headers, and "
            "percent-encode all characters of the address except ASCII letters, digits and signs (a name in Chinese, "
            "for example).",
        }
    }
)


class Protocol(H11Protocol):
    """A connection that also returns invalid requests as JSON errors."""

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, and close the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            headers = [("content-type", "application/json"), ("connection", "close")]
            for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=_NOT_HTTP), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class Server(uvicorn.Server):
    """Serves ``app``; ``should_exit`` ends it."""

    def __init__(self, app: ASGIApp, *, on_listening: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Protocol,
                ws="none",
                lifespan="off",
                log_config=None,
                # What goes wrong in a request is logged around its application; what is left are clients breaking off.
                log_level="critical",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=SHUTDOWN_S,
            )
        )
        self._on_listening = on_listening

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Signals are the process's, not a server's."""
        yield

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        self._on_listening()

    async def clear(self) -> None:
        """Close what a cut-off client or a cancelled ``serve`` left open; every request has ended or been cancelled."""
        for server in getattr(self, "servers", ()):
            server.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        with anyio.move_on_after(CLEAR_S, shield=True):
            while self.server_state.tasks:  # noqa: ASYNC110 - uvicorn tells nobody when one ends
                await anyio.sleep(0.01)
