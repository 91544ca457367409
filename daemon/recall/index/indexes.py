"""The most recently used indexes of a process, which stay open. One task at a time uses an index."""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import structlog

from daemon.errors import brief
from daemon.recall.index.index_errors import IndexUnusable
from daemon.recall.index.index_store import Index
from daemon.threads import Threads

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
