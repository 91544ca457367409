"""A session from far away: of every message its size and who said it, and where turns began. No text."""

from contextlib import aclosing
from dataclasses import dataclass, field

import anyio.lowlevel
import msgspec

from daemon.errors import UNREADABLE
from daemon.transcripts.transcripts import Transcripts

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
