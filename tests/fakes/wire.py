"""HTTP on a stream, for fakes of platforms: requests with any of the bodies that these take, and answers."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import anyio
from anyio.abc import SocketStream

BODY_MAX = 60_000_000
GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


class Garbage(Exception):
    """A request that cannot be read."""


@dataclass(frozen=True)
class Upload:
    name: str
    data: bytes


@dataclass(frozen=True)
class Request:
    verb: str
    path: str
    headers: dict[str, str]  # names in small letters
    params: dict[str, Any]
    files: dict[str, Upload]
    body: bytes


class Wire:
    def __init__(self, stream: SocketStream) -> None:
        self.stream = stream
        self._buffer = b""

    async def request(self) -> Request | None:
        """The next request; None when the other side has nothing more to say.

        Raises:
            BrokenResourceError: the connection was reset.
            EndOfStream: it ended in the middle of a request.
            Garbage: it cannot be read.
        """
        try:
            if not self._buffer:
                self._buffer = await self.stream.receive()
        except anyio.EndOfStream:
            return None
        head = (await self._until(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        verb, target, _version = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await self._body(headers)
        split = urlsplit(target)
        query = dict(parse_qsl(split.query, keep_blank_values=True))
        params, files = _read(headers.get("content-type", ""), body)
        return Request(verb, unquote(split.path), headers, {**query, **params}, files, body)

    async def _body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            parts: list[bytes] = []
            while (size := int((await self._until(b"\r\n")).split(b";")[0], 16)) > 0:
                parts.append(await self.exactly(size))
                await self.exactly(2)
            await self.exactly(2)
            return b"".join(parts)
        length = int(headers.get("content-length", "0"))
        if length > BODY_MAX:
            raise Garbage("Request Entity Too Large")
        return await self.exactly(length)

    async def exactly(self, number: int) -> bytes:
        parts, missing = [self._buffer], number - len(self._buffer)
        while missing > 0:
            parts.append(await self.stream.receive())
            missing -= len(parts[-1])
        whole = b"".join(parts)
        self._buffer = whole[number:]
        return whole[:number]

    async def _until(self, mark: bytes) -> bytes:
        while mark not in self._buffer:
            self._buffer += await self.stream.receive()
        head, _, self._buffer = self._buffer.partition(mark)
        return head

    async def left(self) -> None:
        """Wait until the other side goes; what it says before is kept."""
        try:
            while True:
                self._buffer += await self.stream.receive()
        except GONE:
            return

    async def respond(self, status: int, body: bytes, *, half: bool = False, **headers: str) -> None:
        """Answer; with ``half`` no more than a half of it."""
        usual = {"server": "fake", "content_type": "application/json", "content_length": str(len(body))}
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in (usual | headers).items()]
        head = "\r\n".join([f"HTTP/1.1 {status} Said", *lines, "", ""]).encode()
        await self.stream.send(head + (body[: len(body) // 2] if half else body))

    async def switch(self, headers: Mapping[str, str]) -> None:
        lines = [f"{name}: {value}" for name, value in headers.items()]
        await self.stream.send("\r\n".join(["HTTP/1.1 101 Switching Protocols", *lines, "", ""]).encode())


def _read(content_type: str, body: bytes) -> tuple[dict[str, Any], dict[str, Upload]]:
    kind = content_type.partition(";")[0].strip().lower()
    if not body:
        return {}, {}
    if kind == "application/json":
        try:
            read = json.loads(body)
        except ValueError:
            raise Garbage("Bad Request: can't parse JSON object") from None
        if isinstance(read, list):
            return {"[]": read}, {}
        if not isinstance(read, dict):
            raise Garbage("Bad Request: object expected")
        return read, {}
    if kind == "application/x-www-form-urlencoded":
        return dict(parse_qsl(body.decode(), keep_blank_values=True)), {}
    if kind == "multipart/form-data":
        found = re.search(r'boundary="?([^";]+)', content_type)
        if found is None:
            raise Garbage("Bad Request: no boundary")
        return _parts(body, b"--" + found.group(1).encode())
    return {}, {}


def _parts(body: bytes, boundary: bytes) -> tuple[dict[str, Any], dict[str, Upload]]:
    params: dict[str, Any] = {}
    files: dict[str, Upload] = {}
    if not body.rstrip().endswith(boundary + b"--"):
        raise Garbage("Bad Request: can't parse multipart")
    for part in body.split(boundary)[1:-1]:
        head, _, data = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        data = data.removesuffix(b"\r\n")
        words = head.decode()
        name = re.search(r'name="([^"]*)"', words)
        if name is None:
            raise Garbage("Bad Request: can't parse multipart")
        # ``name`` is found in ``filename`` as well, which comes after it.
        file = re.search(r'filename="([^"]*)"', words)
        starred = re.search(r"filename\*=(?:UTF-8|utf-8)''(\S+)", words)
        if file or starred:
            files[name.group(1)] = Upload(unquote(starred.group(1)) if starred else file.group(1), data)  # type: ignore[union-attr]
        else:
            params[name.group(1)] = data.decode()
    return params, files
