"""What a tool gives back: text, perhaps pictures, cut to what a log can hold."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

HEAD_SHARE, TAIL_SHARE = 0.7, 0.2
"""What is shown of a result that is too long, as of anything that does not fit (SPEC section 1.8)."""

FAILED = "Error: "
"""How the result of a call that failed begins."""

Content = str | Sequence[Mapping[str, Any]]
"""A message's content as the chat completions API has it: a text, or a list of parts."""


@dataclass(frozen=True, kw_only=True)
class Image:
    """A picture that the model is shown."""

    media_type: str
    """As ``image/png``."""
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Result:
    """What the model reads for one call."""

    text: str
    images: tuple[Image, ...] = ()
    failed: bool = False
    """Then the text begins with ``FAILED``."""

    def content(self) -> Content:
        """As a tool message holds it."""
        if not self.images:
            return self.text
        return [{"type": "text", "text": self.text}, *map(_image_part, self.images)]


def failure(reason: object) -> Result:
    """The result of a call that failed; ``reason`` is a sentence that says what to do about it."""
    return Result(text=f"{FAILED}{valid(str(reason))}", failed=True)


def valid(text: str) -> str:
    """``text`` with what is no Unicode (lone surrogates, from undecodable bytes) replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def ends_of(text: str, max_chars: int, marker: str) -> str:
    """The beginning and the end of ``text`` around ``marker``."""
    head, tail = int(max_chars * HEAD_SHARE), int(max_chars * TAIL_SHARE)
    return f"{text[:head]}\n{marker}\n{text[len(text) - tail :]}"


def _image_part(image: Image) -> Mapping[str, Any]:
    url = f"data:{image.media_type};base64,{b64encode(image.data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}
