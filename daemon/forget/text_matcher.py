"""What a person wants to have forgotten: where it stands in a text, and the text without it. Pure.

A text is taken as units, its sentences and lines. What is looked for is found whatever the case, the width of letters
and the breaks between words; a unit that holds it, or a part of it, goes as a whole.
"""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from daemon.clock import MINUTE

FORGOTTEN = "[forgotten]"
"""Stands where something was that people can still see the place of."""

LEAST_CHARS = 2
"""Of what is looked for: a single letter stands in everything."""

MOST_CHARS = 500

# What stands before the text of a line: the time and the role of an entry, the sign of a list or a heading. It is not
# compared, and can hold nothing that a person would want to have forgotten.
_HEAD = re.compile(
    rf"[ \t]*\[(?:{MINUTE}|\?)\](?: \[RAW\] \d+ messages| (?:USER|ASSISTANT|TOOL|SYSTEM):?)? ?"
    r"|[ \t]*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)[ \t]+)+"
)
_IS_TIMED = re.compile(r"[ \t]*\[").match

# English ends a sentence by a sign and a blank, Chinese by the sign alone.
_SENTENCE = re.compile(r".+?(?:[.!?…]+[\"')\]”’]*(?=\s)|[。！？；]+[”’」』）]*|\Z)\s*", re.DOTALL)
_LINE = re.compile(r"[^\n\r\v\f\x85\u2028\u2029]*(?:\r\n|[\n\r\v\f\x85\u2028\u2029]|\Z)")

_UNSEEN = dict.fromkeys([0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF])
"""Characters that take no room: they hide a word from whoever looks for it."""

_RUN = re.compile(r"[a-z0-9]+")
"""What JSON writes as it is, letter by letter."""

_BLANKS = re.compile(r"\s+")
_EDGES = " \t\r\n\"'“”‘’«»()（）[]{}<>*_`.,;:!?。，、；：！？…-–—"


def folded(text: str) -> str:
    """``text`` as it is compared: case, width, invisible characters and the length of blanks do not count."""
    if text.isascii():
        return _BLANKS.sub(" ", text.lower())
    plain = unicodedata.normalize("NFKC", text).translate(_UNSEEN).casefold()
    return _BLANKS.sub(" ", unicodedata.normalize("NFKC", plain))


def core(text: str) -> str:
    """A unit without what stands around it in this place or that: two that say the same have the same core."""
    head = _HEAD.match(text)
    return folded(text[head.end() :] if head else text).strip(_EDGES)


def group_of(text: str) -> str:
    """What a unit is known by: the same for all that say the same, and it does not tell what."""
    return hashlib.sha256(core(text).encode()).hexdigest()[:24]


class _Unit(msgspec.Struct, frozen=True):
    head: str
    """What stands before the first sentence of a line; empty for the others."""
    body: str

    @property
    def text(self) -> str:
        return self.head + self.body

    @property
    def is_mark(self) -> bool:
        return self.body.strip() == FORGOTTEN


def units_of(text: str) -> list[str]:
    """The sentences and lines of ``text``, without what stands before and behind them."""
    return [unit.text.strip() for line in _lines(text) for unit in line if unit.body.strip() and not unit.is_mark]


def _lines(text: str) -> Iterator[list[_Unit]]:
    """The units of each line; joined they are the text."""
    for line in _LINE.findall(text):
        if not line:
            continue
        found = _HEAD.match(line)
        head = found[0] if found else ""
        bodies = _SENTENCE.findall(line[len(head) :]) or [""]
        yield [_Unit(head if not at else "", body) for at, body in enumerate(bodies)]


