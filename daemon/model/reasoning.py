"""Reasoning that a model writes into its text, kept apart from what it says.

DeepSeek R1, Qwen 3 and others write it between ``<think>`` and ``</think>`` where the server leaves it in, others
between marks of their own. A chat template may have written the first mark itself, so that only the second one comes.
gpt-oss writes channels (OpenAI's harmony format): see ``daemon.model.text_tool_calls``. Other marks that come later are
text.
"""

import re
from functools import lru_cache
from typing import Literal

from daemon.model.text_tool_calls import STARTS, Harmony

_TAG = re.compile(
    r"<((?:[\w:.-]*[:._-]|ant)?(?:think|thinking|thoughts?|reason|reasoning|reflection|scratchpad|analysis|monologue)(?::\w+)?)"
    r"(?:\s[^<>]{0,100})?>",
    re.IGNORECASE,
)
"""A tag of any name in use, alone or behind a prefix (``<mm:think>``), with or without attributes; no other word."""
_TAG_BEGINS = re.compile(r"<[\w:.-]{0,40}(?:\s[^<>]{0,100})?\Z")
OTHERS = {
    "[THINK]": "[/THINK]",  # Mistral
    "[BEGIN_REASONING]": "[END_REASONING]",
    "◁think▷": "◁/think▷",  # Kimi-VL
    "<|begin_of_thought|>": "<|end_of_thought|>",  # OpenThinker
    "<|START_THINKING|>": "<|END_THINKING|>",  # Command
    "<|thinking|>": "<|/thinking|>",
    "<|channel>thought": "<channel|>",  # Gemma
    "<unused94>thought": "<unused95>",  # MedGemma
    "Here is my thought process:": "Here is my response:",  # Granite
}
"""Marks that are no tags, with those that end them."""
LATE = (
    *("</think>", "</thinking>", "</seed:think>", "</mm:think>", "</longcat_think>", "[/THINK]", "◁/think▷"),
    *("<|end_of_thought|>", "<|END_THINKING|>"),
)
"""Marks that end reasoning although it never began; the others are ordinary words of XML."""
_ANSWER = re.compile(
    r"<(answer|response|final_answer|output)>|<\|(begin_of_solution|START_RESPONSE|START_TEXT)\|>", re.IGNORECASE
)
_ANSWER_ENDS = {
    "begin_of_solution": "<|end_of_solution|>",
    "start_response": "<|END_RESPONSE|>",
    "start_text": "<|END_TEXT|>",
}
"""What some models put around the answer behind their reasoning."""
_ANSWER_BEGINS = ("<answer>", "<response>", "<final_answer>", "<output>")
_MARKS_BEGIN = ("<|begin_of_solution|>", "<|START_RESPONSE|>", "<|START_TEXT|>")

_CLOSES = re.compile("|".join(map(re.escape, LATE)), re.IGNORECASE)
_HINT = re.compile(r"think|_thought\|", re.IGNORECASE)
LONGEST = max(map(len, LATE))
_QUOTES = "`\"'“‘「"
"""In front of a mark: the text is about the mark."""

_OPENS_ITSELF = re.compile(
    r"deepseek-r1|deepseek-reasoner|qwq|-thinking|-think\b|reasoning|magistral|glm-z1", re.IGNORECASE
)
"""Names of models whose template may write the first mark; their text is held back until the second one has come."""


def is_thinker(model: str) -> bool:
    """Whether a model of this name may begin in the middle of its reasoning."""
    return _OPENS_ITSELF.search(model) is not None


