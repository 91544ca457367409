"""An OpenAI-compatible server for speech: one request, its errors translated. It never tries again by itself.

Importing this imports the openai SDK, whose errors are translated in one place: ``daemon.model`` does it in a thread.
"""

from collections.abc import Callable
from contextlib import aclosing
from typing import Any, TypeVar

import anyio
import httpx2
import msgspec
from anyio import to_thread

from daemon.clock import Clock
from daemon.config.schema import SpeechConfig, TranscriptionConfig
from daemon.errors import UNREADABLE, InvalidAnswer
from daemon.model.model_errors import FOREIGN, Endpoint, by_status, retry_after_s, shows, translated
from daemon.proxies import http_client

DEFAULT_BASE_URL = "https://api.openai.com/v1"
CONNECT_TIMEOUT_S = 10.0
"""Longest wait for a connection, within ``timeout_s``."""

_T = TypeVar("_T")


class SpeechServer:
    """The endpoint ``path`` of the server of ``config``."""

    def __init__(self, config: TranscriptionConfig | SpeechConfig, path: str, clock: Clock) -> None:
        """Nothing is sent yet."""
        self._config = config
        self._clock = clock
        self._url = f"{(config.base_url or DEFAULT_BASE_URL).rstrip('/')}/{path}"
        self.endpoint = Endpoint(model=config.name, host=httpx2.URL(self._url).netloc.decode(), key=config.api_key)
        """For messages of errors."""
        self._client: httpx2.AsyncClient | None = None
        self._making = anyio.Lock()

    async def post(self, read: Callable[[bytes], _T], *, max_bytes: int, **request: Any) -> _T:
        """What ``read`` makes of the answer to ``request``, whose parameters are those of httpx.

        Raises:
            ModelError: no such answer came within ``timeout_s``, or it has more than ``max_bytes``.
        """
        try:
            with anyio.fail_after(self._config.timeout_s):
                return read(await self._answer(max_bytes, request))
        except FOREIGN as error:
            cause = None if shows(error, self._config.api_key) else error
            raise translated(error, self.endpoint, self._clock.now()) from cause

    async def aclose(self) -> None:
        """Close its connections."""
        if self._client is not None:
            await self._client.aclose()

    async def _answer(self, max_bytes: int, request: dict[str, Any]) -> bytes:
        client = await self._connected()
        key = self._config.api_key.reveal()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with client.stream("POST", self._url, headers=headers, **request) as response:
            body = b""
            async with aclosing(response.aiter_bytes()) as pieces:
                async for piece in pieces:
                    body += piece
                    if len(body) > max_bytes:
                        raise InvalidAnswer(f"{self.endpoint} sent more than {max_bytes:,} bytes")
        if not response.is_success:
            retry_s = retry_after_s(response.headers, self._clock.now())
            raise by_status(response.status_code, _error_in(body), self.endpoint, retry_s)
        return body

    async def _connected(self) -> httpx2.AsyncClient:
        async with self._making:
            if self._client is None:
                # Reading the certificates takes 20 ms.
                self._client = await to_thread.run_sync(self._made)
            return self._client

    def _made(self) -> httpx2.AsyncClient:
        timeout = httpx2.Timeout(self._config.timeout_s, connect=min(CONNECT_TIMEOUT_S, self._config.timeout_s))
        return http_client(self._url, httpx2.AsyncClient, timeout=timeout)


def _error_in(body: bytes) -> object:
    """What an error's body says, as the SDK would have it."""
    try:
        found: object = msgspec.json.decode(body)
    except UNREADABLE:
        return body.decode(errors="replace")
    return found.get("error", found) if isinstance(found, dict) else found  # pyright: ignore[reportUnknownVariableType,reportUnknownMemberType]
