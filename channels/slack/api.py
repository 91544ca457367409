"""A thin client of the Web API: method and parameters in, Slack's answer out, and a separate error for each failure.

Requests are made by slack-sdk's client on a session of ours: nothing is tried again, no log is written, every body has
a limit. No error that is raised here comes from the libraries, which hold the token in what they raise.
"""

import io
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import aiohttp
import anyio
import msgspec
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from channels.slack.api_types import LONG_REST_S, Answer, TooMany, Unreached, judged
from channels.websocket_client import Redirected, unredirected
from daemon.config.address import is_slacks
from daemon.config.secret import STARS, Secret
from daemon.errors import SendRefused, SendRejected, SendUnknown
from daemon.proxies import connector_of, http_proxy_of

ANSWER_MAX_BYTES = 33_554_432
"""Largest answer that is read: a page of two hundred of the longest messages stays below."""

CONNECT_SHARE = 0.5
"""Share of a call's time for connecting: it must end before the call, so that the result is certain."""

IDLE_S = 5.0
"""How long a connection is kept for the next call. One that the server closes in just that moment looks like a cut
request; servers keep idle ones for longer than this."""

CONNECTIONS_MAX = 200
"""Connections at once; more than chats that one process sends to at a time."""

CLOSE_S = 1.0
"""Longest wait for connections to close."""

SECRET_MIN_CHARS = 16
"""A shorter token, of which the real ones have fifty and more, may stand in an answer by chance."""

RESTING_MAX = 1_000
"""Methods and chats whose rate limit is currently reached."""

READS = frozenset(
    {
        *("auth.test", "users.info", "bots.info", "files.info", "conversations.info"),
        *("conversations.history", "conversations.replies", "files.getUploadURLExternal", "apps.connections.open"),
    }
)
"""Methods that show nothing to anybody: they may be asked again. They take a form and no JSON."""

IN_PASSING = frozenset(
    {
        *("chat.startStream", "chat.appendStream", "assistant.threads.setStatus", "reactions.add", "reactions.remove"),
        *("users.info", "bots.info"),
    }
)
"""Methods that many call who know nothing of each other, and that are as well left out: once Slack wants nothing more
of one, it is not asked before that time is over. Of all others the callers keep to ``retry_after_s`` by themselves."""

PIECE_BYTES = 65_536

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode


@dataclass(eq=False)
class _Request:
    """A request under way."""

    scope: anyio.CancelScope
    deadline: float
    """By the event loop's clock."""
    connected: bool = False
    """From here on it is unknown whether the request arrives."""


_request: ContextVar[_Request] = ContextVar("request")


