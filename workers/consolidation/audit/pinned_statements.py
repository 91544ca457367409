"""The part of MEMORY.md for statements that people asked to be kept. Pure.

A consolidation adds a statement word for word if the new MEMORY.md does not contain it. A later summary may merge the
lines into other parts of MEMORY.md. If a summary drops a line without a reason, the line is added again. A line that a
person deleted is not in the MEMORY.md that a summary replaces, and is therefore never added again.
"""

import re
from collections.abc import Callable, Sequence

from workers.consolidation.audit.fact_extraction import requests_of
from workers.consolidation.audit.text_comparison import Texts, lines_not_in

TITLE = "## Pinned"

# A flush appends paragraphs: a blank line ends the list.
_PART = re.compile(
    r"^##[ \t]+Pinned[ \t]*(?:\n|\Z)(?:[ \t]*\n)?(?P<lines>(?:(?!#{1,6}[ \t])[^\n]*\S[^\n]*(?:\n|\Z))*)",
    re.MULTILINE | re.IGNORECASE,
)
_BULLET = re.compile(r"^[ \t]*[-*+][ \t]+")


def pinned_lines(memory: str) -> list[str]:
    """The statements in the part ``## Pinned``, in order."""
    return [_BULLET.sub("", line).strip() for line in _lines(memory) if _BULLET.sub("", line).strip()]


def asked_lines(memory: str, *, but_of: str = "") -> list[str]:
    """The statements in a MEMORY.md that show that a person asked for them: pinned lines, and rules anywhere.

    Args:
        memory: the MEMORY.md.
        but_of: another version of it. Pinned lines of this version and rules on lines of this version are left out,
            without the cost of reading these lines.
    """
    pinned, lines = frozenset(pinned_lines(but_of)), frozenset(but_of.split("\n"))
    asked = [line for line in pinned_lines(memory) if line not in pinned]
    rules = requests_of("\n".join(line for line in memory.split("\n") if line not in lines))
    return list(dict.fromkeys([*asked, *rules]))


def is_asked(memory: str, begin: int, end: int) -> bool:
    """Whether a passage of a MEMORY.md is one of its ``asked_lines``."""
    line = memory[memory.rfind("\n", 0, begin) + 1 :].partition("\n")[0]
    return memory[begin:end] in [*requests_of(line), *pinned_lines(memory)]


def with_pinned(memory: str, statements: Sequence[str], *, fits: Callable[[str], bool]) -> tuple[str, list[str]]:
    """``memory`` with those of ``statements`` pinned that it lacks, and the statements that were pinned.

    Args:
        memory: the new MEMORY.md.
        statements: the pinned lines of the MEMORY.md before, then new statements; of two that say the same, the first
            is pinned.
        fits: whether the lines of the part, joined, may be so long. Statements that do not fit are left out.
    """
    lines, pinned = _lines(memory), list[str]()
    for statement in lines_not_in(list(dict.fromkeys(map(_one_line, statements))), Texts([memory])):
        line = f"- {statement}"
        if not Texts(pinned).hold_statement(statement) and fits("\n".join([*lines, line])):
            lines.append(line)
            pinned.append(statement)
    return (_replaced(memory, lines), pinned) if pinned else (memory, [])


def _lines(memory: str) -> list[str]:
    return [line.rstrip() for part in _PART.finditer(memory) for line in part["lines"].splitlines() if line.strip()]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _replaced(memory: str, lines: Sequence[str]) -> str:
    """``memory`` with one part ``## Pinned``, where its first one stood, or else at the end."""
    part = "\n".join((TITLE, *lines, ""))
    first = _PART.search(memory)
    if first is None:
        return f"{memory.rstrip()}\n\n{part}".lstrip()
    after = _PART.sub("", memory[first.end() :])
    gap = "\n" if after.startswith("#") else ""
    return f"{memory[: first.start()]}{part}{gap}{after}"
