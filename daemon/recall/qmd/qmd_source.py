"""The passages that QMD indexes, and the detection of changes."""

import datetime as dt
import hashlib
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
from anyio import to_thread

from daemon.memory import HistoryEntry, Memories, Note
from daemon.recall.chunk import Chunk
from daemon.recall.chunk_splitter import history_chunks, lines_of, memory_chunks, note_chunks
from daemon.recall.index.index_rows import FORGOTTEN


class State(msgspec.Struct, frozen=True, kw_only=True):
    """The version of a memory."""

    forgets: int = 0
    """How often something of it was forgotten."""
    text: str = ""
    """A hash of MEMORY.md."""
    history: int = 0
    """How many entries it has."""
    notes: int = 0
    """How many."""


class Source(Protocol):
    """Provides passages. Errors are those of ``Memories``."""

    async def state(self, scope: str, known: State) -> State:
        """How far the memory of a home is; ``known`` is how far it was, and saves work."""
        ...

    async def chunks(self, scope: str) -> Sequence[Chunk]:
        """All of it, each place with the docid that the builtin engine gives it."""
        ...


class MemorySource:
    """MEMORY.md, the history and the notes: what lies as files in the workspace."""

    def __init__(self, memories: Memories, *, zone_of: Callable[[str], dt.tzinfo] = lambda _scope: dt.UTC) -> None:
        """Nothing is asked yet; ``zone_of``: by scope, the zone in which its history says its times."""
        self._memories = memories
        self._zone_of = zone_of

    async def state(self, scope: str, known: State) -> State:
        """As ``Source``."""
        current = await self._memories.current(scope)
        history = await self._memories.history(scope, first=known.history)
        notes = await self._memories.notes(scope, first=known.notes)
        return State(
            forgets=await self._memories.forgets(scope),
            text=hashlib.sha256(current.text.encode()).hexdigest()[:16],
            history=known.history + len(history),
            notes=known.notes + len(notes),
        )

    async def chunks(self, scope: str) -> Sequence[Chunk]:
        """As ``Source``."""
        text = (await self._memories.current(scope)).text
        history, notes = await self._memories.history(scope), await self._memories.notes(scope)
        # It takes a second for 20,000 chunks.
        return await to_thread.run_sync(_chunks, text, history, notes, self._zone_of(scope))


def _chunks(text: str, history: Sequence[HistoryEntry], notes: Sequence[Note], zone: dt.tzinfo) -> list[Chunk]:
    found, line = memory_chunks(text), 1
    for entry in history:
        if not entry.lost:  # what the session has lost it may have said otherwise since
            found += history_chunks(entry.text, line=line, time=entry.time, zone=zone)
        line += lines_of(entry.text)
    lines = dict[str, int]()
    for note in notes:
        line = lines.get(note.date, 1)
        found += note_chunks(note.text, date=note.date, line=line, time=note.time, zone=zone)
        lines[note.date] = line + lines_of(note.text)
    return [chunk for chunk in found if chunk.text.replace(FORGOTTEN, "").strip(" -*\n")]
