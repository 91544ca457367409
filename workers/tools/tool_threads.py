"""Threads for the blocking work of tools: a limited number, so that other work keeps its threads."""

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

THREADS = 8
"""Calls at a time that are waited for. An abandoned call is not counted: a hanging file or pattern of one bot must not
block the tools of others."""

_T = TypeVar("_T")
_limiter: RunVar[CapacityLimiter] = RunVar("millpond-tool-threads")


async def in_thread(work: Callable[[], _T]) -> _T:
    """The result of ``work``. On cancellation the thread continues unattended, since a thread cannot be stopped."""
    try:
        limiter = _limiter.get()
    except LookupError:
        limiter = CapacityLimiter(THREADS)
        _limiter.set(limiter)
    return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=limiter)
