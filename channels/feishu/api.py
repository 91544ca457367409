"""A thin client of Feishu's API: a method, its parameters and a body in, a JSON object out, a separate error for each
failure.

The app's secret buys an access token, which expires after two hours; the clients of a process share it. No text and no
cause of an error that is raised here comes from the HTTP library or holds a secret.
"""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

import anyio
import httpx2
import msgspec

from channels.feishu.api_types import TOKEN, Answer, Unreached, judged
from channels.http_post import NOTHING_SENT
from daemon.config import FeishuConfig
from daemon.config.secret import STARS, Secret
from daemon.errors import UNREADABLE, SendRefused, SendRejected, SendUnknown
from daemon.process import Process
from daemon.proxies import http_client

# The access token of an app, which all clients of a process share (``auth/v3/tenant_access_token/internal``).

EARLY_S = 300.0
"""How long before its end a token is replaced: calls under way, and clocks that differ, need less."""

NO_TOKEN = Secret("")


class AccessToken:
    """The token of one app at one server, and what buys it."""

    def __init__(self, app_id: str, app_secret: Secret) -> None:
        self.app_id = app_id
        self.app_secret = app_secret
        self._held = NO_TOKEN
        self._until = 0.0
        """By the clock of the event loop."""
        self._turn = anyio.Lock()

    async def held(self, buy: Callable[[], Awaitable[Mapping[str, Any]]]) -> Secret:
        """The token; ``buy`` asks for one where there is none, for one caller at a time.

        Raises:
            SendRefused: the answer holds none; what ``buy`` raises.
        """
        if not self._is_valid():
            async with self._turn:
                if not self._is_valid():
                    self._note(await buy())
        return self._held

    def drop(self, token: Secret) -> None:
        """It is not accepted any more; another one may have taken its place already."""
        if self._held == token:
            self._held = NO_TOKEN

    def _is_valid(self) -> bool:
        return bool(self._held) and anyio.current_time() < self._until

    def _note(self, found: Mapping[str, Any]) -> None:
        token, lasts_s = found.get("tenant_access_token"), found.get("expire")
        if not isinstance(token, str) or not token or not isinstance(lasts_s, int):
            raise SendRefused("Feishu did not return an access token")
        self._held, self._until = Secret(token), anyio.current_time() + max(lasts_s - EARLY_S, lasts_s / 2)


class _Tokens:
    """The tokens of a process."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str, str], AccessToken] = {}


def token_of(process: Process, config: FeishuConfig) -> AccessToken:
    """The token of the app of a channel."""
    key = (config.base_url, config.app_id, config.app_secret.reveal())
    return process.shared(_Tokens).found.setdefault(key, AccessToken(config.app_id, config.app_secret))


API = "/open-apis"
"""Where all methods lie below the server's address."""

ANSWER_MAX_BYTES = 33_554_432
"""Largest answer that is read: fifty of the longest messages stay below."""

CONNECT_SHARE = 0.5
"""Share of a call's time for connecting: it must end before the call, so that the result is certain."""

IDLE_S = 5.0
"""How long a connection is kept for the next call; servers keep idle ones for longer than this."""

CONNECTIONS_MAX = 200
"""Connections at once; more than chats that one process sends to at a time."""

CLOSE_S = 1.0
"""Longest wait for connections to close."""

SECRET_MIN_CHARS = 16
"""A shorter secret, of which the real ones have 32, may stand in an answer by chance."""

_id = re.compile(r"(?<=/)(?:o[mcu]|omt|file|img)_[^/]+|(?<=/)[0-9]{6,}(?=/|$)")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode

JSON = {"Content-Type": "application/json; charset=utf-8"}


class Upload(msgspec.Struct, frozen=True, kw_only=True):
    """A file that goes with a call."""

    field: str
    """The parameter that it is."""
    name: str
    content: bytes


