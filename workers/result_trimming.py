"""Micro-compaction: old tool results in prompts, cut to their beginnings. Pure; the log is not changed."""

from collections.abc import Callable, Sequence

from daemon.config import MicroCompactConfig
from daemon.events import LogEntry
from workers.message_format import TOOL, Content, encode, role_of, taken_apart, text_of

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
