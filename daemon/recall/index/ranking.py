"""Ranks the rows of an index for a query. All functions block.

Chunks are a few lines, in which a word seldom stands twice: which words of the query a chunk has says nearly all. So it
is counted, over the chunks of each term, the rare ones first, and only the best of what was counted are looked at
closely, as BM25 does it. In FTS5 itself ranking costs some microseconds for each chunk that has any of the words.
"""

import datetime as dt
import math
import sqlite3
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from msgspec import json
from msgspec.structs import replace

from daemon.recall.dates import DateRange, ranges_of_days, spans_in, with_following
from daemon.recall.evidence import common_terms
from daemon.recall.index.index_files import ONE_OF
from daemon.recall.index.scoring import DATED, Rows, Scoring, weight_of
from daemon.recall.person_names import NAMES_MAX, is_pronounced, surnames_of
from daemon.recall.search_results import InPrompt
from daemon.recall.search_terms import UNITS, Query, match_expression, query_terms, says_something
from daemon.recall.word_forms import run_terms

# Names of a query in the other script, as far as the index contains them. All functions block.


def name_terms(connection: sqlite3.Connection, asked: Query) -> list[str]:
    """The terms of the query's names in the other script: Chinese characters for pinyin, and pinyin for characters."""
    found = [term for name in asked.pinyin for term in _in_characters(connection, name)]
    for name in asked.names[:NAMES_MAX]:
        together = " AND ".join(match_expression([term]) for term in name)
        if connection.execute("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1", (together,)).fetchone():
            found += name
    return list(dict.fromkeys(found))


def _in_characters(connection: sqlite3.Connection, name: Sequence[str]) -> Iterator[str]:
    """The terms of the names in Chinese characters that are pronounced like ``name``."""
    names = [*surnames_of(name[0])]
    for syllable in name[1:]:
        names = [begun + pair[1] for begun in names for pair in _pairs(connection, begun[-1], syllable)]
    return (term for each in names for term in run_terms(each))


def _pairs(connection: sqlite3.Connection, sign: str, syllable: str) -> list[str]:
    """The pairs of the index that begin with a character, and continue with this pronunciation."""
    rows = connection.execute("SELECT term FROM term WHERE term >= ? AND term < ?", (sign, chr(ord(sign) + 1)))
    return [term for (term,) in rows if len(term) == 2 and is_pronounced(term[1], syllable)]


ROWS_EACH = 500
"""Chunks of each term, the newest ones, that are read at first: of most terms all."""

ROWS_MAX = 4_000
"""Chunks that are counted for one query; of terms that stand in more than what is left only those that have a rarer one
too. Of the rarest so many at most. With 200,000 chunks 2,000 find one of 300 answers less, 20,000 no more."""

ROWS_DATED_MAX = 20_000
"""The same where a day is named: all of it that has one of the words is looked at."""

CLOSELY_MIN, CLOSELY_FACTOR = 50, 2
"""So many of the best are looked at closely, or so many times as are wanted."""

ENOUGH = 8
"""Once there are so many times as many rows, it is asked whether further terms could change which are looked at."""

UNSURE = 2.0
"""How much better than counted a chunk may be than another one: it is shorter, or says a word twice."""

REPEATED_MAX = 1_000
"""Chunks that are looked at where most of them only repeat the question."""

DATED_MAX = 80
"""Of those without a word so many are taken, the newest."""

DATED_ROWS_MAX = 5_000
"""Of each date that is named so many are compared with what was counted; a busy month."""


class _Posting(NamedTuple):
    """In which chunks a term stands."""

    docs: int
    """In how many."""
    term: str
    weight: float
    rows: str
    """The newest ``ROWS_EACH``, with a blank between."""


class _Held(NamedTuple):
    """Rows of what a prompt holds."""

    first: int = 0
    last: int = -1
    """Between these nothing else lies; there may be none such."""
    others: frozenset[str] = frozenset()
    """As texts."""


def ranked(
    connection: sqlite3.Connection, asked: Query, *, limit: int, prompt: InPrompt | None = None
) -> list[tuple[int, float]]:
    """Up to ``limit`` rows with their scores, at least 0 and relative to the best, the best first.

    Of equal ones the newer comes first. Rows of ``prompt`` are none of them.
    """
    asked = _with_event(connection, asked) if asked.event else asked
    held = _held(connection, prompt)
    for terms in ((*asked.terms, *asked.classes, *name_terms(connection, asked)), asked.rest):
        postings = _postings(connection, terms, held)
        if postings or asked.dates:
            found = _closely(connection, postings, asked, limit=limit, prompt=prompt, held=held)
            if found:
                return found
    return []


EVENT_SHARE = 0.6
"""The share of an event's words that the best hit must contain, so that a search assumes the day of that hit."""


