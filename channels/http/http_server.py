"""uvicorn's server inside our own task group: no signal handlers, no logs of its own, nothing left behind.

uvicorn limits only the pause between two requests, and every byte starts that limit anew. Here each part of a request
has a deadline that no byte moves: the headers, the rest of the request, and the response while the client reads
nothing.
"""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from typing import Any, cast

import anyio
import h11
import msgspec
import structlog
import uvicorn
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from channels.http.server_socket import BACKLOG, BODY_TIMEOUT_S, Peers, connections_max, peer_of
from daemon import metrics
from daemon.concurrency import until_tick
from daemon.config import WebLimitsConfig

SHUTDOWN_S = 2
"""Whole seconds that uvicorn waits for requests when it stops; ours end before."""

CLEAR_S = 1.0
"""How long cancelled requests may take to end."""

HEADERS_S = 30.0
"""How long the headers of a request may take, from the opened connection or the previous response on. nginx waits for
60 s (client_header_timeout), Apache for 20 to 40 s (mod_reqtimeout)."""

REST_S = BODY_TIMEOUT_S + 1.0
"""How long the rest of a request may take; after ``read_body`` has refused it."""

UNREAD_S = 60.0
"""How long a client may leave a response unread while more of it waits to be sent."""

BURST = 128
"""Connections that are accepted at a time, before they are counted; few beside the files of a process."""

CONNECTIONS_PER_PEER = WebLimitsConfig().connections_per_peer
"""Also of servers that have no such key."""

DATE_S = 1.0
"""How often the header ``Date`` is renewed: its value has whole seconds (RFC 9110, section 5.6.7)."""

RETRY_S = 5
"""``Retry-After`` for a connection too many."""


def _error(code: str, message: str) -> bytes:
    return msgspec.json.encode({"error": {"code": code, "message": message}})


_NOT_HTTP = _error(
    "bad_request",
    "The request is not a valid HTTP request. Send exactly one Host header and less than 64 kB of headers. In "
    "the address, "
    "percent-encode every character that is not an ASCII letter, digit or punctuation mark.",
)
_TOO_SLOW = _error("too_slow", f"The request headers did not arrive within {HEADERS_S:g} s. Send the request again.")
_TOO_MANY = _error(
    "too_many_connections",
    "This client has too many open connections. Close some connections, wait for pending responses, or raise the "
    "channel's limits.connections_per_peer setting. After that, send the request again.",
)


class Protocol(H11Protocol):
    """A connection with deadlines, among those of its peer. Invalid requests are answered with JSON errors."""

    _timer: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _phase: Any = None
    """How far the client is with its request: h11's state, when it was last looked at."""
    _begun = False
    """Whether something of the headers has arrived."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and wait for a request."""
        super().connection_made(transport)
        if not self._peers.opened(self, peer_of(self.client[0]) if self.client else ""):
            self.app = _refuse
            metrics.CONNECTIONS.labels("refused").inc()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._peers.closed(self)
        self._cancel_timer()
        self._read_on()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in bytes; only a whole part of a request moves a deadline."""
        super().data_received(data)
        self._begun = self.conn.their_state is h11.IDLE
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._begun = False
        self._watch()

    def pause_writing(self) -> None:
        """The client does not read."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(UNREAD_S, self._close, "unread")

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        self._read_on()

    @property
    def waits(self) -> bool:
        """Whether the connection waits for its client, and not the client for a response."""
        is_owing = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        # uvicorn reads no second request before the response to the first; clients that read send none.
        is_unread = self._unread is not None or self.flow.read_paused
        # Before the first request, uvicorn has no cycle.
        return is_owing or is_unread or getattr(self.cycle, "response_complete", True)

    def drop(self) -> None:
        """Close the connection at once, for another one."""
        self._close("replaced")

    def _close(self, reason: str) -> None:
        metrics.CONNECTIONS.labels(reason).inc()
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that is not HTTP, and close the connection."""
        self._end_with(HTTPStatus.BAD_REQUEST, _NOT_HTTP)

    @property
    def _peers(self) -> Peers:
        return cast("_Config", self.config).peers

    def _watch(self) -> None:
        """Start the deadline of the part of the request that comes now, if another part has come so far."""
        phase = self.conn.their_state
        if phase == self._phase or self.transport.is_closing():
            return
        self._phase = phase
        self._peers.moved(self)
        self._cancel_timer()
        if self._phase is h11.IDLE:
            self._timer = self.loop.call_later(HEADERS_S, self._overdue)
        elif self._phase is h11.SEND_BODY:
            self._timer = self.loop.call_later(REST_S, self._overdue)

    def _overdue(self) -> None:
        """End a connection whose client is late; without an answer if nothing has come, as from browsers in advance."""
        if self._phase is not h11.IDLE:
            self._close("late")
        elif self._begun and not self.transport.get_write_buffer_size():
            metrics.CONNECTIONS.labels("late").inc()
            self._end_with(HTTPStatus.REQUEST_TIMEOUT, _TOO_SLOW)
        else:
            self.transport.abort()

    def _end_with(self, status: HTTPStatus, body: bytes) -> None:
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            headers = [("content-type", "application/json"), ("connection", "close")]
            for event in (h11.Response(status_code=status, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _read_on(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """The application of a connection too many."""
    headers = {"Retry-After": str(RETRY_S), "Connection": "close"}
    await Response(_TOO_MANY, HTTPStatus.TOO_MANY_REQUESTS, headers, "application/json")(scope, receive, send)


class _Config(uvicorn.Config):
    """uvicorn's configuration, which every connection of a server has."""

    def __init__(self, app: ASGIApp, peers: Peers) -> None:
        super().__init__(
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
            backlog=BURST,
            timeout_graceful_shutdown=SHUTDOWN_S,
        )
        self.peers = peers


class Server(uvicorn.Server):
    """Serves ``app``; ``stop`` ends it."""

    def __init__(
        self, app: ASGIApp, *, on_listening: Callable[[], None], connections_per_peer: int = CONNECTIONS_PER_PEER
    ) -> None:
        super().__init__(_Config(app, Peers(per_peer=connections_per_peer, total=connections_max())))
        self._on_listening = on_listening
        self._stopped = anyio.Event()

    def stop(self) -> None:
        """End ``serve``: accept no further connection, and let the open requests finish."""
        self.should_exit = True
        self._stopped.set()

    async def main_loop(self) -> None:
        """Wait for ``stop``, and renew the header ``Date`` each second.

        Uvicorn's own loop looks ten times a second whether it should exit, which was a fifth of an idle process's CPU.
        """
        while not await self.on_tick(0):
            with anyio.move_on_after(until_tick(DATE_S)):
                await self._stopped.wait()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Do nothing: the process handles signals."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and report it."""
        await super().startup(sockets)
        for each in sockets or ():
            # asyncio has just lowered it to the number that is accepted at a time.
            each.listen(BACKLOG)
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


# An application on a socket for the length of a block.

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
