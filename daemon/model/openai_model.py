"""The client of OpenAI-compatible servers: joined bytes out, an event stream in, with the openai SDK's headers.

Importing this imports the SDK (0.4 s): ``daemon.model.connect`` does it in a thread.
"""

import json
from contextlib import aclosing
from typing import cast

import anyio
import httpx2
import openai

from daemon.clock import Clock
from daemon.config.schema import ModelConfig
from daemon.config.secret import Secret
from daemon.errors import InvalidAnswer
from daemon.model.chat_model import Request
from daemon.model.dialect import DEFAULT_BASE_URL, Dialect
from daemon.model.http_model import HttpModel
from daemon.model.http_transport import StreamTransport
from daemon.model.model_errors import Endpoint, Refusal
from daemon.proxies import certificates, http_client

# The SDK's client, as everything that speaks to an OpenAI-compatible server has it.

CONNECT_TIMEOUT_S = 10.0
"""A server that takes longer to accept a connection is away, however long its answers may take."""

CLOSE_S = 2.0
"""Longest wait for a connection to close."""


def timeout_of(timeout_s: float) -> httpx2.Timeout:
    """How long a client waits: for each step, and for a connection."""
    return httpx2.Timeout(timeout_s, connect=min(CONNECT_TIMEOUT_S, timeout_s))


def sdk_client(
    base_url: str, key: Secret, *, timeout_s: float, http: httpx2.AsyncClient | None = None
) -> openai.AsyncOpenAI:
    """A client that neither repeats a request nor follows anybody elsewhere; closed by whoever asked for it."""
    return openai.AsyncOpenAI(
        api_key=key.reveal() or "none",  # the SDK wants one; without a key the header is left out
        base_url=base_url,
        max_retries=0,
        timeout=timeout_of(timeout_s),
        # Given one of our own the SDK does not make one that starts a task when it is collected unclosed.
        http_client=http or _http_client(base_url, timeout_s),
    )


def _http_client(base_url: str, timeout_s: float, **options: object) -> httpx2.AsyncClient:
    options = {"timeout": timeout_of(timeout_s), **options}
    # What it asks with goes where the configuration says: whoever answers there sends it nowhere else.
    return http_client(base_url, openai.DefaultAsyncHttpxClient, follow_redirects=False, **options)


async def posted(
    client: openai.AsyncOpenAI, path: str, content: bytes, *, endpoint: Endpoint, most_bytes: int
) -> bytes:
    """The answer to a JSON body that is sent to ``path`` below the client's address.

    Raises:
        InvalidAnswer: the answer has more than ``most_bytes``.
    """
    headers: dict[str, str | openai.Omit] = {} if endpoint.key else {"Authorization": openai.Omit()}
    # ``cast_to`` a response gives the response itself, whatever the stream class; the signature cannot say so.
    response = cast(
        "httpx2.Response",
        cast(
            "object",
            await client.post(
                path,
                cast_to=httpx2.Response,
                content=content,
                options={"headers": headers},
                stream=True,
                stream_cls=openai.AsyncStream[object],
            ),
        ),
    )
    pieces: list[bytes] = []
    size_bytes = 0
    try:
        async with aclosing(response.aiter_bytes()) as received:
            async for piece in received:
                pieces.append(piece)
                size_bytes += len(piece)
                if size_bytes > most_bytes:
                    raise InvalidAnswer(f"{endpoint} sent more than {most_bytes:,} bytes")
    finally:
        with anyio.move_on_after(CLOSE_S, shield=True):
            await response.aclose()
    return b"".join(pieces)


class OpenAIModel(HttpModel):
    """A model behind a chat completions server."""

    def __init__(self, config: ModelConfig, *, clock: Clock | None = None) -> None:
        """Raises ``ConfigError`` if ``base_url`` is no address."""
        base_url = config.base_url or DEFAULT_BASE_URL
        super().__init__(config, base_url, clock=clock)
        timeout_s = config.call_timeout_s
        # Where the environment names a proxy, the library's own transport leads through it.
        self._http = _http_client(base_url, timeout_s, transport=StreamTransport(certificates(base_url)))
        # A request through the SDK takes 0.6 ms more, since the SDK makes its headers for each request.
        self._headers = httpx2.Headers(self._http.headers)
        self._headers.update(_headers(sdk_client(base_url, config.api_key, timeout_s=timeout_s, http=self._http)))
        if config.api_key:
            self._headers["Authorization"] = f"Bearer {config.api_key.reveal()}"
        self._url = httpx2.URL(f"{base_url.rstrip('/')}/chat/completions")

    async def aclose(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    def _body(self, dialect: Dialect, request: Request) -> bytes:
        return dialect.body(self.name, request, of=self._endpoint.of)

    async def _post(self, body: bytes) -> httpx2.Response:
        request = httpx2.Request("POST", self._url, headers=self._headers, content=body)
        response = await self._http.send(request, stream=True)
        if response.is_success:
            return response
        await response.aread()
        raise Refusal(response, _error_in(response.text))


def _headers(client: openai.AsyncOpenAI) -> dict[str, str]:
    """The headers of the SDK, without an account."""
    usual = {name: value for name, value in client.default_headers.items() if isinstance(value, str)}
    return {**usual, "Accept": "text/event-stream, application/json"}


def _error_in(text: str) -> object:
    """The error that a response's body describes; the text itself if it is no JSON."""
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):
        return text
