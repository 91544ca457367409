"""Text whose characters come in halves: a surrogate pair over two chunks, a lone surrogate, bytes that are no UTF-8.

In Python's terms such text holds surrogates: U+D800 to U+DFFF from JSON's escapes, U+DC80 to U+DCFF for single bytes
(PEP 383). No encoder takes it, so whatever cannot be completed becomes U+FFFD before it goes anywhere.
"""

import json
import re
from typing import cast

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


class Characters:
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
