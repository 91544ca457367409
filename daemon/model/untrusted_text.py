"""Marks around what others wrote, so that a model can tell where it begins and where it ends. Pure.

A text stands between two lines of its own, and the mark in them stands nowhere in the text:

    <untrusted 3f9a0c21>
    whatever it says
    </untrusted 3f9a0c21>

The mark follows from the text alone. So the same text is always shown by the same bytes, which prefix caches of
providers need, and there is no secret that a model could be talked into telling.
"""

import re
from collections.abc import Sequence
from hashlib import blake2b
from itertools import count

MARK_BYTES = 4
"""Of a digest. That it is short does no harm: one that stands in the text is not taken, whoever put it there."""

_ENCLOSED = re.compile(r"<untrusted ([0-9a-f]+)>\n(.*)\n</untrusted \1>", re.DOTALL)


def ends(texts: Sequence[str]) -> tuple[str, str]:
    """The lines before and after ``texts``, with a mark that stands in none of them, in small or capital letters."""
    content = "\n".join(texts).encode("utf-8", "replace")
    lowered = [text.lower() for text in texts]
    marks = (blake2b(content, digest_size=MARK_BYTES, salt=b"%d" % number).hexdigest() for number in count())
    mark = next(mark for mark in marks if not any(mark in text for text in lowered))
    return f"<untrusted {mark}>", f"</untrusted {mark}>"


def enclosed(text: str) -> str:
    """``text`` between its marks."""
    before, after = ends([text])
    return f"{before}\n{text}\n{after}"


def without_marks(text: str) -> str:
    """What ``enclosed`` was given; any other text as it is."""
    found = _ENCLOSED.fullmatch(text)
    return found[2] if found else text
