"""A web site on loopback, by raw sockets: each path answers as the test says, also in every way that is wrong.

async with web_site({"/": page(b"<p>hello</p>")}) as site:
    await fetcher.get(site.url)
"""

import gzip
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio
from anyio.abc import SocketAttribute, SocketStream

Answer = Callable[[SocketStream], Awaitable[None]]


def page(body: bytes, kind: str = "text/html; charset=utf-8", *, status: int = 200, **headers: str) -> Answer:
    async def answer(stream: SocketStream) -> None:
        lines = {"Content-Type": kind, "Content-Length": str(len(body)), "Connection": "close", **headers}
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items() if value)
        await stream.send(f"HTTP/1.1 {status} x\r\n{head}\r\n".encode() + body)

    return answer


def gzipped(body: bytes) -> Answer:
    return page(gzip.compress(body), Content_Encoding="gzip")


def bomb(max_bytes: int) -> Answer:
    """Zeros, a thousand times longer than what is sent of them."""
    packer = zlib.compressobj(wbits=31)
    packed = b"".join(packer.compress(bytes(1_000_000)) for _ in range(max_bytes // 1_000_000)) + packer.flush()
    return page(packed, "text/plain", Content_Encoding="gzip")


def redirect(to: str) -> Answer:
    return page(b"", status=302, Location=to)


async def hanging(_stream: SocketStream) -> None:
    await anyio.sleep_forever()


async def endless(stream: SocketStream) -> None:
    await stream.send(b"HTTP/1.1 200 x\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        await stream.send(b"more " * 10_000)


async def cut_off(stream: SocketStream) -> None:
    await stream.send(b"HTTP/1.1 200 x\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nhalf")


@dataclass
class WebSite:
    answers: Mapping[str, Answer]
    url: str = ""
    requests: list[bytes] = field(default_factory=list[bytes])

    @property
    def paths(self) -> list[str]:
        return [request.split()[1].decode() for request in self.requests]

    async def serve(self, stream: SocketStream) -> None:
        async with stream:
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                request = b""
                while b"\r\n\r\n" not in request:
                    request += await stream.receive()
                head, _, body = request.partition(b"\r\n\r\n")
                length = next(
                    (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
                )
                while len(body) < length:
                    body += await stream.receive()
                self.requests.append(head + b"\r\n\r\n" + body)
                path = self.paths[-1].partition("?")[0]
                await self.answers.get(path, page(b"nothing", status=404))(stream)


@asynccontextmanager
async def web_site(answers: Mapping[str, Answer], *, host: str = "127.0.0.1") -> AsyncGenerator[WebSite]:
    site = WebSite(answers)
    async with await anyio.create_tcp_listener(local_host=host) as listener, anyio.create_task_group() as tg:
        site.url = f"http://pond.example:{listener.extra(SocketAttribute.local_port)}"
        tg.start_soon(listener.serve, site.serve)
        yield site
        tg.cancel_scope.cancel()
