"""A transport of httpx2 for event streams: of the pieces of an answer it gives all that have come at once.

The library's own transport gives them one by one, each through six generators: half of the CPU time of a model call.
"""

import re
import select
import socket
import ssl
import time
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager, suppress
from typing import cast

import anyio
import h11
import httpx2
from anyio.abc import ByteStream, SocketAttribute

READ_BYTES = 8 * 1024
"""Read at once: many answers may be read in one round of the event loop, each for a tenth of a millisecond."""
JOINED_BYTES = 64 * 1024
"""A longer request is sent in two steps, head and body: to copy it takes longer than a step does."""
HEAD_MAX_BYTES = 100 * 1024
"""Longest head of a response, as in the library's own transport."""
IDLE_S = 5.0
"""A connection that has not been used for so long is closed, as by the library: servers close theirs later."""
IDLE_MAX = 100
"""Connections that are kept for later requests, as by the openai SDK."""
KEEP_ALIVE = {"TCP_KEEPIDLE": 60, "TCP_KEEPINTVL": 60, "TCP_KEEPCNT": 5}
"""Seconds of silence before the first probe, seconds between probes, and probes until a connection counts as dead
(tcp(7)), as of the anthropic SDK."""

_Origin = tuple[str, str, int]


class StreamTransport(httpx2.AsyncBaseTransport):
    """HTTP/1.1 without a proxy. It limits the wait for a connection; the caller limits all others."""

    def __init__(self, tls: ssl.SSLContext | bool) -> None:
        """``tls``: the trusted certificates for ``https://``; False if no address has that."""
        self._tls = tls if isinstance(tls, ssl.SSLContext) else None
        self._idle: dict[_Origin, list[Connection]] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response to a request, its body unread; raises what the library's own transport raises."""
        url = request.url
        origin = (url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80))
        connection = await self._known(origin) or await self._connected(origin, request)
        try:
            return await connection.ask(request)
        except BaseException:
            await connection.aclose()
            raise

    async def aclose(self) -> None:
        """Close the connections that are not in use."""
        idle, self._idle = self._idle, {}
        for connections in idle.values():
            for connection in connections:
                await connection.aclose()

    async def _known(self, origin: _Origin) -> "Connection | None":
        """A connection that was used before and is still open."""
        connections = self._idle.get(origin, [])
        while connections:
            connection = connections.pop()
            if connection.is_usable():
                return connection
            await connection.aclose()
        return None

    async def _connected(self, origin: _Origin, request: httpx2.Request) -> "Connection":
        scheme, host, port = origin
        timeouts = cast("dict[str, float | None]", request.extensions.get("timeout", {}))
        try:
            with anyio.fail_after(timeouts.get("connect")):
                stream: ByteStream = await anyio.connect_tcp(host, port)
                _keep_alive(stream.extra(SocketAttribute.raw_socket))  # noqa: S610 - no Django
                if scheme == "https":
                    stream = await _secured(stream, host, self._tls)
        except TimeoutError as error:
            raise httpx2.ConnectTimeout(str(error), request=request) from error
        except (OSError, anyio.BrokenResourceError, anyio.EndOfStream) as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        return Connection(stream, self._idle.setdefault(origin, []))


