"""The similarity of a scope's texts to a query, and the texts that stand out. Pure.

Embedders differ in what their cosines are between texts that have nothing to do with each other: what counts is how far
one stands above the others of its scope.
"""

import math

import msgspec

from daemon.recall.vectors.keyword_index import ScoredRow

OUTSTANDING = 2.5
"""Standard deviations above the mean from which on a text stands out: one of 160 does by chance."""
CROWD = 4.0
"""Among few nobody can stand out so far, at most by the root of their number: a quarter of that is enough then."""
FEW = 8
"""Of fewer texts nobody can tell what is usual among them."""
LEAST = 0.2
"""Lowest score of what is worth being shown, relative to the best."""


class Similarity(msgspec.Struct, frozen=True, kw_only=True):
    """The cosines of a scope's texts with a query."""

    best: tuple[tuple[int, float], ...] = ()
    """Rows and their cosines, the highest first, the newer of equals."""
    count: int = 0
    """Of all texts."""
    mean: float = 0.0
    deviation: float = 0.0
    """Of all cosines, as is the mean."""

    def above_the_usual(self) -> tuple[ScoredRow, ...]:
        """What is more like the query than others are: for a search by vectors alone."""
        return self._above(self.mean if self.count >= FEW else 0.0)

    def outstanding(self) -> tuple[ScoredRow, ...]:
        """What stands out: for a vote beside words, which a vector for every text would drown."""
        least = min(OUTSTANDING, math.sqrt(self.count) / CROWD) * self.deviation
        return self._above(self.mean + least if self.count >= FEW else 0.0)

    def _above(self, floor: float) -> tuple[ScoredRow, ...]:
        top = self.best[0][1] if self.best else 0.0
        if top <= max(floor, 0.0):
            return ()
        scored = (ScoredRow(row, (cosine - floor) / (top - floor)) for row, cosine in self.best)
        return tuple(each for each in scored if each.score >= LEAST)
