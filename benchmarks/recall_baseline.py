"""The plainest search that deserves the name: SQLite's porter stems, all words of the question but stop words by OR.

Chinese, which it would take for one long word, is given to it in single characters.
"""

import re
import sqlite3
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


def _apart(text: str) -> str:
    return HAN.sub(r" \1 ", text)
