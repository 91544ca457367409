"""Where a long text is cut, so that each part fits into one message of a platform. Pure."""

from collections.abc import Iterator

BREAKS = ("\n\n", "\n", ". ", "。", " ")
"""Where a text is cut, the best place first; the break stays at the end of its part."""

MIN_SHARE = 0.5
"""A part shorter than this is worse than one that is cut at a worse place."""


def split(text: str, max_chars: int) -> list[str]:
    """``text`` in parts of at most ``max_chars`` characters, none of them blank; joined they are the text.

    Blank stretches as long as a part are left out.
    """
    return [part for part in _cut(text, max_chars) if part.strip()]


def _cut(text: str, max_chars: int) -> Iterator[str]:
    begin = 0
    while len(text) - begin > max_chars:
        end = _end(text, begin, begin + max_chars)
        yield text[begin:end]
        begin = end
    yield text[begin:]


def _end(text: str, begin: int, limit: int) -> int:
    least = begin + max(1, round((limit - begin) * MIN_SHARE))
    for mark in BREAKS:
        found = text.rfind(mark, begin, limit)
        if found >= 0 and found + len(mark) >= least:
            return found + len(mark)
    return limit
