"""Text that may come from anybody, made harmless for a terminal."""

import re

_INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and line feed, DEL, C1: they begin control sequences (ECMA-48)
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u180e\u3164\uffa0"  # soft hyphen, joiners and fillers without a glyph
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that change the writing direction (Unicode UAX 9)
    "\u200b-\u200d\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"  # zero width: spaces, joiners, invisible operators
    "\u2028\u2029"  # line and paragraph separators
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # other default ignorables (Unicode)
    "\ud800-\udfff"  # surrogates, which no encoding of a terminal contains
    "\U000e0000-\U000e0fff"  # tags and variation selectors in which a text can be hidden
)
INVISIBLE = re.compile(f"[{_INVISIBLE}]")
"""A character that nobody sees, or that controls a terminal."""
# Emoji of several persons and words of Persian contain joiners. Without them the parts stand beside each other, in the
# width that every terminal gives them.
_JOINERS = re.compile("(?<=[^\x00-\x7f])[\u200c\u200d](?=[^\x00-\x7f])")


def printable(text: str) -> str:
    """``text`` without anything that a reader cannot see or that controls a terminal.

    Control characters and invisible signs become ``\N{REPLACEMENT CHARACTER}``. Line ends become line feeds. Joiners
    between characters outside ASCII are left out.
    """
    return INVISIBLE.sub("\N{REPLACEMENT CHARACTER}", _JOINERS.sub("", text.replace("\r\n", "\n")))


def one_line(text: str) -> str:
    """``printable`` text as one line: a name, or a cell of a table."""
    return " ".join(printable(text).split())


def printable_json(text: str) -> str:
    """JSON that says the same, with each of those characters as its escape: encoders leave some as they are."""
    return INVISIBLE.sub(lambda found: _escape(ord(found[0])), text)


def _escape(code: int) -> str:
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)  # a pair of surrogates (RFC 8259, section 7)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
