"""The plainest searches: SQLite's porter stems with the words of the question by OR, and BM25.

Chinese, which it would take for one long word, is given to it in single characters.
"""

import heapq
import math
import re
import sqlite3
from collections import Counter
from collections.abc import Sequence

STOP = (
    "a about after again all am an and any are as at be because been before being but by can could "
    "did do does doing down during each few for from further had has have having he her here hers "
    "him his how i if in into is it its just me more most my no nor not now of off on once only or "
    "other our out over own s same she should so some such t than that the their them then there "
    "these they this those through to too under until up very was we were what when where which "
    "while who whom whose why will with would you your"
)
STOP_ENGLISH = frozenset(STOP.split())
STOP_CHINESE = frozenset("的了是我你他她它们在有和就不也都这那什么哪谁怎吗呢吧啊几多少请把被")
WORD = re.compile(r"[^\W_]+")
K1, B = 1.2, 0.75
HAN = re.compile(r"([\u3400-\u9fff])")


class Baseline:
    """An index of texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute("create virtual table chunk using fts5(text, tokenize='porter unicode61')")
        rows = ((number, _apart(text)) for number, text in enumerate(texts))
        self._db.executemany("insert into chunk (rowid, text) values (?, ?)", rows)

    def search(self, question: str, limit: int) -> list[int]:
        """Numbers of the best texts, the best first."""
        words = [word for word in WORD.findall(_apart(question).lower()) if word not in STOP_ENGLISH | STOP_CHINESE]
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in words)
        select = "select rowid from chunk where chunk match ? order by rank limit ?"
        return [number for (number,) in self._db.execute(select, (match, limit))]


class BM25:
    """Okapi BM25 over the words as they stand, with the usual constants."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [Counter(WORD.findall(_apart(text).lower())) for text in texts]
        self._in = Counter(word for text in self._texts for word in text)
        self._mean = sum(map(Counter.total, self._texts)) / max(1, len(texts))

    def search(self, question: str, limit: int) -> list[int]:
        """As ``Baseline.search``."""
        words = [word for word in WORD.findall(_apart(question).lower()) if word not in STOP_ENGLISH | STOP_CHINESE]
        scored = [(self._score(text, words), number) for number, text in enumerate(self._texts)]
        return [number for score, number in heapq.nlargest(limit, scored) if score > 0]

    def _score(self, text: "Counter[str]", words: Sequence[str]) -> float:
        norm = K1 * (1 - B + B * text.total() / self._mean)
        return sum(self._weight(word) * text[word] * (K1 + 1) / (text[word] + norm) for word in words if word in text)

    def _weight(self, word: str) -> float:
        return math.log(1 + (len(self._texts) - self._in[word] + 0.5) / (self._in[word] + 0.5))


def _apart(text: str) -> str:
    return HAN.sub(r" \1 ", text)