class Api:
    """One app at one server of Feishu; opened by ``connect``."""

    def __init__(self, base_url: str, token: AccessToken) -> None:
        self._base = base_url.rstrip("/")
        self._token = token
        limits = httpx2.Limits(
            max_connections=CONNECTIONS_MAX, max_keepalive_connections=CONNECTIONS_MAX, keepalive_expiry=IDLE_S
        )
        self._client = http_client(self._base, httpx2.AsyncClient, limits=limits)

    @property
    def address(self) -> str:
        """Of the server."""
        return self._base

    @property
    def app_id(self) -> str:
        """The app that calls."""
        return self._token.app_id

    async def call(
        self,
        verb: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        timeout_s: float,
        query: Mapping[str, str] | None = None,
        shows: bool = True,
    ) -> dict[str, Any]:
        """The JSON object of a method that succeeded; its result is mostly under ``data``.

        ``shows``: somebody sees what is done; else it may be done again, and nothing is in doubt.

        Raises:
            SendRefused: nothing was done: not reached, not now (429, 5xx), not with this secret (``Unauthorized``).
            Rejected: Feishu refuses it for good.
            SendUnknown: it was cut after sending, so nobody knows; never without ``shows``.
        """
        options: dict[str, Any] = {} if verb == "GET" else {"content": _encode(body or {}), "headers": JSON}
        return await self._called(verb, path, timeout_s, shows=shows and verb != "GET", params=query, **options)

    async def upload(self, path: str, fields: Mapping[str, str], file: Upload, *, timeout_s: float) -> dict[str, Any]:
        """Upload a file; it is not visible yet. Errors as for ``call``, but nothing is in doubt."""
        files = {file.field: (file.name, file.content)}
        return await self._called("POST", path, timeout_s, shows=False, data=dict(fields), files=files)

    async def download(self, path: str, query: Mapping[str, str], *, max_bytes: int, timeout_s: float) -> bytes:
        """A file of a message.

        Raises:
            SendRefused: it cannot be had just now.
            SendRejected: it is gone, or larger than ``max_bytes``.
        """
        whole, answer = await self._authorized("GET", path, timeout_s, shows=False, max_bytes=max_bytes, params=query)
        if answer.status != HTTPStatus.OK:
            judged(answer, method=_method("GET", path), base=self._base, reads=True)
        return whole

    async def endpoint(self, *, timeout_s: float) -> dict[str, Any]:
        """The address of a long connection, and how to keep it. Errors as for ``call``; nothing is in doubt."""
        body = {"AppID": self._token.app_id, "AppSecret": self._token.app_secret.reveal()}
        return await self._bought(f"{self._base}/callback/ws/endpoint", body, timeout_s)

    async def aclose(self) -> None:
        """Close all connections."""
        with anyio.move_on_after(CLOSE_S, shield=True):
            await self._client.aclose()

    async def _called(self, verb: str, path: str, timeout_s: float, *, shows: bool, **options: Any) -> dict[str, Any]:
        _, answer = await self._authorized(verb, path, timeout_s, shows=shows, **options)
        return judged(answer, method=_method(verb, path), base=self._base, reads=not shows)

    async def _authorized(
        self,
        verb: str,
        path: str,
        timeout_s: float,
        *,
        shows: bool,
        max_bytes: int = ANSWER_MAX_BYTES,
        headers: Mapping[str, str] = MappingProxyType({}),
        **options: Any,
    ) -> tuple[bytes, Answer]:
        """An answer to a request with the access token, which is renewed when Feishu does not accept it."""
        deadline, url = anyio.current_time() + timeout_s, f"{self._base}{API}{path}"
        for is_last in (False, True):
            token = await self._held(deadline)
            sent = {**headers, "Authorization": f"Bearer {token.reveal()}"}
            whole, answer = await self._requested(
                verb, url, left_s(deadline), shows=shows, max_bytes=max_bytes, headers=sent, **options
            )
            if answer.code not in TOKEN or is_last:
                break
            # Refused, so nothing was done: it can be asked with another token at once.
            self._token.drop(token)
        return whole, answer

    async def _held(self, deadline: float) -> Secret:
        """The access token, which may be bought by another caller that has more time. Raises: as ``call``."""
        with anyio.move_on_after(left_s(deadline)):
            return await self._token.held(lambda: self._new_token(left_s(deadline)))
        raise SendRefused("Feishu did not return an access token within the request's time limit")

    async def _new_token(self, timeout_s: float) -> dict[str, Any]:
        body = {"app_id": self._token.app_id, "app_secret": self._token.app_secret.reveal()}
        return await self._bought(f"{self._base}{API}/auth/v3/tenant_access_token/internal", body, timeout_s)

    async def _bought(self, url: str, body: Mapping[str, str], timeout_s: float) -> dict[str, Any]:
        """What the app's secret buys."""
        _, answer = await self._requested("POST", url, timeout_s, shows=False, content=_encode(body), headers=JSON)
        return judged(answer, method=url.removeprefix(self._base), base=self._base, reads=True)

    async def _requested(
        self, verb: str, url: str, timeout_s: float, *, shows: bool, max_bytes: int = ANSWER_MAX_BYTES, **options: Any
    ) -> tuple[bytes, Answer]:
        """The answer to one request, made once; SendRefused or SendUnknown if there is none."""
        failure = f"no answer within {timeout_s:g} s"
        timeout = httpx2.Timeout(timeout_s, connect=CONNECT_SHARE * timeout_s, pool=CONNECT_SHARE * timeout_s)
        try:
            with anyio.move_on_after(timeout_s):
                async with self._client.stream(verb, url, timeout=timeout, **options) as response:
                    whole = self._masked(await _bounded(response, max_bytes), options.get("headers", {}))
                    is_file = response.status_code == HTTPStatus.OK and verb == "GET" and max_bytes < ANSWER_MAX_BYTES
                    found = {} if is_file else _read(whole)
                    return whole, Answer(found=found, status=response.status_code, headers=response.headers)
        except NOTHING_SENT as error:
            raise Unreached(f"{self._base} cannot be reached: {type(error).__name__}") from None
        except httpx2.HTTPError as error:
            failure = type(error).__name__
        text = (
            f"the {_method(verb, url.removeprefix(self._base))} request to {self._base} failed after it was "
            f"sent: {failure}"
        )
        raise SendUnknown(text) if shows else SendRefused(text)

    def _masked(self, content: bytes, headers: Mapping[str, str]) -> bytes:
        """An answer without secrets: a server may repeat what it was sent, and what it says is shown to people."""
        token = headers.get("Authorization", "").removeprefix("Bearer ")
        for secret in (token, self._token.app_secret.reveal()):
            if len(secret) >= SECRET_MIN_CHARS and content.startswith(b"{"):
                content = content.replace(secret.encode(), STARS.encode())
        return content


@asynccontextmanager
async def connect(base_url: str, token: AccessToken) -> AsyncGenerator[Api]:
    """A client for the length of the block."""
    api = Api(base_url, token)
    try:
        yield api
    finally:
        await api.aclose()


def left_s(deadline: float) -> float:
    """Seconds until then, by the event loop's clock.

    Raises:
        SendRefused: there are none left.
    """
    seconds = deadline - anyio.current_time()
    if seconds <= 0:
        raise SendRefused("the message could not be sent before the time limit expired")
    return seconds


def _method(verb: str, path: str) -> str:
    """A method as people read it: without the ids in its path."""
    return f"{verb} {_id.sub(':id', path.removeprefix(API))}"


async def _bounded(response: httpx2.Response, max_bytes: int) -> bytes:
    found = bytearray()
    async for piece in response.aiter_bytes():
        found += piece
        if len(found) > max_bytes:
            raise SendRejected(f"Feishu's response is larger than {max_bytes:,} bytes")
    return bytes(found)


def _read(content: bytes) -> dict[str, Any]:
    try:
        return _decode(content)
    except UNREADABLE:  # a page of some proxy's
        return {}
