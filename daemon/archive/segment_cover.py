"""Which segments a range is read from: several may hold the same message, and then the one listed last is right. Pure.

Whoever lists a segment has compared it with the log. After a failover that lost messages the same indexes can hold
others; what was listed last was compared last.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from daemon.archive.segment import Segment


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of a range, and the segment that holds it; None: none does."""

    first: int
    upto: int
    segment: Segment | None = None


def cover(segments: Sequence[Segment], first: int, upto: int) -> list[Piece]:
    """The pieces that the range consists of, in order; gaps are pieces without a segment.

    Args:
        segments: of one shelf, in the order in which they were listed.
        first: index of the first message.
        upto: one past the last.
    """
    pieces = [Piece(first=first, upto=upto)] if first < upto else []
    for segment in reversed(segments):
        if all(piece.segment for piece in pieces):
            break
        pieces = [part for piece in pieces for part in _filled(piece, segment)]
    return pieces


def _filled(piece: Piece, segment: Segment) -> Iterator[Piece]:
    """A gap with what the segment holds of it."""
    first, upto = max(piece.first, segment.first), min(piece.upto, segment.upto)
    if piece.segment or first >= upto:
        yield piece
        return
    if piece.first < first:
        yield Piece(first=piece.first, upto=first)
    yield Piece(first=first, upto=upto, segment=segment)
    if upto < piece.upto:
        yield Piece(first=upto, upto=piece.upto)


def gaps(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces that no segment holds."""
    return [piece for piece in pieces if piece.segment is None]


def spelled(pieces: Sequence[Piece]) -> str:
    """Ranges for people: ``0 to 3, 7 to 9``."""
    return ", ".join(f"{piece.first} to {piece.upto - 1}" for piece in pieces)
