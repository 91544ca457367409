"""Speech into text, by an OpenAI-compatible server: ``POST <base_url>/audio/transcriptions``.

Importing this imports the openai SDK, whose errors are translated in one place: ``daemon.model.transcriber`` does it in
a thread.
"""

from contextlib import aclosing

import anyio
import httpx2
import msgspec
from anyio import to_thread

from daemon.clock import Clock
from daemon.config.schema import TranscriptionConfig
from daemon.errors import UNREADABLE, InvalidAnswer
from daemon.model.errors import FOREIGN, Endpoint, by_status, retry_after_s, shows, translated
from daemon.proxies import http_client

DEFAULT_BASE_URL = "https://api.openai.com/v1"
CONNECT_TIMEOUT_S = 10.0
"""Longest wait for a connection, within ``timeout_s``."""
ANSWER_MAX_BYTES = 1_000_000
"""Longest answer: some twenty hours of speech."""

KINDS = {b"OggS": "ogg", b"fLaC": "flac", b"RIFF": "wav", b"\x1aE\xdf\xa3": "webm", b"ID3": "mp3"}
"""How the files of recordings begin, and what they are called: servers go by the name (OpenAI, "Speech to text")."""


class _Text(msgspec.Struct):
    text: str


_decode = msgspec.json.Decoder(_Text).decode


class Transcriber:
    """A server that turns recordings into text; it never tries again by itself."""

    def __init__(self, config: TranscriptionConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._url = f"{(config.base_url or DEFAULT_BASE_URL).rstrip('/')}/audio/transcriptions"
        self._endpoint = Endpoint(model=config.name, host=httpx2.URL(self._url).netloc.decode(), key=config.api_key)
        self._client: httpx2.AsyncClient | None = None
        self._making = anyio.Lock()

    async def text_of(self, recording: bytes) -> str:
        """What is said in ``recording``; empty when nothing is.

        Raises:
            ModelError: the server gave no text within ``timeout_s``.
        """
        try:
            with anyio.fail_after(self._config.timeout_s):
                return await self._text_of(recording)
        except FOREIGN as error:
            cause = None if shows(error, self._config.api_key) else error
            raise translated(error, self._endpoint, self._clock.now()) from cause

    async def aclose(self) -> None:
        """Close its connections."""
        if self._client is not None:
            await self._client.aclose()

    async def _text_of(self, recording: bytes) -> str:
        client = await self._connected()
        fields = {"model": self._config.name, "response_format": "json"}
        files = {"file": (f"recording.{_kind(recording)}", recording, "application/octet-stream")}
        key = self._config.api_key.reveal()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with client.stream("POST", self._url, data=fields, files=files, headers=headers) as response:
            body = b""
            async with aclosing(response.aiter_bytes()) as pieces:
                async for piece in pieces:
                    body += piece
                    if len(body) > ANSWER_MAX_BYTES:
                        raise InvalidAnswer(f"{self._endpoint} sent more than {ANSWER_MAX_BYTES:,} bytes of text")
        if not response.is_success:
            retry_s = retry_after_s(response.headers, self._clock.now())
            raise by_status(response.status_code, _error_in(body), self._endpoint, retry_s)
        return _decode(body).text.strip()

    async def _connected(self) -> httpx2.AsyncClient:
        async with self._making:
            if self._client is None:
                # Reading the certificates takes 20 ms.
                self._client = await to_thread.run_sync(self._made)
            return self._client

    def _made(self) -> httpx2.AsyncClient:
        timeout = httpx2.Timeout(self._config.timeout_s, connect=min(CONNECT_TIMEOUT_S, self._config.timeout_s))
        return http_client(self._url, httpx2.AsyncClient, timeout=timeout)


def _kind(recording: bytes) -> str:
    if recording[4:8] == b"ftyp":
        return "m4a"
    return next((name for start, name in KINDS.items() if recording.startswith(start)), "mp3")


def _error_in(body: bytes) -> object:
    """What an error's body says, as the SDK would have it."""
    try:
        found: object = msgspec.json.decode(body)
    except UNREADABLE:
        return body.decode(errors="replace")
    return found.get("error", found) if isinstance(found, dict) else found  # pyright: ignore[reportUnknownVariableType,reportUnknownMemberType]
