"""Messages in the format of the chat completions API (JSON): reading, splitting and creating them."""

from collections.abc import Sequence
from typing import Any, Literal, cast

import msgspec

from daemon.model import enclosed, ends

Role = Literal["system", "user", "assistant", "tool"]
Content = str | list[dict[str, Any]] | None
"""Text, a list of parts, or nothing beside tool calls."""

USER, ASSISTANT, TOOL, SYSTEM = (b'{"role":"%s"' % role for role in (b"user", b"assistant", b"tool", b"system"))
"""How the messages of each role begin, as they are written here."""

_ROLES: tuple[tuple[bytes, Role], ...] = ((USER, "user"), (ASSISTANT, "assistant"), (TOOL, "tool"), (SYSTEM, "system"))

CALLS = b'"tool_calls"'
"""Stands in every message that has tool calls, and only seldom in others."""

encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class _Id(msgspec.Struct):
    id: str = ""


class _Links(msgspec.Struct):
    """What ties calls and results together."""

    tool_calls: list[_Id] | None = None
    tool_call_id: str = ""


_links = msgspec.json.Decoder(_Links).decode


def role_of(wire: bytes) -> Role:
    """Who says the message; nearly always told by its first bytes, since that is how it was written."""
    for start, role in _ROLES:
        if wire.startswith(start):
            return role
    return cast("Role", _decode(wire).get("role", "user"))


def links_of(wire: bytes) -> tuple[list[str], str]:
    """The ids of the calls that a message makes, and of the call that it answers."""
    links = _links(wire)
    return [call.id for call in links.tool_calls or ()], links.tool_call_id


def taken_apart(wire: bytes) -> dict[str, Any]:
    """The message as a dictionary of its own."""
    return _decode(wire)


def message(role: Role, content: Content) -> bytes:
    """A message without tool calls, JSON."""
    return encode({"role": role, "content": content})


def parts_of(content: Content) -> list[dict[str, Any]]:
    """The content as a list of parts."""
    if isinstance(content, list):
        return content
    return [text_part(content)] if content else []


def text_part(text: str) -> dict[str, Any]:
    """A part of a content list that is text."""
    return {"type": "text", "text": text}


def text_of(content: Content) -> str:
    """The texts of a content, one a line."""
    return "\n".join(str(part["text"]) for part in parts_of(content) if "text" in part)


def merged(contents: Sequence[Content]) -> Content:
    """Contents said one after the other as one: text as long as all are text, else a list of parts."""
    if all(content is None or isinstance(content, str) for content in contents):
        return "\n\n".join(str(content) for content in contents if content)
    return [part for content in contents for part in parts_of(content)]


def shown_result(wire: bytes) -> bytes:
    """A tool's result as a model is shown it, between marks that it cannot forge; any other message as it is."""
    if role_of(wire) != "tool":
        return wire
    whole = taken_apart(wire)
    content: Content = whole.get("content")
    if not isinstance(content, list):
        return encode({**whole, "content": enclosed(content or "")})
    before, after = ends([str(part["text"]) for part in content if "text" in part])
    return encode({**whole, "content": [text_part(before), *content, text_part(after)]})
