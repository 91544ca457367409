"""Several calls at a time: in one tick of the event loop the bus sends them as one pipeline."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from threading import Lock
from types import TracebackType
from typing import Any, Generic, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from anyio.abc import TaskGroup

from daemon.errors import MillpondError

AT_ONCE = 32
"""Calls at a time: the server answers others between the pipelines."""

_T = TypeVar("_T")
_R = TypeVar("_R")


async def at_once(
    items: Sequence[_T], work: Callable[[_T], Coroutine[Any, Any, _R]], *, most: int = AT_ONCE
) -> list[_R]:
    """The results of ``work`` for all items, in order; ``most`` calls run at a time.

    Of several ``MillpondError`` the first one is raised, alone.
    """
    found = list[_R]()
    for first in range(0, len(items), most):
        found += await _together(items[first : first + most], work)
    return found


async def _together(items: Sequence[_T], work: Callable[[_T], Coroutine[Any, Any, _R]]) -> list[_R]:
    found, failed = dict[int, _R](), list[MillpondError]()

    async def one(number: int, item: _T) -> None:
        try:
            found[number] = await work(item)
        except MillpondError as error:
            failed.append(error)
            tg.cancel_scope.cancel()

    async with anyio.create_task_group() as tg:
        for number, item in enumerate(items):
            tg.start_soon(one, number, item)
    if failed:
        raise failed[0]
    return [found[number] for number in range(len(items))]


# Common ticks: periodic work of one process wakes up together, and its Redis commands become one pipeline.


def until_tick(every_s: float) -> float:
    """Seconds until the next tick: above 0, and at most ``every_s``.

    Ticks are the multiples of ``every_s`` on the event loop's clock, so that a loop with a period of 1 s wakes up with
    every second tick of a loop with a period of 0.5 s.
    """
    return every_s - anyio.current_time() % every_s


BLOCK_MIN_MS = 2
"""Shortest wait of a blocking command, in milliseconds. Redis blocks for ever with 0, and Redis before 7.2 truncates
0.001 s to 0."""


def block_ms(every_s: float) -> int:
    """Milliseconds until the next tick, for a blocking command: at least ``BLOCK_MIN_MS``."""
    return max(BLOCK_MIN_MS, math.ceil(until_tick(every_s) * 1000))


# A limit of many waits: those that may last equally long share one timer.


class SharedTimeout:
    """Cancels what takes longer than ``seconds``; each ``limit()`` is used as ``anyio.move_on_after(seconds)`` is.

    ``anyio.current_effective_deadline()`` knows nothing of it.
    """

    def __init__(self, seconds: float) -> None:
        """Nothing happens yet."""
        self.seconds = seconds
        self._ends: _Ends | None = None

    def __call__(self) -> "Limited":
        """A block that is cancelled when it takes too long; its scope tells whether it was."""
        ends = self._ends
        if ends is None:
            ends = self._ends = _Ends(self.seconds)
        return Limited(ends)

    def late(self, scope: anyio.CancelScope) -> None:
        """Say that it took too long, if it did; after the block.

        Raises:
            TimeoutError: it did.
        """
        if scope.cancelled_caught:
            raise TimeoutError(f"the operation took longer than {self.seconds:g} s")


class Limited:
    """One use of a limit."""

    __slots__ = ("_ends", "_scope")

    def __init__(self, ends: "_Ends") -> None:
        self._ends = ends
        self._scope = ends.scope()

    def __enter__(self) -> anyio.CancelScope:
        self._ends.begin(self._scope)
        return self._scope.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._ends.open.pop(self._scope, None)
        return self._scope.__exit__(kind, error, trace)


class _Ends:
    """What is under way in one event loop, and when it is to end."""

    def __init__(self, seconds: float) -> None:
        self.scope = type(anyio.CancelScope())
        """That of the library which runs the event loop."""
        self.open: dict[anyio.CancelScope, float] = {}
        """Until when each may last, on the event loop's clock: what began first ends first."""
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._now = self._loop.time
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, scope: anyio.CancelScope) -> None:
        """From now on ``scope`` has its time."""
        until = self.open[scope] = self._now() + self._seconds
        if self._timer is None:
            self._timer = self._loop.call_at(until, self._ring)

    def _ring(self) -> None:
        while self.open:
            scope, until = next(iter(self.open.items()))
            if until > self._now():
                self._timer = self._loop.call_at(until, self._ring)
                return
            del self.open[scope]
            scope.cancel()
        self._timer = None


