"""Trims the history within a turn, separately for each model call. Pure."""

from collections.abc import Sequence

from daemon.events import LogEntry
from workers.message_format import role_of

LEAST_TOKENS = 500
"""A smaller ``context_budget_tokens`` counts as this."""


def iteration(current: Sequence[LogEntry]) -> int:
    """Which of its model calls a turn is about to make, from 1; those of a predecessor count."""
    return 1 + sum(role_of(bytes(entry.wire)) == "assistant" for entry in current)


def history_room(room_tokens: int, context_budget_tokens: int, *, iteration: int) -> int:
    """Tokens that history may take of ``room_tokens``: all at the first call, later at most the bot's setting."""
    if iteration == 1 or context_budget_tokens == 0:
        return room_tokens
    return min(room_tokens, max(LEAST_TOKENS, context_budget_tokens))
