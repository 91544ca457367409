"""Slots: tasks that live on from one piece of work to the next.

Starting a task costs more than a turn's claim: one that has finished its work waits for more.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from anyio.abc import TaskGroup

_T = TypeVar("_T")


class Slots(Generic[_T]):
    """Does each piece of work in a task; new tasks are started only while none is idle."""

    def __init__(self, work: Callable[[_T], Awaitable[None]]) -> None:
        """``work`` must raise nothing that is not meant to end all the others too."""
        self._work = work
        self._tasks: TaskGroup | None = None
        self._future: Callable[[], asyncio.Future[_T | None]]
        self._idle: list[asyncio.Future[_T | None]] = []
        self._closed = False

    def open(self, tasks: TaskGroup) -> None:
        """From now on work can be given; it is done in ``tasks``."""
        self._tasks = tasks
        self._future = asyncio.get_running_loop().create_future

    def give(self, item: _T) -> None:
        """Have ``item`` worked on."""
        while self._idle:
            idle = self._idle.pop()
            if not idle.done():  # else it was cancelled
                idle.set_result(item)
                return
        if self._tasks is None:
            raise RuntimeError("the task slots were used before they were opened (a bug in Millpond)")
        self._tasks.start_soon(self._run, item)

    def close(self) -> None:
        """Let tasks end as soon as they have nothing to do."""
        self._closed = True
        for idle in self._idle:
            if not idle.done():
                idle.set_result(None)

    async def _run(self, item: _T | None) -> None:
        while item is not None:
            await self._work(item)
            item = None if self._closed else await self._next()

    async def _next(self) -> _T | None:
        idle = self._future()
        self._idle.append(idle)
        try:
            return await idle
        except asyncio.CancelledError:
            # Given in the same moment: whoever does the work knows what its end means.
            if idle.done() and not idle.cancelled() and (item := idle.result()) is not None:
                await self._work(item)
            raise
