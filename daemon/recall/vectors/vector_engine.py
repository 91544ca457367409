"""Search by keywords and vectors, if vectors exist. This module does not need numpy.

What goes wrong with vectors costs only them: the answer is then that of words, and one line of the log says why.
"""

import sqlite3
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import anyio
import structlog
from anyio import CapacityLimiter, to_thread
from msgspec.structs import replace

from daemon.clock import Clock
from daemon.errors import ModelError, ModelTimeout, RateLimited, brief
from daemon.recall.search_results import InPrompt, Mode, SearchResults
from daemon.recall.vectors.embedder import Embedder, says_something
from daemon.recall.vectors.keyword_index import Blend, KeywordIndex, Ranking, ScoredRow
from daemon.recall.vectors.similarity import Similarity
from daemon.recall.vectors.vector_store import Gone, file_of
from daemon.usage import LimitReached

if TYPE_CHECKING:
    from daemon.recall.vectors.vector_cache import VectorCache
    from daemon.recall.vectors.vector_feeder import VectorFeeder


# Combines two rankings, with more weight for keywords. Pure.

WORDS, VECTORS = 4.0, 1.0
"""Their weights. On questions about conversations 1:1 is worse than words alone, and 2:1 to 4:1 better (R@5 and R@10 of
LoCoMo; docs/decisions/018-vectors.md has ours). With 4:1 neither English nor Chinese is found worse than by words."""


COVERED, VECTORS_INSTEAD = 0.3, 2.0
"""If the best row contains a smaller share of the query's words, vectors have this weight, and all of them count that
are more similar to the query than usual: the words then say little. (docs/decisions/021-sentences.md)"""


def blended(words: Ranking, near: Similarity, *, quick: bool = False) -> tuple[ScoredRow, ...]:
    """Both as one ranking, in which vectors have more weight if words found little.

    ``quick``, as of an ``Embedder``: the vectors tell too little for that. (With wordllama, 3 percent fewer answers are
    among the first 5 hits of the Chinese MADial-Bench.)
    """
    if words.coverage < COVERED and not quick:
        return fused(words.scored, near.above_the_usual(), vectors=VECTORS_INSTEAD)
    return fused(words.scored, near.outstanding())


def fused(words: Sequence[ScoredRow], near: Sequence[ScoredRow], *, vectors: float = VECTORS) -> tuple[ScoredRow, ...]:
    """All rows of both, the best first; each ranking's scores are relative to its best.

    The order is that of the weighted mean. The score that is shown is the better one of the two, and never less than
    what stands below: what the one ranking has found for certain is not made less by the other's silence.
    """
    by_words, by_vectors = dict(words), dict(near)
    places = {row: at for at, row in enumerate([*by_words, *(row for row in by_vectors if row not in by_words)])}
    weighted = {
        row: (WORDS * by_words.get(row, 0.0) + vectors * by_vectors.get(row, 0.0)) / (WORDS + vectors) for row in places
    }
    order = sorted(places, key=lambda row: (-weighted[row], places[row]))
    scores: list[float] = []
    for row in reversed(order):
        scores.append(max(by_words.get(row, 0.0), by_vectors.get(row, 0.0), *scores[-1:]))
    return tuple(ScoredRow(row, score) for row, score in zip(order, reversed(scores), strict=True))


DEPTH, PER_HIT = 20, 3
"""Rows of each ranking that are fused, at least, and for each hit that is wanted: some say the same, or are joined."""
QUERY_S = 1.0
"""Longest wait for the vector of a query. A turn waits 2 s for all it recalls, and words come first."""
INLINE_S = 0.3
"""How long a search works on vectors that are missing before it goes on with those that are there."""
REST, REST_MAX_S = 9.0, 1.0
"""So many times as long as a search took, and at most that long, others of the scope use the vectors that there are."""
AT_ONCE = 2
"""Searches by both that go on in a process; others that come meanwhile are answered by words, so that crowds are."""
KEEP_S = 20.0
"""How long one scope is worked on in the background before the next one has its turn."""
PAUSE_S = 60.0
"""How long an embedder that failed is left alone, unless it says itself when to come back."""
PAUSE_MAX_S = 3_600.0
BEHIND_MAX = 1_000
"""Scopes that are remembered as waiting for vectors; one that is dropped is named again by its next search."""
FAILING_MAX = 100
"""Files of which is remembered that the log knows that they cannot be used."""
THREADS = 4

NO_VECTORS = (
    "Vectors are not configured, so only a keyword search was performed. docs/recall.md explains how to get vectors."
)
NOT_NOW = "Vectors are currently unavailable, so only a keyword search was performed."
NOT_ALL = "Some passages have no vectors yet, so a later search may find more."

_K = TypeVar("_K")
_log = structlog.get_logger()


