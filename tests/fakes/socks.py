"""A SOCKS 5 proxy on loopback (RFC 1928), which leads every name to this machine and notes each request."""

import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.abc import ByteStream, SocketStream


class FakeSocks:
    def __init__(self, port: int, *, by_name: bool) -> None:
        self.url = f"socks5://127.0.0.1:{port}"
        self._by_name = by_name
        self.asked: list[str] = []
        """``host:port`` of each connection."""

    async def serve(self, client: SocketStream) -> None:
        async with client:
            _, methods = struct.unpack("!BB", await _exactly(client, 2))
            await _exactly(client, methods)
            await client.send(b"\x05\x00")
            _, _, _, kind = struct.unpack("!BBBB", await _exactly(client, 4))
            assert (kind == 3) == self._by_name, "names are looked up by the proxy, or by nobody"
            (length,) = await _exactly(client, 1) if self._by_name else (4,)
            name = await _exactly(client, length)
            host = name.decode() if self._by_name else ".".join(map(str, name))
            (port,) = struct.unpack("!H", await _exactly(client, 2))
            self.asked.append(f"{host}:{port}")
            async with await anyio.connect_tcp("127.0.0.1", port) as server, anyio.create_task_group() as tg:
                await client.send(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
                tg.start_soon(_pass, client, server)
                await _pass(server, client)
                tg.cancel_scope.cancel()


@asynccontextmanager
async def fake_socks(*, by_name: bool = True) -> AsyncIterator[FakeSocks]:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tg:
        proxy = FakeSocks(listener.extra(anyio.abc.SocketAttribute.local_port), by_name=by_name)
        tg.start_soon(listener.serve, proxy.serve)
        yield proxy
        tg.cancel_scope.cancel()


async def _exactly(stream: ByteStream, size: int) -> bytes:
    found = b""
    while len(found) < size:
        found += await stream.receive(size - len(found))
    return found


async def _pass(source: ByteStream, sink: ByteStream) -> None:
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            await sink.send(await source.receive())
