"""Reads a log from its end, up to the size of a prompt, however long the log is."""

from daemon.config import MicroCompactConfig
from daemon.events import LogEntry
from daemon.session import Begun, SessionReader, SessionState
from workers.result_trimming import least_tokens

CHUNK = 500
"""Log entries read at once, from the newest backwards, until the budget is full."""


async def newest(
    reader: SessionReader,
    session: str,
    at: Begun | SessionState,
    *,
    upto: int,
    budget_tokens: int,
    micro: MicroCompactConfig,
) -> list[LogEntry]:
    """The newest messages before index ``upto``, oldest first: more than the budget, or all from the start on.

    ``at`` are the session's positions.
    """
    tokens = 0
    found: list[LogEntry] = []
    while upto > at.start and tokens <= budget_tokens:
        first = max(at.start, upto - CHUNK)
        chunk = await reader.log(session, first=first, upto=upto, base=at.base)
        found[:0] = chunk
        tokens += sum(least_tokens(entry, micro) for entry in chunk)
        upto = first
    return found
