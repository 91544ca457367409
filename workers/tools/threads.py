"""Where tools do what would block: threads of their own, few enough that they take none from others."""

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

THREADS = 8
"""Calls at a time that are waited for. One that was given up counts no more: whatever hangs in a bot's folder or in a
pattern that somebody wrote, it must not hold up the tools of others."""

_T = TypeVar("_T")
_limiter: RunVar[CapacityLimiter] = RunVar("millpond-tool-threads")


async def in_thread(work: Callable[[], _T]) -> _T:
    """What ``work`` gives; cancelled, it is left to itself, since a thread cannot be ended."""
    try:
        limiter = _limiter.get()
    except LookupError:
        limiter = CapacityLimiter(THREADS)
        _limiter.set(limiter)
    return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=limiter)
