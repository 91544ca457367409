"""Combines two rankings, with more weight for keywords. Pure."""

from collections.abc import Sequence

from daemon.recall.vectors.keyword_index import Scored

WORDS, VECTORS = 4.0, 1.0
"""Their weights. On questions about conversations 1:1 is worse than words alone, and 2:1 to 4:1 better (R@5 and R@10 of
LoCoMo; docs/decisions/018-vectors.md has ours). With 4:1 neither English nor Chinese is found worse than by words."""


def fused(words: Sequence[Scored], near: Sequence[Scored]) -> tuple[Scored, ...]:
    """All rows of both, the best first; each ranking's scores are relative to its best.

    The order is that of the weighted mean. The score that is shown is the better one of the two, and never less than
    what stands below: what the one ranking has found for certain is not made less by the other's silence.
    """
    by_words, by_vectors = dict(words), dict(near)
    places = {row: at for at, row in enumerate([*by_words, *(row for row in by_vectors if row not in by_words)])}
    weighted = {
        row: (WORDS * by_words.get(row, 0.0) + VECTORS * by_vectors.get(row, 0.0)) / (WORDS + VECTORS) for row in places
    }
    order = sorted(places, key=lambda row: (-weighted[row], places[row]))
    scores: list[float] = []
    for row in reversed(order):
        scores.append(max(by_words.get(row, 0.0), by_vectors.get(row, 0.0), *scores[-1:]))
    return tuple(Scored(row, score) for row, score in zip(order, reversed(scores), strict=True))
