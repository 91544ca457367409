"""Messages in the format of the chat completions API (JSON): reading, splitting and creating them."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

import msgspec

from daemon.config import MicroCompactConfig
from daemon.events import LogEntry
from daemon.model import enclosed, ends
from daemon.tokens import MESSAGE_TOKENS, estimate

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


# Turns whose messages the model's server or a limit refused. The log keeps them, but no later prompt contains them.

PLACEHOLDER = "[This message is left out because the model's server rejected it.]"
"""Stands for a refused message, since user and assistant alternate."""

_TOKENS = estimate(PLACEHOLDER) + MESSAGE_TOKENS
_WIRE = msgspec.Raw(message("user", PLACEHOLDER))


def without_refused(entries: Sequence[LogEntry]) -> Sequence[LogEntry]:
    """``entries`` without turns that a limit refused, and with a placeholder for each message that a server refused."""
    if unpaid := {entry.turn for entry in entries if entry.unpaid}:
        entries = [entry for entry in entries if entry.turn not in unpaid]
    refused = {entry.turn for entry in entries if entry.refused}
    if not refused:
        return entries
    return [shown for entry in entries for shown in (_shown(entry) if entry.turn in refused else (entry,))]


def _shown(entry: LogEntry) -> tuple[LogEntry, ...]:
    if bytes(entry.wire).startswith(USER):
        return (msgspec.structs.replace(entry, wire=_WIRE, tokens=_TOKENS),)
    return (entry,) if entry.refused else ()


# Micro-compaction: old tool results in prompts, cut to their beginnings. Pure; the log is not changed.

MARK = "... [truncated]"
IMAGE = "[image]"
STEP_FACTOR = 2
"""The cut moves by so many times the number of messages that stay whole: with 6, once in six calls of a tool."""
CHARS_A_TOKEN = 5
"""A text hardly counts less than a token for so many characters."""


def cut_result(wire: bytes, max_chars: int) -> bytes:
    """A tool result with at most ``max_chars`` characters and the mark; the same wire when it is not longer."""
    if len(wire) <= max_chars:
        return wire
    whole = taken_apart(wire)
    content: Content = whole.get("content")
    text = "\n".join(filter(None, (text_of(content), _images(content))))
    if isinstance(content, str) and len(text) <= max_chars + len(MARK):
        return wire
    cut = text if len(text) <= max_chars + len(MARK) else text[:max_chars] + MARK
    return encode({**whole, "content": cut})


def _images(content: Content) -> str:
    return IMAGE if isinstance(content, list) and any("text" not in part for part in content) else ""


def old_upto(
    history: int, current: Sequence[LogEntry], config: MicroCompactConfig, *, uncut_tokens: Callable[[], int]
) -> int:
    """Index in history and current turn before which tool results are cut.

    Never beyond the last answer of the current turn: what stands behind it no model call has contained yet.

    Args:
        history: number of messages before the current turn.
        current: the current turn.
        config: how many of the last messages stay whole, and below which size all do.
        uncut_tokens: gives what the prompt would count uncut.
    """
    if not config.enabled or (config.min_prompt_tokens and uncut_tokens() < config.min_prompt_tokens):
        return 0
    answers = [at for at, entry in enumerate(current) if role_of(bytes(entry.wire)) == "assistant"]
    contained = answers[-1] if answers else 0
    return min(max(0, history + len(current) - config.keep_messages), history + contained)


def in_steps(old: int, config: MicroCompactConfig) -> int:
    """The cut ``old`` as it is as long as everything fits: it rests for many calls, then moves at once.

    What stands before a moved cut is sent with other bytes, and no prefix cache of a provider knows it any more.
    """
    return old - old % max(1, STEP_FACTOR * config.keep_messages)


def least_tokens(entry: LogEntry, config: MicroCompactConfig) -> int:
    """What ``entry`` counts about at least, cut or not: history is read until this adds up to the budget."""
    least = config.max_chars // CHARS_A_TOKEN
    if entry.tokens > least and config.enabled and bytes(entry.wire).startswith(TOOL):
        return least
    return entry.tokens
