"""Search results as text for users and models. Pure."""

import re
from collections.abc import Sequence

from daemon.model import RUNTIME_CONTEXT
from daemon.recall.search_results import Found, Hit

NOTHING = "No relevant memories found."
"""What a search says that has found nothing (SPEC 6)."""

_MARK = re.compile(re.escape(RUNTIME_CONTEXT), re.IGNORECASE)


def hit_text(hit: Hit) -> str:
    """A hit: its name, its place and its score, and the snippet indented below (SPEC 6).

    No line of a snippet is empty or begins at the margin, so that none can pass for something that is no snippet.
    """
    snippet = f"[{minute(hit.time)}] {hit.snippet}" if hit.time and hit.time[:10] not in hit.snippet else hit.snippet
    return "\n".join((f"- **[{hit.docid}]** ({hit.file}) [{hit.score:.2f}]", *indented(snippet)))


def indented(text: str) -> list[str]:
    """The lines of a text, each indented, blank ones left out."""
    # What begins the block that Millpond writes in front of a message must not stand where people's words do.
    unmarked = _MARK.sub(lambda mark: f"({mark[0].strip('[]')})", text)
    return [f"  {line.strip()}" for line in unmarked.splitlines() if line.strip()]


def hits_text(hits: Sequence[Hit]) -> str:
    """Several of them, a blank line between."""
    return "\n\n".join(map(hit_text, hits))


def found_text(found: Found) -> str:
    """What a search answers to whoever asked for it."""
    return "\n\n".join(filter(None, (found.note, hits_text(found.hits) or NOTHING)))


def minute(time: str) -> str:
    """``YYYY-MM-DD HH:MM`` of an ISO 8601 time, UTC."""
    return time[:16].replace("T", " ")
