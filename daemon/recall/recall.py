"""Recall: memories that match the newest message of a turn, and searches by users and tools."""

import datetime as dt
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module

import anyio
import msgspec
import structlog
from anyio import to_thread

from daemon.clock import Clock
from daemon.config import MemorySearchConfig
from daemon.errors import MillpondError, brief
from daemon.recall.engines import Engines, kept_going
from daemon.recall.search_results import (
    TRANSCRIPT,
    TURN_SNIPPET_CHARS,
    Engine,
    Hit,
    HitReader,
    InPrompt,
    Mode,
    PromptOverlap,
    QuotedMessage,
    ResultPlace,
    SearchResults,
    hit_text,
    is_session,
)
from daemon.recall.session_book import SessionBook

LOOKED_AT, LOOKED_AGAIN = 20, 45
"""Hits that a turn's recall looks at, and so many where more than half of those stand in the prompt already; each costs
0.1 ms."""

SHORT = 3
"""How many times ``max_results`` hits a turn recalls at most, as long as they are short. (In each half of each set of
``python -m benchmarks recall_sets``, a turn then shows the evidence for 0 to 3 percent more of the questions than with
2.)"""

LOOK_S = 0.2
"""How long a turn waits to be told whether there is anything to search."""

SEARCHED_MAX = 100
"""Most hits that a search gives."""

MESSAGES_LOOKED_AT = 60
"""Hits among which those are that are messages."""

FEW_BYTES = 24
"""Words that take less say too little by themselves: four short English ones, eight Chinese characters."""

THREAD_CHARS = 50_000
"""A prompt that holds more is compared in a thread: so much takes a millisecond."""

_log = structlog.get_logger()


class RecallQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The query of a turn."""

    words: str
    """What was just said."""
    before: Callable[[], str]
    """The last exchange before it; asked for when the words are few."""
    held: Callable[[], Sequence[str]]
    """What the prompt holds already; asked for when something was found."""
    count: Callable[[str], int]
    """Counts tokens."""
    allowance_tokens: int
    """The most that may be recalled."""
    session: str = ""
    """Whose turn it is; empty: nobody's."""
    first: int = 0
    """Index of the first message of that session that the prompt holds, with all behind it."""
    hidden: frozenset[int] = frozenset()
    """Indexes of those messages that the prompt holds only in part."""
    is_bare: bool = False
    """Nothing is remembered but messages."""
    note: Callable[[str], None] = lambda _note: None
    """Called with what people should know about the search, as ``SearchResults.note``; not called if nothing is
    wrong."""


