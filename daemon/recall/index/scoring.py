"""Scores chunks for a query by their words, dates, neighbors and worth as evidence. All methods block."""

import datetime as dt
import math
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from msgspec import Struct, json

from daemon.recall.dates import DateRange, names_any, with_following
from daemon.recall.evidence import Evidence, Form, asks_for_first
from daemon.recall.index.index_files import ONE_OF
from daemon.recall.search_terms import Query
from daemon.recall.word_classes import is_class

K1, B = 1.2, 0.5
"""Of BM25: the saturation of repeated words, and the share of the length by which a score is divided. A long message
holds more facts than a short one, so that less is taken off than by FTS5 (0.75)."""

ABOUT = 0.6
"""What an occurrence beside the text counts, in the speaker's name, heading or date."""

_MESSAGE_SHARES = ((-1, 0.5), (-2, 0.35), (1, 0.35), (2, 0.25))
"""Of the scores of the two messages before it and the two behind it a message receives these shares; only the largest
counts. An answer rarely repeats the words of its question. (``python -m benchmarks recall_sets``.)"""

NEAR_ROWS = 15
"""The best rows whose neighbors are read. A neighbor of another row scores too little to be among the best."""

_LINE_SHARES = ((-1, 0.1), (1, 0.1))
"""The same for the lines of a file."""

APART = dt.timedelta(hours=6)
"""Messages that are further apart belong to different conversations."""

SIGN_SHARE, PAIR_SHARE = 0.5, 0.7
"""The shares of their weights that a single Chinese or Japanese character and a pair of characters keep. Each character
stands in three terms, so that a common phrase would outweigh a rare name. (On MADial R@5 grows by 0.5 points.)"""

FIRST_SIGN = "\u2e80"
"""Where the characters of texts without spaces begin in Unicode (CJK Radicals Supplement)."""

FIRST_SHARE = 0.8
"""If a question asks for the first time of something, the oldest chunk comes first among those with at least this share
of the best score. Texts that say the same in other lengths differ by less."""

SAMPLE_ROWS = 50
"""Rows of the whole index by which it is known how common the words of a day's messages are. To count all rows that
contain a common word takes milliseconds. (With 100 rows, one of 800 results differs, after 0.3 ms more.)"""

GOLDEN_RATIO = (5**0.5 - 1) / 2
"""Its multiples, without the whole part, lie evenly between 0 and 1, and never repeat."""

DATED = 3.0
"""What a chunk's score is multiplied by when it is of a date that the query names."""

DATED_ALONE = 0.3
"""What such a chunk is worth that has no word of the query, as a part of what the rarest word is worth."""


ASKING = ("asks", "asks too")
_SELECT = "SELECT id, time, terms, about, file, kind, speaker, form, iif(?, text, '') FROM chunk WHERE id"
"""The texts only where the query names days: all else is told by the terms."""


class _Chunk(Struct, frozen=True):
    """A chunk as it is scored."""

    file: int
    kind: str
    time: str
    speaker: str
    form: Form
    terms: str
    length: int
    """In terms."""
    times: Sequence[tuple[int, int]]
    """The query's terms in its text, by number, and how often each stands there."""
    beside: Sequence[int]
    """The query's terms that stand only beside the text, by number."""
    worth: float
    """As ``Evidence.worth``."""
    is_dated: bool
    """Whether it is of a day that the query names, or speaks of it."""


class Rows(Struct, frozen=True):
    """The rows of an index, as one search sees them."""

    is_held: Callable[[int], bool]
    """Whether the prompt already contains a row. Such a row is not scored."""
    has_any: Callable[[int], bool]
    """Whether a row may contain a term of the query."""
    days: Callable[[], Iterable[int]]
    """Gives rows of the query's days, with or without words of the query."""


