"""Speech into text, by an OpenAI-compatible server: ``POST <base_url>/audio/transcriptions``."""

import math

import msgspec
from msgspec.structs import replace

from daemon.clock import Clock
from daemon.config.schema import TranscriptionConfig
from daemon.model.chat_model import Answer, Usage
from daemon.model.speech.speech_server import SpeechServer
from daemon.model.usage_counts import priced
from daemon.tokens import estimate

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
        self._server = SpeechServer(config, "audio/transcriptions", clock)
        self.name, self.timeout_s = config.name, config.timeout_s

    def expected(self, recording: bytes) -> Usage:
        """What the transcription of ``recording`` uses, at most as a rule."""
        tokens = -(-len(recording) // BYTES_PER_S) * TOKENS_PER_S
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
        return "m4a"
    return next((name for start, name in KINDS.items() if recording.startswith(start)), "mp3")
