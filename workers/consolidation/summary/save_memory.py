"""The tool ``save_memory``: its definition, and tolerant parsing of a model's call. Pure.

Models answer a forced call with JSON text, an object, a list of one, JSON in a text, in a fence or behind prose, with
objects where texts belong. All of that is understood; what is missing, empty or cut off is not.
"""

import json
import re
from typing import Any, cast

import msgspec

from daemon.errors import InvalidAnswer
from daemon.model import Answer, event_stream, said

NAME = "save_memory"
ANSWER_MAX_CHARS = 1_000_000
"""Longest answer that is read; far above any that is meant."""
STARTS_MAX = 20
"""At so many places of a text an object is looked for."""
NESTED_MAX = 8
"""How deep the fields may be wrapped: a list, a JSON text, ``{"arguments": …}``."""

_FIELDS = {
    "history_entry": (
        "One paragraph of key events, decisions and topics, starting with the time as [YYYY-MM-DD HH:MM]. "
        "Include details that help to find the paragraph with grep."
    ),
    "memory_update": (
        "The whole MEMORY.md as Markdown: all existing facts plus the new ones. If there are no new facts, repeat "
        "the text unchanged."
    ),
    "continuity": (
        "The state of the conversation: what was accomplished, the current state, key decisions. Later prompts "
        "contain only this text, so include everything from the summary so far that is still true."
    ),
    "memory_reason": "The reason for the loss, if memory_update leaves out much of the current memory.",
}
REQUIRED = ("history_entry", "memory_update")

DEFINITION = msgspec.json.encode(
    {
        "type": "function",
        "function": {
            "name": NAME,
            "description": "Save the consolidated conversation to long-term memory.",
            "parameters": {
                "type": "object",
                "properties": {name: {"type": "string", "description": text} for name, text in _FIELDS.items()},
                "required": list(REQUIRED),
            },
        },
    }
)
"""As it stands in a request, JSON."""

_WRAPPERS = ("arguments", "parameters", "input", "function", "tool_calls", NAME)
"""Where a call that is written into a text has its arguments, in the forms that were met."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_UNCHANGED = frozenset({"unchanged", "no change", "no changes", "none", "no update", "不变", "无变化", "没有变化"})
"""What models write for a memory with nothing new in it, against their orders."""
_EMPTY = "(empty)"
"""What a request shows for an empty memory."""
_loads = json.JSONDecoder(strict=False)


class SavedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What a model wants to be kept."""

    history_entry: str
    memory_update: str | None
    """The whole of MEMORY.md; None: it says in words that nothing changes."""
    continuity: str = ""
    memory_reason: str = ""
    model: str = ""
    """Name of the model that says so."""


_THOUGHTS = re.compile(r"<(think|thinking)>.*?</\1>", re.DOTALL)
_FENCE = re.compile(r"\A```(?:markdown|md|text)?[ \t]*\n((?:(?!^```).*\n?)*?)```\Z", re.MULTILINE)


def saved(answer: Answer, *, memory: str) -> SavedMemory:
    """What ``answer`` says is to be kept.

    Args:
        answer: of the model, asked to call ``save_memory``.
        memory: MEMORY.md as the model was shown it.

    Raises:
        InvalidAnswer: it says nothing that can be used; the text tells what is wrong, and quotes nothing.
    """
    fields = _fields(answer)
    texts = {name: _text(name, fields.get(name)) for name in _FIELDS}
    update: str | None = "" if texts["memory_update"] == _EMPTY else texts["memory_update"]
    if not texts["history_entry"]:
        raise InvalidAnswer("the save_memory call has no history_entry")
    if not update and (memory.strip() or not isinstance(fields.get("memory_update"), str | list | dict)):
        raise InvalidAnswer("the save_memory call has no memory_update")
    if update and update.strip("().*_# ").casefold() in _UNCHANGED:
        update = None
    return SavedMemory(
        history_entry=_paragraph(texts["history_entry"]),
        memory_update=update,
        continuity=texts["continuity"],
        memory_reason=texts["memory_reason"],
        model=answer.model,
    )


def cleaned(text: str) -> str:
    """A model's text as files and Redis take it, without what it only wrapped it in.

    No lone surrogates, no control characters, line feeds for all ends; no reasoning, no Markdown fence around all of
    it, and line feeds where it escaped them twice.
    """
    text = event_stream.whole(text.replace("\r\n", "\n").replace("\r", "\n"))
    if "\n" not in text.strip():
        text = text.replace("\\r\\n", "\n").replace("\\n", "\n")
    text = _THOUGHTS.sub("", said(text))
    text = fenced[1] if (fenced := _FENCE.match(text.strip())) else text
    return _CONTROLS.sub("", text).strip()


def size_of(answer: Answer) -> int:
    """Characters that have to be read of an answer."""
    return len(answer.text) + sum(len(call.arguments) for call in answer.tool_calls)


def _fields(answer: Answer) -> dict[str, Any]:
    if size_of(answer) > ANSWER_MAX_CHARS:
        raise InvalidAnswer(f"the save_memory call is longer than {ANSWER_MAX_CHARS} characters")
    # A call of another name counts only where there is none of the right one: some models spell it their own way.
    calls = [call for call in answer.tool_calls if call.name == NAME] or answer.tool_calls
    found = _unwrapped(calls[0].arguments) if calls else _in_text(answer.text)
    if found is None:
        text = (
            "the arguments of save_memory are not valid JSON, or a field is missing"
            if calls
            else "the model did not call save_memory, and its answer is not valid JSON or lacks a field"
        )
        raise InvalidAnswer(f"{text}. Required fields: {', '.join(REQUIRED)}")
    return found


def _in_text(text: str) -> dict[str, Any] | None:
    """The fields in a text: all of it is JSON, or an object stands somewhere in it."""
    if (found := _unwrapped(text)) is not None:
        return found
    at = -1
    for _ in range(STARTS_MAX):
        if (at := text.find("{", at + 1)) < 0:
            return None
        try:
            value, _end = _loads.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if (found := _unwrapped(value)) is not None:
            return found
    return None


def _unwrapped(value: object, depth: int = NESTED_MAX) -> dict[str, Any] | None:
    """The object that has any of the fields, in whatever it is wrapped."""
    if depth and isinstance(value, str):
        return _unwrapped(_decoded(value), depth - 1)
    if depth and isinstance(value, list):
        return _unwrapped(next(iter(cast("list[object]", value)), None), depth - 1)
    if not depth or not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    if any(name in fields for name in REQUIRED):
        return fields
    wrapped = (_unwrapped(fields.get(name), depth - 1) for name in _WRAPPERS)
    return next((found for found in wrapped if found is not None), None)


def _decoded(text: str) -> object:
    try:
        return _loads.decode(text.strip())
    except (ValueError, RecursionError):
        return None


def _text(name: str, value: object) -> str:
    """A field as text: an object, a list or a number as its JSON text; nothing for what is empty."""
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, str):
        return cleaned(value)
    if isinstance(value, dict | list) and not value:
        return ""
    try:
        return _CONTROLS.sub("", event_stream.whole(json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError) as error:
        raise InvalidAnswer(f"the {name} field of the save_memory call cannot be converted to text") from error


def _paragraph(text: str) -> str:
    """``text`` without blank lines: they separate the entries of HISTORY.md."""
    return re.sub(r"\n\s*\n", "\n", text)