class Scoring:
    """The scores of the chunks of an index for one query."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        docs: Mapping[str, int],
        asked: Query,
        *,
        in_turn: bool,
        rows: Rows,
    ) -> None:
        """No chunk is scored yet.

        Args:
            connection: of the index.
            docs: by term of the query, the number of chunks that contain it.
            asked: the query.
            in_turn: as for ``Evidence``.
            rows: of the index.
        """
        self._rows = rows
        self._connection = connection
        self._docs = docs
        at = {term: number for number, term in enumerate(docs)}
        self._terms = [(number, f" {term} ") for term, number in at.items() if term not in asked.classes]
        classes = ((each, its) for each, its in asked.classes.items() if each in at)
        self._classes = [(at[each], each, {at[term] for term in its if term in at}) for each, its in classes]
        self._dates = asked.dates
        self._following = [with_following(date) for date in asked.dates]
        self._zone = asked.now and asked.now.tzinfo
        self._asks_for_first = asks_for_first(asked.text)
        self._short = [date for date in asked.dates if not date.is_long]
        self._last: int = connection.execute("SELECT max(id) FROM chunk").fetchone()[0] or 0
        self._evidence = Evidence(asked.text, in_turn=in_turn)
        self._chunks: dict[int, _Chunk] = {}
        self._scores: dict[int, float] = {}

    @property
    def are_mostly_repeated(self) -> bool:
        """Whether most of the chunks so far are no evidence."""
        return 2 * sum(not chunk.worth for chunk in self._chunks.values()) > len(self._chunks)

    def add(self, rows: Iterable[int]) -> None:
        """Read chunks by their rows; those that were read before stay as they are."""
        wanted = json.encode([row for row in rows if row not in self._chunks]).decode()
        records = self._connection.execute(f"{_SELECT} {ONE_OF}", (bool(self._dates), wanted)).fetchall()
        for row, time, terms, about, file, kind, speaker, form, text in records:
            times, beside = list[tuple[int, int]](), list[int]()
            its, near = f" {terms} ", f" {about} "
            for number, term in self._terms:
                if term in its:
                    times.append((number, its.count(term)))
                elif term in near:
                    beside.append(number)
            for number, term, its_words in self._classes:
                if term in about and not any(word in its_words for word, _ in times):
                    beside.append(number)  # the class of a word says nothing where the word itself stands
            worth = self._evidence.worth(form, terms)
            is_dated = bool(self._dates) and self._is_dated(time, text)
            length = terms.count(" ") + 1
            self._chunks[row] = _Chunk(file, kind, time, speaker, form, terms, length, times, beside, worth, is_dated)

    def best(self, limit: int, *, min_score: float) -> list[tuple[int, float]]:
        """Up to ``limit`` rows with their scores relative to the best, the best first, of equal ones the newer.

        Rows with less than ``min_score`` may be missing.
        """
        weights, mean = self._weights(), self._mean_length()
        for row, chunk in self._chunks.items():
            self._scores[row] = self._score(chunk, weights, mean)
        if self._short and self._needs_days(limit, min_score, weights, mean):
            self.add(row for row in self._rows.days() if not self._rows.is_held(row))
            weights, mean = self._weights(), self._mean_length()
            dated_alone, said = DATED_ALONE * _most_of(weights), self._information(mean)
            for row, chunk in self._chunks.items():
                score = self._score(chunk, weights, mean, said.get(row))
                self._scores[row] = score or dated_alone * said.get(row, 0.0)
        top = sorted(self._scores, key=self._scores.__getitem__, reverse=True)[:limit]
        near = self._near(top[:NEAR_ROWS])
        self.add(near)
        for row in near & self._chunks.keys():
            self._scores[row] = self._score(self._chunks[row], weights, mean)
        found = [
            ((self._scores[row] + self._from_neighbors(row, chunk)) * chunk.worth, chunk.time, row)
            for row, chunk in self._chunks.items()
            if chunk.worth
        ]
        found = sorted((each for each in found if each[0] > 0), reverse=True)
        found = (_oldest_first(found) if self._asks_for_first else found)[:limit]
        return [(row, score / found[0][0]) for score, _, row in found]

    def _near(self, top: Iterable[int]) -> set[int]:
        """Rows beside the best that may get or give a score: those with words of the query, or behind a question."""
        near = {at for row in top for at in (row - 2, row - 1, row + 1, row + 2)} - self._chunks.keys()
        if not self._short:
            with_words = set(filter(self._rows.has_any, near))
            asking = with_words | {row for row in top if self._chunks[row].form in ASKING}
            near &= with_words | {at for row in asking for at in (row + 1, row + 2)}
        return {row for row in near if not self._rows.is_held(row)}

    def _needs_days(self, limit: int, min_score: float, weights: Sequence[float], mean: float) -> bool:
        """Whether messages of the query's days may be among the best without having any of its words in their text."""
        most, others = DATED_ALONE * _most_of(weights), list[float]()
        for row, chunk in self._chunks.items():
            if not chunk.times and _is_within(chunk.time, self._short):
                most = max(most, self._score(chunk, weights, mean, 1.0))
            else:
                others.append(self._scores[row] * chunk.worth)
        others.sort(reverse=True)
        return not others or most >= max(min_score * others[0], others[limit - 1] if len(others) >= limit else 0.0)

    def _weights(self) -> list[float]:
        """What each term says, by the chunks that state something: many repetitions of a question say no more."""
        asking = Counter(number for chunk in self._chunks.values() if chunk.worth < 1 for number, _ in chunk.times)
        docs = (max(1, count - asking[number]) for number, count in enumerate(self._docs.values()))
        return [weight_of(term, count, self._last) for term, count in zip(self._docs, docs, strict=True)]

    def _mean_length(self) -> float:
        lengths = [chunk.length for chunk in self._chunks.values() if chunk.worth == 1]
        return sum(lengths) / len(lengths) if lengths else 1.0

    def _information(self, mean: float) -> dict[int, float]:
        """By row, how much each chunk of the days says, as a share of the one that says most.

        The shortest messages of a day are greetings, and words that stand in many messages say little.
        """
        terms = {
            row: frozenset(chunk.terms.split())
            for row, chunk in self._chunks.items()
            if _is_within(chunk.time, self._short)
        }
        # Not every nth row, since people and the bot take turns.
        sample = {1 + int(self._last * (number * GOLDEN_RATIO % 1)) for number in range(SAMPLE_ROWS)}
        rows = json.encode([*sample - terms.keys()]).decode()
        others = self._connection.execute(f"SELECT terms FROM chunk WHERE id {ONE_OF}", (rows,)).fetchall()  # noqa: S608
        counts = Counter(chain.from_iterable(terms.values()))
        wanted = frozenset(counts)
        for (text,) in others:
            counts.update(wanted.intersection(text.split()))
        of_docs = {docs: weight_of("", docs, len(terms) + len(others)) for docs in {*counts.values()}}
        weights = {term: of_docs[docs] for term, docs in counts.items()}
        said = {row: sum(map(weights.__getitem__, its)) / max(mean, len(its)) for row, its in terms.items()}
        most = max(said.values(), default=0.0) or 1.0
        return {row: value / most for row, value in said.items()}

    def _score(self, chunk: _Chunk, weights: Sequence[float], mean: float, information: float | None = None) -> float:
        """By the words of the query in the text, and beside it; words beside a text that says little count less."""
        text, about, length = 0.0, 0.0, chunk.length / mean
        norm = K1 * (1 - B + B * length)
        for number, times in chunk.times:
            text += weights[number] * times * (K1 + 1) / (times + norm)
        for number in chunk.beside:
            about += weights[number] * ABOUT * (K1 + 1) / (ABOUT + K1)
        score = text + about if text else about * (min(1.0, length) if information is None else information)
        return score * DATED if chunk.is_dated else score

    def _is_dated(self, time: str, text: str) -> bool:
        if _is_within(time, self._dates):
            return True
        if not _is_within(time, self._following):
            return False
        try:
            said = dt.datetime.fromisoformat(time).astimezone(self._zone or dt.UTC)
        except (ValueError, OverflowError):
            return False
        return names_any(text, said, self._dates)

    def _from_neighbors(self, row: int, chunk: _Chunk) -> float:
        """The largest share of a neighbor's score.

        A chunk without words of the query gets one only if it is of the query's days or answers a question.
        No chunk gets more than the score of its neighbor by it: talk beside a good hit is no better than the hit.
        """
        most, own, score_of = 0.0, self._scores[row], self._scores.get
        for step, share in _MESSAGE_SHARES if chunk.kind == "message" else _LINE_SHARES:
            beside = score_of(row + step, 0.0)
            if beside - own <= most:
                continue
            score = min(share * beside, beside - own)
            if score <= most:
                continue
            near = self._chunks[row + step]
            counts = own > 0 or (near.form in ASKING and step < 0) or _is_within(chunk.time, self._short)
            if counts and _belong_together(chunk, near, is_before=step < 0):
                most = score
        return most