def _with_event(connection: sqlite3.Connection, asked: Query) -> Query:
    """The query with the days beside its event, instead of the event's words; unchanged if the event is not found."""
    if not asked.event or not asked.now:
        return asked
    event = query_terms(asked.event.event)
    if not frozenset(event.terms) - UNITS:
        return asked
    for row, _ in ranked(connection, event, limit=1):
        time, terms, text = connection.execute("SELECT time, terms, text FROM chunk WHERE id = ?", (row,)).fetchone()
        shared = frozenset(event.terms) & frozenset(terms.split())
        if not time or len(shared) < EVENT_SHARE * len(event.terms):
            break
        said = dt.datetime.fromisoformat(time).astimezone(asked.now.tzinfo)
        named = [span for span in spans_in(text, said) if span.kind in ("day", "weekday")]
        day = named[0].first if len(named) == 1 else said.date()
        with suppress(OverflowError):
            dates = ranges_of_days([asked.event.days(day)], asked.now)
            left = query_terms(asked.event.rest, asked.now)
            wanted = left.terms if says_something(asked.event.rest) else ()
            return replace(left, text=asked.text, terms=wanted, dates=dates, event=None)
    return asked


def _postings(connection: sqlite3.Connection, terms: Sequence[str], held: _Held) -> list[_Posting]:
    """Those of the terms that stand anywhere, the rarest first."""
    last = connection.execute("SELECT max(id) FROM chunk").fetchone()[0] or 0
    found = list[_Posting]()
    for term in dict.fromkeys(terms):
        docs, rows = _rows(connection, match_expression([term]), ROWS_EACH, held)
        if docs:
            every = docs if docs < ROWS_EACH else _about(docs, rows, last, held)
            found.append(_Posting(every, term, weight_of(term, every, last), rows))
    return sorted(found)


