"""Where a text may be cut without tearing what people see as one character (Unicode, UAX 29, what is needed of it)."""

import unicodedata

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
