"""Where a long text is cut, so that each part fits into one message of a platform. Pure.

Blocks are kept whole where they fit. One that is longer than a part is cut at a line's end, a sentence, a word, in this
order; a fenced code block that has to be cut is closed and opened again. A link, inline code and what people see as one
character are cut only when nothing else is left. The same text is always cut alike: a part is known by its number.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from channels.base import Piece
from channels.text.markdown_blocks import Block, Table, blocks, opens_code, table_in

# Where a text may be cut without tearing what people see as one character (Unicode, UAX 29, what is needed of it).

ZWJ = "\u200d"
"""Joins emoji to one (U+200D)."""

_REGIONAL = ("\U0001f1e6", "\U0001f1ff")
"""Two of these are a flag (rules GB12 and GB13)."""

_SKIN = ("\U0001f3fb", "\U0001f3ff")
_TAGS = ("\U000e0020", "\U000e007f")
"""They follow a flag that has no code of its own, as that of Scotland."""

_JOINERS = frozenset("\u200c\u200d\uff9e\uff9f")

_PREPENDED = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e"
    "\U000110bd\U000110cd\U000111c2\U000111c3\U0001193f\U00011941\U00011a3a\U00011d46\U00011f02"
)
"""Signs that belong to what follows (rule GB9b)."""

_VIRAMA = 9
"""Combining class of the signs that join two consonants to one (rule GB9c)."""

_PLAIN_BELOW = "\u0300"
"""Before it there are no characters but single ones, a line's end of two excepted."""