@dataclass(frozen=True)
class TextMatcher:
    """What is looked for: a phrase, or else all its words in one unit."""

    text: str
    chosen: Collection[str] | None = None
    """Groups of units that a person chose of those it stands in; None: all."""

    @cached_property
    def phrase(self) -> str:
        """It as it is compared."""
        return folded(self.text).strip()

    @cached_property
    def _words(self) -> tuple[re.Pattern[str], ...]:
        words = self.phrase.split()
        # Parts of words stand in many others, where there are spaces between words.
        return tuple(re.compile(rf"(?<!\w){re.escape(word)}(?!\w)") for word in words) if len(words) > 1 else ()

    def stands_in(self, text: str) -> bool:
        """Whether ``text`` is worth a closer look: nothing that holds it is ever missed."""
        plain = folded(text)
        return self.phrase in plain or (bool(self._words) and all(word.search(plain) for word in self._words))

    @cached_property
    def _longest_run(self) -> bytes:
        return max(_RUN.findall(self.phrase), key=len, default="").encode()

    def may_stand_in(self, raw: bytes) -> bool:
        """Whether JSON is worth decoding: nothing that holds it in any text is ever missed."""
        if b"\\u" in raw or not raw.isascii():  # a letter may stand there in another form
            return True
        return self.phrase.isascii() and self._longest_run in raw.lower()

    def hits(self, text: str) -> list[str]:
        """The units of ``text`` that hold it, as they stand there, and that were chosen."""
        if not self.stands_in(text):
            return []
        units = [unit for line in _lines(text) for unit in line]
        return [units[at].text.strip() for at in sorted(self._held(units))]

    def redacted(self, text: str) -> str:
        """``text`` without the units that hold it; the very same when there are none."""
        # What stood before and behind a unit may make up what is looked for, once they stand together.
        while self.stands_in(text):
            lines = list(_lines(text))
            units = [unit for line in lines for unit in line]
            held = self._held(units)
            if not held:
                # Cut in the middle of what the eye takes for one letter: rather all of it than a part.
                bodies = "".join("" if unit.is_mark else unit.body for unit in units)
                return "" if self.chosen is None and self.phrase in folded(bodies) else text
            text = _without(lines, held)
        return text

    def _held(self, units: Sequence[_Unit]) -> set[int]:
        """The numbers of the units that hold a part of it, and were chosen."""
        whole, ends = "", list[int]()
        for unit in units:
            plain = "" if unit.is_mark else folded(unit.body)
            # A blank at the end of one and one at the beginning of the next are a single one.
            whole += plain[1:] if whole.endswith(" ") and plain.startswith(" ") else plain
            ends.append(len(whole))
        held = set(self._spanned(whole, ends))
        if self._words:
            held |= {at for at, unit in enumerate(units) if self._has_words(folded(unit.body))}
        if self.chosen is not None:
            held = {at for at in held if group_of(units[at].text) in self.chosen}
        return held

    def _has_words(self, plain: str) -> bool:
        return all(word.search(plain) for word in self._words)

    def _spanned(self, whole: str, ends: Sequence[int]) -> Iterator[int]:
        at, begins = 0, 0
        found = whole.find(self.phrase)
        while found >= 0:
            upto = found + len(self.phrase)
            while at < len(ends) and ends[at] <= found:
                begins, at = ends[at], at + 1
            over, start = at, begins
            while over < len(ends) and start < upto:
                if ends[over] > start:
                    yield over
                start, over = ends[over], over + 1
            found = whole.find(self.phrase, found + 1)


class SentenceMatcher(msgspec.Struct, frozen=True):
    """What is looked for: units that say the same as known ones, wherever they were copied to."""

    groups: Collection[str]

    def hits(self, text: str) -> list[str]:
        """Those of ``text``."""
        return [unit for unit in units_of(text) if group_of(unit) in self.groups]

    def redacted(self, text: str) -> str:
        """``text`` without them; the very same when there are none."""
        lines = list(_lines(text))
        units = [unit for line in lines for unit in line]
        held = {at for at, unit in enumerate(units) if not unit.is_mark and group_of(unit.text) in self.groups}
        return _without(lines, held) if held else text


def _without(lines: Sequence[Sequence[_Unit]], held: Collection[int]) -> str:
    kept, number = list[str](), 0
    for line in lines:
        numbers = range(number, number + len(line))
        number += len(line)
        if not any(at in held for at in numbers):
            kept.append("".join(unit.text for unit in line))
            continue
        kept.append(_line_without(line, [at in held for at in numbers]))
    return "".join(kept)


def _line_without(line: Sequence[_Unit], held: Sequence[bool]) -> str:
    """What is left of a line; nothing of one that said no more, but for the time of an entry."""
    body = "".join(unit.body for unit, gone in zip(line, held, strict=True) if not gone)
    end = line[-1].text[len(line[-1].text.rstrip()) :]
    head = line[0].head
    if not body.strip():
        return f"{head.rstrip()} {FORGOTTEN}{_newline(end)}" if _IS_TIMED(head) else ""
    return head + (body if not held[-1] else body.rstrip() + _newline(end))


def _newline(end: str) -> str:
    return end.lstrip(" \t")
