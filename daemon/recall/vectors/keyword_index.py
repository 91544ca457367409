"""The parts of the keyword index that vectors need: its ranking, its texts and its display of results."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import msgspec

from daemon.recall.search_results import Engine, Hit, InPrompt, SearchResults


class ScoredRow(NamedTuple):
    """A row of a scope's index, which is a chunk, and what speaks for it."""

    row: int
    score: float
    """0 to 1, relative to the best."""


class Ranking(msgspec.Struct, frozen=True, kw_only=True):
    """What words say of a query."""

    scored: tuple[ScoredRow, ...] = ()
    """The best first."""
    coverage: float = 1.0
    """The share of the weights of the query's words that the best row contains."""
    note: str = ""
    """As ``SearchResults.note``."""


class Extent(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows a scope's index has. Equal ones: the same rows with the same texts."""

    generation: str = ""
    """Another one for every time that the index was made anew; empty: there is none."""
    removed: int = 0
    """Rises whenever a row is removed, or gets another text."""
    last: int = 0
    """The highest row; 0: none. New rows are above it."""


class Text(NamedTuple):
    """A row and what it says."""

    row: int
    text: str


Blend = Callable[[Ranking], Sequence[ScoredRow]]


class KeywordIndex(Engine, Protocol):
    """The index of words of each scope.

    Like ``search``, each raises BusUnavailable and nothing else; where the index cannot be read there is nothing.
    """

    async def ranked(self, scope: str, query: str, *, limit: int, prompt: InPrompt | None = None) -> Ranking:
        """At most ``limit`` rows by words, after the index was brought in step; joined and shortened by nothing."""
        ...

    async def blended(
        self, scope: str, query: str, blend: Blend, *, depth: int, limit: int, prompt: InPrompt | None = None
    ) -> SearchResults:
        """``shown`` of what ``blend`` makes of ``ranked``, in one go and in one thread, where ``blend`` may block."""
        ...

    async def shown(
        self, scope: str, query: str, scored: Sequence[ScoredRow], *, limit: int, prompt: InPrompt | None = None
    ) -> tuple[Hit, ...]:
        """Rows as hits, in this order and with these scores; rows that are gone are left out.

        Neighbours are joined and what says the same is shown once, as ``search`` does it.
        """
        ...

    async def extent(self, scope: str) -> Extent:
        """What rows there are now; nothing is fed."""
        ...

    async def texts(self, scope: str, *, after: int, limit: int) -> Sequence[Text]:
        """The next ``limit`` rows above ``after``, in order."""
        ...
