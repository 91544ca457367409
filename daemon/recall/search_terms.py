"""The search terms of texts and queries for the full-text index. Pure.

All is done here, so that a text and a question can never be treated differently: letters are folded, English words
stemmed, scripts without blanks cut into characters and pairs, identifiers taken whole and in parts. What comes out are
terms without blanks or ASCII signs; FTS5 gets them with a blank between, and has nothing left to do (``TOKENIZER``).
"""

import datetime as dt
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from daemon.recall.beside_dates import EventDate, event_date
from daemon.recall.chinese_characters import SIMPLIFIED, simplified
from daemon.recall.date_spans import Span
from daemon.recall.dates import DateRange, ranges_of, spans_in
from daemon.recall.person_names import names_in_characters, names_in_pinyin
from daemon.recall.word_classes import CLASSES_MAX, classes_of
from daemon.recall.word_forms import ABOUT_TALKING, ENGLISH, SIGNS, asked_terms, run_terms, said_otherwise, word_terms

TOKENIZER = "ascii"
"""FTS5's: words end at ASCII signs alone, all else belongs to them. ``unicode61`` drops what its tables do not know,
such as rarer Chinese characters and emoji."""

TERMS_MAX = 64
"""Of a question: each of them costs a look at the index."""

QUESTION_MAX_CHARS = 4_000
"""Of a longer question so much is looked at, half from its beginning and half from its end: there it is said what is
wanted of what was pasted between."""

CACHE_WORDS = 100_000
"""Words whose terms are kept, 16 MB; then it begins anew. A person's words are a tenth of that."""

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u0640\u064b-\u065f\u0670"  # accents
    "\u0900-\u0963\u0966-\u0dff"  # Indic scripts, where vowels are marks and no letters
)
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u0640\u064b-\u065f\u0670]"
)
_UNSEEN: dict[int, str | None] = dict.fromkeys(
    [0x00, 0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF, 0xFE0F]
)
"""Characters that take no room: with them a word looks the same and is another."""
_AS_TYPED = (
    SIMPLIFIED
    | _UNSEEN
    | {ord(sign): typed for signs, typed in (("‘’", "'"), ("“”", '"'), ("\u2010", "-"), ("–—", " ")) for sign in signs}
)
_may_be_accented = re.compile("[\u00c0-\u2fff]").search

_JOIN = r"['’._\-/@:+#~=&?%\\]{1,3}"
_ASCII = r"[A-Za-z0-9]+"
_ENDING = r"(?:\+\+|\#(?![A-Za-z0-9]))?"
_IDENTIFIER = rf"\d{{1,3}}(?:,\d{{3}})+(?![0-9])|{_ASCII}(?:{_JOIN}{_ASCII})*{_ENDING}"
_LETTER = rf"[^\W_{SIGNS}]"
_PICTURES = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_WORD = rf"(?:{_LETTER}|[{_MARKS}])+"
_tokens_ascii = re.compile(_IDENTIFIER).findall
_tokens = re.compile(
    rf"[{SIGNS}]+|\d{{1,3}}(?:,\d{{3}})+(?!\d)|{_WORD}(?:{_JOIN}{_WORD})*{_ENDING}|[{_PICTURES}]"
).findall
_is_run = re.compile(f"[{SIGNS}]").match


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """What of a question is looked for."""

    text: str = ""
    """The question."""
    now: dt.datetime | None = None
    """When it is asked, in the time zone of whoever asks."""
    terms: tuple[str, ...] = ()
    """The words that say something, each once; any of them may stand in what is found."""
    rest: tuple[str, ...] = ()
    """The others; asked for when nothing at all is found by ``terms``."""
    classes: dict[str, set[str]] = {}
    """The classes of its words, as ``word_classes.classes_of`` gives them."""
    dates: tuple[DateRange, ...] = ()
    """The days that it names, in the order in which it does."""
    event: EventDate | None = None
    """The days beside an event that it names, if it names no other days."""
    pinyin: tuple[tuple[str, ...], ...] = ()
    """Names that its words may spell, as syllables; they may be written in Chinese characters."""
    names: tuple[tuple[str, ...], ...] = ()
    """Names in its Chinese characters, as the terms of their pinyin; all terms of a name belong together."""


class _Terms(dict[str, str]):
    """From a word as it stands to its terms, with a blank between."""

    def __missing__(self, word: str) -> str:
        terms = " ".join(run_terms(word) if _is_run(word) else word_terms(word))
        if len(word) <= 40:
            if len(self) >= CACHE_WORDS:
                self.clear()
            self[word] = terms
        return terms


_cached = _Terms()
_terms_of = _cached.__getitem__


def folded(text: str) -> str:
    """``text`` without differences of width, accents, invisible characters and traditional characters."""
    if text.isascii():
        return text.replace("\0", "")
    plain = unicodedata.normalize("NFKC", text).translate(_AS_TYPED)
    if _may_be_accented(plain) and _ACCENTS.search(apart := unicodedata.normalize("NFD", plain)):
        plain = unicodedata.normalize("NFC", _ACCENTS.sub("", apart))
    return plain


