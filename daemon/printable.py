"""Text that may come from anybody, made harmless for a terminal."""

import re

# C0 without tab and line feed, DEL, C1: among them ESC and CSI, which begin the sequences that rule a terminal
# (ECMA-48), and the marks that turn the writing direction of what follows (Unicode UAX 9).
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """``text`` with every control character replaced by ``\N{REPLACEMENT CHARACTER}``, line ends made line feeds."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def printable_json(text: str) -> str:
    """JSON that says the same, with each of those characters as its escape: encoders leave some as they are."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
