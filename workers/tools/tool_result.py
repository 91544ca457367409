"""The result of a tool: a text and pictures, cut to the limit of the log."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

HEAD_SHARE, TAIL_SHARE = 0.7, 0.2
"""Shares of the beginning and the end that are shown of a result that is too long."""

FAILED = "Error: "
"""Prefix of the result of a failed call."""

Content = str | Sequence[Mapping[str, Any]]
"""The content of a message in the chat completions API: a text, or a list of parts."""


@dataclass(frozen=True, kw_only=True)
class Image:
    """A picture for the model."""

    media_type: str
    """For example ``image/png``."""
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of one call for the model."""

    text: str
    images: tuple[Image, ...] = ()
    failed: bool = False
    """Whether the call failed; the text then begins with ``FAILED``."""

    def content(self) -> Content:
        """The content of the tool message."""
        if not self.images:
            return self.text
        return [{"type": "text", "text": self.text}, *map(_image_part, self.images)]


def failure(reason: object) -> Result:
    """The result of a failed call. ``reason`` says what failed and what to do."""
    return Result(text=f"{FAILED}{valid(str(reason))}", failed=True)


def valid(text: str) -> str:
    """``text`` with invalid Unicode replaced, such as lone surrogates from undecodable bytes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def ends_of(text: str, max_chars: int, marker: str) -> str:
    """The beginning and the end of ``text`` around ``marker``."""
    head, tail = int(max_chars * HEAD_SHARE), int(max_chars * TAIL_SHARE)
    return f"{text[:head]}\n{marker}\n{text[len(text) - tail :]}"


def _image_part(image: Image) -> Mapping[str, Any]:
    url = f"data:{image.media_type};base64,{b64encode(image.data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}
