"""Event streams of model servers: their lines, broken characters, and the fields of a message.

In Python's terms such text holds surrogates: U+D800 to U+DFFF from JSON's escapes, U+DC80 to U+DCFF for single bytes
(PEP 383). No encoder takes it, so whatever cannot be completed becomes U+FFFD before it goes anywhere.
"""

import asyncio
import json
import re
import time
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from typing import cast

import anyio

from daemon.errors import InvalidAnswer

# The lines of an event stream, whatever API it is of.

_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
"""At the end of a piece, the second half of a line end may still come."""

MAX_ANSWER_BYTES = 8 * 1024 * 1024
"""Largest response that is read; far above any answer, it bounds what a broken server can make us keep."""


class EventLines:
    """Bytes in, payloads out: one JSON text per ``data:`` line, as every server of models writes them.

    Lines and not events, since some servers leave out the blank line after one. What is no event is kept: a server
    that ignores ``stream`` sends one JSON object, a proxy a web page.
    """

    def __init__(self) -> None:
        self.done = False
        """The end marker has come: ``[DONE]``, or Anthropic's event ``message_stop``."""
        self._buffer = bytearray()
        self._other: list[bytes] = []
        self._events = 0
        self._size = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """The payloads that ``piece`` completes.

        Raises:
            InvalidAnswer: more than ``MAX_ANSWER_BYTES`` in all.
        """
        self._size += len(piece)
        if self._size > MAX_ANSWER_BYTES:
            raise InvalidAnswer(f"the model's answer is larger than {MAX_ANSWER_BYTES} bytes")
        self._buffer.extend(piece)
        if b"\n" not in piece and b"\r" not in piece:
            return []
        *lines, rest = _LINE_END.split(bytes(self._buffer))
        self._buffer = bytearray(rest)
        return [payload for line in lines if line and (payload := self._payload(line))]

    def end(self) -> list[bytes]:
        """What is left when the bytes end: a last line without its end, or the whole of what was no event stream."""
        last = self._payload(bytes(self._buffer))
        if last or self._events or self.done:
            return [last] if last else []
        whole = b"\n".join(self._other).strip()
        return [whole] if whole else []

    def _payload(self, line: bytes) -> bytes:
        if line.startswith(b"data: {"):  # as nearly all are
            self._events += 1
            return b"" if self.done else line[6:]
        field, colon, value = line.removeprefix(BOM_UTF8).strip().partition(b":")
        if colon and field == b"data":
            self._events += 1
            value = value.strip()
            self.done = self.done or value.strip(b'"').upper() == b"[DONE]"
            return b"" if self.done else value
        self.done = self.done or (field == b"event" and value.strip() == b"message_stop")
        if not (colon and field in (b"", b"event", b"id", b"retry")):
            self._other.append(line)
        return b""


# Fairness between answers that come at the same time.

SLICE_S = 0.001
"""How long one answer is worked on before the others are let through."""


class Turnstile:
    """Lets one task through in each round of the event loop.

    Two hundred answers whose bytes have all come would be taken apart in one round, 200 ms long, and nothing else would
    be heard meanwhile: neither a lease's renewal nor a person's ``/stop``.
    """

    def __init__(self) -> None:
        # Not the fast kind: whoever gets it waits a round, lock in hand, and so the others queue up.
        self._lock = anyio.Lock()
        self._is_open = True
        """Whether nobody has come through in this round."""

    async def through(self) -> float:
        """Wait to be let through; until when one may work on, by ``time.perf_counter()``."""
        if self._is_open and not self._lock.locked():
            self._close()
        else:
            async with self._lock:
                self._close()  # leaving wakes the next one, who runs in the next round, after ``_open``
        return time.perf_counter() + SLICE_S

    def _close(self) -> None:
        self._is_open = False
        asyncio.get_running_loop().call_soon(self._open)

    def _open(self) -> None:
        self._is_open = True


# Text whose characters come in halves: a surrogate pair over two chunks, a lone surrogate, bytes that are no UTF-8.

