"""Attempts to summarize messages. An attempt is counted before it begins, because it may kill its worker."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Literal

import anyio

from daemon.errors import ArchiveError, BusError, CallSkipped, LockLost, MemoryMoving, Misplaced
from daemon.session import Lock
from workers.consolidation.shared_stores import Stores

UNDO_S = 5.0
"""Longest that taking a failure back may take."""

NOBODY_FAILED = (CallSkipped, ArchiveError, BusError, MemoryMoving, Misplaced)
"""The model was not asked, or did its part."""


@asynccontextmanager
async def attempt(
    stores: Stores, lock: Lock, what: Literal["failures", "digests"] = "failures"
) -> AsyncGenerator[None]:
    """Count one more failure in a row of the locked session; whoever succeeds sets the count anew.

    It is taken back when the model has not failed, somebody could not wait, or this process is to stop. There are never
    more failures than it takes to do without a model.

    Raises:
        LockLost: somebody else has the session's lock.
    """
    before = lock.failures if what == "failures" else lock.digests
    most = stores.config.consolidation.failures_max
    try:
        await stores.locks.note(lock, what, min(before + 1, most))
        yield
    except (*NOBODY_FAILED, anyio.get_cancelled_exc_class()):
        with anyio.move_on_after(UNDO_S, shield=True), suppress(BusError, LockLost):
            await stores.locks.note(lock, what, before)
        raise
