"""Each message of a run carries a mark; what was shown to the model that sums up is told as ranges of marks. Pure.

The two are written in different ways, so that what was only told of is never taken for what was shown.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

Numbers = frozenset[int]
NONE: Numbers = frozenset()

Marked = Mapping[str, Numbers]  # chat → the numbers of its messages
_MARK = re.compile(r"@(s\d{2,})\.(\d+)\b")
_RANGES = re.compile(r"\b(s\d{2,}):((?: \d+-\d+)+)")


def mark(chat: str, number: int) -> str:
    return f"@{chat}.{number}"


def marked(text: str) -> Marked:
    """The messages whose marks stand in ``text``."""
    return _gathered((chat, int(number), int(number)) for chat, number in _MARK.findall(text))


def told(messages: Marked) -> str:
    """A line a chat, with ranges of numbers, both ends included: ``s03: 0-11 13-15``."""
    return "\n".join(f"{chat}: {' '.join(_ranges(messages[chat]))}" for chat in sorted(messages) if messages[chat])


def heard(text: str) -> Marked:
    """The messages that ``text`` tells of."""
    spans = [(chat, span.split("-")) for chat, spans in _RANGES.findall(text) for span in spans.split()]
    return _gathered((chat, int(first), int(last)) for chat, (first, last) in spans)


def together(*parts: Marked) -> Marked:
    return {chat: NONE.union(*(part.get(chat, NONE) for part in parts)) for part in parts for chat in part}


def _ranges(numbers: Iterable[int]) -> Iterator[str]:
    # Neighbours are as far from their own numbers as from their places.
    for _, run in groupby(enumerate(sorted(numbers)), key=lambda each: each[1] - each[0]):
        at = [number for _, number in run]
        yield f"{at[0]}-{at[-1]}"


def _gathered(spans: Iterable[tuple[str, int, int]]) -> Marked:
    found: dict[str, set[int]] = {}
    for chat, first, last in spans:
        found.setdefault(chat, set()).update(range(first, last + 1))
    return {chat: frozenset(numbers) for chat, numbers in found.items()}
