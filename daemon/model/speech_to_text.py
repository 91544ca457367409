"""Speech into text, by an OpenAI-compatible server: ``POST <base_url>/audio/transcriptions``.

Importing this imports the openai SDK, whose errors are translated in one place: ``daemon.model.transcriber`` does it in
a thread.
"""

import math
from contextlib import aclosing

import anyio
import httpx2
import msgspec
from anyio import to_thread
from msgspec.structs import replace

from daemon.clock import Clock
from daemon.config.schema import TranscriptionConfig
from daemon.errors import UNREADABLE, InvalidAnswer
from daemon.model.chat_model import Answer, Usage
from daemon.model.cost_meter import priced
from daemon.model.model_errors import FOREIGN, Endpoint, by_status, retry_after_s, shows, translated
from daemon.proxies import http_client
from daemon.tokens import estimate

DEFAULT_BASE_URL = "https://api.openai.com/v1"
CONNECT_TIMEOUT_S = 10.0
"""Longest wait for a connection, within ``timeout_s``."""
ANSWER_MAX_BYTES = 1_000_000
"""Longest answer: some twenty hours of speech."""

TOKENS_PER_S = 10
"""Tokens of a second of speech (OpenAI, "Pricing": 0.006 USD a minute, or 10 USD for a million audio tokens)."""
BYTES_PER_S = 2_000
"""Of a recording, at least: voice messages are Opus at 16 kbit/s or more."""

KINDS = {b"OggS": "ogg", b"fLaC": "flac", b"RIFF": "wav", b"\x1aE\xdf\xa3": "webm", b"ID3": "mp3"}
"""How the files of recordings begin, and what they are called: servers go by the name (OpenAI, "Speech to text")."""


class _Usage(msgspec.Struct):
    """What the server says of a call: its tokens, or how long the recording is."""

    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0


class _Text(msgspec.Struct):
    text: str
    usage: _Usage | None = None


_decode = msgspec.json.Decoder(_Text).decode


class Transcriber:
    """A server that turns recordings into text; it never tries again by itself."""

    def __init__(self, config: TranscriptionConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._url = f"{(config.base_url or DEFAULT_BASE_URL).rstrip('/')}/audio/transcriptions"
        self._endpoint = Endpoint(model=config.name, host=httpx2.URL(self._url).netloc.decode(), key=config.api_key)
        self.name, self.timeout_s = config.name, config.timeout_s
        self._client: httpx2.AsyncClient | None = None
        self._making = anyio.Lock()

    def expected(self, recording: bytes) -> Usage:
        """What the transcription of ``recording`` uses, at most as a rule."""
        tokens = -(-len(recording) // BYTES_PER_S) * TOKENS_PER_S
        return priced(Usage(tokens_in=tokens, tokens_out=tokens, estimated=True), self._config.prices)

    async def text_of(self, recording: bytes) -> Answer:
        """What is said in ``recording``, its text empty when nothing is.

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

    async def _text_of(self, recording: bytes) -> Answer:
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
        found = _decode(body)
        text = found.text.strip()
        return Answer(text=text, usage=self._usage(found.usage, recording, text), model=self._config.name)

    def _usage(self, said: _Usage | None, recording: bytes, text: str) -> Usage:
        if said is not None and said.input_tokens:
            return priced(Usage(tokens_in=said.input_tokens, tokens_out=said.output_tokens), self._config.prices)
        usage = replace(self.expected(recording), tokens_out=estimate(text))
        if said is not None and said.seconds:
            usage = replace(usage, tokens_in=math.ceil(said.seconds) * TOKENS_PER_S)
        return priced(usage, self._config.prices)

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