class Api:
    """One token at one Web API; opened by ``connect``."""

    def __init__(self, base_url: str, token: Secret) -> None:
        self._base = base_url.rstrip("/")
        self._token = token
        self._session = _session(self._base)
        self._client: Any = AsyncWebClient(  # its types say little
            token=token.reveal(),
            base_url=self._base,
            session=self._session,
            logger=_silent(),
            retry_handlers=[],  # not None, which stands for handlers that send again
        )
        # The client takes a proxy from the environment whatever it is for; ``None`` has it look there.
        self._client.proxy = http_proxy_of(self._base)
        self._resting: dict[tuple[str, str], float] = {}

    @property
    def address(self) -> str:
        """Of the Web API."""
        return self._base

    async def call(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout_s: float, key: str = ""
    ) -> dict[str, Any]:
        """The result of a method that succeeded.

        ``key``: what its rate is counted for beside the method, a channel; see ``IN_PASSING``.

        Raises:
            SendRefused: nothing was done: not reached, not now (429, 5xx), not with this token (``Unauthorized``).
            Rejected: Slack refuses it for good.
            SendUnknown: it was cut after sending, so nobody knows; never of ``READS``.
        """
        return (await self.asked(method, params, timeout_s=timeout_s, key=key)).found

    async def asked(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout_s: float, key: str = ""
    ) -> Answer:
        """Like ``call``, with the headers of the answer."""
        self._check_rest(method, key)
        answer = await self._answer(method, params or {}, timeout_s)
        try:
            judged(answer, method=method, base=self._base, reads=method in READS)
        except TooMany as error:
            self._note_rest(method, key, error.retry_after_s)
            raise
        return answer

    async def upload(self, url: str, content: bytes, *, timeout_s: float) -> None:
        """Upload a file to the address from ``files.getUploadURLExternal``; it is not visible yet.

        Raises:
            SendRefused: not now.
            SendRejected: never, or not there.
        """
        self._check_address(url)
        status, _, _ = await self._fetched("POST", url, timeout_s, content=content)
        _check_status(status, "the file server")

    async def download(self, url: str, *, max_bytes: int, timeout_s: float) -> tuple[bytes, str]:
        """A file stored at Slack, and its ``Content-Type``.

        Raises:
            SendRefused: it cannot be had just now.
            SendRejected: it is gone, larger than ``max_bytes``, or not Slack's.
        """
        self._check_address(url)
        headers = {"Authorization": f"Bearer {self._token.reveal()}"}
        status, kind, found = await self._fetched("GET", url, timeout_s, headers=headers, max_bytes=max_bytes)
        _check_status(status, "the file server")
        return found, kind

    def is_at_home(self, url: str) -> bool:
        """Whether an address in an answer is Slack's own; no other address is requested or uploaded to."""
        return is_slacks(url, self._base)

    async def aclose(self) -> None:
        """Close all connections."""
        with anyio.move_on_after(CLOSE_S, shield=True):
            await self._session.close()

    async def _answer(self, method: str, params: Mapping[str, Any], timeout_s: float) -> Answer:
        sent: dict[str, Any] = {"data": _form(params)} if method in READS else {"json": dict(params)}
        failure, answer, request = "", None, _begun(timeout_s)
        marked = _request.set(request)
        try:
            with request.scope:
                try:
                    response: Any = await self._client.api_call(method, **sent)
                except SlackApiError as error:
                    response = error.response
                answer = Answer(found=response.data, status=response.status_code, headers=response.headers)
        except Redirected as error:
            raise SendRefused(
                f"{self._base} answered {method} with status {error.status}. Check base_url.",
                retry_after_s=LONG_REST_S,
            ) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            failure = _named(error)
        finally:
            _request.reset(marked)
        if answer is not None:
            return answer
        if not request.connected:
            raise Unreached(f"{self._base} cannot be reached: {failure or 'no connection in time'}")
        failure = failure or f"no answer within {timeout_s:g} s"
        text = f"the {method} request to {self._base} failed after it was sent: {failure}"
        raise SendRefused(text) if method in READS else SendUnknown(text)

    async def _fetched(
        self,
        verb: str,
        url: str,
        timeout_s: float,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        max_bytes: int = ANSWER_MAX_BYTES,
    ) -> tuple[int, str, bytes]:
        """Status, kind and content at an address; SendRefused if it returns nothing."""
        failure, request = "", _begun(timeout_s)
        marked = _request.set(request)
        try:
            with request.scope:
                # Whoever has no right to a file is sent on to a page for people.
                body = None if content is None else io.BytesIO(content)  # written in pieces
                async with self._session.request(
                    verb, url, data=body, headers=headers, proxy=http_proxy_of(url), allow_redirects=False
                ) as response:
                    found = await _bounded(response, max_bytes) if response.status == 200 else b""
                    return response.status, response.headers.get("Content-Type", ""), found
        except _TooLarge:
            raise SendRejected(f"the file is larger than {max_bytes:,} bytes") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            failure = _named(error)
        finally:
            _request.reset(marked)
        raise SendRefused(f"the file server did not respond: {failure or f'nothing within {timeout_s:g} s'}")

    def _check_address(self, url: str) -> None:
        """Make sure that the token and people's files go to Slack alone."""
        if not (url.startswith(("https://", "http://")) and self.is_at_home(url)):
            raise SendRejected("the file is not stored on Slack's servers")

    def _check_rest(self, method: str, key: str) -> None:
        left_s = self._resting.get((method, key), 0.0) - anyio.current_time()
        if left_s > 0:
            raise TooMany(f"Slack is rate-limiting {method} requests right now", retry_after_s=left_s)

    def _note_rest(self, method: str, key: str, told_s: float | None) -> None:
        if told_s and method in IN_PASSING:
            if len(self._resting) >= RESTING_MAX:
                self._resting.clear()
            self._resting[(method, key)] = anyio.current_time() + told_s