class Recaller:
    """Searches the memories of scopes, for one process."""

    def __init__(
        self,
        config: MemorySearchConfig,
        connect: Callable[[], Engines],
        reader: HitReader,
        clock: Clock,
        *,
        sessions: SessionBook,
    ) -> None:
        """Nothing is looked at yet.

        Args:
            config: ``[memory_search]``.
            connect: gives what searches, when it is first needed.
            reader: reads where something was found.
            clock: what "yesterday" is counted from.
            sessions: knows who shares a memory.
        """
        self._sessions = sessions
        self._config = config
        self._connect = connect
        self._reader = reader
        self._clock = clock
        self._is_running = False

    @property
    def engine(self) -> str:
        """What searches is called by in the configuration."""
        return self._config.backend

    @cached_property
    def _engines(self) -> Engines:
        return self._connect()

    async def run(self) -> None:
        """Keep in step what searches, until cancelled, for a process that lasts; who comes second returns at once."""
        if self._is_running:
            return
        self._is_running = True
        try:
            await to_thread.run_sync(_import, abandon_on_cancel=True)
            async with anyio.create_task_group() as tg:
                if self._config.enabled:
                    tg.start_soon(kept_going, self._sessions.look)
                await self._engines.run()
        finally:
            self._is_running = False

    async def warm(self) -> None:
        """Do what only the first search waits for, for a process that lasts, when it starts; never raises.

        It keeps the interpreter from the event loop for up to 70 ms, and a busy process takes longer than a turn waits.
        """
        if not self._config.enabled:
            return
        try:
            await to_thread.run_sync(_import, abandon_on_cancel=True)
            await self._engines.warm()
        except Exception as error:  # noqa: BLE001 - as in ``recalled``
            _log.exception("recall.failed", reason=type(error).__name__)

    async def load_other_dates(self) -> None:
        """Read a first date that is neither English nor Chinese: it takes 0.3 s. As ``warm``, but few turns need it."""
        if self._config.enabled:
            await to_thread.run_sync(names_day, "gestern", self._clock.now(), abandon_on_cancel=True)

    def wrote(self, scope: str) -> None:
        """Something was written into the memory of ``scope``, a home: what is copied from there is brought in step."""
        if self._config.enabled:
            self._engines.wrote(scope)

    def grew(self, scope: str) -> None:
        """Something was said in a session of ``scope``, a home: where that is searched it is taken in, in a moment."""
        if "_engines" in vars(self):
            self._engines.grew(scope)

    async def aclose(self) -> None:
        """Let go of what the engines hold."""
        if "_engines" in vars(self):
            await self._engines.aclose()

    # For turns

    async def recalled(self, scope: str, asked: RecallQuery) -> str | None:
        """What ``scope``, a home, remembers of what was just said, hit by hit; empty: nothing that is not known.

        None: nothing was searched, for there is nothing to search, or nothing to search by.

        Never raises, and takes no longer than ``turn_deadline_s``: no turn should fail or wait for it.
        """
        if not self._config.enabled or not scope or not asked.words.strip():
            return None
        began = anyio.current_time()
        with anyio.move_on_after(self._config.turn_deadline_s) as limit:
            try:
                is_all = asked.session and asked.is_bare and not asked.first and not asked.hidden
                if is_all and not await self._sessions.has_other(scope, asked.session, within_s=LOOK_S):
                    return None
                return await self._remembered(scope, asked)
            except MillpondError as error:
                _log.warning("recall.failed", reason=brief(error))
            except Exception as error:  # noqa: BLE001 - the top of recall: a bug in it must not fail a turn
                _log.exception("recall.failed", reason=type(error).__name__)
        if limit.cancelled_caught:
            _log.warning("recall.slow", waited_s=round(anyio.current_time() - began, 3))
        return ""

    async def _remembered(self, scope: str, asked: RecallQuery) -> str:
        known, mode = _Known(asked), self._config.mode_used
        found = dict[str, Hit]()
        for query in await self._queries(asked):
            fresh = await self._fresh(scope, query, known, mode, asked)
            found |= {hit.docid: hit for hit in fresh if hit.docid not in found}
            if len(found) >= self._config.max_results:
                break
            # With an exchange come its words; its vector would be that of what was talked about before.
            mode = "search" if mode == "query" else mode
        shown = enough([*found.values()][: self._most], self._config.max_results)
        return "\n\n".join(fitting(list(map(hit_text, shown)), asked))

    @property
    def _most(self) -> int:
        """The number of hits that a turn recalls at most."""
        return SHORT * self._config.max_results

    def _in_prompt(self, asked: RecallQuery) -> InPrompt:
        # Vectors score what has none of the words.
        min_score = 0.0 if self._config.mode_used == "vsearch" else self._config.min_score
        file = f"{TRANSCRIPT}{asked.session}"
        return InPrompt(file=file, first=asked.first, hidden=asked.hidden, min_score=min_score)

    async def _fresh(self, scope: str, query: str, known: "_Known", mode: Mode, asked: RecallQuery) -> list[Hit]:
        """What is found that the prompt does not hold."""
        most, fresh, prompt = self._most, list[Hit](), self._in_prompt(asked)
        for limit in (max(LOOKED_AT, most), max(LOOKED_AGAIN, most)):
            found = await self._engines.engine.search(scope, query, mode=mode, limit=limit, prompt=prompt)
            if found.note:
                asked.note(found.note)
            hits = found.hits
            new = await known.without(hits)
            fresh = distinct(new)
            if len(fresh) >= most or len(hits) < limit or 2 * len(new) >= limit:
                break
        return above(fresh, self._config.min_score, relative=mode != "vsearch")

    async def _queries(self, asked: RecallQuery) -> list[str]:
        from daemon.recall.search_terms import says_something  # noqa: PLC0415 - see ``_import``

        words = asked.words.strip()
        if says_something(words):
            return queries_of(asked, is_telling=True)
        # "What did I do yesterday?" says when, if nothing else. In a thread: what reads days is slow to import.
        is_telling = await to_thread.run_sync(names_day, words, self._clock.now(), abandon_on_cancel=True)
        return queries_of(asked, is_telling=is_telling)

    # For whoever asks

    async def search(
        self, scope: str, query: str, *, mode: Mode | None = None, limit: int | None = None
    ) -> SearchResults:
        """What ``scope``, a home, remembers of ``query``; by default as the configuration says.

        Raises:
            BusUnavailable: Redis is away.
        """
        most, used = min(limit or self._config.max_results, SEARCHED_MAX), mode or self._config.mode_used
        found = await self._within(self._engines.engine, scope, query, mode=used, limit=most)
        wanted = above(found.hits, self._config.min_score, relative=used != "vsearch")
        return SearchResults(hits=tuple(wanted[:most]), note=found.note)

    async def said(self, scope: str, query: str, *, limit: int) -> list[QuotedMessage]:
        """The messages of ``scope``, a home, that go with ``query`` best, word for word. Errors as for ``search``."""
        found = await self._within(self._engines.messages, scope, query, mode="search", limit=MESSAGES_LOOKED_AT)
        hits = [hit for hit in found.hits if is_session(hit.file)][:limit]
        places = await self._places_of(scope, [hit.docid for hit in hits])
        told: dict[tuple[str, int], QuotedMessage] = {}
        for hit in hits:
            place = places.get(hit.docid)
            for each in await self._reader.said(scope, place) if place else ():
                told.setdefault((each.session, each.index), each)
        return list(told.values())[:limit]

    async def snippets(self, scope: str, query: str, *, limit: int) -> list[str]:
        """The texts of the best hits in ``scope``, a home, for words; no model and no vectors are used.

        Errors as for ``search``.
        """
        found = await self._within(self._engines.messages, scope, query, mode="search", limit=limit)
        return [hit.snippet for hit in found.hits]

    async def located(self, scope: str, query: str, *, limit: int) -> list[tuple[Hit, ResultPlace | None]]:
        """As ``snippets``, with the places of the hits."""
        found = await self._within(self._engines.messages, scope, query, mode="search", limit=limit)
        places = await self._places_of(scope, [hit.docid for hit in found.hits])
        return [(hit, places.get(hit.docid)) for hit in found.hits]

    async def scopes(self) -> list[str]:
        """Every scope with a session, the last active first; errors as for ``search``."""
        return await self._sessions.scopes()

    async def around(self, scope: str, docid: str, *, context: int) -> tuple[ResultPlace, str] | None:
        """What stands at a hit's place and ``context`` lines or messages around it, and where that is; None: gone.

        Raises:
            BusUnavailable: Redis is away.
            ArchiveError: it has left Redis, and the archive cannot be read.
        """
        place = (await self._places_of(scope, [docid])).get(docid)
        return await self._reader.around(scope, place, context=context) if place else None

    async def _places_of(self, scope: str, docids: Sequence[str]) -> dict[str, ResultPlace]:
        return await self._engines.places.places(scope, docids) if docids else {}

    async def _within(self, engine: Engine, scope: str, query: str, *, mode: Mode, limit: int) -> SearchResults:
        with anyio.move_on_after(self._config.timeout_s):
            return await engine.search(scope, query, mode=mode, limit=limit)
        _log.warning("recall.slow", waited_s=self._config.timeout_s)
        return SearchResults(note=f"The memory search took longer than {self._config.timeout_s:g} s.")


