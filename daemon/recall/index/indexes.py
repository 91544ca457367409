"""The most recently used indexes of a process, which stay open. One task at a time uses an index."""

import sqlite3
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import anyio
import structlog
from anyio import to_thread

from daemon.bus import Bus
from daemon.concurrency import Threads
from daemon.errors import brief
from daemon.recall.index.index_files import BUSY_MS, SCHEMA, IndexUnusable, existing_file
from daemon.recall.index.index_store import KIND, Index
from daemon.transcripts import SearchWords

# Archived messages in the word indexes: a search reads no archive files where an index is complete.


class MessageIndex:
    """Names messages that may match, as ``daemon.transcripts.Index``; it creates and updates no index.

    An index holds no tool calls, and no results of tools that have more than ``TOOL_MAX_CHARS`` characters.
    """

    def __init__(self, bus: Bus, data_dir: Path) -> None:
        """Nothing is asked yet."""
        self._bus = bus
        self._data_dir = data_dir
        self.found = 0
        """Sessions whose archived messages an index contains."""
        self.missed = 0
        """Sessions whose archived messages no index contains."""

    async def candidates(self, session: str, upto: int, needle: SearchWords) -> Sequence[int] | None:
        """The messages before index ``upto`` that may match, in order; None: no index contains all of them.

        Raises:
            BusUnavailable: Redis is away.
        """
        keys = self._bus.keys
        scope = ((await self._bus.call("HGET", keys.session(session), "scope")) or b"").decode()
        joined, forgets = await self._bus.call("HMGET", keys.memory(scope), "joined", "forgets")
        if joined:
            scope = joined.decode()
            forgets = await self._bus.call("HGET", keys.memory(scope), "forgets")
        look = partial(_candidates, self._data_dir, scope, int(forgets or 0), session, upto, needle)
        found = await to_thread.run_sync(look)
        self.found += found is not None
        self.missed += found is None
        return found


def _candidates(
    data_dir: Path, scope: str, forgets: int, session: str, upto: int, needle: SearchWords
) -> list[int] | None:
    path = existing_file(data_dir, scope, KIND)
    try:
        if path is None:
            return None
        with closing(sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None)) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")  # one state for all that is read
            if not _is_complete(connection, forgets, session, upto):
                return None
            return [index for index, text in _texts(connection, session, upto) if needle.stands_in(text)]
    except (OSError, sqlite3.Error):
        return None  # the archive is read instead


def _is_complete(connection: sqlite3.Connection, forgets: int, session: str, upto: int) -> bool:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != SCHEMA:
        return False
    found = connection.execute("SELECT value FROM meta WHERE name = 'forgets'").fetchone()
    fed = connection.execute("SELECT upto FROM fed WHERE source = ?", (f"log {session}",)).fetchone()
    gap = f"gap {session} "
    gaps = connection.execute("SELECT 1 FROM fed WHERE substr(source, 1, ?) = ?", (len(gap), gap)).fetchone()
    return found == (forgets,) and fed is not None and fed[0] >= upto and gaps is None


def _texts(connection: sqlite3.Connection, session: str, upto: int) -> Iterator[tuple[int, str]]:
    """Each message's index and its text, whose chunks may have been cut within a word."""
    rows = connection.execute(
        "SELECT first, text FROM chunk WHERE file = (SELECT id FROM file WHERE name = ?) AND first < ? "
        "ORDER BY first, part",
        (f"transcript/{session}", upto),
    )
    for index, chunks in groupby(rows, lambda row: int(row[0])):
        yield index, "".join(text for _, text in chunks)


OPEN_MAX = 100
"""Indexes that are open at a time."""

IN_MEMORY_MAX = 8
"""Of those whose files cannot be used; each is as large as what a scope remembers."""

IN_MEMORY_S = 60.0
"""How long an index stays in memory before its file is tried again."""

THREADS = 2
"""So many searches compute at a time: beside eight the event loop got the interpreter back too late, and none of them
was over sooner. A file system that hangs holds up searches, and nothing else of the process."""

_T = TypeVar("_T")
_log = structlog.get_logger()


class Indexes:
    """Opens indexes, and closes those that have not been used for long."""

    def __init__(self, data_dir: Path) -> None:
        """Nothing is opened yet."""
        self._data_dir = data_dir
        self._open: OrderedDict[str, Index] = OrderedDict()
        self._locks: dict[str, anyio.Lock] = {}
        self._until: dict[str, float] = {}
        """Of those in memory: until when."""
        self._searching, self._closing = Threads(THREADS), Threads(THREADS)

    @asynccontextmanager
    async def held(self, scope: str) -> AsyncGenerator[None]:
        """Nobody else of this process uses the scope's index for the block."""
        lock = self._locks.setdefault(scope, anyio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.statistics().tasks_waiting and not lock.locked():
                self._locks.pop(scope, None)

    def opened(self, scope: str) -> Index | None:
        """The index of a scope, if it is open; who does not hold it may find that it is closed (IndexGone)."""
        return None if self._is_over(scope) else self._open.get(scope)

    def used(self, scope: str) -> None:
        """The index of a scope was used, though nobody held it."""
        if scope in self._open:
            self._open.move_to_end(scope)

    async def open(self, scope: str, *, forgets: int, anew: str = "") -> Index:
        """The index of a scope, which the caller holds; one that was deleted or is of another time is left.

        ``anew`` says why it must be made anew. Where its file cannot be used it is made in memory.

        Raises:
            IndexBusy: others keep its file for themselves.
        """
        index = self._open.get(scope)
        if index is not None:
            if not anew and index.forgets == forgets and not self._is_over(scope):
                self._open.move_to_end(scope)
                return index
            await self._close(scope)
        try:
            index = await self.run(partial(Index.open, self._data_dir, scope, forgets=forgets, anew=anew))
        except IndexUnusable as error:
            index = await self.run(partial(Index.in_memory, forgets=forgets))
            _log.warning("index.in_memory", reason=brief(error))
            self._until[scope] = anyio.current_time() + IN_MEMORY_S
        self._open[scope] = index
        await self._make_room()
        return index

    async def run(self, work: Callable[..., _T], *args: Any) -> _T:
        """Have a thread do something; when this task is cancelled the thread goes on to the end of it."""
        return await self._searching.run(work, *args)

    async def leave(self, scope: str) -> None:
        """Close the index of a scope, which the caller holds."""
        await self._close(scope)

    async def aclose(self) -> None:
        """Close all."""
        for scope in list(self._open):
            await self._close(scope)

    def _is_over(self, scope: str) -> bool:
        return self._until.get(scope, float("inf")) <= anyio.current_time()

    async def _make_room(self) -> None:
        in_memory = [scope for scope, index in self._open.items() if index.path is None]
        old = [*in_memory[:-IN_MEMORY_MAX], *list(self._open)[:-OPEN_MAX]]
        for scope in old:
            if not (lock := self._locks.get(scope)) or not lock.locked():
                await self._close(scope)

    async def _close(self, scope: str) -> None:
        self._until.pop(scope, None)
        index = self._open.pop(scope, None)
        if index is not None:
            # Beside searches: who is cancelled while waiting for its turn would leave it open.
            await self._closing.run(index.close)
