"""Stored records without what is to be forgotten: what they hold is replaced, what they are stays. Pure.

Of a message role, time, turn, ids, and the names and ids of calls stay, so that a log can be read and its turns told
apart as before; of an entry its range; of a version its number and where it came from.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar, cast

import msgspec

from daemon.errors import UNREADABLE
from daemon.events import NOTHING, Continuity, LogEntry
from daemon.forget.text_matcher import FORGOTTEN
from daemon.memory import HistoryEntry, Note, Version

Count = Callable[[bytes], int]
"""How many tokens a message, as it goes to a model, counts in a prompt."""

NO_ARGUMENTS = "{}"
"""In the place of what a call was given: JSON, since models are sent it again."""

_TEXTS_DEPTH = 32
"""Objects inside each other; deeper ones are no text of a person."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.decode
_Record = TypeVar("_Record", bound=HistoryEntry | Note | Version)


class Wanted(Protocol):
    """What is to be forgotten."""

    def hits(self, text: str) -> Sequence[str]:
        """The parts of ``text`` that are."""
        ...

    def redacted(self, text: str) -> str:
        """``text`` without them; the very same when there are none."""
        ...


class Everything:
    """All there is."""

    def hits(self, text: str) -> list[str]:
        """The whole of it."""
        return [text] if text.strip() and text.strip() != FORGOTTEN else []

    def redacted(self, text: str) -> str:
        """Nothing."""
        return text if text == FORGOTTEN else ""


EVERYTHING = Everything()


# Messages of a log


def texts_of(entry: LogEntry) -> list[str]:
    """Everything that somebody said in a message, or that a tool was given or gave."""
    wire = _decode(entry.wire)
    texts = list(_strings(wire.get("content")))
    for call in wire.get("tool_calls") or ():
        arguments = call["function"]["arguments"]
        texts += [arguments, *_inner(arguments)]
    if entry.own:
        # Names of fields are no words of anybody's.
        kept = _decode(entry.own)
        texts += _values([kept.get("message"), kept.get("calls")])
    return [text for text in texts if text not in (FORGOTTEN, NO_ARGUMENTS)]


def hits_in(entry: LogEntry, wanted: Wanted) -> list[str]:
    """What of a message is to be forgotten."""
    return [hit for text in (*texts_of(entry), entry.sender) for hit in wanted.hits(text)]


def tombstone(entry: LogEntry, wanted: Wanted, count: Count) -> LogEntry | None:
    """The message with its content forgotten, the whole of it; None when nothing in it is to be."""
    if not hits_in(entry, wanted):
        return None
    wire = _encode(_buried(_decode(entry.wire)))
    sender = FORGOTTEN if wanted.hits(entry.sender) else entry.sender
    return msgspec.structs.replace(
        entry, wire=msgspec.Raw(wire), tokens=count(wire), own=NOTHING, own_tokens=0, sender=sender
    )


def _buried(wire: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {"role": wire["role"]}
    if wire.get("content") is not None:
        kept["content"] = FORGOTTEN
    if wire.get("tool_calls"):
        kept["tool_calls"] = [
            call | {"function": {"name": call["function"]["name"], "arguments": NO_ARGUMENTS}}
            for call in wire["tool_calls"]
        ]
    if "tool_call_id" in wire:
        kept["tool_call_id"] = wire["tool_call_id"]
    return kept


def _values(value: Any) -> Iterator[str]:
    """Every text inside of a decoded JSON value but names of fields; of a depth that was written by ourselves."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _values(list(cast("dict[str, Any]", value).values()))
    elif isinstance(value, list):
        for each in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _values(each)


def _strings(value: Any, depth: int = 0) -> Iterator[str]:
    """Every text inside of a decoded JSON value, names of fields too."""
    if isinstance(value, str):
        yield value
    elif depth < _TEXTS_DEPTH and isinstance(value, dict):
        for name, inner in value.items():  # pyright: ignore[reportUnknownVariableType]
            yield str(name)  # pyright: ignore[reportUnknownArgumentType]
            yield from _strings(inner, depth + 1)
    elif depth < _TEXTS_DEPTH and isinstance(value, list):
        for inner in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _strings(inner, depth + 1)


def _inner(text: str) -> Iterator[str]:
    """The texts inside of JSON, where they stand without its escapes."""
    try:
        yield from _strings(_decode(text))
    except UNREADABLE:
        return


# What a memory is made of


def forgotten(record: _Record, wanted: Wanted) -> _Record | None:
    """An entry of the history, a note or a version without it; None when nothing in it is to be forgotten."""
    changed: dict[str, str] = {}
    for field in ("text", "added", "reason"):
        text = getattr(record, field, "")
        left = wanted.redacted(text)
        if left != text:
            # An entry or a note that is empty would be a gap in a file; a version may be.
            changed[field] = left if left.strip() or isinstance(record, Version) else _empty(text)
    changed = {field: left for field, left in changed.items() if left != getattr(record, field)}
    return msgspec.structs.replace(record, **changed) if changed else None


def _empty(text: str) -> str:
    """What is left of an entry of which nothing is: the time that it begins with."""
    head, closed, _ = text.partition("]")
    is_time = closed and head.startswith("[") and len(head) <= len("[2026-11-20 09:12")
    return f"{head}] {FORGOTTEN}" if is_time and head != FORGOTTEN[:-1] else FORGOTTEN


def continued(continuity: Continuity, wanted: Wanted) -> Continuity | None:
    """What a conversation was left with, without it; None when nothing in it is to be forgotten."""
    left = wanted.redacted(continuity.text)
    return None if left == continuity.text else msgspec.structs.replace(continuity, text=left or FORGOTTEN)


# What waits in a queue, or is on its way


def payload_texts(raw: bytes) -> list[str]:
    """Every text in a message that waits, a reply or a notice, also in one that cannot be read as such."""
    try:
        return list(_strings(_decode(raw)))
    except UNREADABLE:
        return [raw.decode(errors="replace")]
