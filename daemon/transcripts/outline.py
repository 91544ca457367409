"""A session from far away: of every message its size and who said it, and where turns began. No text."""

from contextlib import aclosing
from dataclasses import dataclass, field

import anyio.lowlevel
import msgspec

from daemon.archive import Archive, Segment
from daemon.errors import UNREADABLE
from daemon.memory import HistoryEntry, Memories
from daemon.transcripts.transcripts import Transcripts

# What became of the older messages of a session: the ranges that were consolidated, and where each went.


class Range(msgspec.Struct, frozen=True, kw_only=True):
    """Messages that were consolidated or archived together."""

    first: int
    upto: int
    """One past the last."""
    index: int | None
    """Of the entry in the history of the session's memory; None: nobody has come to write it, or it was set back."""
    entry: HistoryEntry | None
    segment: Segment | None
    """What holds them in the archive."""


async def ranges_of(memories: Memories, archive: Archive, session: str, scope: str) -> list[Range]:
    """The ranges of a session, whose scope is ``scope``, in order of the messages; lost ones too.

    Raises:
        ArchiveError: what Redis lists as archived cannot be read.
        BusUnavailable: Redis is away.
    """
    history = await memories.history(await memories.home(scope)) if scope else []
    segments = await archive.segments(session)
    files = {(segment.first, segment.upto): segment for segment in segments}
    found: list[Range] = []
    for index, entry in enumerate(history):
        if entry.session == session:
            segment = None if entry.lost else files.pop((entry.first, entry.upto), None)
            found.append(Range(first=entry.first, upto=entry.upto, index=index, entry=entry, segment=segment))
    # Whoever archived these has not come to write their entry, or the memory was set back.
    found += [
        Range(first=segment.first, upto=segment.upto, index=None, entry=None, segment=segment)
        for segment in files.values()
    ]
    return sorted(found, key=lambda each: (each.first, each.upto))


CHUNK = 500
"""Messages that are looked at between two other tasks."""

SIGNS = {"user": "u", "assistant": "a", "tool": "t"}
MISSING = "?"
"""Of a message that was forgotten, or whose archive cannot be read."""


class _Wire(msgspec.Struct, gc=False):
    role: str = ""


class _Entry(msgspec.Struct, gc=False):
    tokens: int = 0
    turn: int = -1
    wire: _Wire = msgspec.field(default_factory=_Wire)


_decode = msgspec.json.Decoder(_Entry).decode


@dataclass(kw_only=True)
class Outline:
    """Of the messages ``first`` to ``upto`` (exclusive)."""

    first: int
    tokens: list[int] = field(default_factory=list[int])
    """Of each message."""
    roles: str = ""
    """A letter each: ``u``, ``a`` and ``t`` for user, assistant and tool; ``?``: it cannot be read."""
    turns: list[int] = field(default_factory=list[int])
    """Where turns began."""

    @property
    def upto(self) -> int:
        """One past the last."""
        return self.first + len(self.tokens)


async def outline_of(transcripts: Transcripts, session: str, *, first: int, upto: int) -> Outline:
    """The outline of the committed messages ``first`` to ``upto`` (exclusive), as far as there are any.

    Raises:
        BusUnavailable: Redis is away.
    """
    found, signs = Outline(first=first), list[str]()
    async with aclosing(transcripts.pieces(session, first, upto, chunk=CHUNK)) as pieces:
        async for piece in pieces:
            gap = (piece.upto if piece.reason else piece.first) - found.upto
            found.tokens += [0] * gap
            signs += MISSING * gap
            for index, raw in enumerate(piece.raws, piece.first):
                entry = _read(raw)
                found.tokens.append(entry.tokens)
                signs.append(SIGNS.get(entry.wire.role, MISSING))
                if entry.turn == index:
                    found.turns.append(index)
            await anyio.lowlevel.checkpoint()
    found.roles = "".join(signs)
    return found


def _read(raw: bytes) -> _Entry:
    try:
        return _decode(raw)
    except UNREADABLE:  # a hand has spoilt it
        return _Entry()
