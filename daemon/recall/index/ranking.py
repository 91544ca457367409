"""What of an index answers a query best. All of it blocks.

Chunks are a few lines, in which a word seldom stands twice: which words of the query a chunk has says nearly all. So it
is counted, over the chunks of each term, the rare ones first, and only the best of what was counted are looked at
closely, as BM25 does it. In FTS5 itself ranking costs some microseconds for each chunk that has any of the words.
"""

import heapq
import math
import sqlite3
from collections.abc import Iterable, Sequence

from daemon.recall.dates import DateRange
from daemon.recall.found import InPrompt
from daemon.recall.words import Query, match_expression

ROWS_MAX = 20_000
"""Chunks that are counted for one query; terms that stand in more than what is left are only looked at closely."""

CLOSELY_MIN, CLOSELY_FACTOR = 50, 2
"""So many of the best are looked at closely, or so many times as are wanted."""

ENOUGH = 8
"""Once there are so many times as many rows, it is asked whether further terms could change which are looked at."""

UNSURE = 2.0
"""How much better than counted a chunk may be than another one: it is shorter, or says a word twice."""

K1, B = 1.2, 0.75
"""Of BM25: how much more a second occurrence says, how much less a long text; FTS5 has the same ones."""

ABOUT = 0.6
"""What an occurrence beside the text counts, in the speaker's name, heading or date."""

NEAR = 0.1
"""Which part of its better neighbour's score a chunk is given: what is said next to each other belongs together."""

DATED = 3.0
"""What a chunk's score is multiplied by when it is of a date that the query names."""

DATED_ALONE = 0.3
"""What such a chunk is worth that has no word of the query, as a part of what the rarest word is worth."""

DATED_MAX = 30
"""Of those without a word so many are taken, the newest."""

DATED_ROWS_MAX = 5_000
"""Of each date that is named so many are compared with what was counted; a busy month."""


def ranked(
    connection: sqlite3.Connection, asked: Query, *, limit: int, prompt: InPrompt | None = None
) -> list[tuple[int, float]]:
    """Up to ``limit`` rows with their scores, at least 0 and relative to the best, the best first.

    Of equal ones the newer comes first. Rows of ``prompt`` are none of them.
    """
    without = _held(connection, prompt)
    for terms in (asked.terms, asked.rest):
        weights = _weights(connection, terms)
        if weights or asked.dates:
            found = _closely(connection, weights, asked, limit=limit, prompt=prompt, without=without)
            if found:
                return found
    return []


def _weights(connection: sqlite3.Connection, terms: Sequence[str]) -> dict[str, tuple[int, float]]:
    """By term in how many chunks it stands and what that makes of it, the rarest first; only those that do."""
    count = (connection.execute("SELECT max(id) FROM chunk").fetchone()[0] or 0) + 1
    found = list[tuple[int, str]]()
    for term in dict.fromkeys(terms):
        row = connection.execute("SELECT doc FROM term WHERE term = ?", (term,)).fetchone()
        if row:
            found.append((row[0], term))
    return {term: (docs, math.log(1 + max(0.5, count - docs + 0.5) / (docs + 0.5))) for docs, term in sorted(found)}


def _held(connection: sqlite3.Connection, prompt: InPrompt | None) -> frozenset[str]:
    """Rows of what a prompt holds, as texts."""
    if prompt is None:
        return frozenset()
    (found,) = connection.execute(
        "SELECT group_concat(id, ' ') FROM chunk WHERE file = (SELECT id FROM file WHERE name = ?) AND first >= ?",
        (prompt.file, prompt.first),
    ).fetchone()
    return frozenset(found.split() if found else ())


