"""Recall: what a turn is reminded of by what was just said, and what somebody finds who searches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio
import structlog
from anyio import to_thread

from daemon.config import MemorySearchConfig
from daemon.errors import MillpondError
from daemon.recall.found import Engine, Found, Hit, Kept, Mode
from daemon.recall.held import Held
from daemon.recall.place import Place, Places, is_session
from daemon.recall.reading import Reader, Said
from daemon.recall.written import hit_text

LOOKED_AT = 30
"""Hits that a turn's recall looks at: most of the best may stand in the prompt already."""

SEARCHED_MAX = 100
"""Most hits that a search gives."""

MESSAGES_LOOKED_AT = 60
"""Hits among which those are that are messages."""

FEW_BYTES = 24
"""Words that take less say too little by themselves: four short English ones, eight Chinese characters."""

THREAD_CHARS = 50_000
"""A prompt that holds more is compared in a thread: so much takes a millisecond."""

_log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a turn wants to be reminded of."""

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


class Recaller:
    """Searches what scopes remember, for one process."""

    def __init__(
        self,
        config: MemorySearchConfig,
        engine: Engine,
        *,
        messages: Engine | None = None,
        kept: Kept | None = None,
        places: Places | None = None,
        reader: Reader,
    ) -> None:
        """Nothing is looked at yet.

        Args:
            config: ``[memory_search]``.
            engine: searches.
            messages: searches messages too; None: ``engine`` does.
            kept: what of them is to be kept in step in the background; None: nothing.
            places: knows where what was found stands; None: nobody does.
            reader: reads there.
        """
        self._config = config
        self._engine = engine
        self._messages = messages or engine
        self._kept = kept
        self._places = places
        self._reader = reader

    # For turns

    async def recalled(self, scope: str, asked: Asked) -> str:
        """What ``scope``, a home, remembers of what was just said, hit by hit; empty: nothing that is not known.

        Never raises, and takes no longer than ``turn_deadline_s``: no turn should fail or wait for it.
        """
        if not self._config.enabled or not asked.words.strip():
            return ""
        began = anyio.current_time()
        with anyio.move_on_after(self._config.turn_deadline_s) as limit:
            try:
                found = await self._engine.search(
                    scope, query_of(asked), mode=self._config.mode_used, limit=max(LOOKED_AT, self._config.max_results)
                )
                return await self._fresh(found.hits, asked)
            except MillpondError as error:
                _log.warning("recall.failed", reason=str(error))
            except Exception as error:  # noqa: BLE001 - the top of recall: a bug in it must not fail a turn
                _log.exception("recall.failed", reason=type(error).__name__)
        if limit.cancelled_caught:
            _log.warning("recall.slow", waited_s=round(anyio.current_time() - began, 3))
        return ""

    async def _fresh(self, hits: Sequence[Hit], asked: Asked) -> str:
        if not hits:
            return ""
        texts = asked.held()
        if sum(map(len, texts)) > THREAD_CHARS:
            held = await to_thread.run_sync(Held, texts, abandon_on_cancel=True)
        else:
            held = Held(texts)
        fresh = [hit for hit in hits if not held.holds(hit.snippet)]
        wanted = above(fresh, self._config.min_score, relative=self._config.mode_used != "vsearch")
        return "\n\n".join(fitting([hit_text(hit) for hit in wanted[: self._config.max_results]], asked))

    # For whoever asks

    async def search(self, scope: str, query: str, *, mode: Mode | None = None, limit: int | None = None) -> Found:
        """What ``scope``, a home, remembers of ``query``; by default as the configuration says.

        Raises:
            BusUnavailable: Redis is away.
        """
        most, used = min(limit or self._config.max_results, SEARCHED_MAX), mode or self._config.mode_used
        found = await self._within(self._engine, scope, query, mode=used, limit=most)
        wanted = above(found.hits, self._config.min_score, relative=used != "vsearch")
        return Found(hits=tuple(wanted[:most]), note=found.note)

    async def said(self, scope: str, query: str, *, limit: int) -> list[Said]:
        """The messages of ``scope``, a home, that go with ``query`` best, word for word. Errors as for ``search``."""
        found = await self._within(self._messages, scope, query, mode="search", limit=MESSAGES_LOOKED_AT)
        hits = [hit for hit in found.hits if is_session(hit.file)][:limit]
        places = await self._places_of(scope, [hit.docid for hit in hits])
        told: dict[tuple[str, int], Said] = {}
        for hit in hits:
            place = places.get(hit.docid)
            for each in await self._reader.said(scope, place) if place else ():
                told.setdefault((each.session, each.index), each)
        return list(told.values())[:limit]

    async def around(self, scope: str, docid: str, *, context: int) -> tuple[Place, str] | None:
        """What stands at a hit's place and ``context`` lines or messages around it, and where that is; None: gone.

        Raises:
            BusUnavailable: Redis is away.
            ArchiveError: it has left Redis, and the archive cannot be read.
        """
        place = (await self._places_of(scope, [docid])).get(docid)
        return await self._reader.around(scope, place, context=context) if place else None

    # For the process

    def wrote(self, scope: str) -> None:
        """Something was written into the memory of ``scope``, a home: what is copied from there is brought in step."""
        if self._kept:
            self._kept.wrote(scope)

    async def run(self) -> None:
        """Keep in step what engines have copied, until cancelled; returns at once when there is no such thing."""
        if self._kept:
            await self._kept.run()

    async def aclose(self) -> None:
        """Let go of what the engines hold."""
        for engine in {id(each): each for each in (self._engine, self._messages)}.values():
            close = getattr(engine, "aclose", None)
            if close is not None:
                await close()

    async def _places_of(self, scope: str, docids: Sequence[str]) -> dict[str, Place]:
        return await self._places.places(scope, docids) if self._places and docids else {}

    async def _within(self, engine: Engine, scope: str, query: str, *, mode: Mode, limit: int) -> Found:
        with anyio.move_on_after(self._config.timeout_s):
            return await engine.search(scope, query, mode=mode, limit=limit)
        _log.warning("recall.slow", waited_s=self._config.timeout_s)
        return Found(note=f"The search did not end within {self._config.timeout_s:g} s.")


def query_of(asked: Asked) -> str:
    """What is looked for: what was said, and where that is little the last exchange too. Pure."""
    words = asked.words.strip()
    if len(words.encode(errors="replace")) >= FEW_BYTES:
        return words
    return f"{words}\n{asked.before()}".strip()


def above(hits: Sequence[Hit], min_score: float, *, relative: bool) -> list[Hit]:
    """Those that score ``min_score`` at least; ``relative``: of what the best of them does. Pure.

    Scores by words are relative to the best hit of all, and that one may be left out here since it was known.
    """
    best = max((hit.score for hit in hits), default=0.0) if relative else 1.0
    return [hit for hit in hits if hit.score >= min_score * best]


def fitting(texts: Sequence[str], asked: Asked) -> list[str]:
    """Those that fit whole into the allowance, the first ones first. Pure."""
    found, left = list[str](), asked.allowance_tokens
    for text in texts:
        tokens = asked.count(text) + 1  # the blank line between them
        if tokens <= left:
            found.append(text)
            left -= tokens
    return found
