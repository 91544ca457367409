"""Threads for what blocks: few, and each counts until it has ended, whoever still waits for it.

By itself glibc keeps a heap for each of up to eight threads a core, and what a thread needed for a moment stays in its
own: a process that searches grew by some 30 kB a turn for thousands of turns, of which nothing was in use.

A thread cannot be ended. ``to_thread.run_sync(abandon_on_cancel=True)`` gives its place away once nobody waits for it:
on a disk that hangs each turn would leave another thread behind, and searches that came too late would go on computing
beside those that are waited for.
"""

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread

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


_T = TypeVar("_T")


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
