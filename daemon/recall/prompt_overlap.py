"""Checks whether a result is already part of a prompt. Pure."""

import re
from collections.abc import Iterable
from functools import lru_cache

HELD_SHARE = 0.8
"""Of a snippet, what must stand there: what is cut off at its ends, and who said it when, is written otherwise."""

PIECE_BYTES = 8
"""Shorter pieces stand anywhere: eight Latin letters, three Chinese characters."""

SHORT_CHARS, SHORT_KEPT = 1_000, 8_192
"""Of texts of at most so many characters so many are kept as they are compared: a prompt holds mostly the same ones."""

_WORDS = re.compile(r"[^\W_]+")
_APART = re.compile(r"[\n\r.!?;:\[\]。！？；：…]+")
"""Where a snippet is taken apart: at sentences, and behind what stands in front of a message."""
_SPEAKER = re.compile(r"^(?:[^\s:]+ ){0,2}[^\s:]+: ", re.MULTILINE)
"""What stands before a message in a snippet, and elsewhere in a prompt if at all."""
_LETTER = re.compile(r"[^\W\d_]")


class Held:
    """The letters and digits of a prompt, so that formatting does not matter."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(map(_bare_again, texts))

    def holds(self, snippet: str) -> bool:
        """Whether the prompt contains nearly all of ``snippet``, in any order."""
        pieces = [_bare(piece) for piece in _APART.split(_SPEAKER.sub("", snippet))]
        sizes = {
            piece: size for piece in pieces if (size := len(piece.encode())) >= PIECE_BYTES and _LETTER.search(piece)
        }
        may_miss = (1 - HELD_SHARE) * sum(sizes.values())
        for piece, size in sizes.items():
            if piece not in self._text:
                may_miss -= size
                if may_miss < 0:
                    return False
        return bool(sizes)


def _bare_again(text: str) -> str:
    return _bare_short(text) if len(text) <= SHORT_CHARS else _bare(text)


@lru_cache(maxsize=SHORT_KEPT)
def _bare_short(text: str) -> str:
    return _bare(text)


def _bare(text: str) -> str:
    return "".join(_WORDS.findall(text.casefold()))