# Slots: tasks that live on from one piece of work to the next.


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
            raise RuntimeError("Millpond started a task before it was ready for tasks (a bug in Millpond)")
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


# Threads for what blocks: few, and each counts until it has ended, whoever still waits for it.

# The heap of the C library, made to give back what threads let go of.

ARENAS = 2
"""Heaps for all threads together: they allocate little while they do not hold the interpreter's lock."""

MAPPED_FROM = 256 * 1024
"""Bytes from which on an allocation is mapped by itself, and gone when it is freed: arrays, and pages of a large file.
Where this is not said, glibc raises it with each that is freed, to 32 MiB in the end."""

KEPT_MAX = 1024 * 1024
"""Free bytes that a heap may keep at its end."""

_PARAMETERS = {-8: ARENAS, -3: MAPPED_FROM, -1: KEPT_MAX}
"""By M_ARENA_MAX, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of <malloc.h>, see mallopt(3)."""


def share_heap() -> None:
    """Have it so for the rest of the process, as far as its C library can; to be called before threads are started."""
    from ctypes import CDLL  # noqa: PLC0415 - it takes 5 ms, which only who stays has to spend

    # Others than glibc know no mallopt, or not these parameters, and have no such heaps.
    with suppress(OSError, AttributeError, TypeError):
        mallopt = CDLL(None).mallopt
        for parameter, value in _PARAMETERS.items():
            mallopt(parameter, value)


class Threads:
    """So many threads at a time, for the lifetime of one event loop."""

    def __init__(self, most: int) -> None:
        """No thread is started yet."""
        self._most = most
        self._limiters: tuple[CapacityLimiter, CapacityLimiter] | None = None

    async def run(self, work: Callable[..., _T], *args: Any) -> _T:
        """What ``work`` gives; when this task is cancelled a thread that has begun is left to itself, to its end."""
        if self._limiters is None:
            self._limiters = CapacityLimiter(self._most), CapacityLimiter(math.inf)
        places, no_limit = self._limiters
        job = _Job(work, args, places)
        try:
            places.acquire_on_behalf_of_nowait(job)
        except anyio.WouldBlock:
            await places.acquire_on_behalf_of(job)
        try:
            return await to_thread.run_sync(job, abandon_on_cancel=True, limiter=no_limit)
        finally:
            job.leave()


class _Job:
    """One piece of work, and its place among the threads: given back once, when nobody waits and nothing is done."""

    def __init__(self, work: Callable[..., Any], args: tuple[Any, ...], places: CapacityLimiter) -> None:
        self._work = work
        self._args = args
        self._places = places
        self._loop = asyncio.get_running_loop()
        self._lock = Lock()
        self._works = False
        self._is_left = False

    def __call__(self) -> Any:
        """In the thread."""
        if not self._has_begun():
            return None
        try:
            return self._work(*self._args)
        finally:
            if self._has_ended_alone():
                # Raises where the event loop is closed; nobody hears of it, or wants the place.
                self._loop.call_soon_threadsafe(self._give_back)

    def leave(self) -> None:
        """On the event loop: nobody waits for it any more."""
        with self._lock:
            self._is_left = True
            works = self._works
        if not works:
            self._give_back()

    def _has_begun(self) -> bool:
        with self._lock:
            self._works = not self._is_left
            return self._works

    def _has_ended_alone(self) -> bool:
        with self._lock:
            self._works = False
            return self._is_left

    def _give_back(self) -> None:
        self._places.release_on_behalf_of(self)
