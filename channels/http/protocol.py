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
"""How long cancelled requests may take to end."""

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
                # Errors of requests are logged around their application. The remaining ones are disconnects of clients.
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
        """Do nothing: the process handles signals."""
        yield

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Listen, and report it."""
        await super().startup(sockets)
        self._on_listening()

    async def clear(self) -> None:
        """Close connections left open by clients or a cancelled ``serve``, after all requests have ended."""
        for server in getattr(self, "servers", ()):
            server.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        with anyio.move_on_after(CLEAR_S, shield=True):
            while self.server_state.tasks:  # noqa: ASYNC110 - uvicorn signals no end of a task
                await anyio.sleep(0.01)
