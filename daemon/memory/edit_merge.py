"""A user's edit of a MEMORY.md that changed in the meantime."""

import re


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
