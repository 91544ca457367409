"""Opening a long connection of Feishu's: of the daemon, and of ``millpond init``, which waits for its owner."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import msgspec

from daemon.proxies import connector_of, http_proxy_of

MESSAGE_MAX_BYTES = 4_194_304
"""Largest frame that is read; Feishu cuts larger events into several."""


def socket_session(base_url: str) -> aiohttp.ClientSession:
    """What opens connections; it is sent on to no other server."""
    tracing = aiohttp.TraceConfig()
    tracing.on_request_redirect.append(_refuse_redirect)  # opening a socket has no parameter for it
    connector = connector_of(base_url)
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trace_configs=[tracing])


async def opened(session: aiohttp.ClientSession, url: str) -> Any:
    """A connection to ``url``, a secret.

    Raises:
        aiohttp.ClientError, OSError, ValueError: it is not accepted.
    """
    # A socket begins as a request, and the proxies of the environment are named for these.
    address = url.replace("ws", "http", 1)
    return await session.ws_connect(address, proxy=http_proxy_of(address), max_msg_size=MESSAGE_MAX_BYTES)


def service_of(url: str) -> int:
    """The number of the service in an address, which pings have to name."""
    service = parse_qs(urlsplit(url).query).get("service_id", [""])[0]
    return int(service) if service.isdecimal() and len(service) < 20 else 0


async def _refuse_redirect(_session: object, _context: object, params: aiohttp.TraceRequestRedirectParams) -> None:
    params.response.close()
    raise aiohttp.ClientError("the server redirected the request, which Feishu never does")


# Its frames: the protobuf messages ``Frame`` and ``Header`` (lark-oapi, ``pbbp2``).

CONTROL, DATA = 0, 1
"""``method`` of a frame."""

PARTS_MAX = 1_000
"""Parts of an event; a real one has some five."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
"""Wire types (protobuf.dev, "Encoding")."""

VARINT_MAX_BYTES = 10


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """One frame."""

    seq_id: int = 0
    log_id: int = 0
    service: int = 0
    method: int = CONTROL
    headers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """``type`` (``event``, ``card``, ``ping``, ``pong``), ``message_id``, ``sum`` and ``seq``, which count parts."""
    payload_encoding: str = ""
    payload_type: str = ""
    payload: bytes = b""
    log_id_new: str = ""

    @property
    def kind(self) -> str:
        """Its header ``type``."""
        return self.headers.get("type", "")

    @property
    def parts(self) -> tuple[int, int]:
        """How many parts the event has, and which of them this is, from 0.

        Raises:
            ValueError: it does not say so in numbers that fit.
        """
        parts, number = int(self.headers.get("sum") or 1), int(self.headers.get("seq") or 0)
        if not 0 <= number < max(parts, 1) <= PARTS_MAX:
            raise ValueError("a part of an event has an invalid sequence number")
        return max(parts, 1), number


def ping(service: int) -> bytes:
    """A frame that shows the other side that the connection works."""
    return encoded(Frame(service=service, headers={"type": "ping"}))


def encoded(frame: Frame) -> bytes:
    """The bytes of a frame."""
    numbers = ((1, frame.seq_id), (2, frame.log_id), (3, frame.service), (4, frame.method))
    texts = ((6, frame.payload_encoding.encode()), (7, frame.payload_type.encode()), (8, frame.payload))
    pieces = [_varint(number << 3 | VARINT) + _varint(value) for number, value in numbers]
    pieces += [_sized(5, _sized(1, key.encode()) + _sized(2, value.encode())) for key, value in frame.headers.items()]
    pieces += [_sized(number, value) for number, value in (*texts, (9, frame.log_id_new.encode())) if value]
    return b"".join(pieces)


def decoded(content: bytes) -> Frame:
    """The frame in ``content``.

    Raises:
        ValueError: it is none.
    """
    numbers: dict[int, int] = {}
    texts: dict[int, bytes] = {}
    headers: dict[str, str] = {}
    for number, value in _fields(content):
        if isinstance(value, int):
            numbers[number] = value
        elif number == 5:
            header = dict(_fields(value))
            headers[_text(header.get(1))] = _text(header.get(2))
        else:
            texts[number] = value
    return Frame(
        seq_id=numbers.get(1, 0),
        log_id=numbers.get(2, 0),
        service=numbers.get(3, 0),
        method=numbers.get(4, 0),
        headers=headers,
        payload_encoding=_text(texts.get(6)),
        payload_type=_text(texts.get(7)),
        payload=texts.get(8, b""),
        log_id_new=_text(texts.get(9)),
    )


def _fields(content: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(content):
        tag, at = _number(content, at)
        number, kind = tag >> 3, tag & 7
        if kind == VARINT:
            value, at = _number(content, at)
            yield number, value
            continue
        if kind == BYTES:
            size, at = _number(content, at)
        elif kind in (FIXED32, FIXED64):
            size = 4 if kind == FIXED32 else 8
        else:
            raise ValueError("a frame contains a field of an unknown type")
        if at + size > len(content):
            raise ValueError("a frame ends in the middle of a field")
        if kind == BYTES:
            yield number, content[at : at + size]
        at += size


def _number(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place, byte in enumerate(content[at : at + VARINT_MAX_BYTES]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value, at + place + 1
    raise ValueError("a frame ends in the middle of a number")


def _varint(value: int) -> bytes:
    pieces = bytearray()
    while value > 0x7F:
        pieces.append(value & 0x7F | 0x80)
        value >>= 7
    pieces.append(value)
    return bytes(pieces)


def _sized(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | BYTES) + _varint(len(content)) + content


def _text(value: int | bytes | None) -> str:
    return value.decode() if isinstance(value, bytes) else ""
