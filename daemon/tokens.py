"""Counting tokens with OpenAI's vocabularies, which come in a wheel: nothing is ever downloaded.

Models that OpenAI did not make have vocabularies of their own; ``o200k_base`` is the nearest one at hand. How far off
it is depends on the model and the language: the safety buffer of the configuration is for that, and what providers
report of their own counts (``Calibration``).
"""

import math
import time
from collections.abc import Callable

import anyio
import msgspec
import structlog
from anyio import to_thread

from daemon import vocabulary as vocabularies
from daemon.errors import brief

MESSAGE_TOKENS = 4
"""What a message costs beside its texts: its start, role and end marks (OpenAI cookbook, "How to count tokens with
tiktoken": 3 a message and 1 for a name)."""
IMAGE_TOKENS = 1_105
"""What an image costs: a large one in high detail (OpenAI, "Images and vision", tiles of 512 pixels)."""
THREAD_SIZE = 4 * 1024
"""Texts of more characters, or messages of more bytes, are counted in a thread; so many take 0.5 ms, or 4 ms of
Chinese text."""
LONG_KEPT = 64
"""Counts of long texts that are kept, without the texts."""
ESTIMATE_BYTES = 3
"""UTF-8 bytes a token where there is no vocabulary; measured to be 38 to 62 % too many tokens, never too few."""

CALIBRATED_FROM = 1_000
"""Prompts of fewer tokens calibrate nothing: the marks that a provider puts around them count for too much."""
RATIO_MIN, RATIO_MAX = 0.5, 2.0
"""How far off our counts can be; what is reported beyond is a provider's mistake, or counts something else."""
RISE, FALL = 0.5, 0.1
"""Share of the distance to a new ratio that is gone at once: a prompt too long costs more than one too short."""

GUESS_KEPT_S = 3_600.0
"""How long prompts stay small after a refusal without a known reason: an hour with a short memory, not a week."""

_log = structlog.get_logger()
_loaded: dict[str, "Tokenizer"] = {}
_loading = anyio.Lock()


class _Function(msgspec.Struct):
    name: str = ""
    arguments: str = ""


class _Call(msgspec.Struct):
    function: _Function = msgspec.field(default_factory=_Function)


class _Part(msgspec.Struct):
    """A part of a content list; one without text is an image."""

    text: str | None = None


class _Message(msgspec.Struct):
    """The parts of a message that a prompt holds as text."""

    content: str | list[_Part] | None = None
    name: str = ""
    tool_calls: list[_Call] | None = None


_messages = msgspec.json.Decoder(_Message)


class Tokenizer:
    """Counts what a text costs in a prompt. Marks such as ``<|endoftext|>`` in a text count as the text they are."""

    def __init__(self, name: str, count: Callable[[str], int]) -> None:
        self.name = name
        """Of the vocabulary; ``estimate`` without one."""
        self.count = count
        """Tokens of a text; 0.15 (English) to 1 ms (Chinese) for 1,000 characters: see ``acount``."""
        self._long: dict[tuple[int, int], int] = {}
        """The counts of the latest long texts, by hash and length, the oldest first."""

    async def acount(self, text: str) -> int:
        """As ``count``, in a thread when ``text`` is long. MEMORY.md is counted several times for each request."""
        if len(text) <= THREAD_SIZE:
            return self.count(text)
        key = hash(text), len(text)
        if (known := self._long.get(key)) is not None:
            return known
        tokens = self._long[key] = await to_thread.run_sync(self.count, text)
        for oldest in list(self._long)[:-LONG_KEPT]:
            del self._long[oldest]
        return tokens

    async def acount_said(self, text: str) -> int:
        """As ``count_message`` of a message that is this text and nothing else."""
        return MESSAGE_TOKENS + await self.acount(text)

    def count_message(self, wire: bytes) -> int:
        """Tokens of a message in the form of the chat completions API: texts, name, tool calls, and what is around.

        Raises:
            msgspec.MsgspecError: ``wire`` is no such message.
        """
        message = _messages.decode(wire)
        parts = message.content if isinstance(message.content, list) else [_Part(message.content or "")]
        calls = [call.function for call in message.tool_calls or ()]
        texts = [part.text for part in parts if part.text is not None]
        said = [*texts, message.name, *(text for call in calls for text in (call.name, call.arguments))]
        marks = MESSAGE_TOKENS * (1 + len(calls)) + IMAGE_TOKENS * (len(parts) - len(texts))
        return sum(map(self.count, said)) + marks

    async def acount_message(self, wire: bytes) -> int:
        """As ``count_message``, in a thread when ``wire`` is long."""
        return (
            await to_thread.run_sync(self.count_message, wire) if len(wire) > THREAD_SIZE else self.count_message(wire)
        )


