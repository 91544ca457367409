"""The content of a prompt before the current turn: older messages, the continuity, and the memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from daemon.config import MicroCompactConfig
from daemon.errors import Trimmed
from daemon.events import Continuity, LogEntry
from daemon.memory import Memories
from daemon.session import Begun, SessionReader, SessionState
from workers.agent.history import History
from workers.agent.history_loader import newest
from workers.agent.memory_changes import changes_of, most_chars

_log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Past:
    """What a prompt is made of beside what is said now."""

    history: History = field(default_factory=History)
    """Whole turns, oldest first."""
    whole: bool = True
    """The history goes back to the session's start."""
    first: int = 0
    """Index of the first message of the history, or of the one that would be; 0: it is all that was ever said here."""
    continuity: Continuity | None = None
    """What was left of still older messages when they were consolidated."""
    memory: str = ""
    """MEMORY.md, as the session's prompts show it."""
    memory_changes: str = ""
    """What has changed in it since (``workers.agent.memory_changes``)."""


class PastReader:
    """Reads it, in the order in which nothing can be missed.

    Log and cursor come first, memory after them: a range that is consolidated meanwhile may be seen in both, and never
    in neither.
    """

    def __init__(self, reader: SessionReader, memories: Memories, micro: MicroCompactConfig) -> None:
        self._reader = reader
        self._memories = memories
        self._micro = micro

    async def read(
        self,
        session: str,
        at: Begun | SessionState,
        *,
        upto: int,
        budget_tokens: int,
        known: History | None = None,
    ) -> tuple[Past, list[LogEntry]]:
        """The past of the turn that begins at ``at.head``, and its journal: what stands from there up to ``upto``.

        Of the history as much as fills ``budget_tokens``, or all there is: that is ``known`` if it need not be read.

        Raises:
            BusUnavailable: Redis is away.
        """
        positions: Begun | SessionState = at
        history, journal = known, list[LogEntry]()
        if history is None or upto != at.head:
            positions, found = await self._newest(session, at, upto=upto, budget_tokens=budget_tokens)
            cut = len(found) - (upto - at.head)
            before, journal = found[:cut], found[cut:]
            first = at.head - len(before)
            history = History(whole_turns(before, first) if first > positions.start else before)
        memory, changes = await self._memory(session, at, budget_tokens) if at.scope else ("", "")
        first = at.head - len(history)
        past = Past(
            history=history,
            whole=first <= positions.start,
            first=first,
            continuity=positions.continuity,
            memory=memory,
            memory_changes=changes,
        )
        return past, journal

    async def _newest(
        self, session: str, at: Begun | SessionState, *, upto: int, budget_tokens: int
    ) -> tuple[Begun | SessionState, list[LogEntry]]:
        """The newest messages before ``upto``, and the session's positions as they were then."""
        positions = at
        while True:
            try:
                found = await newest(
                    self._reader, session, positions, upto=upto, budget_tokens=budget_tokens, micro=self._micro
                )
            except Trimmed:
                # The oldest were consolidated since, and have left: what stands for them now is read too.
                positions = await self._reader.state(session)
            else:
                return positions, found

    async def _memory(self, session: str, at: Begun | SessionState, budget_tokens: int) -> tuple[str, str]:
        """MEMORY.md as the prompts show it, and what has changed since.

        The first turn of a session, and the first after ``/new``, shows the newest one: no prompt is like it.
        """
        found = await self._memories.pinned(at.scope, session)
        changes = changes_of(found.text or "", found.current.text)
        if at.head > at.start and found.text is not None and len(changes) <= most_chars(budget_tokens):
            return found.text, changes
        if found.version < found.current.version and isinstance(at, Begun):
            await self._memories.pin(found.scope, session, found.current.version)
        return found.current.text, ""


def whole_turns(history: Sequence[LogEntry], first: int) -> Sequence[LogEntry]:
    """``history`` without the rest of a turn whose beginning was not read; ``first`` is the index of its first message.

    A turn is named by the index of its own first message.
    """
    if not history or history[0].turn >= first:
        return history
    begins = next((at for at, entry in enumerate(history) if entry.turn != history[0].turn), len(history))
    return history[begins:]