def queries_of(asked: RecallQuery, *, is_telling: bool) -> list[str]:
    """What is looked for, one after the other until enough is found. Pure.

    What was said, when it ``is_telling`` anything; where that is little, the last exchange with it.
    """
    from daemon.recall.search_terms import says_something  # noqa: PLC0415 - see ``_import``

    words = asked.words.strip()
    queries = [words] if is_telling else []
    if not queries or len(words.encode(errors="replace")) < FEW_BYTES:
        before = asked.before().strip()
        queries += [f"{words}\n{before}"] if says_something(before) else []
    return queries


def names_day(text: str, now: dt.datetime) -> bool:
    """Whether ``text`` names any day that was."""
    from daemon.recall.dates import dates_in  # noqa: PLC0415 - see ``_import``

    return bool(dates_in(text, now))


def _import() -> None:
    """Import what searches: 0.1 s of compiling expressions, which most commands and processes need not wait for."""
    for module in ("daemon.recall.dates", "daemon.recall.index"):
        import_module(module)


class _Known:
    """What a prompt holds, looked at when something was found."""

    def __init__(self, asked: RecallQuery) -> None:
        self._asked = asked
        self._held: PromptOverlap | None = None

    async def without(self, hits: Sequence[Hit]) -> list[Hit]:
        """Those of the hits that it does not hold."""
        if not hits:
            return []
        if self._held is None:
            texts = self._asked.held()
            is_long = sum(map(len, texts)) > THREAD_CHARS
            self._held = (
                await to_thread.run_sync(PromptOverlap, texts, abandon_on_cancel=True)
                if is_long
                else PromptOverlap(texts)
            )
        return [hit for hit in hits if not self._held.holds(hit.snippet)]


def above(hits: Sequence[Hit], min_score: float, *, relative: bool) -> list[Hit]:
    """Those that score ``min_score`` at least; ``relative``: of what the best of them does. Pure.

    Scores by words are relative to the best hit of all, and that one may be left out here since it was known.
    """
    best = max((hit.score for hit in hits), default=0.0) if relative else 1.0
    return [hit for hit in hits if hit.score >= min_score * best]


def distinct(hits: Sequence[Hit]) -> list[Hit]:
    """Those whose texts no better one of them shows. Pure."""
    found = dict[str, Hit]()
    for hit in hits:
        if hit.shown_by not in found:
            found[hit.docid] = hit
    return list(found.values())


def enough(hits: Sequence[Hit], most: int) -> list[Hit]:
    """The first ``most`` hits, and those of the others that fit into the room of ``most`` long snippets. Pure."""
    found, room = [*hits[:most]], most * TURN_SNIPPET_CHARS
    room -= sum(len(hit.snippet) for hit in found)
    for hit in hits[most:]:
        if len(hit.snippet) <= room:
            found.append(hit)
            room -= len(hit.snippet)
    return found


def fitting(texts: Sequence[str], asked: RecallQuery) -> list[str]:
    """Those that fit whole into the allowance, the first ones first. Pure."""
    found, left = list[str](), asked.allowance_tokens
    for text in texts:
        tokens = asked.count(text) + 1  # the blank line between them
        if tokens <= left:
            found.append(text)
            left -= tokens
    return found
