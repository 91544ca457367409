"""The results of a search, the same for all engines."""

from typing import Literal, Protocol

import msgspec

Mode = Literal["search", "vsearch", "query"]
"""By words, by meaning, by both."""

SNIPPET_CHARS = 500
"""Longest snippet of a search (SPEC 6)."""

TURN_SNIPPET_CHARS = 800
"""Longest snippet in a turn, which cannot ask for more. Five such snippets show all of the evidence for 80.8 percent of
302 questions of LoCoMo. With 500 characters the share is 77.2 percent, and the text is 20 percent shorter."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A place that was found."""

    docid: str
    """What ``memory_get`` is asked for it by; the same as long as the place is there."""
    file: str
    """Where it stands, as tools name it: ``memory/HISTORY.md``, ``transcript/<session>``, ..."""
    score: float
    """0 to 1; of a search by words relative to the best hit."""
    snippet: str
    """At most ``SNIPPET_CHARS``, in a turn at most ``TURN_SNIPPET_CHARS``."""
    time: str = ""
    """When it was said or written: ISO 8601, UTC; empty: unknown."""
    shown_by: str = ""
    """The docid of a better hit whose snippet contains this one and the parts of the message beside it."""


class InPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """Messages of a session that the prompt of the searching turn contains. None of them is a hit."""

    file: str
    """As ``Hit.file``."""
    first: int
    """The index of the first; it holds all from there on."""
    hidden: frozenset[int] = frozenset()
    """Indexes of those that it holds only in part, which may be hits."""
    min_score: float = 0.0
    """Hits of less, of what the best one scores, are wanted by nobody; some may be given."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The results, best first."""

    hits: tuple[Hit, ...] = ()
    note: str = ""
    """What people should know about how it was looked for; empty: nothing."""


class Engine(Protocol):
    """Searches the memory of one scope."""

    async def search(self, scope: str, query: str, *, mode: Mode, limit: int, prompt: InPrompt | None = None) -> Found:
        """The ``limit`` best hits in ``scope``, a home, for a message or question.

        ``prompt``: a turn waits. What was taken in already is searched, and what is newer is taken in beside turns.

        Raises:
            BusUnavailable: Redis is away.
        """
        ...
