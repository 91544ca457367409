"""A thin client of Discord's REST API: one request in, one answer out, and a separate error for each kind of failure.

Nothing is retried, and no request waits for a rate limit. No error contains the token, or an error of the HTTP library.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
import httpx2
import msgspec

from channels.discord.api_types import TooMany, Unreached, judged
from channels.discord.rate_limits import RateLimits, Route, route_of
from channels.http_post import NOTHING_SENT
from daemon.config.address import is_discords
from daemon.config.secret import STARS, Secret
from daemon.errors import SendRefused, SendRejected, SendUnknown
from daemon.proxies import http_client
from daemon.setup.platforms.discord_api import AGENT

ANSWER_MAX_BYTES = 33_554_432
"""Largest answer that is read: a hundred of the largest messages are far below."""

CONNECT_SHARE = 0.5
"""Share of a request's time for connecting: connecting must end before the request, so that the result is certain."""

IDLE_S = 5.0
"""How long a connection is kept for the next request; servers keep idle ones for longer."""

CONNECTIONS_MAX = 200
"""Connections at once; more than chats that one process sends to at a time."""

CLOSE_S = 1.0
"""Longest wait for connections to close."""

SECRET_MIN_BYTES = 16
"""A shorter token, of which the real ones have some 70, may be in an answer by chance."""

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

_encode = msgspec.json.Encoder().encode


class Upload(msgspec.Struct, frozen=True, kw_only=True):
    """A file that goes with a message."""

    name: str
    content: bytes


class Request(msgspec.Struct, frozen=True):
    """One request."""

    method: Method
    path: str
    body: Any = None
    query: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    uploads: Sequence[Upload] = ()
    passing: bool = False
    """Whether the request is dropped, and not repeated, if Discord refuses it for now."""


class Api:
    """One bot at Discord; opened by ``connect``."""

    def __init__(self, base_url: str, token: Secret) -> None:
        self.base = base_url.rstrip("/")
        self._token = token
        self._limits = RateLimits()
        limits = httpx2.Limits(
            max_connections=CONNECTIONS_MAX, max_keepalive_connections=CONNECTIONS_MAX, keepalive_expiry=IDLE_S
        )
        self._client = http_client(self.base, httpx2.AsyncClient, limits=limits)

    async def call(self, request: Request, *, timeout_s: float) -> bytes:
        """The JSON of a successful answer; ``null`` if it is empty.

        Raises:
            SendRefused: nothing was done: not reached, not now (429, 5xx), not with this token (``Unauthorized``).
            Rejected: Discord refuses it for good.
            SendUnknown: the connection was cut after sending; never of GET.
        """
        route = route_of(request.method, request.path)
        if (wait_s := self._limits.wait_s(route)) > 0:
            raise TooMany(
                f"Discord's rate limit for {route.name} has been reached", retry_after_s=wait_s, is_global=False
            )
        try:
            return await self._asked(route, self._built(request, timeout_s), timeout_s)
        except TooMany as error:
            after_s = error.retry_after_s or 1.0
            self._limits.note_refusal(route, after_s, is_global=error.is_global, passing=request.passing)
            raise
        except SendUnknown as error:
            if request.method == "GET":
                raise SendRefused(str(error)) from None
            raise

    async def download(self, url: str, *, max_bytes: int, timeout_s: float) -> bytes:
        """A file stored at Discord.

        Raises:
            SendRefused: it cannot be downloaded now.
            SendRejected: it was not found, is larger than ``max_bytes``, or not Discord's.
        """
        if not (is_discords(url, self.base) and url.isprintable()):
            raise SendRejected("the file was not downloaded because its URL does not belong to Discord")
        failure = f"the file could not be downloaded within {timeout_s:g} s"
        try:
            with anyio.move_on_after(timeout_s):
                # Without the token: the address is signed.
                async with self._client.stream("GET", url, timeout=_timeouts(timeout_s)) as response:
                    if response.status_code == 429 or response.status_code >= 500:
                        raise SendRefused(f"the file server responded with HTTP status {response.status_code}")
                    if not response.is_success:
                        raise SendRejected(f"the file server responded with HTTP status {response.status_code}")
                    return await _bounded(response, max_bytes)
        except httpx2.HTTPError as error:
            failure = f"the file could not be downloaded: {type(error).__name__}"
        raise SendRefused(failure)

    async def aclose(self) -> None:
        """Close all connections."""
        with anyio.move_on_after(CLOSE_S, shield=True):
            await self._client.aclose()

    async def _asked(self, route: Route, request: httpx2.Request, timeout_s: float) -> bytes:
        content = response = None
        try:
            with anyio.move_on_after(timeout_s):
                content, response = await self._answer(request)
        except NOTHING_SENT as error:
            # Not "from error": it holds the request, and that the token.
            raise Unreached(f"{self.base} cannot be reached: {type(error).__name__}") from None
        except httpx2.HTTPError as error:
            raise SendUnknown(
                f"the connection to {self.base} was lost after the request was sent: {type(error).__name__}"
            ) from None
        if content is None or response is None:
            raise SendUnknown(f"{self.base} did not respond within {timeout_s:g} s")
        self._limits.note(route, response.headers)
        return judged(response.status_code, self._masked(content), response.headers, action=route.name, base=self.base)

    async def _answer(self, request: httpx2.Request) -> tuple[bytes, httpx2.Response]:
        response = await self._client.send(request, stream=True)
        try:
            return await _bounded(response, ANSWER_MAX_BYTES), response
        finally:
            with anyio.move_on_after(CLOSE_S, shield=True):
                await response.aclose()

    def _built(self, request: Request, timeout_s: float) -> httpx2.Request:
        headers = {"Authorization": f"Bot {self._token.reveal()}", "User-Agent": AGENT}
        sent: dict[str, Any] = {}
        if request.uploads:
            sent["data"] = {"payload_json": _encode(request.body).decode()}
            sent["files"] = {f"files[{n}]": (each.name, each.content) for n, each in enumerate(request.uploads)}
        elif request.body is not None:
            headers["Content-Type"] = "application/json"
            sent["content"] = _encode(request.body)
        url = f"{self.base}{request.path}"
        query = request.query or None
        return self._client.build_request(
            request.method, url, params=query, headers=headers, timeout=_timeouts(timeout_s), **sent
        )

    def _masked(self, content: bytes) -> bytes:
        """Without the token, should a server repeat it."""
        secret = self._token.reveal().encode()
        return content.replace(secret, STARS.encode()) if len(secret) >= SECRET_MIN_BYTES else content


@asynccontextmanager
async def connect(base_url: str, token: Secret) -> AsyncGenerator[Api]:
    """A client for the length of the block."""
    api = Api(base_url, token)
    try:
        yield api
    finally:
        await api.aclose()


def left_s(deadline: float) -> float:
    """Seconds until then, by the event loop's clock. Raises: SendRefused: there are none left."""
    seconds = deadline - anyio.current_time()
    if seconds <= 0:
        raise SendRefused("the message could not be sent before the time limit expired")
    return seconds


def _timeouts(timeout_s: float) -> httpx2.Timeout:
    return httpx2.Timeout(timeout_s, connect=CONNECT_SHARE * timeout_s, pool=CONNECT_SHARE * timeout_s)


async def _bounded(response: httpx2.Response, max_bytes: int) -> bytes:
    found = bytearray()
    async for piece in response.aiter_bytes():
        found += piece
        if len(found) > max_bytes:
            raise SendRejected(f"Discord's response is larger than {max_bytes:,} bytes")
    return bytes(found)
