"""Queries for QMD: typed lines with one word each. Pure.

A line of words is found only where all of them stand, and a question in plain words almost nowhere; so every word has a
line of its own, and QMD joins what it finds by each. A line of plain text would have models read first.
"""

import re
import unicodedata

from daemon.recall.search_results import Mode
from daemon.recall.stopwords import ABOUT_TALKING, ENGLISH
from daemon.recall.unspaced_terms import SIGNS, content_of

WORDS_MAX = 24
"""Words that are asked for; each is a search of its own."""

WORD_MAX_CHARS = 64

QUESTION_MAX_CHARS = 4_000
"""Of a longer question this much is looked at: its beginning and its end, half each."""

MEANT_MAX_CHARS = 500
"""Of what is to become one vector."""

_words = re.compile(rf"[{SIGNS}]+|[^\W_{SIGNS}](?:[\w.'’-]*\w)?").findall
_is_run = re.compile(f"[{SIGNS}]").match
_POSSESSIVE = re.compile(r"['’]s?$")
_BLANKS = re.compile(r"\s+")
_EXCLUDED = re.compile(r"(?<!\S)-+(?=\S)")
"""QMD takes it for an exclusion, and refuses that in what is to become a vector."""


def typed_lines(query: str, mode: Mode) -> str:
    """The lines for a message or question; empty if it contains no search terms."""
    plain = _plain(query)
    lines = [f"lex: {word}" for word in asked_words(plain)] if mode != "vsearch" else []
    if mode != "search" and (meant := _meant(plain)):
        lines.append(f"vec: {meant}")
    return "\n".join(lines)


def asked_words(text: str) -> list[str]:
    """The meaningful words, longest first. QMD gives double weight to the first.

    When all of them are such as stand everywhere, those; at most ``WORDS_MAX``.
    """
    said, rest = dict[str, None](), dict[str, None]()
    for word in _words(text):
        if _is_run(word):
            said |= dict.fromkeys(pair for piece in content_of(word) for pair in _pairs(piece))
            rest |= dict.fromkeys(_pairs(word))
        else:
            # QMD keeps an apostrophe, and finds then what has one too.
            low = _POSSESSIVE.sub("", word.casefold())[:WORD_MAX_CHARS]
            (rest if _is_stop(low) else said)[low] = None
    # sorted() keeps the order of those that are as long.
    return sorted(said or rest, key=len, reverse=True)[:WORDS_MAX]


def _pairs(run: str) -> list[str]:
    """QMD finds a run of Chinese as it stands or not at all; what is asked need not stand there so."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _is_stop(low: str) -> bool:
    bare = low.replace("'", "").replace("’", "")
    return bare in ENGLISH or bare in ABOUT_TALKING


def _plain(query: str) -> str:
    half = QUESTION_MAX_CHARS // 2
    text = query if len(query) <= QUESTION_MAX_CHARS else f"{query[:half]} {query[-half:]}"
    # Arguments of a program hold no null bytes, and no halves of characters.
    shown = "".join(
        char if unicodedata.category(char)[0] != "C" else " " for char in unicodedata.normalize("NFKC", text)
    )
    return _BLANKS.sub(" ", shown).strip()


def _meant(plain: str) -> str:
    text = _EXCLUDED.sub("", plain)[:MEANT_MAX_CHARS].strip()
    return text if any(char.isalnum() for char in text) else ""
