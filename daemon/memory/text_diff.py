"""The differences between two versions of a text. Pure."""

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import repeat

# The definition of a word, for comparing and searching texts.

_OWN = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Characters of languages without blanks between words (Unicode blocks of CJK and Hangul)."""

WORD = rf"[{_OWN}]|[^\W{_OWN}]+"
"""Regular expression of one word: such a character, or letters, digits and ``_`` that follow on each other."""


LINES_MAX = 4_000
"""Lines of both texts together that are compared, for the time grows with the square of their number."""

WORDS_MAX = 4_000
"""Words of a changed stretch that are compared; of a longer one whole lines went and came."""

_words = re.compile(rf"{WORD}|\s+|[^\w\s]").findall

Line = list[tuple[str, str]]
"""Stretches of a line: each with ``same``, ``gone`` or ``new`` before it."""


def characters(old: str, new: str) -> tuple[int, int]:
    """The number of characters in added lines and in removed lines."""
    before, after = old.splitlines(), new.splitlines()
    came = went = 0
    # The heuristic that takes frequent lines for junk would find changes where there are none.
    for kind, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            went += sum(map(len, before[i:j]))
            came += sum(map(len, after[k:m]))
    return came, went


def unified(old: str, new: str, *, old_name: str, new_name: str) -> str:
    """The changes in the format of ``diff -u``; empty if the texts are identical."""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), old_name, new_name, lineterm="")
    return "\n".join(lines)


def lines(old: str, new: str) -> list[Line]:
    """All lines of both texts, in order, divided into unchanged, removed and added words."""
    before, after = old.splitlines(), new.splitlines()
    if len(before) + len(after) > LINES_MAX:
        return [*_whole("gone", before), *_whole("new", after)]
    found: list[Line] = []
    for kind, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            found += _whole("same", before[i:j])
        else:
            found += _changed(before[i:j], after[k:m])
    return found


def _whole(mark: str, texts: Sequence[str]) -> list[Line]:
    return [[(mark, text)] for text in texts]


def _changed(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    old, new = ([word for line in side for word in (*_words(line), "\n")] for side in (before, after))
    if not before or not after or len(old) + len(new) > WORDS_MAX:
        return [*_whole("gone", before), *_whole("new", after)]
    found: list[Line] = [[]]
    for mark, word in _marked(old, new):
        if word == "\n":
            found.append([])
        elif found[-1] and found[-1][-1][0] == mark:
            found[-1][-1] = (mark, found[-1][-1][1] + word)
        else:
            found[-1].append((mark, word))
    return [line for line in found if line]


def _marked(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    for kind, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from zip(repeat("same"), old[i:j], strict=False)
        else:
            yield from zip(repeat("gone"), old[i:j], strict=False)
            yield from zip(repeat("new"), new[k:m], strict=False)


# A user's edit of a MEMORY.md that changed in the meantime.


def edited(text: str, *, of: str, current: str) -> str:
    """The new MEMORY.md after a user changed ``of`` to ``text`` while it became ``current``.

    The person's text, and below it the lines that came since: those of ``current`` that neither ``of`` nor the
    person's text has.
    """
    if current == of:
        return text
    known = {line.strip() for line in (*of.splitlines(), *text.splitlines())}
    since = [line for line in current.splitlines() if not line.strip() or line.strip() not in known]
    fresh = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in since)).strip("\n")
    if not fresh:
        return text
    return f"{text.rstrip()}\n\n{fresh}\n" if text.strip() else f"{fresh}\n"