_SURROGATE = re.compile("[\ud800-\udfff]")
_BYTES = re.compile("[\udc80-\udcff]+")
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
"""An escape of JSON: a pair, half of one, or any other, a backslash among them."""
_INCOMPLETE = re.compile("(?:[\ud800-\udbff]|[\udc80-\udcff]{1,3})\\Z")
"""What the next piece may complete: half a pair, or the first bytes of a character of up to four."""


def whole(text: str) -> str:
    """``text`` with its halves put together, and U+FFFD for each that has no other."""
    if not _SURROGATE.search(text):
        return text
    # A pair becomes its character, a half stays as it is.
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    joined = _BYTES.sub(lambda run: run[0].encode("utf-8", "surrogateescape").decode("utf-8", "replace"), paired)
    return _SURROGATE.sub("\ufffd", joined)


def whole_json(payload: bytes) -> bytes:
    """JSON, or a part of some at whose ends no escape is cut, whose texts are whole."""
    if not payload.isascii():
        payload = payload.decode("utf-8", "replace").encode()
    if b"\\ud" not in payload and b"\\uD" not in payload:
        return payload
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found.lastgroup else found[0], payload)


def decoded(payload: bytes) -> object:
    """JSON with the faults above or control characters in its strings, which a strict decoder refuses.

    Raises:
        ValueError: it is no JSON.
    """
    return json.loads(payload.decode("utf-8", "surrogateescape"), strict=False)


def mended(value: object) -> object:
    """A JSON value whose texts are whole."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {whole(str(name)): mended(each) for name, each in cast("dict[object, object]", value).items()}
    if isinstance(value, list):
        return [mended(each) for each in cast("list[object]", value)]
    return value


class UnicodeRepair:
    """Pieces in, whole characters out; holds back half a character until its other half comes."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """The text that ``piece`` adds."""
        if piece.isascii() and not self._held:
            return piece
        text = self._held + piece
        half = _INCOMPLETE.search(text)
        self._held = half[0] if half else ""
        return whole(text[: len(text) - len(self._held)])

    def end(self) -> str:
        """What was held back; nothing more comes."""
        rest, self._held = self._held, ""
        return whole(rest)


# Text and reasoning in the fields of a message, which servers name and shape in many ways. Pure.

_REASONING = (
    "reasoning_content",  # DeepSeek, vLLM, llama.cpp
    "reasoning",  # OpenRouter, Ollama
    "reasoning_text",  # GitHub Copilot
    "thinking",
    "thinking_blocks",  # Anthropic, see daemon.model.provider_fields
    "reasoning_details",  # OpenRouter, MiniMax
)
"""Fields that hold reasoning; a server that fills several repeats the same in each."""
_OF_THOUGHT = frozenset({"thinking", "reasoning"})
"""Types of parts that hold reasoning (Mistral)."""


def text_of(fields: Mapping[str, object]) -> tuple[str, str]:
    """The text of a message and its reasoning; a refusal (OpenAI) is text."""
    parts = list(_parts(fields.get("content")))
    said = "".join(text for text, is_thought in parts if not is_thought)
    if not said and isinstance(refusal := fields.get("refusal"), str):
        said = refusal
    thought = next((found for name in _REASONING if (found := _joined(fields.get(name)))), "")
    return said, thought + "".join(text for text, is_thought in parts if is_thought)


def _parts(content: object) -> Iterator[tuple[str, bool]]:
    """The texts of a message's content, and whether each is reasoning."""
    for part in cast("list[object]", content) if isinstance(content, list) else [content]:
        text = _joined(part)
        fields = cast("dict[str, object]", part) if isinstance(part, dict) else {}
        yield text, str(fields.get("type")) in _OF_THOUGHT


def _joined(value: object) -> str:
    """All text of a value: of a list, of its parts; of a part, of the field that holds it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(_joined, cast("list[object]", value)))
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        names = ("text", "content", "thinking", "summary")
        return next((found for name in names if (found := _joined(fields.get(name)))), "")
    return ""