class Calibration:
    """How a model's provider counts beside our tokenizer, learnt from what it reports."""

    def __init__(self) -> None:
        self._ratio = 1.0
        self._window_tokens: int | None = None
        self._kept_until = math.inf
        self.is_guess = False
        """Whether the window was learnt from a refusal that did not speak of the prompt's size."""

    @property
    def window_tokens(self) -> int | None:
        """The largest prompt, by our count, that was taken after a larger one was refused; None: none was refused."""
        return self._window_tokens if time.monotonic() < self._kept_until else None

    @property
    def factor(self) -> float:
        """What our counts are multiplied by before they are held against a limit; 1 to 2.

        Never below 1, though the ratio may be: where we count too many, a prompt is a little shorter than it could be;
        the next language or code in it may count otherwise, and then it would be refused.
        """
        return max(1.0, self._ratio)

    def learn(self, estimated: int, reported: int) -> None:
        """Take note of one prompt: our count of it, and the provider's."""
        if estimated < CALIBRATED_FROM or reported <= 0:
            return
        ratio = min(RATIO_MAX, max(RATIO_MIN, reported / estimated))
        self._ratio += (ratio - self._ratio) * (RISE if ratio > self._ratio else FALL)

    def lowered(self, limit_tokens: int) -> int:
        """A provider's limit in our tokens; never more than it says, or than it has shown to take."""
        lowered, window_tokens = int(limit_tokens / self.factor), self.window_tokens
        return lowered if window_tokens is None else min(lowered, window_tokens)

    def fits(self, tokens: int, *, is_guess: bool = False) -> None:
        """Take note that a prompt of so many tokens was taken, and a larger one refused.

        A guess is used for ``GUESS_KEPT_S``: something else in the larger prompt may have been refused.
        """
        self._window_tokens, self.is_guess = tokens, is_guess
        self._kept_until = time.monotonic() + GUESS_KEPT_S if is_guess else math.inf


_calibrations: dict[tuple[str, str], Calibration] = {}


def calibration(model_name: str, server: str = "") -> Calibration:
    """The calibration of a server's model; one a process, and as many as models are configured.

    Args:
        model_name: the model's name at its server.
        server: the server's address, as configured; empty: OpenAI's.
    """
    return _calibrations.setdefault((model_name, server), Calibration())


async def load(model_name: str) -> Tokenizer:
    """The tokenizer for a model, built once a process: 0.2 s in a thread, and 5 MB of memory."""
    name = vocabulary(model_name)
    async with _loading:  # two turns that begin together build it once
        if name not in _loaded:
            _loaded[name] = await to_thread.run_sync(_built, name, abandon_on_cancel=True)
        return _loaded[name]


def vocabulary(model_name: str) -> str:
    """Name of the vocabulary that is, or is nearest to, a model's own."""
    bare = model_name.lower().rpartition("/")[2].removeprefix("ft:")
    newer = bare.startswith(("gpt-4o", "gpt-4.1", "gpt-4.5"))
    older = bare.startswith(("gpt-4", "gpt-3.5", "gpt-35", "text-embedding-"))
    return "cl100k_base" if older and not newer else "o200k_base"


def estimate(text: str) -> int:
    """Tokens of ``text`` without a vocabulary: too many rather than too few."""
    return -(-len(text.encode("utf-8", "replace")) // ESTIMATE_BYTES)


def _built(name: str) -> Tokenizer:
    try:
        return Tokenizer(name, vocabularies.counter(name))
    except (ImportError, OSError, ValueError, EOFError) as error:
        _log.warning("tokens.estimated", vocabulary=name, reason=brief(error))
        return Tokenizer("estimate", estimate)