def _keep_alive(connection: socket.socket) -> None:
    """Ask for signs of life while a model thinks: a network forgets silent connections, and nobody would be told."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEP_ALIVE.items():
        if hasattr(socket, name):  # not on every system
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


async def _secured(stream: ByteStream, host: str, tls: ssl.SSLContext | None) -> ByteStream:
    from anyio.streams.tls import TLSStream  # noqa: PLC0415 - servers near by do without

    try:
        return await TLSStream.wrap(stream, hostname=host, ssl_context=tls, standard_compatible=False)
    except BaseException:
        await anyio.aclose_forcefully(stream)
        raise


class Connection:
    """One connection, which is asked one thing at a time."""

    def __init__(self, stream: ByteStream, idle: "list[Connection]") -> None:
        self._stream = stream
        self._idle = idle
        self._socket = select.poll()
        self._socket.register(stream.extra(SocketAttribute.raw_socket), select.POLLIN)  # noqa: S610 - no Django
        self._used_at = 0.0
        self._protocol = h11.Connection(our_role=h11.CLIENT, max_incomplete_event_size=HEAD_MAX_BYTES)
        self._chunks = _Chunks(is_plain=False)
        self._ahead = b""
        """What came behind the head of a response."""

    def is_usable(self) -> bool:
        """Whether the server has kept it open; a server that says something unasked is closing it."""
        return time.monotonic() - self._used_at < IDLE_S and not self._socket.poll(0)

    async def ask(self, request: httpx2.Request) -> httpx2.Response:
        """The response, its body unread."""
        protocol = self._protocol
        with _translated(request):
            begun = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
            events = (h11.Data(data=await request.aread()), h11.EndOfMessage())
            head = protocol.send(begun) or b""
            body = [part for event in events for part in protocol.send_with_data_passthrough(event) or ()]
        # A server may refuse a large request and close before it has read the request: its answer says why.
        with suppress(OSError, anyio.BrokenResourceError):
            for data in [head, *body] if sum(map(len, body)) > JOINED_BYTES else [b"".join([head, *body])]:
                await self._stream.send(data)
        with _translated(request):
            while not isinstance(event := await self._next(), h11.Response):
                if isinstance(event, h11.ConnectionClosed):
                    raise h11.RemoteProtocolError("Server disconnected without sending a response.")
        return httpx2.Response(
            event.status_code,
            headers=event.headers.raw_items(),
            stream=_Body(self, request),
            extensions={"http_version": b"HTTP/" + event.http_version, "reason_phrase": event.reason},
            request=request,
        )

    async def pieces(self, request: httpx2.Request) -> AsyncIterator[bytes]:
        """The body of the response."""
        with _translated(request):
            while isinstance(event := await self._next(), h11.Data):
                yield bytes(event.data)

    async def _next(self) -> object:
        protocol = self._protocol
        while (event := protocol.next_event()) is h11.NEED_DATA:
            received, self._ahead = self._ahead, b""
            if not received:
                with suppress(anyio.EndOfStream):
                    received = await self._stream.receive(READ_BYTES)
            if protocol.their_state is h11.SEND_RESPONSE:
                if not received:
                    raise h11.RemoteProtocolError("Server disconnected without sending a response.")
                head, blank, self._ahead = received.partition(b"\r\n\r\n")
                protocol.receive_data(head + blank)
            elif joined := self._chunks.joined(received):
                protocol.receive_data(joined)
            if not received:
                protocol.receive_data(b"")
        if isinstance(event, h11.Response):
            coding = b"".join(value for name, value in event.headers if name == b"transfer-encoding")
            self._chunks = _Chunks(is_plain=coding.lower() == b"chunked" and not protocol.trailing_data[0])
        return event

    async def release(self) -> None:
        """Keep it for the next request if the response was read to its end; close it otherwise."""
        protocol, has_more = self._protocol, self._ahead or self._protocol.trailing_data[0]
        is_whole = protocol.our_state is h11.DONE and protocol.their_state is h11.DONE and not has_more
        if is_whole and len(self._idle) < IDLE_MAX:
            protocol.start_next_cycle()
            self._used_at = time.monotonic()
            self._idle.append(self)
        else:
            await self.aclose()

    async def aclose(self) -> None:
        """Close it."""
        with suppress(OSError, anyio.BrokenResourceError):
            await anyio.aclose_forcefully(self._stream)


_SIZE = re.compile(rb"([0-9a-fA-F]{1,4})\r\n")
"""The line before a chunk of less than 64 kB."""
_SIZE_BEGINS = re.compile(rb"[0-9a-fA-F]{0,4}\r?\Z")


class _Chunks:
    """Makes one chunk (RFC 9112 7.1) of those that come together: h11 takes as long for a small as for a large one."""

    def __init__(self, *, is_plain: bool) -> None:
        """``is_plain``: the body begins with a chunk; otherwise everything is left to h11."""
        self._is_plain = is_plain
        self._held = b""
        """The beginning of a chunk."""

    def joined(self, received: bytes) -> bytes:
        """What came, with all whole chunks as one; from the first thing that is no such chunk on, as it came."""
        data, self._held = self._held + received, b""
        if not (self._is_plain and received):
            return data
        whole, at, end = list[bytes](), 0, 0
        while size := _SIZE.match(data, at):
            end = size.end() + int(size[1], 16)
            if end == size.end() or data[end : end + 2] != b"\r\n":
                break
            whole.append(data[size.end() : end])
            at = end + 2
        rest = data[at:]
        if end > len(data) or _SIZE_BEGINS.match(data, at):
            rest, self._held = b"", rest
        else:
            self._is_plain = False
        text = b"".join(whole)
        return b"%x\r\n%b\r\n%b" % (len(text), text, rest) if text else rest


class _Body(httpx2.AsyncByteStream):
    """The body of one response."""

    def __init__(self, connection: Connection, request: httpx2.Request) -> None:
        self._connection: Connection | None = connection
        self._request = request

    def __aiter__(self) -> AsyncIterator[bytes]:
        assert self._connection is not None  # noqa: S101 - the library reads nothing that it has closed
        return self._connection.pieces(self._request)

    async def aclose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.release()


@contextmanager
def _translated(request: httpx2.Request) -> Generator[None]:
    """Raise errors of h11 and of the network as the library's own transport does."""
    try:
        yield
    except h11.LocalProtocolError as error:
        raise httpx2.LocalProtocolError(str(error), request=request) from error
    except h11.RemoteProtocolError as error:
        raise httpx2.RemoteProtocolError(str(error), request=request) from error
    except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
        raise httpx2.ReadError(str(error), request=request) from error
