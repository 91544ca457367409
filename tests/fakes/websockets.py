"""WebSockets, as much of RFC 6455 as the server of a fake needs."""

import base64
import hashlib
import struct

import anyio

from tests.fakes.wire import Request, Wire

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, 1.3
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def accepted(request: Request) -> dict[str, str]:
    key = request.headers.get("sec-websocket-key", "") + GUID
    answer = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    return {"upgrade": "websocket", "connection": "Upgrade", "sec-websocket-accept": answer}


def frame(kind: int, content: bytes) -> bytes:
    length = len(content)
    if length < 126:
        head = struct.pack("!BB", 0x80 | kind, length)
    elif length < 1 << 16:
        head = struct.pack("!BBH", 0x80 | kind, 126, length)
    else:
        head = struct.pack("!BBQ", 0x80 | kind, 127, length)
    return head + content


async def read_message(wire: Wire) -> tuple[int, bytes]:
    """The next message of a client: its kind, and what it says. Raises: those of ``GONE``."""
    kind, whole = 0, b""
    while True:
        first, second = await wire.exactly(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", await wire.exactly(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", await wire.exactly(8))
        if not second & 0x80:
            raise anyio.EndOfStream  # RFC 6455, 5.1: what clients send is masked
        mask = await wire.exactly(4)
        masked = await wire.exactly(length)
        content = bytes(byte ^ mask[at % 4] for at, byte in enumerate(masked))
        if first & 0x0F >= CLOSE:
            return first & 0x0F, content
        kind, whole = kind or first & 0x0F, whole + content
        if first & 0x80:
            return kind, whole
