"""Keyword search in the memory of a scope: passages with scores, the best first. Pure.

Scores are those of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009): rare words count more,
and so do short passages. Characters of languages without blanks count as words.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from daemon.memory.memory_records import HistoryEntry, Note
from daemon.memory.text_diff import WORD

K1, B = 1.2, 0.75
"""How much a word counts that stands there again, and how much the length does: the values of that text."""

_words = re.compile(WORD).findall
_paragraphs = re.compile(r"\n\s*\n|\n(?=[-*#])").split

Source = Literal["memory", "history", "notes"]


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A passage of a memory."""

    source: Source
    text: str
    time: str = ""
    """When it was written; empty: nobody can tell."""
    index: int | None = None
    """Of an entry of the history."""


class ScoredPassage(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that was found."""

    passage: Passage
    score: float
    """Above 0; only the scores of one search can be compared."""


def passages_of(text: str, history: Sequence[HistoryEntry], notes: Sequence[Note]) -> list[Passage]:
    """The searched passages: the paragraphs of MEMORY.md, and each entry and note."""
    found = [Passage(source="memory", text=part.strip("\n")) for part in _paragraphs(text) if part.strip()]
    found += [
        Passage(source="history", text=entry.text, time=entry.time, index=index) for index, entry in enumerate(history)
    ]
    found += [Passage(source="notes", text=note.text, time=note.time) for note in notes]
    return found


def found_in(passages: Sequence[Passage], words: str, *, limit: int) -> list[ScoredPassage]:
    """The ``limit`` best passages that contain any of the words."""
    wanted = dict.fromkeys(_split(words))
    counted = [Counter(_split(passage.text)) for passage in passages]
    lengths = [count.total() for count in counted]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    scores = [0.0] * len(passages)
    for word in wanted:
        holding = [at for at, count in enumerate(counted) if word in count]
        rarity = math.log(1 + (len(passages) - len(holding) + 0.5) / (len(holding) + 0.5))
        for at in holding:
            times = counted[at][word]
            scores[at] += rarity * times * (K1 + 1) / (times + K1 * (1 - B + B * lengths[at] / mean))
    order = sorted((at for at, score in enumerate(scores) if score > 0), key=lambda at: (-scores[at], at))
    return [ScoredPassage(passage=passages[at], score=round(scores[at], 4)) for at in order[:limit]]


def _split(text: str) -> list[str]:
    return _words(unicodedata.normalize("NFKC", text).casefold())