def _oldest_first(found: Sequence[tuple[float, str, int]]) -> list[tuple[float, str, int]]:
    """Scores with times and rows, of which the ones with similar scores as the best one change places."""
    similar = [each for each in found if each[0] >= FIRST_SHARE * found[0][0]]
    by_time = sorted(each[1:] for each in similar)
    return [(score, *each) for (score, *_), each in zip(similar, by_time, strict=True)] + [*found[len(similar) :]]


def _belong_together(chunk: _Chunk, near: _Chunk, *, is_before: bool) -> bool:
    if near.file != chunk.file:
        return False
    if not near.worth and not (is_before and near.speaker != chunk.speaker and chunk.worth == 1):
        return False  # of what stands beside a repeated question only its answer says something
    return chunk.kind != "message" or not _are_apart(chunk.time, near.time)


def weight_of(term: str, docs: int, last: int) -> float:
    """The weight of a term in ``docs`` of ``last`` chunks, as BM25 has it; less for a term of a text without spaces."""
    weight = math.log(1 + max(0.5, last + 1 - docs + 0.5) / (docs + 0.5))
    if term[:1] < FIRST_SIGN or is_class(term):
        return weight
    return weight * (SIGN_SHARE if len(term) == 1 else PAIR_SHARE)


def _most_of(weights: Iterable[float]) -> float:
    return max(weights, default=1.0)


def _is_within(time: str, dates: Iterable[DateRange]) -> bool:
    for date in dates:  # noqa: SIM110 - twice as fast as any()
        if date.since <= time < date.until:
            return True
    return False


def _are_apart(one: str, other: str) -> bool:
    if one[:13] == other[:13]:
        return False  # the same hour
    try:
        return abs(dt.datetime.fromisoformat(one) - dt.datetime.fromisoformat(other)) > APART
    except (ValueError, TypeError):
        return False  # nobody knows when
