"""Brute force: the product of a query's vector with every one that there is, block by block."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from daemon.recall.vectors.places import Scored
from daemon.recall.vectors.unit import Vectors

FEW = 12
"""Of fewer vectors nobody can tell what is usual among them."""
OUTSTANDING = 2.0
"""Standard deviations above the mean from which on a likeness is no longer what any two texts of a scope have."""
LEAST = 0.2
"""Lowest score of what is worth being shown."""


class Block(NamedTuple):
    """Some of a scope's vectors."""

    rows: NDArray[np.int64]
    vectors: Vectors
    """One for each of ``rows``, of length 1."""


def nearest(blocks: Iterable[Block], query: Vectors, *, limit: int) -> list[Scored]:
    """The ``limit`` rows that are nearest to ``query``, one vector of length 1; the nearest first, the newer of equals.

    A score is how far a row's cosine stands above the mean, as a share of the best one's: embedders differ in what
    their cosines are between texts that have nothing to do with each other. What does not stand out is left out.
    """
    best: list[tuple[float, int]] = []
    count, total, squares = 0, 0.0, 0.0
    for block in blocks:
        cosines = block.vectors @ query
        count += len(cosines)
        total += float(cosines.sum(dtype=np.float64))
        squares += float(np.square(cosines, dtype=np.float64).sum())
        best = sorted([*best, *_top(block.rows, cosines, limit)], reverse=True)[:limit]
    return _scored(best, count, total, squares)


def _top(rows: NDArray[np.int64], cosines: NDArray[np.float32], limit: int) -> Iterable[tuple[float, int]]:
    if len(cosines) > limit:
        chosen = np.argpartition(cosines, -limit)[-limit:]
        rows, cosines = rows[chosen], cosines[chosen]
    return zip(cosines.tolist(), rows.tolist(), strict=True)


def _scored(best: list[tuple[float, int]], count: int, total: float, squares: float) -> list[Scored]:
    if not best:
        return []
    mean = total / count
    deviation = math.sqrt(max(0.0, squares / count - mean * mean))
    usual, floor = (mean, mean + OUTSTANDING * deviation) if count >= FEW else (0.0, 0.0)
    top = best[0][0]
    if top <= usual or top <= 0:
        return []
    scored = (Scored(row, (cosine - usual) / (top - usual)) for cosine, row in best if cosine > floor)
    return [each for each in scored if each.score >= LEAST]