def _words(text: str) -> list[str]:
    # What models write is not ASCII mostly because of its quotes and dashes.
    plain = folded(text)
    return _tokens_ascii(plain) if plain.isascii() else _tokens(plain)


def indexed(text: str) -> str:
    """A text as FTS5 gets it: its terms, in order, with a blank between."""
    return " ".join(map(_terms_of, _words(text)))


def terms(text: str) -> list[str]:
    """The terms of a text, in order; 20 µs for 300 characters of English."""
    return indexed(text).split()


def query_terms(text: str, now: dt.datetime | None = None) -> Query:
    """What is looked for when somebody says or asks ``text``; of nothing but signs, nothing.

    Args:
        text: of any length.
        now: when it is said, in the time zone of whoever says it; without it no days are read.
    """
    text = _ends_of(text)
    spans = spans_in(text, now) if now else []
    wanted, rest, otherwise = dict[str, None](), dict[str, None](), dict[str, None]()
    said = list[str]()
    for part, is_day in _apart(text, spans):
        words = _words(part)
        said += words
        for word in words:
            content, all_of_it = _asked(word)
            wanted |= dict.fromkeys(_of_day(all_of_it, content) if is_day else content)
            otherwise |= dict.fromkeys(said_otherwise(word) if _is_run(word) and not is_day else ())
            rest |= dict.fromkeys(all_of_it)
    for span in spans:
        if span.is_relative:
            rest |= dict.fromkeys(terms(text[span.begin : span.end]))
    dates = ranges_of(spans, now) if now else ()
    related = classes_of((*wanted, *otherwise))
    classes = {each: related[each] for each in islice(classes_of(wanted), CLASSES_MAX)}
    # Who only names a day means all that was said on it.
    wanted = wanted | otherwise if wanted or dates else rest
    others = (term for term in rest if term not in wanted)
    return Query(
        text=text,
        now=now,
        terms=_chosen(wanted),
        rest=_chosen(others),
        classes=classes,
        dates=dates,
        event=None if dates or not now else event_date(simplified(text)),
        pinyin=tuple(names_in_pinyin(said)),
        names=tuple(name for word in said if _is_run(word) for name in names_in_characters(word)),
    )


def says_something(text: str) -> bool:
    """Whether any word of ``text`` is more than one of those that stand everywhere."""
    return any(_asked(word)[0] for word in _words(text))


def match_expression(terms: Iterable[str]) -> str:
    """What FTS5 is asked by, any of ``terms``; empty when there are none: then nothing may be asked."""
    quoted = (term.replace("\0", "").replace('"', '""') for term in terms)
    return " OR ".join(f'"{term}"' for term in quoted if term.strip())


def _apart(text: str, spans: Iterable[Span]) -> Iterator[tuple[str, bool]]:
    """``text`` in parts, and whether they name a day as it may have been written; without what only says how long ago.

    Who wrote something last May did not write "last May".
    """
    at = 0
    for span in spans:
        yield text[at : span.begin], False
        if not span.is_relative:
            yield text[span.begin : span.end], True
        at = span.end
    yield text[at:], False


def _asked(word: str) -> tuple[list[str], list[str]]:
    """The terms of a word that say something, and all of them."""
    if _is_run(word):
        return asked_terms(word), run_terms(word)
    found = word_terms(word)
    return [] if _is_stop(word) else _without_scraps(found), found


UNITS = frozenset(terms("day days eve week weekend month year half quarter night evening early mid late start end"))
"""Terms of words for parts of time."""


def _of_day(all_of_it: list[str], content: list[str]) -> list[str]:
    """What of a word within a date is looked for: ``may`` says something there, and ``月`` or ``week`` do not."""
    if all_of_it == ["may"]:
        return all_of_it
    return [term for term in content if (term.isascii() or len(term) > 1) and term not in UNITS]


def _ends_of(text: str) -> str:
    half = QUESTION_MAX_CHARS // 2
    if len(text) <= QUESTION_MAX_CHARS:
        return text
    first, *_ = text[:half].rsplit(None, 1) or ("",)
    *_, last = text[-half:].split(None, 1) or ("",)
    return f"{first}\n{last}"


def _is_stop(word: str) -> bool:
    low = word.lower().replace("'", "").replace("’", "")
    return low in ENGLISH or low in ABOUT_TALKING


def _without_scraps(found: list[str]) -> list[str]:
    """Without single letters and digits of an identifier: they stand everywhere."""
    return [term for term in found if len(term) > 1] or found


def _chosen(wanted: Iterable[str]) -> tuple[str, ...]:
    """At most ``TERMS_MAX``, half of them the first and half the last."""
    all_of_it = tuple(wanted)
    if len(all_of_it) <= TERMS_MAX:
        return all_of_it
    return all_of_it[: TERMS_MAX // 2] + all_of_it[-TERMS_MAX // 2 :]
