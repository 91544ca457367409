"""What a model is sent: a system message, the newest whole turns that fit, the turn in progress. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import msgspec

from daemon.events import LogEntry

HEAD_SHARE, TAIL_SHARE = 0.7, 0.2
"""What is kept of a message that alone does not fit (SPEC section 1.8)."""


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """The messages of a request, JSON each, and what they count."""

    messages: tuple[bytes, ...]
    tokens: int


def newest_turns(history: Sequence[LogEntry], budget_tokens: int) -> list[LogEntry]:
    """The newest whole turns of ``history`` that fit, oldest first: never a part of one, never one with a gap after."""
    turns = [list(entries) for _, entries in groupby(history, key=lambda entry: entry.turn)]
    kept: list[list[LogEntry]] = []
    for turn in reversed(turns):
        budget_tokens -= sum(entry.tokens for entry in turn)
        if budget_tokens < 0:
            break
        kept.append(turn)
    return [entry for turn in reversed(kept) for entry in turn]


def prompt(
    system: bytes, history: Sequence[LogEntry], current: Sequence[LogEntry], *, fixed_tokens: int, budget_tokens: int
) -> Prompt:
    """The prompt for the next model call of a turn.

    ``fixed_tokens`` is what the system message and the tools' definitions count; ``current`` must fit beside them.
    """
    needed = fixed_tokens + sum(entry.tokens for entry in current)
    kept = newest_turns(history, budget_tokens - needed)
    entries = (*kept, *current)
    return Prompt(
        messages=(system, *_joined(entries)),
        tokens=needed + sum(entry.tokens for entry in kept),
    )


def _joined(entries: Sequence[LogEntry]) -> Iterator[bytes]:
    """The messages as they are stored; only what people said one after the other becomes one message.

    Many models refuse two user messages side by side. It never counts more than its parts.
    """
    for is_user, run in groupby(entries, key=lambda entry: bool(entry.id)):
        wires = [bytes(entry.wire) for entry in run]
        if is_user and len(wires) > 1:
            texts = [str(msgspec.json.decode(wire)["content"]) for wire in wires]
            yield message("user", "\n\n".join(texts))
        else:
            yield from wires


def shorten_to_fit(entries: Sequence[LogEntry], allowance_tokens: int, count: Callable[[bytes], int]) -> list[LogEntry]:
    """``entries`` with the longest texts shortened until all fit; what is stored stays whole.

    ``count`` gives the tokens of a message. Entries without a text that could be shortened stay as they are.
    """
    fitted = list(entries)
    while (over := sum(entry.tokens for entry in fitted) - allowance_tokens) > 0:
        at = max(range(len(fitted)), key=lambda i: fitted[i].tokens)
        shorter = _shorter(fitted[at], max(0, fitted[at].tokens - over), count)
        if shorter.tokens >= fitted[at].tokens:
            break
        fitted[at] = shorter
    return fitted


def _shorter(entry: LogEntry, allowed_tokens: int, count: Callable[[bytes], int]) -> LogEntry:
    wire: dict[str, Any] = msgspec.json.decode(entry.wire)
    content = wire.get("content")
    if not isinstance(content, str):
        return entry
    keep_chars = len(content) * allowed_tokens // entry.tokens
    while True:
        encoded = msgspec.json.encode({**wire, "content": shortened(content, keep_chars)})
        tokens = count(encoded)
        if tokens <= allowed_tokens or keep_chars == 0:
            return msgspec.structs.replace(entry, tokens=tokens, wire=msgspec.Raw(encoded))
        keep_chars = keep_chars * 9 // 10


def shortened(text: str, keep_chars: int) -> str:
    """The head and the tail of ``text``, about ``keep_chars`` in all, around a marker that tells what is missing."""
    head, tail = int(keep_chars * HEAD_SHARE), int(keep_chars * TAIL_SHARE)
    if head + tail >= len(text):
        return text
    left_out = len(text) - head - tail
    return f"{text[:head]}\n[... {left_out:,} characters left out ...]\n{text[len(text) - tail :] if tail else ''}"


def message(role: str, content: str) -> bytes:
    """A message with text, JSON."""
    return msgspec.json.encode({"role": role, "content": content})