@asynccontextmanager
async def connect(base_url: str, token: Secret) -> AsyncGenerator[Api]:
    """A client for the length of the block; ``token`` is a bot's or an app's."""
    api = Api(base_url, token)
    try:
        yield api
    finally:
        await api.aclose()


class _Cut(aiohttp.ClientError):
    """A connection was cut; the library repeats a request after some of its own exceptions of this kind."""


class _TooLarge(Exception):
    """A body is larger than is read."""


class _Response(aiohttp.ClientResponse):
    """An answer that slack-sdk takes for a JSON object whatever it is: an empty one when it is something else."""

    @property
    def content_type(self) -> str:
        """Not as the server says: by it slack-sdk chooses another way to read."""
        return "application/json"

    async def json(self, **_: Any) -> dict[str, Any]:
        """The object without the token, because people may see text that a server repeats."""
        try:
            content = await _bounded(self, ANSWER_MAX_BYTES)
        except _TooLarge:
            return {}
        token = self.request_info.headers.get("Authorization", "").removeprefix("Bearer ")
        if len(token) >= SECRET_MIN_CHARS:
            content = content.replace(token.encode(), STARS.encode())
        try:
            return _decode(content)
        except (msgspec.DecodeError, RecursionError):  # a page of some proxy's
            return {}


def _session(base: str) -> aiohttp.ClientSession:
    tracing = unredirected()
    tracing.on_connection_create_end.append(_note_connected)
    tracing.on_connection_reuseconn.append(_note_connected)
    return aiohttp.ClientSession(
        connector=connector_of(base, limit=CONNECTIONS_MAX, keepalive_s=IDLE_S),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),  # each call has a deadline of its own
        cookie_jar=aiohttp.DummyCookieJar(),
        json_serialize=lambda value: _encode(value).decode(),
        response_class=_Response,
        trace_configs=[tracing],
        middlewares=[_once],
    )


async def _once(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Have a request made only once: aiohttp repeats reading requests on a new connection when an old one is cut."""
    try:
        return await handler(request)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        reason = type(error).__name__
    raise _Cut(reason)


async def _note_connected(_session: object, _context: object, _params: object) -> None:
    if request := _request.get(None):
        request.connected, request.scope.deadline = True, request.deadline


def _named(error: Exception) -> str:
    """The failure in a word; longer texts of the libraries may contain the token."""
    return str(error) if isinstance(error, _Cut) else type(error).__name__


def _begun(timeout_s: float) -> _Request:
    now = anyio.current_time()
    scope = anyio.CancelScope(deadline=now + CONNECT_SHARE * timeout_s)
    return _Request(scope=scope, deadline=now + timeout_s)


def _silent() -> logging.Logger:
    """Silence the log lines of slack-sdk, which contain messages of people."""
    return logging.Logger("slack", level=logging.CRITICAL + 1)


def _form(params: Mapping[str, Any]) -> dict[str, str]:
    return {name: value if isinstance(value, str) else _encode(value).decode() for name, value in params.items()}


def _check_status(status: int, server: str) -> None:
    if status == 429 or status >= 500:
        raise SendRefused(f"{server} answered with status {status}")
    if not 200 <= status < 300:
        raise SendRejected(f"{server} answered with status {status}")


async def _bounded(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    found = bytearray()
    async for piece in response.content.iter_chunked(PIECE_BYTES):
        found += piece
        if len(found) > max_bytes:
            raise _TooLarge
    return bytes(found)
