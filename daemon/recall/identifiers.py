"""Search terms of words, identifiers, versions, paths and addresses. Pure.

What is more than letters and digits is found as a whole and by its parts: ``src/user_id.py`` by itself, ``user_id.py``,
``src``, ``user_id``, ``user``, ``id`` and ``py``.
"""

import re
from threading import local

from Stemmer import Stemmer

from daemon.recall.synonyms import MAIN_FORM

WHOLE_MAX_CHARS = 120
"""A longer one, such as an address with a signature, is found by its parts alone: nobody types it again. Of a longer
word so much is kept."""

PARTS_MAX = 48
"""Of one identifier; a line of code without blanks is no identifier."""

_SIGNS = {ord(sign): chr(0xE000 + ord(sign)) for sign in map(chr, range(0x21, 0x7F)) if not sign.isalnum()}
"""ASCII signs as characters for private use, which no tokenizer of FTS5 takes for the end of a word."""

_STRONG = re.compile(r"[^\w.+~\-]+|-?-[>-]|\.{2,}")
"""What stands between names."""
_WEAK = re.compile(r"[^\w]+|_+")
"""What stands within them."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MIXED = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_has_sign = re.compile(r"[!-/:-@\[-`{-~]").search
_is_ordinal = re.compile(r"\d+(?:st|nd|rd|th)").fullmatch
_version = re.compile(r"v?(\d+(?:\.\d+){1,5})(?![\d.])").match
_is_thousands = re.compile(r"\d{1,3}(?:,\d{3})+").fullmatch


class _Here(local):
    """A stemmer for each thread: it must not be called while it works."""

    def __init__(self) -> None:
        self.stem = Stemmer("english", 0).stemWord


_here = _Here()
_MAIN_OF_STEM = {_here.stem(form): main for form, main in MAIN_FORM.items()}
"""So that ``purchases`` is what ``purchase`` is."""


def stem(word: str) -> str:
    """The search term of ``word``, which has lower-case letters and digits."""
    word = MAIN_FORM.get(word, word)[:WHOLE_MAX_CHARS]
    if not word.isascii() or word.isdigit():
        return word
    stemmed = _here.stem(word)
    main = _MAIN_OF_STEM.get(stemmed)
    return _here.stem(main) if main else stemmed


def word_terms(word: str) -> list[str]:
    """The search terms of a word and of its parts. The whole word comes first."""
    word = word.replace("’", "'")
    if word.isalpha() and not _is_camel(word):
        return [stem(word.lower())]
    low = word.lower()
    low = low[:-2] if low.endswith("'s") else low
    if (bare := low.replace("'", "")).isalpha() and not _is_camel(word):
        return [stem(bare)]
    if _is_thousands(low):
        return [low.replace(",", "")[:WHOLE_MAX_CHARS]]
    if _has_sign(low):
        return _of_many(word, low)
    return _of_one(word, low) if low.isascii() else [low[:WHOLE_MAX_CHARS]]


def _of_one(word: str, low: str) -> list[str]:
    """Letters and digits, such as ``iPhone15``, ``3rd``, ``userId``."""
    if low.isdigit():
        return [low.lstrip("0")[:WHOLE_MAX_CHARS] or "0"]
    if _is_ordinal(low):
        return [low[:-2].lstrip("0")[:WHOLE_MAX_CHARS] or "0"]
    parts = _CAMEL.split(word) if _is_camel(word) else [low]
    parts = [stem(piece.lower()) for part in parts for piece in _MIXED.split(part)]
    return list(dict.fromkeys((stem(low), *parts)))[: 2 * PARTS_MAX]


def _of_many(word: str, low: str) -> list[str]:
    terms = dict.fromkeys([_encoded(low)] if len(low) <= WHOLE_MAX_CHARS else [])
    if version := _version(low):
        terms |= dict.fromkeys(_of_version(version[1]))
    names = [name.strip("._-+~") or name for name in _STRONG.split(word) if name]
    for name in names[:PARTS_MAX]:
        pieces = [piece for piece in _WEAK.split(name) if piece]
        if len(pieces) != 1 or name != pieces[0]:
            terms[_encoded(name.lower())] = None
        if 1 < len(pieces) <= 3 and "-" in name and name.replace("-", "").isalpha():
            # "e-mail" and "email", "well-known" and "wellknown".
            terms[stem("".join(pieces).lower())] = None
        for piece in pieces[:PARTS_MAX]:
            terms |= dict.fromkeys(word_terms(piece))
    return list(terms)[: 2 * PARTS_MAX]


def _of_version(numbers: str) -> list[str]:
    """``2.3.1`` by ``2.3.1``, and by ``2.3``."""
    parts = numbers.split(".")
    return [_encoded(".".join(parts[:upto])) for upto in range(len(parts), 1, -1)]


def _is_camel(word: str) -> bool:
    """Whether it is put together of words; not ``iPhone``, ``McDonald`` or ``JavaScript``."""
    if not 5 <= len(word) <= WHOLE_MAX_CHARS or word.islower() or word.isupper() or word.istitle():
        return False
    parts = _CAMEL.split(word)
    return (len(parts) > 2 or (len(parts) == 2 and word[0].islower())) and min(map(len, parts)) > 1


def _encoded(low: str) -> str:
    return low[:WHOLE_MAX_CHARS].translate(_SIGNS)
