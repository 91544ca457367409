"""The transport of model calls, asked through the client that uses it, of servers that say what a test writes."""

import socket
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio.abc import ByteStream, SocketAttribute, SocketStream

from daemon.model import http_transport
from daemon.model.http_transport import Connection, StreamTransport
from tests.fakes.tls import self_signed, tls_before
from tests.ports import free_port
from tests.tables import each_row

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
WHOLE = HEAD + b"2\r\nhi\r\n" + END
WAIT_S = 30.0


class Server:
    """Says one of ``answers`` to each request, in order, and closes a connection after an answer in ``closing``."""

    def __init__(self, answers: Sequence[bytes], closing: Sequence[int] = ()) -> None:
        self.url = ""
        self.connections = 0
        self.closed = anyio.Event()
        self._answers = iter(enumerate(answers))
        self._closing = closing

    async def handle(self, stream: SocketStream) -> None:
        self.connections += 1
        async with stream:
            try:
                while received := await stream.receive():
                    if not received.endswith(b"ask"):
                        continue  # the body comes later
                    number, answer = next(self._answers)
                    await stream.send(answer)
                    if number in self._closing:
                        return
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                self.closed.set()


@asynccontextmanager
async def asking(
    *answers: bytes, closing: Sequence[int] = (), tls: ssl.SSLContext | bool = False
) -> AsyncGenerator[tuple[httpx2.AsyncClient, Server]]:
    server = Server(answers, closing)
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        server.url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/"
        tasks.start_soon(listener.serve, server.handle)
        with anyio.fail_after(WAIT_S):
            async with httpx2.AsyncClient(transport=StreamTransport(tls), trust_env=False) as client:
                yield client, server
        tasks.cancel_scope.cancel()


async def pieces_of(client: httpx2.AsyncClient, server: Server) -> list[bytes]:
    async with client.stream("POST", server.url, content=b"ask") as response:
        return [piece async for piece in response.aiter_raw()]


async def test_what_came_together_is_one_piece() -> None:
    async with asking(WHOLE, HEAD + b"1\r\nx\r\n" * 1_000 + END) as (client, server):
        assert await pieces_of(client, server) == [b"hi"]
        pieces = await pieces_of(client, server)

    assert b"".join(pieces) == b"x" * 1_000
    assert len(pieces) < 10


BODIES = (
    b"2\r\nhi\r\n",
    b"2\r\nhi\r\n1\r\n \r\nA\r\nmy friends\r\n",
    b"2;name=value\r\nhi\r\n3\r\n yo\r\n",
    b"1\r\nx\r\n12345\r\n" + b"y" * 0x12345 + b"\r\n1\r\nz\r\n",
)


@each_row("body", BODIES)
async def test_however_an_answer_is_torn_it_says_the_same(body: bytes) -> None:
    known = await _body_of([HEAD + body + END])
    answer = HEAD + body + b"0\r\nX-Sum: 1\r\n\r\n"
    for at in (*range(1, min(len(answer), 160)), len(answer) - 1):
        assert await _body_of([answer[:at], answer[at:]]) == known
    if len(answer) < 200:
        assert await _body_of([answer[at : at + 1] for at in range(len(answer))]) == known


async def _body_of(received: Sequence[bytes]) -> bytes:
    connection = Connection(_Stream(received), [])
    response = await connection.ask(httpx2.Request("POST", "http://x/", content=b"ask"))
    content = await response.aread()
    await connection.aclose()
    return content


class _Stream(ByteStream):
    """Gives what a test wants to have received."""

    def __init__(self, received: Sequence[bytes], *, takes: bool = True) -> None:
        self._received = iter(received)
        self._takes = takes
        self._socket = socket.socket()
        self.sent: list[bytes] = []

    @property
    def extra_attributes(self) -> Mapping[Any, Callable[[], Any]]:
        return {SocketAttribute.raw_socket: lambda: self._socket}

    async def receive(self, max_bytes: int = 65_536) -> bytes:
        try:
            return next(self._received)
        except StopIteration:
            raise anyio.EndOfStream from None

    async def send(self, item: bytes) -> None:
        if not self._takes:
            raise anyio.BrokenResourceError
        self.sent.append(item)

    async def send_eof(self) -> None:
        """As above."""

    async def aclose(self) -> None:
        self._socket.close()


