"""Text that may come from anybody, made harmless for a terminal."""

import json
import re

# C0 without tab and line feed, DEL, C1: among them ESC and CSI, which begin the sequences that rule a terminal
# (ECMA-48).
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"

# Unicode's Default_Ignorable_Code_Point and the other format characters: zero width, marks that turn the writing
# direction (UAX 9), line and paragraph separators, fillers, tags (a whole message can be hidden in them).
_UNSEEN = (
    "\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_EMOJI = "\u2190-\u2bff\U0001f000-\U0001faff"
_JOINING = "\u0620-\u06dc\u06de-\u06ff\u0900-\u0dff\u1000-\u109f\u1780-\u17b3"
"""Scripts that are written with joiners: Arabic, those of India, Burmese, Khmer."""

# What makes one emoji of several, and what such scripts cannot do without.
_NEEDED = (
    f"(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])"
    f"|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
    f"|(?<=[#*0-9\xa9\xae\u2000-\u200a\u2010-\u2027\u3030\u303d\u3297\u3299{_EMOJI}])[\ufe0e\ufe0f]"
)

INVISIBLE = re.compile(f"[{_UNSEEN}]")
"""Characters that show nothing."""

_HARMFUL = re.compile(f"(?!{_NEEDED})[{_CONTROLS}{_UNSEEN}]")


def printable(text: str) -> str:
    """``text`` with a ``\N{REPLACEMENT CHARACTER}`` for each control character and each character that shows nothing.

    Line ends become line feeds. The joiners of emoji and of the scripts that need them stay.
    """
    return _HARMFUL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """``text``, a name or a cell of a list, as one line without what ``printable`` replaces."""
    return " ".join(printable(text).split())


def printable_json(text: str) -> str:
    """JSON that says the same, with each of those characters as its escape: encoders leave some as they are."""
    return _HARMFUL.sub(lambda found: json.dumps(found[0])[1:-1], text)