def is_boundary(text: str, at: int) -> bool:
    """Whether ``text`` may be cut before index ``at``; at its ends it may."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if after < _PLAIN_BELOW and before < _PLAIN_BELOW:
        return not (before == "\r" and after == "\n")
    return not (_extends(after) or before == ZWJ or before in _PREPENDED or _joined(text, at, before, after))


def boundary_before(text: str, at: int, *, least: int) -> int:
    """The last index up to ``at``, and above ``least``, before which ``text`` may be cut; ``at`` when there is none."""
    for index in range(at, least, -1):
        if is_boundary(text, index):
            return index
    return at


def _extends(char: str) -> bool:
    """Whether it belongs to what stands before it (rules GB9 and GB9a)."""
    return (
        char in _JOINERS
        or _SKIN[0] <= char <= _SKIN[1]
        or _TAGS[0] <= char <= _TAGS[1]
        or unicodedata.category(char) in ("Mn", "Me", "Mc")
    )


def _joined(text: str, at: int, before: str, after: str) -> bool:
    if _REGIONAL[0] <= after <= _REGIONAL[1] and _REGIONAL[0] <= before <= _REGIONAL[1]:
        return _regional_before(text, at) % 2 == 1
    if unicodedata.combining(before) == _VIRAMA:
        return unicodedata.category(after) == "Lo"
    return _same_syllable(before, after)


def _regional_before(text: str, at: int) -> int:
    begin = at
    while begin > 0 and _REGIONAL[0] <= text[begin - 1] <= _REGIONAL[1]:
        begin -= 1
    return at - begin


def _same_syllable(before: str, after: str) -> bool:
    """Korean written in parts (rules GB6 to GB8)."""
    one, other = _hangul(before), _hangul(after)
    return (
        (one == "L" and other in ("L", "V", "LV", "LVT"))
        or (one in ("V", "LV") and other in ("V", "T"))
        or (one in ("T", "LVT") and other == "T")
    )


def _hangul(char: str) -> str:
    code = ord(char)
    if 0xAC00 <= code <= 0xD7A3:
        return "LV" if (code - 0xAC00) % 28 == 0 else "LVT"
    if 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return "L"
    if 0x1160 <= code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6:
        return "V"
    return "T" if 0x11A8 <= code <= 0x11FF or 0xD7CB <= code <= 0xD7FB else ""


Length = Callable[[str], int]
"""How long a text is to a platform; never shrinks when the text grows."""

BREAKS = ("\n\n", "\n", ". ", "! ", "? ", "。", "！", "？", "; ", "；", ", ", "，", " ")
"""Where a block is cut, the best place first; the break stays at the end of its part."""

MIN_SHARE = 0.5
"""A part shorter than this is worse than one that is cut at a worse place."""

FENCE_SHARE = 0.25
"""Code is cut as code only while its fences take no more of a part than that, and a table with its head."""

SPAN_MAX = 2_000
"""Longest link or inline code that is kept whole, in characters."""

_spans = re.compile(
    rf"`[^`\n]{{1,{SPAN_MAX}}}`"
    rf"|!?\[[^\[\]\n]{{0,500}}\]\([^()\s]{{0,{SPAN_MAX}}}\)"
    rf"|https?://\S{{1,{SPAN_MAX}}}"
).finditer


def split(text: str, longest: int, length: Length = len) -> list[str]:
    """``text`` in parts of at most ``longest`` by ``length``; those that would be blank are left out."""
    return list(parts(text, longest, length))


def parts(text: str, longest: int, length: Length = len) -> Iterator[str]:
    """The parts of ``split``, one after the other."""
    if length(text) <= longest:
        if text.strip():
            yield text
        return
    for part in _Cutter(text, longest, length).parts():
        if part.strip():
            yield part


class _Cutter:
    """Cuts one text."""

    def __init__(self, text: str, longest: int, length: Length) -> None:
        self._text = text
        self._longest = longest
        self._length = length
        self._begin = 0
        """Where the part begins that is being filled."""
        self._at = 0
        """Where it ends so far; between blocks."""
        self._opening = ""
        """What is put before it."""

    def parts(self) -> Iterator[str]:
        for block in blocks(self._text):
            if not self._fits(self._begin, block.end):
                if self._at > self._begin and (self._alone(block) or self._is_long_enough()):
                    yield self._taken(self._at)
                if not self._fits(self._begin, block.end):
                    yield from self._cut(block)
            self._at = block.end
        if self._begin < len(self._text):
            yield self._taken(len(self._text))

    def _taken(self, end: int, closing: str = "") -> str:
        part = f"{self._opening}{self._text[self._begin : end]}"
        self._opening, self._begin, self._at = "", end, end
        return f"{part[:-1] if closing and part.endswith(chr(10)) else part}{closing}"

    def _fits(self, begin: int, end: int, more: str = "") -> bool:
        return self._length(f"{self._opening}{self._text[begin:end]}{more}") <= self._longest

    def _alone(self, block: Block) -> bool:
        return self._length(self._text[block.begin : block.end]) <= self._longest

    def _is_long_enough(self) -> bool:
        return self._length(self._text[self._begin : self._at]) >= self._longest * MIN_SHARE

    def _cut(self, block: Block) -> Iterator[str]:
        """Parts of a block that is longer than one; what is left of it is the beginning of the next."""
        fence = block.fence
        if fence is not None and self._length(fence.opening + fence.closing) > self._longest * FENCE_SHARE:
            fence = None
        table = table_in(self._text, block) if block.fence is None else None
        while not self._fits(self._begin, block.end):
            if fence is None or self._begin >= fence.upto:
                yield from self._cut_text(block, table)
                continue
            end = self._ahead_of_fence(self._end_of_code(fence.first, fence.upto, fence.closing))
            if end <= fence.first:
                # Nothing of the code fits behind what stands before it.
                end = block.begin if self._begin < block.begin else self._end_of_text(block)
                yield self._taken(self._ahead_of_fence(end))
                continue
            if end >= fence.upto:
                # The code is over, and closed already.
                yield self._taken(end, fence.closing)
                self._begin = self._at = block.end
                return
            yield self._taken(end, fence.closing)
            self._opening = fence.opening

    def _cut_text(self, block: Block, table: Table | None) -> Iterator[str]:
        """The next part of a block that is no code. Behind a cut between two rows of a table stands its head again."""
        end = self._ahead_of_fence(self._end_of_text(block))
        if table is not None and self._begin < table.begin < end <= table.first:
            end = table.begin
        yield self._taken(end)
        if table is None or not table.first < end < table.end or self._text[end - 1] != "\n":
            return
        if self._length(table.head) <= self._longest * FENCE_SHARE:
            self._opening = table.head

    def _limit(self, most: int, more: str = "") -> int:
        """The furthest end at which a part fits, up to ``most``; at least one character."""
        low, high = self._begin + 1, self._begin + 1
        step = max(1, self._longest // 2)
        while high < most and self._fits(self._begin, min(high + step, most), more):
            high = min(high + step, most)
        low, high = high, min(high + step, most)
        reach = range(low + 1, high + 1)
        return low + bisect_right(reach, False, key=lambda end: not self._fits(self._begin, end, more))

    def _end_of_code(self, first: int, upto: int, closing: str) -> int:
        limit = self._limit(upto, closing)
        if limit >= upto:
            return upto
        least = max(first, self._begin)
        found = self._text.rfind("\n", least, limit)
        if found >= least and (found + 1 - self._begin) * 2 >= limit - self._begin:
            return found + 1
        found = self._text.rfind(" ", least + (limit - least) // 2, limit)
        end = found + 1 if found >= 0 else boundary_before(self._text, limit, least=least)
        return end if limit > least else least

    def _end_of_text(self, block: Block) -> int:
        limit = self._limit(block.end)
        least = max(self._begin + 1, self._at + 1 if self._at > self._begin else 0)
        least = max(least, self._begin + max(1, round((limit - self._begin) * MIN_SHARE)))
        spans = self._spans_around(limit)
        for mark in BREAKS:
            end = self._break(mark, least, limit, spans)
            if end:
                return end
        outside = _outside(limit, spans)
        if outside >= least:
            return boundary_before(self._text, outside, least=self._begin)
        return boundary_before(self._text, limit, least=self._begin)

    def _ahead_of_fence(self, end: int) -> int:
        """``end``, or less, where a fence within a line would stand at the next part's beginning and be one there."""
        line = max(self._begin, self._text.rfind("\n", self._begin, end) + 1)
        if end == line or not opens_code(self._text, end):
            return end
        # The character that stands before it goes along.
        before = line + len(self._text[line:end].rstrip(" \t`~")) - 1
        at = boundary_before(self._text, before, least=line)
        return at if at > line else end

    def _break(self, mark: str, least: int, limit: int, spans: Sequence[tuple[int, int]]) -> int:
        """Behind the last ``mark`` that ends between ``least`` and ``limit`` and is in no span; 0: there is none."""
        until = limit
        while (found := self._text.rfind(mark, max(self._begin, least - len(mark)), until)) >= 0:
            end = found + len(mark)
            outside = _outside(end, spans)
            if outside == end:
                return boundary_before(self._text, end, least=self._begin)
            until = outside
        return 0

    def _spans_around(self, limit: int) -> list[tuple[int, int]]:
        """Links and inline code between the part's beginning and a little behind its end."""
        return [found.span() for found in _spans(self._text, self._begin, min(len(self._text), limit + SPAN_MAX + 600))]


