"""Marks in a prompt for OpenRouter, which tell Anthropic's models what to keep in their prompt cache. Pure.

The API takes four marks at most (https://openrouter.ai/docs/guides/best-practices/prompt-caching). They stand where
parts of different age meet: behind the system message, the head, the history, and the newest message.
"""

from collections.abc import Sequence
from typing import Any, cast

import msgspec

from daemon.model.chat_model import Request

MODELS = ("anthropic/",)
"""Beginnings of the names of models that need marks; others keep what they have seen by themselves."""
_TOOL = b'{"role":"tool"'

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode


def seams(request: Request) -> set[int]:
    """How many messages stand before each mark of ``request``, but for that behind the newest message."""
    found = {1, request.head, len(request.messages) - request.current}
    return {at for at in found if 0 < at < len(request.messages)}


def marked(messages: Sequence[bytes], request: Request) -> list[bytes]:
    """``messages`` with marks; a result of a tool gets none, for OpenRouter refuses it there."""
    can_be = (at for at in range(len(messages), 0, -1) if _marked(messages[at - 1]) is not messages[at - 1])
    last = next(can_be, 0)
    # Written in another form there may be more or fewer messages than in the request.
    places = {last} | (seams(request) if len(messages) == len(request.messages) else {1})
    return [_marked(message) if at in places else message for at, message in enumerate(messages, 1)]


def _marked(message: bytes) -> bytes:
    fields = _decode(message)
    content = fields.get("content")
    if message.startswith(_TOOL) or not content:
        return message
    parts = cast("list[dict[str, Any]]", content if isinstance(content, list) else [{"type": "text", "text": content}])
    return _encode({**fields, "content": [*parts[:-1], {**parts[-1], "cache_control": {"type": "ephemeral"}}]})
