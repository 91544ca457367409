"""Canaries: words that nobody else would say, each of which names whose it is."""

import random
import re
import string
from collections.abc import Iterable

LABEL_CHARS = 4
NUMBER_CHARS = 5
TAIL_CHARS = 12
FRAGMENT_CHARS = 2 + LABEL_CHARS + NUMBER_CHARS + 4  # A piece from the beginning that is long enough to be nothing else
_WORD = re.compile(rf"cn[a-z]{{{LABEL_CHARS}}}\d{{{NUMBER_CHARS}}}[a-z]{{{TAIL_CHARS}}}")
_WORD_IN_BYTES = re.compile(_WORD.pattern.encode())
ANYBODYS = rf"cn[a-z]+\d{{{NUMBER_CHARS}}}"  # an expression that finds all of them and is none


def canary(label: str, number: int, dice: random.Random) -> str:
    tail = "".join(dice.choice(string.ascii_lowercase) for _ in range(TAIL_CHARS))
    return f"cn{label}{number:0{NUMBER_CHARS}}{tail}"


def words_in(text: str) -> set[str]:
    return set(_WORD.findall(text))


def words_in_bytes(raw: bytes) -> set[str]:
    return {word.decode() for word in _WORD_IN_BYTES.findall(raw)}


def blurred(word: str) -> str:
    """An expression that finds the canary and does not hold it."""
    return f"c[n]{word[2:]}"


def beginning(word: str) -> str:
    return word[: 2 + LABEL_CHARS + NUMBER_CHARS]


def pieces_in(raw: bytes, words: Iterable[str]) -> set[str]:
    """Which of ``words`` stand in what need be no text, whole or cut off behind a piece."""
    return {word for word in words if word[:FRAGMENT_CHARS].encode() in raw}
