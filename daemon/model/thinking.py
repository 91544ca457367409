"""Reasoning that a model writes at the beginning of its text, between ``<think>`` and ``</think>``, kept apart.

DeepSeek R1, Qwen 3 and others do so where the server does not take it out. Marks that come later are text.
"""

from typing import Literal

OPEN, CLOSE = "<think>", "</think>"


class Thinking:
    """Text in pieces in, without its reasoning out; holds back only what may be a part of a mark."""

    def __init__(self) -> None:
        self.thoughts: list[str] = []
        """The reasoning so far, in pieces."""
        self._where: Literal["before", "inside", "behind", "text"] = "before"
        self._held = ""

    def feed(self, piece: str) -> str:
        """The text that ``piece`` adds to the answer."""
        if self._where == "text":
            return piece
        self._held += piece
        if self._where == "before":
            self._look_for_the_beginning()
        if self._where == "inside":
            self._think()
        if self._where == "behind":
            self._held = self._held.lstrip()
            self._where = "text" if self._held else "behind"
        if self._where != "text":
            return ""
        text, self._held = self._held, ""
        return text

    def end(self) -> str:
        """The text that was held back; nothing more comes."""
        rest, self._held = self._held, ""
        if self._where != "inside":
            return rest
        self.thoughts.append(rest)
        return ""

    def _look_for_the_beginning(self) -> None:
        begun = self._held.lstrip()
        if begun.startswith(OPEN):
            self._held, self._where = begun[len(OPEN) :], "inside"
        elif not OPEN.startswith(begun):
            self._where = "text"

    def _think(self) -> None:
        thought, closed, rest = self._held.partition(CLOSE)
        if closed:
            self._held, self._where = rest, "behind"
        else:
            kept = next((size for size in range(len(CLOSE) - 1, 0, -1) if thought.endswith(CLOSE[:size])), 0)
            self._held = thought[len(thought) - kept :]
            thought = thought[: len(thought) - kept]
        self.thoughts.append(thought)
