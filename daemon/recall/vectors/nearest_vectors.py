"""Brute-force search: the product of a query's vector with all vectors, block by block."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from daemon.recall.vectors.similarity import Similarity
from daemon.recall.vectors.unit_vectors import Vectors


class Block(NamedTuple):
    """Some of a scope's vectors."""

    rows: NDArray[np.int64]
    vectors: Vectors
    """One for each of ``rows``, of length 1."""


def nearest(blocks: Iterable[Block], query: Vectors, *, limit: int) -> Similarity:
    """How like ``query``, one vector of length 1, all are; the ``limit`` best by row."""
    best: list[tuple[float, int]] = []
    count, total, squares = 0, 0.0, 0.0
    for block in blocks:
        # Not by ``@``: BLAS would set a thread to it on every core, and they spend more on waiting for each other.
        cosines = np.vecdot(block.vectors, query)
        count += len(cosines)
        total += float(cosines.sum(dtype=np.float64))
        squares += float(np.square(cosines, dtype=np.float64).sum())
        best = sorted([*best, *_top(block.rows, cosines, limit)], reverse=True)[:limit]
    if not count:
        return Similarity()
    mean = total / count
    return Similarity(
        best=tuple((row, cosine) for cosine, row in best),
        count=count,
        mean=mean,
        deviation=math.sqrt(max(0.0, squares / count - mean * mean)),
    )


def _top(rows: NDArray[np.int64], cosines: NDArray[np.float32], limit: int) -> Iterable[tuple[float, int]]:
    if len(cosines) > limit:
        chosen = np.argpartition(cosines, -limit)[-limit:]
        rows, cosines = rows[chosen], cosines[chosen]
    return zip(cosines.tolist(), rows.tolist(), strict=True)
