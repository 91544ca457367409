"""Speech into text, and text into speech, by an OpenAI-compatible server. It never tries again by itself.

Importing this imports the openai SDK, whose errors are translated in one place: ``daemon.model`` does it in a thread.
"""

import math
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, TypeVar

import anyio
import httpx2
import msgspec
from anyio import to_thread
from msgspec.structs import replace

from daemon.clock import Clock
from daemon.config.schema import SpeechConfig, TranscriptionConfig
from daemon.errors import UNREADABLE, InvalidAnswer
from daemon.model.chat_model import Answer, Usage
from daemon.model.model_errors import FOREIGN, Endpoint, by_status, retry_after_s, shows, translated
from daemon.model.usage_counts import priced
from daemon.proxies import http_client
from daemon.tokens import estimate

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
            body = bytearray()
            async with aclosing(response.aiter_bytes()) as pieces:
                async for piece in pieces:
                    body += piece
                    if len(body) > max_bytes:
                        raise InvalidAnswer(f"{self.endpoint} sent more than {max_bytes:,} bytes")
        if not response.is_success:
            retry_s = retry_after_s(response.headers, self._clock.now())
            raise by_status(response.status_code, _error_in(bytes(body)), self.endpoint, retry_s)
        return bytes(body)

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


# Speech into text: ``POST <base_url>/audio/transcriptions``.

ANSWER_MAX_BYTES = 1_000_000
"""Longest answer: some twenty hours of speech."""

TOKENS_PER_S = 10
"""Tokens of a second of speech (OpenAI, "Pricing": 0.006 USD a minute, or 10 USD for a million audio tokens)."""
BYTES_PER_S = {"ogg": 2_000, "webm": 2_000, "m4a": 4_000, "mp3": 4_000, "mp4": 8_000, "flac": 8_000, "wav": 16_000}
"""Of a recording of speech, at least as a rule: voice messages are Opus at 16 kbit/s or more."""

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
        self._server = SpeechServer(config, "audio/transcriptions", clock)
        self.name, self.timeout_s = config.name, config.timeout_s

    def expected(self, recording: bytes) -> Usage:
        """What the transcription of ``recording`` uses, at most as a rule."""
        tokens = -(-len(recording) // BYTES_PER_S[_kind(recording)]) * TOKENS_PER_S
        return priced(Usage(tokens_in=tokens, tokens_out=tokens, estimated=True), self._config.prices)

    async def text_of(self, recording: bytes) -> Answer:
        """What is said in ``recording``, its text empty when nothing is.

        Raises:
            ModelError: the server gave no text within ``timeout_s``.
        """
        found = await self._server.post(
            _decode,
            max_bytes=ANSWER_MAX_BYTES,
            data={"model": self._config.name, "response_format": "json"},
            files={"file": (f"recording.{_kind(recording)}", recording, "application/octet-stream")},
        )
        text = found.text.strip()
        return Answer(text=text, usage=self._usage(found.usage, recording, text), model=self._config.name)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._server.aclose()

    def _usage(self, said: _Usage | None, recording: bytes, text: str) -> Usage:
        if said is not None and said.input_tokens:
            return priced(Usage(tokens_in=said.input_tokens, tokens_out=said.output_tokens), self._config.prices)
        usage = replace(self.expected(recording), tokens_out=estimate(text))
        if said is not None and said.seconds:
            usage = replace(usage, tokens_in=math.ceil(said.seconds) * TOKENS_PER_S)
        return priced(usage, self._config.prices)


def _kind(recording: bytes) -> str:
    if recording[4:8] == b"ftyp":
        return "m4a" if recording[8:11] == b"M4A" else "mp4"
    return next((name for start, name in KINDS.items() if recording.startswith(start)), "mp3")


# Text into speech: ``POST <base_url>/audio/speech``.

AUDIO_MAX_BYTES = 20_000_000
"""Largest recording, the largest file of a webhook channel: 20 minutes of MP3 at 128 kbit/s, or hours of Opus."""

MP3_STARTS = (b"ID3", b"\xff\xfb", b"\xff\xfa", b"\xff\xf3", b"\xff\xf2", b"\xff\xe3", b"\xff\xe2")
"""Beginnings of MP3 files: a tag, or the header of a frame (ISO/IEC 11172-3 and 13818-3, layer III)."""
STARTS = {"opus": (b"OggS",), "mp3": MP3_STARTS}
"""Beginnings of the files of a format (Ogg: RFC 3533, section 6)."""


class SpeechSynthesizer:
    """A server that turns text into speech; it never tries again by itself."""

    def __init__(self, config: SpeechConfig, clock: Clock) -> None:
        self._config = config
        self._server = SpeechServer(config, "audio/speech", clock)
        self.name, self.timeout_s = config.name, config.timeout_s

    def usage_of(self, text: str) -> Usage:
        """What the speech of ``text`` uses: a token a character, since no server says and most charge by characters."""
        return priced(Usage(tokens_in=len(text), estimated=True), self._config.prices)

    async def speech_of(self, text: str) -> bytes:
        """A recording of ``text``, in the format of the configuration.

        Raises:
            ModelError: the server gave no recording within ``timeout_s``.
        """
        body = {
            "model": self._config.name,
            "input": text,
            "voice": self._config.voice,
            "response_format": self._config.format,
        }
        return await self._server.post(self._recording, max_bytes=AUDIO_MAX_BYTES, json=body)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._server.aclose()

    def _recording(self, content: bytes) -> bytes:
        if not content.startswith(STARTS[self._config.format]):
            raise InvalidAnswer(f"{self._server.endpoint} sent no {self._config.format} recording")
        return content
