"""Text into speech, by an OpenAI-compatible server: ``POST <base_url>/audio/speech``."""

from daemon.clock import Clock
from daemon.config.schema import SpeechConfig
from daemon.errors import InvalidAnswer
from daemon.model.chat_model import Usage
from daemon.model.speech.speech_server import SpeechServer
from daemon.model.usage_counts import priced

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
