"""A reply as the pieces that a platform is sent: parts of its text, or its beginning and the whole of it as a file."""

from itertools import islice

from channels.base import Piece
from channels.text.graphemes import boundary_before
from channels.text.text_split import Length, parts

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
