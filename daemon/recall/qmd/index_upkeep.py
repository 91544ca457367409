"""Creates the indexes of QMD on first use, and updates them some time after a change.

time.

One at a time, and one process at a time; before anything else a search tells whether QMD works here at all.
"""

from dataclasses import dataclass, field

import anyio
import msgspec
import structlog
from anyio import to_thread

from daemon.errors import MillpondError
from daemon.recall.qmd import qmd_commands
from daemon.recall.qmd.qmd_commands import probed
from daemon.recall.qmd.qmd_program import INSTALL, PROGRAM, Failed, Qmd
from daemon.recall.qmd.qmd_store import IndexedState, PassageSource, QmdStore, State
from daemon.recall.search_results import Mode

# The scopes whose index must be updated, and when, because not every new line updates an index. Pure with respect to

DEBOUNCE_S = 5.0
"""How long a scope has been quiet when its turn comes: what is consolidated is written in several steps."""

LATEST_S = 60.0
"""How long one that never is quiet waits at most."""

SCOPES_MAX = 10_000
"""Scopes that wait; more are asked for again when they are searched."""


@dataclass
class UpdateSchedule:
    """The scopes that wait for an update."""

    _since: dict[str, float] = field(default_factory=dict[str, float])
    _due: dict[str, float] = field(default_factory=dict[str, float])

    def want(self, scope: str, now: float, *, is_new: bool = True) -> None:
        """Something of it has changed; not ``is_new``: it was only noticed, and who waits already waits no longer."""
        if not is_new and scope in self._due:
            return
        if scope not in self._since and len(self._since) >= SCOPES_MAX:
            return
        since = self._since.setdefault(scope, now)
        self._due[scope] = min(now + DEBOUNCE_S, since + LATEST_S)

    def take(self, now: float) -> str:
        """One whose time has come, the one that has waited longest; empty: none."""
        scope = min(self._due, key=self._due.__getitem__, default="")
        if not scope or self._due[scope] > now:
            return ""
        del self._due[scope], self._since[scope]
        return scope

    def next_at(self) -> float:
        """When the next one's time comes; infinity: none waits."""
        return min(self._due.values(), default=float("inf"))


# The time for which a failed operation is not tried again. Pure: the caller passes the time.

REST_MIN_S, REST_MAX_S = 60.0, 3_600.0
"""After the first failure, doubling; it costs a try each time, and a program that is missing seldom comes by itself."""


@dataclass
class RetryPause:
    """The back-off of one operation."""

    reason: str = ""
    """Why it last failed; empty: it works, as far as anybody knows."""
    _failures: int = 0
    _until: float = 0.0
    _told: set[str] = field(default_factory=set[str])

    def is_over(self, now: float) -> bool:
        """Whether the operation may be tried."""
        return now >= self._until

    def failed(self, reason: str, now: float) -> bool:
        """Record a failure. Returns whether its reason is new since the last success."""
        self.reason = reason
        self._until = now + min(REST_MAX_S, REST_MIN_S * 2.0**self._failures)
        self._failures = min(self._failures + 1, 16)
        is_new = reason not in self._told
        self._told.add(reason)
        return is_new

    def worked(self) -> bool:
        """Record a success. Returns whether the operation failed before."""
        had_failed = bool(self._failures)
        self.reason, self._failures, self._until = "", 0, 0.0
        self._told.clear()
        return had_failed


SLICES_MAX = 60
"""How often at most making vectors goes on for one scope before others come: two hours."""

_log = structlog.get_logger()


