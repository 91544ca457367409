"""Which pieces of text being written a viewer gets to see. Pure: pieces in, a judgement out."""

from typing import Literal

from daemon.events import Live

Judgement = Literal["show", "old", "gap"]


class Preview:
    """What one viewer has seen of the answer being written.

    A piece with offset 0 starts the preview afresh. Only the newest turn of the highest fence is shown: what a worker
    that lost its lease still says is old, and so is all that comes of a turn once it is committed.
    """

    def __init__(self) -> None:
        self._writer = (-1, -1)
        self._sequence = -1
        self._chars = 0

    def judge(self, piece: Live, *, upto: int) -> Judgement:
        """Whether ``piece`` is to be shown, comes too late, or has a gap before it; what is shown is taken as seen.

        ``upto`` is one past the last committed message that the viewer has.
        """
        writer = (piece.fence, piece.turn)
        if piece.turn < upto or writer < self._writer:
            return "old"
        new = writer > self._writer
        if not new and piece.sequence <= self._sequence:
            return "old"
        if piece.offset not in (0, 0 if new else self._chars):
            return "gap"
        self._writer, self._sequence = writer, piece.sequence
        self._chars = piece.offset + len(piece.text)
        return "show"

    def outdates(self, *, fence: int) -> bool:
        """Whether a worker with ``fence`` has lost the session to the one that is shown."""
        return fence < self._writer[0]
