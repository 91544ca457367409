"""Search with QMD. The built-in engine answers if QMD cannot, and for data that QMD does not index."""

from functools import partial
from pathlib import Path

import anyio
import structlog
from anyio import CapacityLimiter, to_thread

from daemon.errors import BusUnavailable, MillpondError
from daemon.recall.qmd import qmd_commands
from daemon.recall.qmd.index_upkeep import IndexUpkeep
from daemon.recall.qmd.qmd_commands import typed_lines
from daemon.recall.qmd.qmd_program import PROGRAM, Failed, Late, Qmd
from daemon.recall.qmd.qmd_store import IndexedPassages, PassageSource, QmdStore
from daemon.recall.search_results import Engine, Hit, InPrompt, Mode, SearchResults

SHARE = 0.6
"""Of the time that whoever asks has, what QMD may take: the built-in engine is to answer in the rest."""

LEAST_S = 0.3
"""It is not asked when it has less: it takes 0.15 s on a quick machine."""

HURRIED = 0.3
"""Of ``timeout_s``: who gives it less is a turn, and nobody who waits for the search itself."""

SEARCHES_MAX = 3
"""Searches at a time: each is a Node.js of 150 MB."""

_log = structlog.get_logger()


class QmdEngine:
    """``Engine`` by QMD. ``run`` has to run for its indexes to be made and brought in step."""

    def __init__(
        self,
        builtin: Engine,
        source: PassageSource,
        data_dir: Path,
        *,
        mode: Mode = "search",
        timeout_s: float = 30.0,
        program: str = PROGRAM,
    ) -> None:
        """Nothing is asked yet.

        Args:
            builtin: what answers instead.
            source: what is looked through.
            data_dir: of the process; indexes lie in its folder ``qmd``.
            mode: what searches are like for the most part; other than ``search`` has vectors made.
            timeout_s: longest search, where whoever asks has more time.
            program: name or path of ``qmd``.
        """
        self._builtin = builtin
        self._source = source
        self._timeout_s = timeout_s
        self._program = program
        self._store = QmdStore(data_dir)
        self._upkeep = IndexUpkeep(self._store, source, program=program, wants_vectors=mode != "search")
        self._searching = CapacityLimiter(SEARCHES_MAX)

    async def run(self) -> None:
        """Make indexes and bring them in step, until cancelled."""
        await self._upkeep.run()

    def wrote(self, scope: str) -> None:
        """Something was written into the memory of ``scope``, a home; the index learns of it in a while."""
        self._upkeep.want(scope, is_new=True)

    async def bring_in_step(self, scope: str) -> str:
        """Make or update the index now, for somebody who waits: why that failed, or an empty text."""
        return await self._upkeep.bring_in_step(scope)

    async def search(
        self, scope: str, query: str, *, mode: Mode, limit: int, prompt: InPrompt | None = None
    ) -> SearchResults:
        """As ``Engine``; whatever is wrong with QMD, the built-in engine answers."""
        builtin = partial(self._builtin.search, scope, query, mode=mode, limit=limit, prompt=prompt)
        known = await self._known(scope)
        left_s = anyio.current_effective_deadline() - anyio.current_time()
        within_s = min(self._timeout_s, SHARE * left_s)
        is_short = within_s < HURRIED * self._timeout_s
        if known is None or not self._upkeep.may_search(known.told, mode, is_hurried=is_short):
            return await builtin()
        try:
            hits = await self._found(scope, known, typed_lines(query, mode), mode, limit, within_s)
        except Failed as error:
            self._blame(error, scope, mode, is_hurried=is_short)
            found = await builtin()
            note = f"{error}; the built-in engine answered instead"
            return SearchResults(hits=found.hits, note="; ".join(filter(None, (note, found.note))))
        if hits:
            self._upkeep.worked(mode, is_hurried=is_short)
        if len(hits) >= limit:
            return SearchResults(hits=tuple(hits[:limit]))
        return _filled(hits, await builtin(), limit)

    def _blame(self, error: Failed, scope: str, mode: Mode, *, is_hurried: bool) -> None:
        if is_hurried and isinstance(error, Late):
            self._upkeep.too_late(error, mode)
            return
        # Models fail for many reasons; to make all vectors anew takes hours.
        is_suspect = mode == "search" and not isinstance(error, Late)
        self._upkeep.failed(error, mode, scope=scope if is_suspect else "")

    async def _known(self, scope: str) -> IndexedPassages | None:
        """The index that may be asked; None: there is none yet, or it may hold what was forgotten."""
        known = await to_thread.run_sync(self._store.known, scope)
        if known is None:
            self._upkeep.want(scope)
            return None
        try:
            state = await self._source.state(scope, known.told.state)
        except BusUnavailable:
            raise
        except MillpondError as error:
            _log.debug("qmd.unknown", reason=str(error))
            return None
        if state != known.told.state or self._upkeep.lacks_vectors(known.told):
            self._upkeep.want(scope)
        return known if state.forgets == known.told.state.forgets else None

    async def _found(
        self, scope: str, known: IndexedPassages, lines: str, mode: Mode, limit: int, within_s: float
    ) -> list[Hit]:
        if not lines or limit < 1 or within_s < LEAST_S:
            return []
        until = anyio.current_time() + within_s
        with anyio.move_on_after(within_s) as waited:
            await self._searching.acquire_on_behalf_of(waited)
        if waited.cancelled_caught:
            return []  # it is not QMD's fault that everybody asks it
        try:
            qmd, left_s = Qmd(self._store.folder(scope), self._program), until - anyio.current_time()
            if left_s < LEAST_S:
                return []
            # Some of what it finds may not be known here any more, or not yet.
            rows = await qmd_commands.search(
                qmd,
                known.told.index,
                lines,
                mode=mode,
                limit=2 * limit,
                within_s=left_s,
            )
        finally:
            self._searching.release_on_behalf_of(waited)
        return [hit for row in rows if (hit := known.hit(row.name, row.score))]


def _filled(hits: list[Hit], more: SearchResults, limit: int) -> SearchResults:
    """Behind what QMD has found, what it does not know: messages, and what was written just now."""
    known, lowest = {hit.docid for hit in hits}, hits[-1].score if hits else 1.0
    others = [
        Hit(docid=hit.docid, file=hit.file, score=min(hit.score, lowest), snippet=hit.snippet, time=hit.time)
        for hit in more.hits
        if hit.docid not in known
    ]
    return SearchResults(hits=(*hits, *others)[:limit], note="" if hits else more.note)