class IndexUpkeep:
    """The upkeep of indexes by one process, and its knowledge about QMD."""

    def __init__(
        self, store: QmdStore, source: PassageSource, *, program: str = PROGRAM, wants_vectors: bool = False
    ) -> None:
        """Nothing is known yet."""
        self._store = store
        self._source = source
        self._program = program
        self._wants_vectors = wants_vectors
        self._wanted = UpdateSchedule()
        self._woken = anyio.Event()
        self._is_running = False
        self._is_proven = False
        self._rest = RetryPause()
        self._rest_of_vectors = RetryPause()
        self._hurried = {"words": RetryPause(), "meaning": RetryPause()}
        """Of searches that have less time than those that somebody waits for: those of turns."""
        self._suspects: set[str] = set()
        """Scopes whose index did not answer a search: they are made anew."""

    def may_search(self, told: IndexedState, mode: Mode, *, is_hurried: bool) -> bool:
        """Whether QMD is to be asked."""
        now = anyio.current_time()
        if is_hurried and not self._hurried[_kind(mode)].is_over(now):
            return False
        if mode != "search" and not (told.has_vectors and self._rest_of_vectors.is_over(now)):
            return False
        # Where nobody else finds out whether it works again, a search does.
        return self._rest.is_over(now) and (self._is_proven or not self._is_running)

    def lacks_vectors(self, told: IndexedState) -> bool:
        """Whether some are still to be made, and it may be tried."""
        return self._wants_vectors and not told.is_embedded and self._rest_of_vectors.is_over(anyio.current_time())

    def worked(self, mode: Mode, *, is_hurried: bool = False) -> None:
        """A search was answered."""
        self._is_proven = True
        back = self._rest.worked()
        if is_hurried:
            back |= self._hurried[_kind(mode)].worked()
        if mode != "search":
            back |= self._rest_of_vectors.worked()
        if back:
            _log.info("qmd.back")

    def failed(self, error: Failed, mode: Mode = "search", *, scope: str = "") -> None:
        """A search was not answered, or something else went wrong; ``scope``: whose index may be the reason."""
        if scope:
            self._suspects.add(scope)
            self.want(scope)
        if mode == "search":
            self._is_proven = False
        self._told_once(self._rest if mode == "search" else self._rest_of_vectors, str(error))

    def too_late(self, error: Failed, mode: Mode) -> None:
        """A search exceeded its short time limit. This says nothing about other searches."""
        self._told_once(self._hurried[_kind(mode)], f"{error} for a turn")

    def _told_once(self, rest: RetryPause, reason: str) -> None:
        if rest.failed(reason, anyio.current_time()):
            _log.warning(
                "qmd.failed",
                reason=(f"{reason}. Until QMD works again, searches use the built-in engine. {INSTALL}."),
            )

    def want(self, scope: str, *, is_new: bool = False) -> None:
        """Have the index of a scope brought in step in a while; ``is_new``: something was written just now."""
        self._wanted.want(scope, anyio.current_time(), is_new=is_new)
        self._woken.set()

    async def run(self) -> None:
        """Bring in step what is wanted, until cancelled."""
        self._is_running = True
        try:
            while True:
                now = anyio.current_time()
                if scope := self._wanted.take(now):
                    await self.bring_in_step(scope)
                    continue
                with anyio.move_on_after(self._wanted.next_at() - now):
                    await self._woken.wait()
                self._woken = anyio.Event()
        finally:
            self._is_running = False

    async def bring_in_step(self, scope: str) -> str:
        """Make or update an index now; why that failed, or an empty text. What failed is left alone for a while."""
        if not self._rest.is_over(anyio.current_time()):
            return self._rest.reason
        try:
            await self._prove()
            if index := await self._in_step(scope):
                await self._embed(scope, index)
        except Failed as error:
            self.failed(error)
            return str(error)
        except TimeoutError:
            return "another process is updating the search index"
        except OSError as error:
            reason = f"the search index cannot be written: {error.strerror or type(error).__name__}"
            self._told_once(self._rest, reason)
            return reason
        except MillpondError as error:  # Redis or the archive is away; the next search asks for it again
            _log.debug("qmd.waiting", reason=str(error))
            return str(error)
        return ""

    async def _prove(self) -> None:
        """Find out by a search whether QMD works, unless that is known."""
        if self._is_proven:
            return
        found = await probed(self._program)
        if found.why:
            raise Failed(found.why)
        self.worked("search")

    async def _in_step(self, scope: str) -> str:
        """The name of an index that has all that there is; empty: vectors are not wanted, or all made."""
        held = self._store.held(scope)
        await to_thread.run_sync(held.__enter__)
        try:
            known = await to_thread.run_sync(self._store.known, scope)
            state = await self._source.state(scope, known.told.state if known else State())
            if known and (scope in self._suspects or state.forgets != known.told.state.forgets):
                known = None
            told = known.told if known else IndexedState(index="")
            if not known or state != told.state:
                told = await self._brought(scope, told, state)
        finally:
            held.__exit__(None, None, None)
        self._suspects.discard(scope)
        return told.index if self._wants_vectors and not told.is_embedded else ""

    async def _brought(self, scope: str, told: IndexedState, state: State) -> IndexedState:
        # What was known of the memory was asked before: what comes in between is noticed the next time.
        chunks = await self._source.chunks(scope)
        index = told.index or await to_thread.run_sync(self._store.clear, scope)
        began = anyio.current_time()
        folder = await to_thread.run_sync(self._store.write, scope, chunks)
        qmd = Qmd(self._store.folder(scope), self._program)
        try:
            if told.index:
                await qmd_commands.update(qmd, index)
            else:
                await qmd_commands.begin(qmd, index, folder)
        except Failed:
            # Half an index is none; the next time it is made anew.
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._store.clear, scope)
            raise
        told = IndexedState(index=index, state=state, chunks=tuple(chunks), has_vectors=told.has_vectors)
        await to_thread.run_sync(self._store.tell, scope, told)
        _log.info("qmd.updated", count=len(chunks), took_s=round(anyio.current_time() - began, 3))
        return told

    async def _embed(self, scope: str, index: str) -> None:
        """Have vectors made, some at a time, and note when all are there. Nobody is kept from the scope meanwhile."""
        if not self._rest_of_vectors.is_over(anyio.current_time()):
            return
        qmd, made, began = Qmd(self._store.folder(scope), self._program), 0, anyio.current_time()
        try:
            for _ in range(SLICES_MAX):
                count = await qmd_commands.embed(qmd, index)
                made += count
                took_s = round(anyio.current_time() - began, 3)
                if not count:
                    await to_thread.run_sync(self._embedded, scope, index)
                    _log.info("qmd.embedded", count=made, took_s=took_s)
                    break
                _log.info("qmd.embedding", count=made, took_s=took_s)
        except Failed as error:
            self._told_once(self._rest_of_vectors, f"no vectors were created: {error}")

    def _embedded(self, scope: str, index: str) -> None:
        with self._store.held(scope):
            known = self._store.known(scope)
            # It may have been made anew meanwhile, or have got more to read.
            if known and known.told.index == index:
                self._store.tell(scope, msgspec.structs.replace(known.told, has_vectors=True, is_embedded=True))


def _kind(mode: Mode) -> str:
    return "words" if mode == "search" else "meaning"
