"""The built-in engine: a keyword search with an SQLite index for each scope, built from stored data."""

import datetime as dt
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from sqlite3 import Connection
from typing import TypeVar
from weakref import WeakKeyDictionary

import anyio
import msgspec
import structlog
from msgspec.structs import replace

from daemon.clock import Clock
from daemon.errors import brief
from daemon.memory import Memories
from daemon.recall.index.index_feed import IndexFeed, Look, scopes_in
from daemon.recall.index.index_files import IndexBusy, IndexDamaged, IndexGone, SearchError
from daemon.recall.index.index_store import Index
from daemon.recall.index.indexes import Indexes
from daemon.recall.index.passages import extent_of, hits_of, places_of, texts_after
from daemon.recall.index.ranking import coverage, expanded, ranked
from daemon.recall.search_results import Hit, InPrompt, Mode, ResultPlace, SearchResults
from daemon.recall.search_terms import Query, query_terms
from daemon.recall.session_book import SessionBook
from daemon.recall.vectors.keyword_index import Blend, Extent, Ranking, ScoredRow, Text
from daemon.transcripts import Transcripts

IN_STEP_S = 0.5
"""A quarter of what a turn waits; what is left then comes with the next searches, or with ``catch_up``."""

SEARCH_S = 5.0
"""How long a disk may take for one search, before it is answered with nothing."""

REST = 9.0
"""So many times as long as it took to bring an index in step it is taken to be: a tenth of the time goes into that,
also in a scope with a thousand busy sessions, and what is said in one of few is found at once."""

REST_MAX_S = 1.0

LOOK_AGAIN_S = 0.25
"""So long a turn's search takes for granted what a scope remembers: nobody forgets and asks again sooner."""

SETTLE_S = 0.5
"""How long after something was said it is taken in, beside turns: more may follow."""

PORTION_S = 0.2
"""How long an index is fed at a time, beside turns; a search of the same scope waits for it."""

PAUSE = 2.0
"""So many times as long the process then has for other things."""

BEHIND_MAX = 1_000
"""Scopes that wait to be fed; one that is dropped is fed by its next search."""

TRIES = 3
"""How often an index is opened that is deleted by others or damaged."""

WIDER = 2
"""So many times as many rows are ranked as hits are wanted: some say the same."""

_T = TypeVar("_T")
_log = structlog.get_logger()


NOT_ALL = "some entries are not in the search index yet, but later searches will find them"

_NO_HITS: tuple[Hit, ...] = ()


class _Stepped(msgspec.Struct, frozen=True, kw_only=True):
    """When an index was brought in step last."""

    look: Look
    whole: bool | None
    """All of it was fed; if not, that is done beside searches. None: it has not been looked at."""
    until: float
    """So long it is taken to be in step, by the event loop's clock."""

    def holds(self) -> bool:
        """Whether it still is."""
        return anyio.current_time() < self.until


def _ranking(connection: Connection, asked: Query, limit: int, prompt: InPrompt | None) -> Ranking:
    scored = tuple(ScoredRow(*each) for each in ranked(connection, asked, limit=limit, prompt=prompt))
    return Ranking(scored=scored, coverage=coverage(connection, asked, scored[0].row) if scored else 0.0)


def _utc(_scope: str) -> dt.tzinfo:
    return dt.UTC


