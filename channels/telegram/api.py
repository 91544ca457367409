"""A thin client of the Bot API: a method and its parameters in, what the server says out, every failure told apart.

The token stands in every address. So no text and no cause of an error that is raised here comes from the HTTP library,
which likes to quote addresses.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import anyio
import httpx2
import msgspec

from channels.telegram.api_types import Answer, Unreached, judged
from daemon.config.secret import STARS, Secret
from daemon.errors import UNREADABLE, SendRefused, SendRejected, SendUnknown
from daemon.proxies import http_client

ANSWER_MAX_BYTES = 33_554_432
"""Largest answer that is read: a hundred updates of the largest messages stay far below."""

CONNECT_SHARE = 0.5
"""Of a call's time, what connecting may take: it has to end before the call does, or nobody knows which it was."""

IDLE_S = 5.0
"""How long a connection is kept for the next call. One that the server closes in just that moment looks like a cut
request; servers keep idle ones for longer than this."""

CONNECTIONS_MAX = 200
"""Connections at once; more than chats that one process sends to at a time."""

CLOSE_S = 1.0
"""Longest wait for connections to close."""

SECRET_MIN_BYTES = 16
"""A shorter secret part of a token, of which the real ones have 35, may stand in an answer by chance."""

NOTHING_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
    httpx2.ProxyError,
)
"""Failures of the library before the first byte of the request left; after all others nobody knows."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Answer).decode


class Upload(msgspec.Struct, frozen=True, kw_only=True):
    """A file that goes with a call."""

    field: str
    """The parameter that it is."""
    name: str
    content: bytes


class Api:
    """One bot at one Bot API server; opened by ``connect``."""

    def __init__(self, base_url: str, token: Secret) -> None:
        self._base = base_url.rstrip("/")
        self._token = token
        self._client = self._made()

    async def call(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout_s: float, upload: Upload | None = None
    ) -> msgspec.Raw:
        """The ``result`` of a method, JSON.

        Raises:
            SendRefused: nothing was done: not reached, not now (429, 5xx), not with this token.
            Rejected: the server refuses it for good.
            SendUnknown: it was cut after sending, so nobody knows.
        """
        request = self._request(method, params or {}, upload, timeout_s)
        content = status = None
        try:
            with anyio.move_on_after(timeout_s):
                content, status = await self._answer(request)
        except NOTHING_SENT as error:
            # Not "from error": it holds the address, and that the token.
            raise Unreached(f"{self._base} cannot be reached: {type(error).__name__}") from None
        except httpx2.HTTPError as error:
            raise SendUnknown(
                f"the connection to {self._base} was lost after {method} was sent: {type(error).__name__}"
            ) from None
        if content is None or status is None:
            raise SendUnknown(f"{self._base} did not respond to {method} within {timeout_s:g} s")
        return judged(_read(self._masked(content)), status=status, method=method, base=self._base)

    async def download(self, path: str, *, max_bytes: int, timeout_s: float) -> bytes:
        """A file of the server's, by the path that ``getFile`` gave.

        Raises:
            SendRefused: it cannot be had just now.
            SendRejected: it is gone, or larger than ``max_bytes``.
        """
        address = f"{self._base}/file/bot{self._token.reveal()}/{quote(path)}"
        try:
            with anyio.fail_after(timeout_s):
                async with self._client.stream("GET", address, timeout=_timeouts(timeout_s)) as response:
                    if response.status_code == 429 or response.status_code >= 500:
                        raise SendRefused(
                            "the file could not be downloaded: the server responded with HTTP status "
                            f"{response.status_code}"
                        )
                    if not response.is_success:
                        raise SendRejected(
                            "the file could not be downloaded: the server responded with HTTP status "
                            f"{response.status_code}"
                        )
                    return await _bounded(response, max_bytes)
        except TimeoutError:
            raise SendRefused(f"the file could not be downloaded within {timeout_s:g} s") from None
        except httpx2.HTTPError as error:
            raise SendRefused(f"the file could not be downloaded: {type(error).__name__}") from None

    async def renew(self) -> None:
        """Throw all connections away and begin with new ones."""
        old, self._client = self._client, self._made()
        with anyio.move_on_after(CLOSE_S, shield=True):
            await old.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        with anyio.move_on_after(CLOSE_S, shield=True):
            await self._client.aclose()

    def _masked(self, content: bytes) -> bytes:
        """An answer without the token: a server may repeat what it was asked, and what it says is shown to people."""
        secret = self._token.reveal().partition(":")[2].encode()
        return content.replace(secret, STARS.encode()) if len(secret) >= SECRET_MIN_BYTES else content

    def _made(self) -> httpx2.AsyncClient:
        limits = httpx2.Limits(
            max_connections=CONNECTIONS_MAX, max_keepalive_connections=CONNECTIONS_MAX, keepalive_expiry=IDLE_S
        )
        return http_client(self._base, httpx2.AsyncClient, limits=limits)

    def _request(
        self, method: str, params: Mapping[str, Any], upload: Upload | None, timeout_s: float
    ) -> httpx2.Request:
        address = f"{self._base}/bot{self._token.reveal()}/{method}"
        timeout = _timeouts(timeout_s)
        if upload is None:
            headers = {"Content-Type": "application/json"}
            return self._client.build_request(
                "POST", address, content=_encode(params), headers=headers, timeout=timeout
            )
        fields = {name: value if isinstance(value, str) else _encode(value).decode() for name, value in params.items()}
        files = {upload.field: (upload.name, upload.content)}
        return self._client.build_request("POST", address, data=fields, files=files, timeout=timeout)

    async def _answer(self, request: httpx2.Request) -> tuple[bytes, int]:
        response = await self._client.send(request, stream=True)
        try:
            return await _bounded(response, ANSWER_MAX_BYTES), response.status_code
        finally:
            with anyio.move_on_after(CLOSE_S, shield=True):
                await response.aclose()


@asynccontextmanager
async def connect(base_url: str, token: Secret) -> AsyncGenerator[Api]:
    """A client for the length of the block."""
    api = Api(base_url, token)
    try:
        yield api
    finally:
        await api.aclose()


def _timeouts(timeout_s: float) -> httpx2.Timeout:
    return httpx2.Timeout(timeout_s, connect=CONNECT_SHARE * timeout_s, pool=CONNECT_SHARE * timeout_s)


async def _bounded(response: httpx2.Response, max_bytes: int) -> bytes:
    found = bytearray()
    async for piece in response.aiter_bytes():
        found += piece
        if len(found) > max_bytes:
            raise SendRejected(f"the Telegram server's response is larger than {max_bytes:,} bytes")
    return bytes(found)


def _read(content: bytes) -> Answer | None:
    try:
        return _decode(content)
    except UNREADABLE:  # a page of some proxy's
        return None
