"""Changes of MEMORY.md since the version that a session's prompts show; they stand beside the runtime context. Pure.

The system message stays as it is until the session is consolidated, so that a provider's prefix cache knows the prompt.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from daemon.model import enclosed
from daemon.wording import Language
from daemon.wording import text as say

TITLE = "## Memory Changes"

MAX_CHARS = 4_000
"""Longer changes are taken into the system message: some thousand tokens, sent anew with every turn, are enough."""
CHARS_SHARE = 5
"""In a small window they have one character for so many tokens of the budget."""


def most_chars(budget_tokens: int) -> int:
    """How long changes may be that stand beside the runtime context."""
    return min(MAX_CHARS, budget_tokens // CHARS_SHARE)


def changes_of(old: str, new: str) -> str:
    """The lines that ``new`` lacks, with ``-``, and those that it adds, with ``+``, below their headings; or ``""``."""
    if old == new:
        return ""
    before, after = ([line.rstrip() for line in text.splitlines() if line.strip()] for text in (old, new))
    return "\n".join((*_beyond(before, after, "-"), *_beyond(after, before, "+")))


def _beyond(lines: Sequence[str], others: Sequence[str], sign: str) -> Iterator[str]:
    """The ``lines`` that are not among ``others``."""
    left, heading, shown = Counter(others), "", ""
    for line in lines:
        is_heading = line.startswith("#")
        if left[line]:
            left[line] -= 1
            heading = line if is_heading else heading
            continue
        if heading != shown and not is_heading:
            yield f"  {heading}"
        yield f"{sign} {line}"
        shown = heading = line if is_heading else heading


def changes_block(changes: str, language: Language) -> str:
    """The section of the runtime context; empty without changes."""
    return f"{TITLE}\n{say('memory_changes', language)}\n{enclosed(changes)}" if changes else ""