class BuiltinEngine:
    """Keyword search in the scopes of one database; an ``Engine``, and ``vectors.places.Places``.

    One for each process. It is made without asking anything, and closed by ``aclose``. What it keeps lies in
    ``<data directory>/search`` and may be deleted at any time. All methods raise BusUnavailable when Redis is away, and
    nothing else: where an index cannot be used there is nothing to be found, and ``SearchResults.note`` says so.
    """

    def __init__(
        self,
        sessions: SessionBook,
        memories: Memories,
        transcripts: Transcripts,
        data_dir: Path,
        clock: Clock,
        *,
        zone_of: Callable[[str], dt.tzinfo] = _utc,
    ) -> None:
        """Nothing is asked yet.

        Args:
            sessions: of the same database as the memories.
            memories: what is searched, with an archive; else what is in it is not found.
            transcripts: the same of messages.
            data_dir: as of the process; all processes of one share its indexes.
            clock: what "yesterday" is counted from.
            zone_of: by scope, the zone in which its history says its times and its people mean theirs.
        """
        self.rest = REST
        """How long what is new may be missing, see ``REST``."""
        self.in_step_s = IN_STEP_S
        """How long a search first takes in what is new."""
        self._clock = clock
        self._zone_of = zone_of
        self._indexes = Indexes(data_dir)
        self._feeder = IndexFeed(sessions, memories, transcripts, zone_of=zone_of)
        self._stepped: WeakKeyDictionary[Index, _Stepped] = WeakKeyDictionary()
        self._behind: OrderedDict[str, None] = OrderedDict()
        self._work = anyio.Event()
        self._runs = False
        self._said: set[str] = set()

    async def search(
        self, scope: str, query: str, *, mode: Mode, limit: int, prompt: InPrompt | None = None
    ) -> SearchResults:
        """The ``limit`` best hits for what somebody says or asks, whatever ``mode``: by words.

        Scores are relative to the best hit, which has 1.
        """

        def look(index: Index) -> tuple[Hit, ...]:
            asked = self._asked(scope, query)

            def both(found: Connection) -> tuple[Hit, ...]:
                scored = ranked(found, asked, limit=WIDER * limit, prompt=prompt)
                if prompt is not None:
                    scored = expanded(found, asked, scored, limit=WIDER * limit, prompt=prompt)
                return hits_of(found, scored, limit=limit, prompt=prompt, query=query)

            return index.ask(both)

        hits, note = await self._done(scope, look, empty=_NO_HITS, prompt=prompt)
        return SearchResults(hits=hits, note=note)

    async def places(self, scope: str, docids: Sequence[str]) -> dict[str, ResultPlace]:
        """Where hits stand, as ``daemon.recall.search_results.ResultPlaces`` says; what is gone is left out."""
        nothing = dict[str, ResultPlace]()
        found, _ = await self._done(
            scope, lambda index: index.ask(lambda found: places_of(found, docids)), empty=nothing, in_step_s=0
        )
        return found

    async def catch_up(self, scope: str, *, within_s: float) -> bool:
        """Bring the index of a scope in step, for as long as that; whether it is."""
        _, note = await self._done(scope, lambda _: None, empty=None, in_step_s=within_s)
        return not note

    # Beside searches

    def grew(self, scope: str) -> None:
        """Something was said in a session of ``scope``, a home; where nobody searches that need not be taken in."""
        if self._indexes.opened(scope) is not None:
            self.behind(scope)

    def behind(self, scope: str) -> None:
        """Update the index of ``scope``, a home, later; create the index if it does not exist."""
        self._behind[scope] = None
        if len(self._behind) > BEHIND_MAX:
            self._behind.popitem(last=False)
        self._work.set()

    async def run(self) -> None:
        """Update outdated indexes, for ever: for a task group of a process that lasts."""
        self._runs = True
        try:
            while True:
                await self._work.wait()
                await anyio.sleep(SETTLE_S)
                while self._behind:
                    scope, _ = self._behind.popitem(last=False)
                    began = anyio.current_time()
                    await self.catch_up(scope, within_s=PORTION_S)
                    await anyio.sleep(PAUSE * (anyio.current_time() - began))
                self._work = anyio.Event()
        finally:
            self._runs = False

    async def aclose(self) -> None:
        """Close all files."""
        await self._indexes.aclose()

    # For vectors

    async def ranked(self, scope: str, query: str, *, limit: int, prompt: InPrompt | None = None) -> Ranking:
        """Up to ``limit`` rows by words."""

        def look(index: Index) -> Ranking:
            asked = self._asked(scope, query)
            return index.ask(lambda found: _ranking(found, asked, limit, prompt))

        ranking, note = await self._done(scope, look, empty=Ranking(), prompt=prompt)
        return replace(ranking, note=note)

    async def blended(
        self, scope: str, query: str, blend: Blend, *, depth: int, limit: int, prompt: InPrompt | None = None
    ) -> SearchResults:
        """What ``blend`` makes of up to ``depth`` rows by words, in a thread, as hits."""

        def look(index: Index) -> tuple[Hit, ...]:
            asked = self._asked(scope, query)

            def both(found: Connection) -> tuple[Hit, ...]:
                scored = blend(_ranking(found, asked, depth, prompt))
                return hits_of(found, scored, limit=limit, prompt=prompt, query=query)

            return index.ask(both)

        hits, note = await self._done(scope, look, empty=_NO_HITS, prompt=prompt)
        return SearchResults(hits=hits, note=note)

    async def shown(
        self, scope: str, query: str, scored: Sequence[ScoredRow], *, limit: int, prompt: InPrompt | None = None
    ) -> tuple[Hit, ...]:
        """Rows as hits, as ``search`` shows them, in this order and with these scores."""
        hits, _ = await self._done(
            scope,
            lambda index: index.ask(lambda found: hits_of(found, scored, limit=limit, prompt=prompt, query=query)),
            empty=_NO_HITS,
            in_step_s=0,
        )
        return hits

    async def extent(self, scope: str) -> Extent:
        """What rows there are now."""
        extent, _ = await self._done(scope, lambda index: index.ask(extent_of), empty=Extent(), in_step_s=0)
        return extent

    async def texts(self, scope: str, *, after: int, limit: int) -> Sequence[Text]:
        """The next ``limit`` rows above ``after``, in order."""
        nothing: tuple[Text, ...] = ()
        texts, _ = await self._done(
            scope, lambda index: index.ask(lambda found: texts_after(found, after, limit)), empty=nothing, in_step_s=0
        )
        return texts

    # All of them

    def _asked(self, scope: str, query: str) -> Query:
        return query_terms(query, self._clock.now().astimezone(self._zone_of(scope)))

    async def _done(
        self,
        scope: str,
        work: Callable[[Index], _T],
        *,
        empty: _T,
        in_step_s: float | None = None,
        prompt: InPrompt | None = None,
    ) -> tuple[_T, str]:
        """What ``work`` gives in a thread, once the index is in step, and a note for people."""
        within_s = self.in_step_s if in_step_s is None else in_step_s
        look = self._seen(scope) or await self._feeder.look(scope)
        if prompt is not None:
            with suppress(SearchError, TimeoutError):  # what is wrong with it is found out below
                if (index := await self._as_it_is(look)) is not None:
                    note = NOT_ALL if self._stepped[index].whole is False else ""
                    with anyio.fail_after(SEARCH_S):
                        return await self._indexes.run(work, index), note
        home, anew, note = look.scopes[0], "", ""
        async with self._indexes.held(home):
            for _ in range(TRIES):
                try:
                    index = await self._indexes.open(home, forgets=look.forgets, anew=anew)
                    stepped = self._stepped.get(index)
                    if in_step_s is not None or stepped is None or not stepped.holds():
                        note = await self._in_step(index, look, within_s)
                    elif not stepped.whole:
                        note = NOT_ALL
                    return await self._answered(index, work), note
                except IndexGone:
                    anew = ""
                except IndexDamaged as error:
                    anew = str(error)
                except (SearchError, TimeoutError) as error:
                    note = self._complaint(error)
                    break
                await self._indexes.leave(home)
                # Something was forgotten, or set back: what was seen before is not what is there.
                look = await self._feeder.look(home)
        return empty, note or "memory cannot be searched right now"

    async def _as_it_is(self, look: Look) -> Index | None:
        """The index of a scope as far as it is fed, what is missing comes beside turns; None: it was never fed.

        Who searches it waits for one piece that is fed at most. Errors as for ``Indexes.open``.
        """
        home = look.scopes[0]
        index = self._indexes.opened(home)
        if index is None:
            async with self._indexes.held(home):
                index = await self._indexes.open(home, forgets=look.forgets)
                if set(look.scopes) == scopes_in(await self._indexes.run(index.fed)):
                    self._stepped.setdefault(index, _Stepped(look=look, whole=None, until=0.0))
        stepped = self._stepped.get(index)
        # Of other scopes: another conversation's people are one person now, or no more.
        if stepped is None or index.forgets != look.forgets or stepped.look.scopes != look.scopes:
            return None
        if not stepped.holds():
            self.behind(home)
            self._stepped[index] = replace(stepped, look=look, until=anyio.current_time() + LOOK_AGAIN_S)
        self._indexes.used(home)
        return index

    def _seen(self, scope: str) -> Look | None:
        """What ``scope``, a home, remembered a moment ago, when that is near enough."""
        index = self._indexes.opened(scope)
        stepped = self._stepped.get(index) if index is not None else None
        return stepped.look if stepped is not None and stepped.holds() else None

    async def _in_step(self, index: Index, look: Look, within_s: float) -> str:
        """Feed the index; why it is not in step, for people."""
        if within_s <= 0:
            return ""
        began, whole = anyio.current_time(), False
        with anyio.move_on_after(within_s):
            try:
                while not await self._feeder.in_step(index, look, self._indexes.run):
                    pass
                whole = True
            except (IndexDamaged, IndexGone):
                raise
            except SearchError as error:
                # What there is can be searched all the same.
                if not isinstance(error, IndexBusy):
                    self._complaint(error)
                return "the newest entries may be missing, because they could not be added to the search index"
        if not whole:
            self.behind(look.scopes[0])
        if whole or self._runs:
            now = anyio.current_time()
            until = now + min(REST_MAX_S, self.rest * (now - began))
            self._stepped[index] = _Stepped(look=look, whole=whole, until=until)
        return "" if whole else NOT_ALL

    async def _answered(self, index: Index, work: Callable[[Index], _T]) -> _T:
        has_begun = False

        def begun() -> _T:
            nonlocal has_begun
            has_begun = True
            return work(index)

        try:
            with anyio.fail_after(SEARCH_S):
                return await self._indexes.run(begun)
        except BaseException:
            if has_begun:  # else it would be somebody else's
                index.interrupt()
            raise

    def _complaint(self, error: BaseException) -> str:
        reason = brief(error) or "the disk is too slow for the search index"
        if reason not in self._said:
            if len(self._said) > 100:
                self._said.clear()
            self._said.add(reason)
            _log.warning("index.failed", reason=reason)
        return "memory cannot be searched right now, because the search index cannot be used"
