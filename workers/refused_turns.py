"""Turns whose messages the model's server or a limit refused. The log keeps them, but no later prompt contains them."""

from collections.abc import Sequence

import msgspec

from daemon.events import LogEntry
from daemon.tokens import MESSAGE_TOKENS, estimate
from workers.message_format import USER, message

PLACEHOLDER = "[This message is left out: the model's server refused it.]"
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