class ReasoningFilter:
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
        self._close = re.compile("")
        self._close_mark = ""
        self._answer_end = ""
        """The mark behind the answer, where one stood in front of it."""
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
        if self._where == "text" and not (self._open or self._answer_end):
            return piece
        self._held += piece
        if self._where == "before" and self._has_channels():
            piece, self._held = self._held, ""
            return self._channels(piece)
        if self._where == "inside":
            self._think()
        if self._where == "behind":
            self._come_out()
        return self._text() if self._where == "text" else ""

    def end(self) -> str:
        """The text that was held back; nothing more comes."""
        if self.harmony is not None:
            text = self.harmony.end()
            self._take_thoughts()
            return text
        rest, self._held = self._held, ""
        if self._where != "inside":
            return "" if self._answer_end and rest == self._answer_end else rest
        self.thoughts.append(rest)
        return ""

    def _goes_in(self) -> bool:
        """Whether the text held begins with a mark that begins reasoning; then the mark is taken away."""
        begun = self._held.lstrip()
        mark, close = "", ""
        if tag := _TAG.match(begun):
            mark, close = tag[0], f"</{tag[1]}>"
        else:
            mark, close = next((pair for pair in OTHERS.items() if begun.lower().startswith(pair[0].lower())), ("", ""))
        if not mark:
            return False
        self._held, self._where, self._close_mark = begun[len(mark) :], "inside", close
        self._close = re.compile(re.escape(close), re.IGNORECASE)
        return True

    def _come_out(self) -> None:
        """Take away what stands between reasoning and text: the same mark again, more reasoning, marks of an answer."""
        while self._where == "behind":
            self._held = begun = self._held.lstrip()
            if self._close_mark and begun.lower().startswith(self._close_mark.lower()):
                self._held = begun[len(self._close_mark) :]
            elif self._goes_in():
                self._think()
            elif not self._answer_end and (answer := _ANSWER.match(begun)):
                self._held = begun[answer.end() :]
                self._answer_end = _ANSWER_ENDS.get((answer[2] or "").lower(), f"</{answer[1]}>")
            elif _may_become(begun, self._close_mark, *OTHERS, *_ANSWER_BEGINS, *_MARKS_BEGIN):
                return
            else:
                self._where = "text"

    def _has_channels(self) -> bool:
        """Look for what the text begins with; whether that is a channel."""
        begun = self._held.lstrip()
        if self._goes_in():
            return False
        if any(begun.startswith(mark) for mark in STARTS) and not begun.startswith(tuple(OTHERS)):
            self.harmony = Harmony()
        elif self._inside:
            if found := _closing(self._held):
                self.thoughts.append(self._held[: found.start()])
                self._held, self._where = self._held[found.end() :], "behind"
        elif not _may_become(begun, *OTHERS, *STARTS):
            self._where, self._open = "text", True
        return self.harmony is not None

    def _think(self) -> None:
        thought, found = self._held, self._close.search(self._held)
        if found:
            thought, self._held, self._where = self._held[: found.start()], self._held[found.end() :], "behind"
        else:
            kept = _tail(thought, (self._close_mark,))
            self._held = thought[len(thought) - kept :]
            thought = thought[: len(thought) - kept]
        self.thoughts.append(thought)

    def _text(self) -> str:
        text, self._held = self._held, ""
        if self._answer_end:
            text = text.replace(self._answer_end, "")
            kept = _tail(text, (self._answer_end,))
            self._held = text[len(text) - kept :]
            return text[: len(text) - kept]
        if not self._open:
            return text
        seen, self._last = self._last + text, (self._last + text)[-LONGEST:]
        if _HINT.search(seen):
            whole = "".join(self._said) + text
            found = _closing(whole)
            before = whole[: found.start() if found else len(whole)]
            if _TAG.search(before) or any(mark in before for mark in OTHERS):
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
        self._where, self._held = "behind", whole[found.end() :]
        return self.feed("")

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
    thinking = ReasoningFilter()
    found = thinking.feed(text)
    return found + thinking.end()


def _closing(text: str) -> re.Match[str] | None:
    """The first mark that ends reasoning, and is not talked about: in quotation marks, or within code."""
    for found in _CLOSES.finditer(text):
        before = text[: found.start()]
        if not before.endswith(tuple(_QUOTES)) and before.count("```") % 2 == 0:
            return found
    return None


def _tail(text: str, marks: tuple[str, ...]) -> int:
    """How many of the last characters may be the beginning of a mark."""
    found = _beginning(marks).search(text, max(0, len(text) - max(map(len, marks))))
    return len(text) - found.start() if found else 0


@lru_cache(maxsize=64)
def _beginning(marks: tuple[str, ...]) -> re.Pattern[str]:
    """Finds the beginning of a mark, longer than nothing and shorter than the mark, at the end of a text."""
    beginnings = {mark[:size] for mark in marks for size in range(1, len(mark))}
    longest_first = sorted(map(re.escape, beginnings), key=len, reverse=True)
    return re.compile(f"(?:{'|'.join(longest_first)})\\Z", re.IGNORECASE)


def _may_become(begun: str, *marks: str) -> bool:
    """Whether a text may go on to begin with one of the marks, or with a tag."""
    lower = begun.lower()
    return _TAG_BEGINS.match(begun) is not None or any(mark.lower().startswith(lower) for mark in marks)