class VectorEngine:
    """An ``Engine``: hands a search by words on, and adds vectors to the others."""

    def __init__(
        self,
        words: KeywordIndex,
        *,
        embedder_of: Callable[[str], Awaitable[Embedder | None]],
        data_dir: Path,
        clock: Clock,
    ) -> None:
        """Nothing is opened yet.

        Args:
            words: the index that hits come from.
            embedder_of: gives what turns the texts of a scope into vectors; None: nothing does.
            data_dir: below it the vectors are kept.
            clock: for the claim by which one process at a time feeds a scope.
        """
        self.rest = REST
        """How long vectors of what is new may be missing, see ``REST``."""
        self._words = words
        self._embedder_of = embedder_of
        self._data_dir = data_dir
        self._clock = clock
        self._threads = CapacityLimiter(THREADS)
        self._paused: dict[str, float] = {}
        self._failing: set[str] = set()
        self._behind: OrderedDict[str, None] = OrderedDict()
        self._fed_until: OrderedDict[tuple[str, str], float] = OrderedDict()
        """By scope and embedder, until when its vectors are used as they are, by the event loop's clock."""
        self._named_until: OrderedDict[str, float] = OrderedDict()
        """By scope, until when turns do not name it again as waiting."""
        self._work = anyio.Event()
        self._kept_up = False
        self._searching = 0
        self._parts: tuple[VectorFeeder, VectorCache] | None = None

    async def search(
        self, scope: str, query: str, *, mode: Mode, limit: int, prompt: InPrompt | None = None
    ) -> SearchResults:
        """As ``Engine.search``."""
        embedder = None if mode == "search" else await self._embedder_of(scope)
        if embedder is None:
            found = await self._words.search(scope, query, mode="search", limit=limit, prompt=prompt)
            return _noted(found, NO_VECTORS) if mode == "vsearch" else found
        is_crowded = mode == "query" and self._searching >= AT_ONCE
        if is_crowded or not says_something(query):
            return await self._words.search(scope, query, mode="search", limit=limit, prompt=prompt)
        self._searching += 1
        try:
            return await self._by_meaning(scope, query, embedder, mode=mode, limit=limit, prompt=prompt)
        finally:
            self._searching -= 1

    async def keep_up(self) -> None:
        """Make the vectors that searches found missing, for ever: for a task group of a process that lasts."""
        self._kept_up = True
        try:
            while True:
                await self._work.wait()
                scope = next(iter(self._behind), None)
                if scope is None:
                    self._work = anyio.Event()
                else:
                    await self._kept(scope)
        finally:
            self._kept_up = False

    async def _by_meaning(
        self, scope: str, query: str, embedder: Embedder, *, mode: Mode, limit: int, prompt: InPrompt | None
    ) -> SearchResults:
        depth, began = max(DEPTH, PER_HIT * limit), anyio.current_time()
        blend = self._blend(scope, query, embedder, mode=mode, limit=depth)
        fed_until = self._fed_until.get((scope, embedder.name), 0.0)
        is_beside = prompt is not None
        if is_beside and began >= self._named_until.get(scope, 0.0):
            _keep(self._named_until, scope, began + REST_MAX_S)
            self._is_behind(scope)
        if blend is not None and (is_beside or began < fed_until):
            return await self._words.blended(scope, query, blend, depth=depth, limit=limit, prompt=prompt)
        # Words first also by vectors alone: it is this that brings the index in step, whose rows vectors belong to.
        ranking = await self._words.ranked(scope, query, limit=depth, prompt=prompt)
        near = await self._near(scope, query, embedder, limit=depth, is_beside=is_beside)
        if near is None:
            # What a search gives; another one would first bring the index in step again, out of a turn's time.
            found = SearchResults(
                hits=await self._words.shown(scope, query, ranking.scored, limit=limit, prompt=prompt),
                note=ranking.note,
            )
            return _noted(found, NOT_NOW) if mode == "vsearch" else found
        self._failing.discard(str(file_of(self._data_dir, scope)))
        if self.rest and not is_beside:
            now = anyio.current_time()
            _keep(self._fed_until, (scope, embedder.name), now + min(REST_MAX_S, self.rest * (now - began)))
        scored = near.above_the_usual() if mode == "vsearch" else blended(ranking, near, quick=embedder.quick)
        hits = await self._words.shown(scope, query, scored, limit=limit, prompt=prompt)
        found = SearchResults(hits=hits, note=ranking.note)
        return _noted(found, NOT_ALL) if mode == "vsearch" and scope in self._behind else found

    def _blend(self, scope: str, query: str, embedder: Embedder, *, mode: Mode, limit: int) -> Blend | None:
        """Words and vectors as one, without waiting for anything; None: it cannot be done so."""
        at_once, (_, held) = embedder.at_once, self._opened_parts()
        if at_once is None:
            return None

        def blend(by_words: Ranking) -> Sequence[ScoredRow]:
            try:
                (vector,) = at_once([query])
                near = held.nearest(file_of(self._data_dir, scope), embedder.name, vector, limit=limit)
            except (Gone, sqlite3.Error, OSError):
                return by_words.scored  # the next search that looks for what is missing says what is wrong
            return near.above_the_usual() if mode == "vsearch" else blended(by_words, near, quick=embedder.quick)

        return blend

    async def _near(
        self, scope: str, query: str, embedder: Embedder, *, limit: int, is_beside: bool
    ) -> Similarity | None:
        """How like ``query`` the texts of ``scope`` are; None: it cannot be told.

        ``is_beside``: what is missing is made beside searches alone.
        """
        if self._pause_left_s(embedder) > 0:
            return None
        path = file_of(self._data_dir, scope)
        try:
            if not is_beside:
                await self._feed_a_little(scope, embedder)
            (vector,) = await embedder.embed([query], limit_s=QUERY_S)
            self._works(embedder)
            _, held = self._opened_parts()
            return await to_thread.run_sync(
                lambda: held.nearest(path, embedder.name, vector, limit=limit), limiter=self._threads
            )
        except ModelError as error:
            self._pause(embedder, error)
        except LimitReached as error:
            _log.info("vectors.unpaid", reason=brief(error))
        except Gone:
            return Similarity()
        except (sqlite3.Error, OSError) as error:
            self._unusable(path, error)
        return None

    async def _feed_a_little(self, scope: str, embedder: Embedder) -> None:
        feeder, _ = self._opened_parts()
        try:
            if self._kept_up and not embedder.quick:
                # What is missing is what was said last, mostly, and stands in a turn's prompt anyway.
                done = await feeder.is_in_step(scope, embedder)
            else:
                done = await feeder.feed(scope, embedder, limit_s=INLINE_S)
        except ModelTimeout:
            done = False  # the time was ours, and short
        if done:
            self._behind.pop(scope, None)
        else:
            self._is_behind(scope)

    def _is_behind(self, scope: str) -> None:
        self._behind[scope] = None
        while len(self._behind) > BEHIND_MAX:
            self._behind.popitem(last=False)
        self._work.set()

    async def _kept(self, scope: str) -> None:
        embedder = await self._embedder_of(scope)
        if embedder is None:
            self._behind.pop(scope, None)
            return
        await anyio.sleep(self._pause_left_s(embedder))
        feeder, _ = self._opened_parts()
        try:
            done = await feeder.feed(scope, embedder, limit_s=KEEP_S)
        except ModelError as error:
            self._pause(embedder, error)
            return
        except LimitReached as error:
            _log.info("vectors.unpaid", reason=brief(error))
            done = True  # as below
        except (sqlite3.Error, OSError) as error:
            self._unusable(file_of(self._data_dir, scope), error)
            done = True  # the next search names it again
        else:
            self._works(embedder)
        if done:
            self._behind.pop(scope, None)
        else:
            self._behind.move_to_end(scope)

    def _opened_parts(self) -> "tuple[VectorFeeder, VectorCache]":
        if self._parts is None:
            # Where there is an embedder there is numpy, which these need.
            from daemon.recall.vectors.vector_cache import VectorCache  # noqa: PLC0415
            from daemon.recall.vectors.vector_feeder import VectorFeeder  # noqa: PLC0415

            feeder = VectorFeeder(
                self._words,
                file_of=lambda scope: file_of(self._data_dir, scope),
                clock=self._clock,
                threads=self._threads,
            )
            self._parts = (feeder, VectorCache())
        return self._parts

    def _pause_left_s(self, embedder: Embedder) -> float:
        return max(0.0, self._paused.get(embedder.name, 0.0) - anyio.current_time())

    def _pause(self, embedder: Embedder, error: ModelError) -> None:
        asked_s = error.retry_after_s if isinstance(error, RateLimited) else None
        pause_s = PAUSE_S if asked_s is None else min(max(asked_s, 1.0), PAUSE_MAX_S)
        self._paused[embedder.name] = anyio.current_time() + pause_s
        if embedder.name not in self._failing:
            self._failing.add(embedder.name)
            _log.warning("vectors.failed", model=embedder.name, reason=brief(error))

    def _works(self, embedder: Embedder) -> None:
        if embedder.name in self._failing:
            self._failing.discard(embedder.name)
            _log.info("vectors.back", model=embedder.name)

    def _unusable(self, path: Path, error: Exception) -> None:
        if str(path) not in self._failing:
            if len(self._failing) > FAILING_MAX:
                self._failing.clear()
            self._failing.add(str(path))
            _log.warning("vectors.unusable", path=str(path), reason=brief(error))


def _keep(until: "OrderedDict[_K, float]", key: _K, time: float) -> None:
    until[key] = time
    while len(until) > BEHIND_MAX:
        until.popitem(last=False)


def _noted(found: SearchResults, note: str) -> SearchResults:
    return replace(found, note=f"{found.note} {note}".strip())