def _outside(at: int, spans: Sequence[tuple[int, int]]) -> int:
    """``at``, or the beginning of the span that it is in."""
    number = bisect_right(spans, at, key=lambda span: span[0]) - 1
    if number >= 0 and spans[number][0] < at < spans[number][1]:
        return spans[number][0]
    return at


# A reply as the pieces that a platform is sent: parts of its text, or its beginning and the whole of it as a file.

BEGINNING_SHARE = 4
"""The text beside a file is at most one part divided by this: captions are shorter than messages."""

MORE = " …"
"""Ends a text that goes on elsewhere."""


def pieces(text: str, longest: int, length: Length, *, parts_max: int) -> list[Piece]:
    """What is sent for ``text`` when a part takes ``longest`` by ``length``; the same text always gives the same.

    More than ``parts_max`` parts become one: the beginning of the text, and all of it as a document.
    """
    found = list(islice(parts(text, longest, length), parts_max + 1))
    if len(found) <= parts_max:
        return [Piece(text=part) for part in found]
    return [Piece(text=beginning(text, longest // BEGINNING_SHARE, length), document=text)]


def beginning(text: str, longest: int, length: Length) -> str:
    """``text`` if it fits, else its beginning, cut where ``split`` would cut it, and a sign that it goes on."""
    if length(text) <= longest:
        return text
    room = longest - length(MORE)
    first = next(parts(text, room, length), "") if room > 0 else ""
    return f"{first.rstrip()}{MORE}" if first else text[: boundary_before(text, max(1, longest), least=0)]


# Halves of characters, which no platform takes and no store keeps.


def sound(text: str) -> str:
    """``text`` with a question mark for each half of a character: those can be sent and stored nowhere."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
