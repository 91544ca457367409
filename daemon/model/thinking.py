"""Reasoning that a model writes into its text, kept apart from what it says.

DeepSeek R1, Qwen 3 and others write it between ``<think>`` and ``</think>`` where the server leaves it in, others
between marks of their own. A chat template may have written the first mark itself, so that only the second one comes.
gpt-oss writes channels (OpenAI's harmony format): see ``daemon.model.harmony``. Other marks that come later are text.
"""

import re
from typing import Literal

from daemon.model.harmony import STARTS, Harmony

OPEN = ("<think>", "<thinking>", "<seed:think>", "[THINK]", "◁think▷", "<thought>", "<reasoning>")
CLOSE = ("</think>", "</thinking>", "</seed:think>", "[/THINK]", "◁/think▷", "</thought>", "</reasoning>")
"""Marks of DeepSeek and Qwen, of older models, of Seed, Mistral, Kimi-VL and Gemini, and of prompts for reasoning."""
LATE = CLOSE[:5]
"""Marks that end reasoning although it never began; the others are ordinary words of XML."""

_CLOSES = re.compile("|".join(map(re.escape, LATE)))
_HINT = re.compile(r"</?(?:seed:)?think|\[/?THINK|◁/?think")
LONGEST = max(map(len, CLOSE))
_QUOTES = "`\"'“‘「"
"""In front of a mark: the text is about the mark."""

_OPENS_ITSELF = re.compile(
    r"deepseek-r1|deepseek-reasoner|qwq|-thinking|-think\b|reasoning|magistral|glm-z1", re.IGNORECASE
)
"""Names of models whose template may write the first mark; their text is held back until the second one has come."""


def is_thinker(model: str) -> bool:
    """Whether a model of this name may begin in the middle of its reasoning."""
    return _OPENS_ITSELF.search(model) is not None


class Thinking:
    """Text in pieces in, without its reasoning out; holds back only what may be a part of a mark."""

    def __init__(self, *, inside: bool = False) -> None:
        """``inside``: the text may begin within the reasoning; nothing of it is given out before that is known."""
        self.thoughts: list[str] = []
        """The reasoning so far, in pieces."""
        self.unsaid = False
        """What had been given out turned out to be reasoning: a mark came that ends what never began."""
        self.harmony: Harmony | None = None
        """The channels, where the text has any."""
        self._inside = inside
        self._where: Literal["before", "inside", "behind", "text"] = "before"
        self._close = CLOSE[0]
        self._held = ""
        self._said: list[str] = []
        """What was given out while a mark may still come that takes it back, in pieces; empty when none may."""
        self._last = ""
        """The end of it, in which a mark may have begun."""
        self._open = False
        """Whether such a mark may still come."""

    def feed(self, piece: str) -> str:
        """The text that ``piece`` adds to the answer."""
        if self.harmony is not None:
            return self._channels(piece)
        if self._where == "text" and not self._open:
            return piece
        self._held += piece
        if self._where == "before" and self._has_channels():
            piece, self._held = self._held, ""
            return self._channels(piece)
        if self._where == "inside":
            self._think()
        if self._where == "behind":
            self._held = self._held.lstrip()
            self._where = "text" if self._held else "behind"
        return self._text() if self._where == "text" else ""

    def end(self) -> str:
        """The text that was held back; nothing more comes."""
        if self.harmony is not None:
            text = self.harmony.end()
            self._take_thoughts()
            return text
        rest, self._held = self._held, ""
        if self._where != "inside":
            return rest
        self.thoughts.append(rest)
        return ""

    def _has_channels(self) -> bool:
        """Look for what the text begins with; whether that is a channel."""
        begun = self._held.lstrip()
        for mark, close in zip(OPEN, CLOSE, strict=True):
            if begun.startswith(mark):
                self._held, self._where, self._close = begun[len(mark) :], "inside", close
                return False
        if any(begun.startswith(mark) for mark in STARTS):
            self.harmony = Harmony()
        elif self._inside:
            if found := _closing(self._held):
                self.thoughts.append(self._held[: found.start()])
                self._held, self._where = self._held[found.end() :], "behind"
        elif not any(mark.startswith(begun) for mark in (*OPEN, *STARTS)):
            self._where, self._open = "text", True
        return self.harmony is not None

    def _think(self) -> None:
        thought, closed, rest = self._held.partition(self._close)
        if closed:
            self._held, self._where = rest, "behind"
        else:
            kept = _tail(thought, (self._close,))
            self._held = thought[len(thought) - kept :]
            thought = thought[: len(thought) - kept]
        self.thoughts.append(thought)

    def _text(self) -> str:
        text, self._held = self._held, ""
        if not self._open:
            return text
        seen, self._last = self._last + text, (self._last + text)[-LONGEST:]
        if _HINT.search(seen):
            whole = "".join(self._said) + text
            found = _closing(whole)
            if any(mark in whole[: found.start() if found else len(whole)] for mark in OPEN):
                self._open = False
                self._said.clear()
                return text
            if found is not None:
                return self._take_back(whole, found)
        kept = _tail(text, LATE)
        text, self._held = text[: len(text) - kept], text[len(text) - kept :]
        self._said.append(text)
        return text

    def _take_back(self, whole: str, found: re.Match[str]) -> str:
        self.thoughts.append(whole[: found.start()])
        self.unsaid, self._open = any(self._said), False
        self._said.clear()
        text = whole[found.end() :].lstrip()
        self._where = "text" if text else "behind"
        return text

    def _channels(self, piece: str) -> str:
        assert self.harmony is not None  # noqa: S101 - only called where it is
        text = self.harmony.feed(piece)
        self._take_thoughts()
        return text

    def _take_thoughts(self) -> None:
        assert self.harmony is not None  # noqa: S101 - as above
        self.thoughts += self.harmony.thoughts
        self.harmony.thoughts.clear()


def said(text: str) -> str:
    """What a whole text says beside its reasoning."""
    thinking = Thinking()
    found = thinking.feed(text)
    return found + thinking.end()


def _closing(text: str) -> re.Match[str] | None:
    """The first mark that ends reasoning, and is not talked about: in quotation marks, or within code."""
    for found in _CLOSES.finditer(text):
        before = text[: found.start()]
        if before[-1:] not in _QUOTES and before.count("```") % 2 == 0:
            return found
    return None


def _tail(text: str, marks: tuple[str, ...]) -> int:
    """How many of the last characters may be the beginning of a mark."""
    longest = min(len(text), max(map(len, marks)) - 1)
    return next((size for size in range(longest, 0, -1) if any(mark.startswith(text[-size:]) for mark in marks)), 0)