def _counted(
    connection: sqlite3.Connection,
    weights: dict[str, tuple[int, float]],
    most: int,
    *,
    min_score: float,
    without: frozenset[str],
) -> dict[str, float]:
    """By row, as text, what its terms are worth together; of terms that cannot bring others among the best nothing.

    Nor of those of which all that are left are worth too little for ``min_score``.
    """
    scores, rows, left = dict[str, float](), 0, sum(weight for _, weight in weights.values())
    for term, (docs, weight) in weights.items():
        rows += docs
        if scores and rows > ROWS_MAX:
            break
        if len(scores) > ENOUGH * most and left < heapq.nlargest(most, scores.values())[-1]:
            break
        if scores and UNSURE * left < min_score * max(scores.values()):
            break
        left -= weight
        # In one piece: a row at a time costs ten times as much.
        (found,) = connection.execute(
            "SELECT group_concat(rowid, ' ') "
            "FROM (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?)",
            (match_expression([term]), ROWS_MAX),
        ).fetchone()
        of_term: list[str] = found.split() if found else []
        if without:
            of_term = [row for row in of_term if row not in without]
        if not scores:
            scores.update(dict.fromkeys(of_term, weight))
            continue
        get = scores.get
        for row in of_term:
            scores[row] = get(row, 0.0) + weight
    return scores


def _closely(
    connection: sqlite3.Connection,
    weights: dict[str, tuple[int, float]],
    asked: Query,
    *,
    limit: int,
    prompt: InPrompt | None,
    without: frozenset[str],
) -> list[tuple[int, float]]:
    most = max(CLOSELY_MIN, CLOSELY_FACTOR * limit)
    min_score = prompt.min_score if prompt else 0.0
    scores = _counted(connection, weights, most, min_score=min_score, without=without)
    rows = {int(row) for row in heapq.nlargest(most, scores, key=scores.__getitem__)}
    dated = [row for row in _dated(connection, asked.dates) if str(row) not in without]
    with_words = heapq.nlargest(most, (row for row in dated if str(row) in scores), key=lambda row: scores[str(row)])
    look = rows | {*with_words, *dated[:DATED_MAX]}
    marks = ",".join("?" * len(look))
    mean = _mean_length(connection)
    base = max((weight for _, weight in weights.values()), default=1.0) * DATED_ALONE
    wanted = [(f" {term} ", weight) for term, (_, weight) in weights.items()]
    found = list[tuple[float, str, int]]()
    for row, time, terms, about in connection.execute(
        f"SELECT id, time, terms, about FROM chunk WHERE id IN ({marks})",  # noqa: S608 - question marks alone
        list(look),
    ):
        score = _score(wanted, f" {terms} ", f" {about} ", mean)
        if asked.dates and _is_within(time, asked.dates):
            score = score * DATED or base
        if score > 0:
            found.append((score, time, row))
    near = {row: score for score, _, row in found}
    found = [
        (score + NEAR * max(near.get(row - 1, 0.0), near.get(row + 1, 0.0)), time, row) for score, time, row in found
    ]
    found.sort(reverse=True)
    top = found[0][0] if found else 1.0
    return [(row, score / top) for score, _, row in found[:limit]]


def _score(weights: Iterable[tuple[str, float]], terms: str, about: str, mean: float) -> float:
    """Of a chunk; its terms with a blank on both sides of each, as those of ``weights`` have."""
    score, norm = 0.0, K1 * (1 - B + B * (terms.count(" ") - 1) / mean)
    for term, weight in weights:
        times = float(terms.count(term)) or (ABOUT if term in about else 0.0)
        if times:
            score += weight * times * (K1 + 1) / (times + norm)
    return score


def _mean_length(connection: sqlite3.Connection) -> float:
    """Terms of a chunk, by the newest twenty."""
    (mean,) = connection.execute(
        "SELECT avg(length(terms) - length(replace(terms, ' ', '')) + 1) "
        "FROM (SELECT terms FROM chunk ORDER BY id DESC LIMIT 20)"
    ).fetchone()
    return float(mean or 1.0)


def _dated(connection: sqlite3.Connection, dates: Iterable[DateRange]) -> list[int]:
    """Rows of these dates, the newest first."""
    found = list[int]()
    for date in dates:
        rows = connection.execute(
            "SELECT id FROM chunk WHERE time >= ? AND time < ? ORDER BY time DESC LIMIT ?",
            (date.since, date.until, DATED_ROWS_MAX),
        )
        found += [row for (row,) in rows]
    return found


def _is_within(time: str, dates: Iterable[DateRange]) -> bool:
    return any(date.since <= time < date.until for date in dates)
