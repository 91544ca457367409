"""The answer being written, put together from what is published in passing. Pure.

Every piece may be missing, late or doubled. What does not follow on what stands here is left out; the log's entry
replaces all of it in the end.
"""

from daemon.events import Live


class Preview:
    """The text of one answer at a time."""

    def __init__(self) -> None:
        self.text: str = ""
        self._of = (-1, -1)
        """Turn and fence of the text."""
        self._sequence = -1
        self._over = -1
        """The last turn that is known to have ended."""

    @property
    def turn(self) -> int:
        """The turn of the text; -1 before the first piece."""
        return self._of[0]

    def hear(self, live: Live) -> bool:
        """Take in a piece; whether the text is another one now."""
        of = (live.turn, live.fence)
        if live.turn <= self._over or of < self._of or (of == self._of and live.sequence <= self._sequence):
            return False
        # An offset of 0 begins an answer: another turn's, a successor's of a killed worker, or the next of this turn.
        if live.offset == 0:
            self.text = live.text
        elif of == self._of and live.offset == len(self.text):
            self.text += live.text
        else:
            return False
        self._of, self._sequence = of, live.sequence
        return True

    def close(self, turn: int, *, ended: bool) -> None:
        """The log holds the answer now; ``ended`` when it was the turn's last."""
        self.text = ""
        if ended:
            self._over = max(self._over, turn)
