"""Keeping consolidation out while something is forgotten: the locks of all sessions that it is about, at once."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import cast

import anyio
import structlog

from daemon.errors import BusError, FenceBehind, JobWaits, LockLost, brief
from daemon.forget.forget_context import Stores
from daemon.session import Lock

TAKE_S = 90.0
"""How long a consolidation under way is waited for: a model's call and what follows it."""

LOOK_S = 0.2
"""How often is looked whether it is over."""

AGAIN_S = 5.0
"""When it is tried again, after that."""

GIVE_BACK_S = 10.0
"""Longest that giving all back may take; what is not given back ends by itself."""

_log = structlog.get_logger()

Homes = Sequence[tuple[str, str]]
"""Sessions, each with the scope that its memory is."""


@asynccontextmanager
async def fenced(stores: Stores, homes: Homes, *, take_s: float = TAKE_S) -> AsyncGenerator[dict[str, Lock]]:
    """The locks of ``homes`` for the block; every memory has seen them, so that no earlier holder writes any more.

    Sessions are taken in order, so that two who want the same wait for each other and not for ever.

    Raises:
        JobWaits: somebody has consolidated one for ``take_s``, or took one away: everything is to be done again.
        BusUnavailable: Redis is away.
    """
    held: dict[str, Lock] = {}
    try:
        async with anyio.create_task_group() as tg:
            tg.start_soon(_renewed, stores, held)
            for session, home in sorted(homes):
                lock = await _taken(stores, session, take_s=take_s)
                if lock is not None:
                    held[session] = lock
                    held[session] = await _opened(stores, lock, home)
            yield held
            tg.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        error = _first(group)
        if isinstance(error, LockLost):
            raise JobWaits(str(error), delay_s=AGAIN_S) from error
        raise error from group
    except LockLost as error:
        raise JobWaits(str(error), delay_s=AGAIN_S) from error
    finally:
        with anyio.move_on_after(GIVE_BACK_S, shield=True):
            for lock in held.values():
                await _give_back(stores, lock)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    inner = group.exceptions[0]
    return _first(cast("BaseExceptionGroup[BaseException]", inner)) if isinstance(inner, BaseExceptionGroup) else inner


async def _taken(stores: Stores, session: str, *, take_s: float) -> Lock | None:
    """The lock; None when the session is not there."""
    with anyio.move_on_after(take_s):
        while True:
            lock = await stores.locks.take(session)
            if lock is not None:
                return lock
            if not await stores.bus.call("EXISTS", stores.bus.keys.session(session)):
                return None
            await anyio.sleep(LOOK_S)
    raise JobWaits(
        f"session {session} is being consolidated. The session's data is deleted after the consolidation.",
        delay_s=AGAIN_S,
    )


async def _opened(stores: Stores, lock: Lock, home: str) -> Lock:
    """The lock, whose fence the memory has seen."""
    while True:
        try:
            await stores.memories.open(home, lock.session, fence=lock.fence, nonce=lock.nonce)
        except FenceBehind as error:
            # The session was set back by a failover, and its fences with it.
            lock = await stores.locks.again(lock, above=error.highest)
        else:
            return lock


async def _renewed(stores: Stores, held: dict[str, Lock]) -> None:
    """Renew all, for ever; raises LockLost."""
    queue = stores.config.queue
    renewed_at = anyio.current_time()
    while True:
        await anyio.sleep(queue.renew_s)
        asked_at = anyio.current_time()
        try:
            async with anyio.create_task_group() as tg:  # one tick, few pipelines
                for lock in list(held.values()):
                    tg.start_soon(stores.locks.renew, lock)
        except* BusError as group:
            if anyio.current_time() > renewed_at + queue.lease_s:
                raise group.exceptions[0] from group
        else:
            renewed_at = asked_at


async def _give_back(stores: Stores, lock: Lock) -> None:
    try:
        await stores.locks.give_back(lock, again_in_s=None)
    except BusError as error:
        _log.debug("lock.kept", reason=brief(error))