def _about(docs: int, rows: str, last: int, held: _Held) -> int:
    """In about how many chunks a term stands whose newest ``docs`` rows are given: as often as in the newest chunks.

    FTS5 counts them one by one, which takes longer than all else that is asked about the term.
    """
    oldest = int(rows.rsplit(" ", 1)[-1])
    among = last + 1 - oldest - max(0, held.last + 1 - max(held.first, oldest))
    return max(docs, docs * last // max(1, among))


_ROWS = (
    "SELECT count(*), group_concat(rowid, ' ') FROM (SELECT rowid FROM words "
    "WHERE words MATCH ? AND rowid NOT BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?)"
)


def _rows(connection: sqlite3.Connection, match: str, most: int, held: _Held) -> tuple[int, str]:
    """How many rows match, ``most`` at most, and the newest ones but those that are held, with a blank between.

    In one piece: a row at a time costs ten times as much.
    """
    count, rows = connection.execute(_ROWS, (match, held.first, held.last, most + len(held.others))).fetchone()
    if held.others and rows:
        left = [row for row in rows.split() if row not in held.others][:most]
        return len(left), " ".join(left)
    return count, rows or ""


def _held(connection: sqlite3.Connection, prompt: InPrompt | None) -> _Held:
    if prompt is None:
        return _Held()
    where = f"FROM chunk WHERE file = (SELECT id FROM file WHERE name = ?) AND first >= ? AND NOT first {ONE_OF}"  # noqa: S608 - words of our own
    values = (prompt.file, prompt.first, json.encode(sorted(prompt.hidden)).decode())
    first, last, count = connection.execute(f"SELECT min(id), max(id), count(*) {where}", values).fetchone()
    if not count:
        return _Held()
    if count == last - first + 1:  # nothing was said elsewhere meanwhile
        return _Held(first, last)
    (rows,) = connection.execute(f"SELECT group_concat(id, ' ') {where}", values).fetchone()
    return _Held(others=frozenset(rows.split()))


def _counted(
    connection: sqlite3.Connection,
    postings: Sequence[_Posting],
    most: int,
    *,
    min_score: float,
    rows_max: int,
    held: _Held,
) -> tuple[dict[str, float], dict[str, list[str]], bool]:
    """By row, as text, what its terms are worth together; of terms that cannot bring others among the best nothing.

    Nor of those of which all that are left are worth too little for ``min_score``. Also the rows of each term that was
    read, and whether these are all rows.
    """
    scores, count, left = dict[str, float](), 0, sum(posting.weight for posting in postings)
    read, rows_of = list[str](), dict[str, list[str]]()
    for docs, term, weight, newest in postings:
        # What has been read is counted sooner than it is known whether it matters.
        if docs >= ROWS_EACH and _is_enough(scores, most, left, min_score):
            return scores, rows_of, False
        left -= weight
        count += docs
        rows, match, beside = newest, match_expression([term]), 0.0
        if scores and count > rows_max:
            # Of the rarest term not all may have been read.
            match, beside = f"({match_expression(read)}) AND {match}", postings[0].weight
            _, rows = _rows(connection, match, rows_max, held)
        else:
            read.append(term)
            if docs >= ROWS_EACH < rows_max:
                _, rows = _rows(connection, match, rows_max, held)
        rows_of[term] = rows.split()
        if not scores:
            scores.update(dict.fromkeys(rows_of[term], weight))
            continue
        get = scores.get
        for row in rows_of[term]:
            scores[row] = get(row, beside) + weight
    return scores, rows_of, count <= rows_max


def _add_classes(
    scores: dict[str, float],
    postings: Iterable[_Posting],
    classes: Mapping[str, Container[str]],
    rows_of: Mapping[str, Iterable[str]],
) -> None:
    """Add to ``scores`` what classes are worth in rows that do not contain their words, as ``Scoring`` does.

    Of a class in many rows only those count that contain another word of the query.
    """
    for docs, term, weight, rows in postings:
        wanted = scores.keys() & rows.split() if scores and docs >= ROWS_EACH else set(rows.split())
        for row in wanted.difference(*(its for word, its in rows_of.items() if word in classes[term])):
            scores[row] = scores.get(row, 0.0) + weight


def _is_enough(scores: dict[str, float], most: int, left: float, min_score: float) -> bool:
    """Whether further terms, worth ``left`` together, would bring no others among the best, or none that is wanted."""
    if len(scores) > ENOUGH * most and left < sorted(scores.values())[-most]:
        return True
    return bool(scores) and UNSURE * left < min_score * max(scores.values())


def _closely(
    connection: sqlite3.Connection,
    postings: Sequence[_Posting],
    asked: Query,
    *,
    limit: int,
    prompt: InPrompt | None,
    held: _Held,
) -> list[tuple[int, float]]:
    most = max(CLOSELY_MIN, CLOSELY_FACTOR * limit)
    min_score = prompt.min_score if prompt else 0.0
    # Of one word alone all count the same, and the newest are looked at.
    words = [posting for posting in postings if posting.term not in asked.classes]
    rows_max = ROWS_DATED_MAX if asked.dates else ROWS_MAX if len(words) > 1 else most
    counted, rows_of, is_all = _counted(connection, words, most, min_score=min_score, rows_max=rows_max, held=held)
    of_classes = [posting for posting in postings if posting.term in asked.classes]
    _add_classes(counted, of_classes, asked.classes, rows_of)
    if asked.dates and counted:
        for dates in (asked.dates, map(with_following, asked.dates)):  # the days themselves count twice
            for row in counted.keys() & chain.from_iterable(_dated(connection, date) for date in dates):
                counted[row] *= DATED
    order = sorted(counted, key=counted.__getitem__, reverse=True)
    docs = {posting.term: posting.docs for posting in postings}
    short = [date for date in asked.dates if not date.is_long]
    rows = Rows(
        is_held=lambda row: _is_held(row, held),
        has_any=lambda row: not is_all or str(row) in counted,
        days=lambda: [int(row) for date in short for row in _dated(connection, date, DATED_MAX)],
    )
    scoring = Scoring(connection, docs, asked, in_turn=prompt is not None, rows=rows)
    scoring.add(int(row) for row in order[:most])
    for at in range(most, min(len(order), REPEATED_MAX), most):
        if not scoring.are_mostly_repeated:
            break
        scoring.add(int(row) for row in order[at : at + most])
    return scoring.best(limit, min_score=min_score)


def _is_held(row: int, held: _Held) -> bool:
    return held.first <= row <= held.last or str(row) in held.others


_DATED = (
    "SELECT group_concat(id, ' ') FROM (SELECT id FROM chunk WHERE time >= ? AND time < ? ORDER BY time DESC LIMIT ?)"
)


def _dated(connection: sqlite3.Connection, date: DateRange, most: int = DATED_ROWS_MAX) -> list[str]:
    """Rows of a date as texts, the newest first; in one piece, as ``_rows`` reads them."""
    (rows,) = connection.execute(_DATED, (date.since, date.until, most)).fetchone()
    return rows.split() if rows else []


def coverage(connection: sqlite3.Connection, asked: Query, best: int) -> float:
    """The share of the weights of the query's words that a row contains in its text."""
    terms = json.encode(asked.terms).decode()
    docs = dict[str, int](connection.execute(f"{_COUNTS} {ONE_OF}", (terms,)).fetchall())
    last, its = connection.execute(
        "SELECT (SELECT max(id) FROM chunk), terms FROM chunk WHERE id = ?", (best,)
    ).fetchone()
    weights = {term: weight_of(term, docs.get(term, 0), last) for term in asked.terms}
    return sum(weights[term] for term in weights.keys() & its.split()) / (sum(weights.values()) or 1.0)


# Adds rows to few results of a search, by the words that the best results contain (query expansion). Blocks.

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
