"""Adds rows to few results of a search, by the words that the best results contain (query expansion). Blocks."""

import math
import sqlite3
from collections import defaultdict
from collections.abc import Sequence

from msgspec import json

from daemon.recall.evidence import common_terms
from daemon.recall.index.index_schema import ONE_OF
from daemon.recall.index.ranking import ranked
from daemon.recall.index.scoring import weight_of
from daemon.recall.search_results import InPrompt
from daemon.recall.search_terms import Query

BEST_ROWS = 3
"""The results whose words are searched."""

TERMS_ADDED = 5
"""The words of those results that are searched. With ten words R@10 is two points lower on the English MADial-Bench."""

SHARE = 0.5
"""The score of the best added row relative to the best result, so that ``min_score`` removes most of the others."""

_TEXTS = "SELECT id, terms FROM chunk WHERE id"
_COUNTS = "SELECT term, doc FROM term WHERE term"


def expanded(
    connection: sqlite3.Connection,
    asked: Query,
    scored: Sequence[tuple[int, float]],
    *,
    limit: int,
    prompt: InPrompt | None = None,
) -> list[tuple[int, float]]:
    """``scored``, with up to ``limit`` rows in total, of which the added ones come last.

    Args:
        connection: of the index.
        asked: the query.
        scored: the result of ``ranked`` for it.
        limit: the number of rows that are wanted.
        prompt: as for ``ranked``.
    """
    found = [*scored]
    terms = _terms_of(connection, asked, found[:BEST_ROWS]) if 0 < len(found) < limit else ()
    if not terms:
        return found
    rows = {row for row, _ in found}
    wider = ranked(connection, Query(text=asked.text, terms=terms), limit=limit, prompt=prompt)
    added = [(row, score) for row, score in wider if row not in rows]
    most = min(SHARE * found[0][1], found[-1][1])
    return found + [(row, most * score / added[0][1]) for row, score in added[: limit - len(found)]]


def _terms_of(connection: sqlite3.Connection, asked: Query, best: Sequence[tuple[int, float]]) -> tuple[str, ...]:
    """The rarest words of the best rows that the query lacks and that stand in other rows as well."""
    scores, shares = dict(best), defaultdict[str, float](float)
    rows = connection.execute(f"{_TEXTS} {ONE_OF}", (json.encode([*scores]).decode(),))
    known = {*asked.terms, *asked.rest, *common_terms()}
    for row, text in rows:
        terms = {term for term in text.split() if len(term) > 1} - known
        for term in terms:
            shares[term] += scores[row] / math.sqrt(len(terms))
    last = connection.execute("SELECT max(id) FROM chunk").fetchone()[0]
    docs = connection.execute(f"{_COUNTS} {ONE_OF}", (json.encode([*shares]).decode(),))
    weights = {term: shares[term] * weight_of(term, count, last) for term, count in docs if count > 1}
    return tuple(sorted(weights, key=lambda term: (-weights[term], term))[:TERMS_ADDED])
