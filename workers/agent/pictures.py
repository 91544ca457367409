"""Pictures as parts of their messages, in the requests of their own turn. Pure."""

from base64 import b64encode
from collections.abc import Sequence

from daemon.tokens import IMAGE_TOKENS
from workers.message_format import encode, parts_of, taken_apart
from workers.tools.read_file import picture_type

PICTURE_MAX_BYTES = 3_750_000
"""Largest picture that is shown: 5 MB as base64, what the strictest of the large providers takes (Anthropic,
"Vision")."""

PICTURES_MAX = 5
"""Pictures that one turn shows; its model can read the others as files."""

SHARE = 0.5
"""Of what there is room for, what pictures may take."""


def picture(content: bytes) -> bytes:
    """The part of a message that shows a file, JSON; empty when it is no picture that models take."""
    kind = picture_type(content)
    if not kind or len(content) > PICTURE_MAX_BYTES:
        return b""
    # Base64 needs no escapes, so that megabytes need not go through an encoder.
    return b'{"type":"image_url","image_url":{"url":"data:%s;base64,%s"}}' % (kind.encode(), b64encode(content))


def fitting(pictures: Sequence[bytes], room_tokens: int) -> Sequence[bytes]:
    """As many of the pictures as there is room for."""
    return pictures[: max(0, int(room_tokens * SHARE)) // IMAGE_TOKENS]


def with_pictures(wire: bytes, pictures: Sequence[bytes]) -> bytes:
    """A user's message with pictures behind what it says."""
    parts = [*map(encode, parts_of(taken_apart(wire).get("content"))), *pictures]
    return b'{"role":"user","content":[%s]}' % b",".join(parts)
