"""Search terms for scripts without spaces or with suffixes: characters and their pairs. Pure."""

import re
from itertools import pairwise

from daemon.recall.stopwords import CHINESE, CHINESE_ABOUT_TALKING, CHINESE_KEPT, JAPANESE
from daemon.recall.synonyms import SAID_OTHERWISE

SIGNS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao; Burmese; Khmer
    "\u3005-\u3007\u3031-\u3035\u3041-\u30fa\u30fc-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # kana, bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
)
"""For a set of a regular expression."""

_HIRAGANA = re.compile(r"[\u3041-\u309f]+")
_KANA = re.compile(r"[\u3041-\u30ff]")


def run_terms(run: str) -> list[str]:
    """The characters of a run and their pairs, in order."""
    pairs = map("".join, pairwise(run))
    return [term for both in zip(run, pairs, strict=False) for term in both] + [run[-1]]


def _alternatives(*words: frozenset[str]) -> str:
    return "|".join(sorted({re.escape(word) for some in words for word in some}, key=lambda word: (-len(word), word)))


_CHINESE = re.compile(_alternatives(CHINESE_KEPT, CHINESE, CHINESE_ABOUT_TALKING))
_otherwise = re.compile(_alternatives(frozenset(SAID_OTHERWISE))).findall
_JAPANESE = re.compile(_alternatives(JAPANESE))


def said_otherwise(piece: str) -> list[str]:
    """The pairs of characters in other words for those in a piece of Chinese."""
    others = [other for word in _otherwise(piece) for other in SAID_OTHERWISE[word]]
    return [f"{first}{second}" for other in others for first, second in pairwise(other)]


def content_of(run: str) -> list[str]:
    """What of a run is neither grammar nor the way in which questions are put: pieces of it, in order."""
    if _KANA.search(run):
        return [
            piece for piece in _JAPANESE.sub(" ", run).split() if not (_HIRAGANA.fullmatch(piece) and len(piece) < 2)
        ]
    return _CHINESE.sub(lambda found: found[0] if found[0] in CHINESE_KEPT else " ", run).split()


def asked_terms(run: str) -> list[str]:
    """What is looked for of a run: its content, and the pairs in which that meets grammar.

    By itself a sign of content says little: ``看`` stands in many words, and ``看了`` means just one of them.
    """
    pieces = content_of(run)
    content = {sign for piece in pieces for sign in piece}
    edges = [first + second for first, second in pairwise(run) if (first in content) != (second in content)]
    return [term for piece in pieces for term in run_terms(piece)] + edges