async def test_a_connection_is_used_again_only_after_a_whole_answer() -> None:
    async with asking(WHOLE, HEAD + b"2\r\nhi\r\n", WHOLE) as (client, server):
        await pieces_of(client, server)
        async with client.stream("POST", server.url, content=b"ask") as response:
            assert await anext(response.aiter_raw()) == b"hi"
        await server.closed.wait()
        assert server.connections == 1

        assert await pieces_of(client, server) == [b"hi"]
        assert server.connections == 2


async def test_a_connection_that_its_server_closed_or_that_rested_too_long_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with asking(WHOLE, WHOLE, WHOLE, closing=[0]) as (client, server):
        await pieces_of(client, server)
        await anyio.wait_all_tasks_blocked()
        await pieces_of(client, server)
        assert server.connections == 2

        monkeypatch.setattr(http_transport, "IDLE_S", 0.0)
        await pieces_of(client, server)
        assert server.connections == 3


async def test_a_head_that_comes_first_is_passed_over_and_a_server_that_wants_to_close_is_believed() -> None:
    close = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"
    async with asking(b"HTTP/1.1 103 Early Hints\r\n\r\n" + close, WHOLE) as (client, server):
        assert await pieces_of(client, server) == [b"hi"]
        assert await pieces_of(client, server) == [b"hi"]
        assert server.connections == 2


@each_row(
    "answer, kind",
    [
        (b"", httpx2.RemoteProtocolError),
        (b"no HTTP\r\n\r\n", httpx2.RemoteProtocolError),
        (HEAD + b"2\r\nhi\r\n", httpx2.RemoteProtocolError),
        (HEAD + b"no size\r\n", httpx2.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi", httpx2.RemoteProtocolError),
    ],
)
async def test_an_answer_that_is_broken_off_is_an_error(answer: bytes, kind: type[Exception]) -> None:
    async with asking(answer, closing=[0]) as (client, server):
        with pytest.raises(kind):
            await pieces_of(client, server)


async def test_a_server_that_closes_before_it_has_read_the_request_is_heard() -> None:
    request = httpx2.Request("POST", "http://x/", content=b"ask")
    refused = _Stream([b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge"], takes=False)
    response = await Connection(refused, []).ask(request)
    assert (response.status_code, await response.aread()) == (413, b"large")
    await refused.aclose()

    silent = _Stream([], takes=False)
    with pytest.raises(httpx2.RemoteProtocolError, match="without sending a response"):
        await Connection(silent, []).ask(request)
    await silent.aclose()


@each_row("content, steps", [(b"ask", 1), (b"a" * 100_000, 2)])
async def test_only_the_body_of_a_long_request_is_sent_apart_from_its_head(content: bytes, steps: int) -> None:
    stream = _Stream([b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
    await Connection(stream, []).ask(httpx2.Request("POST", "http://x/", content=content))
    await stream.aclose()

    assert len(stream.sent) == steps
    assert b"".join(stream.sent).partition(b"\r\n\r\n")[2] == content


async def test_signs_of_life_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    connected, connect = list[SocketStream](), anyio.connect_tcp

    async def remembered(*args: Any) -> SocketStream:
        connected.append(await connect(*args))
        return connected[-1]

    monkeypatch.setattr(anyio, "connect_tcp", remembered)
    async with asking(WHOLE) as (client, server):
        await pieces_of(client, server)
        raw = connected[0].extra(SocketAttribute.raw_socket)
        assert raw.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


async def test_nobody_there_and_a_header_that_cannot_be_sent_are_errors() -> None:
    async with asking(WHOLE) as (client, server):
        with pytest.raises(httpx2.LocalProtocolError):
            await client.post(server.url, headers={"X-Name": "two\nlines"})
    with pytest.raises(httpx2.ConnectError):
        async with httpx2.AsyncClient(transport=StreamTransport(False), trust_env=False) as client:
            await client.post(server.url)


async def test_tls_is_spoken_with_a_server_that_is_trusted_and_with_no_other(tmp_path: Path) -> None:
    certificate = self_signed(tmp_path)
    trusting = ssl.create_default_context(cafile=str(certificate))
    for tls in (trusting, ssl.create_default_context()):
        async with asking(WHOLE, tls=tls) as (client, server):
            port = free_port()
            with tls_before(certificate, port, httpx2.URL(server.url).port or 0):
                server.url = f"https://127.0.0.1:{port}/"
                if tls is trusting:
                    assert await pieces_of(client, server) == [b"hi"]
                else:
                    with pytest.raises(httpx2.ConnectError) as caught:
                        await pieces_of(client, server)
                    assert isinstance(caught.value.__cause__, ssl.SSLCertVerificationError)
