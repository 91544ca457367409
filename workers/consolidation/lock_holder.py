"""Holds a session's consolidation lock. The lock is renewed during the work and released afterwards."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import anyio
import structlog

from daemon.errors import BusError, LockLost, brief
from daemon.session import ConsolidationLock, ConsolidationLocks

# Work under a session's lock that can be done later. It gives way to a turn that waits for the lock.

LOOK_S = 0.5
"""How often the holder of a lock looks whether a turn waits for it."""

T = TypeVar("T")


async def unless_wanted(
    locks: ConsolidationLocks, lock: ConsolidationLock, work: Callable[[], Awaitable[T]]
) -> T | None:
    """The result of ``work``; None if a turn waits for the lock: then the work is not begun, or cancelled."""
    if await locks.is_wanted(lock):
        return None
    found: T | None = None

    async def look() -> None:
        is_wanted = False
        while not is_wanted:
            await anyio.sleep(LOOK_S)
            with suppress(BusError):  # what the work does about that is its own
                is_wanted = await locks.is_wanted(lock)
        tasks.cancel_scope.cancel()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look)
            found = await work()
            tasks.cancel_scope.cancel()
    except ExceptionGroup as group:
        raise group.exceptions[0] from group
    return found


GIVE_BACK_S = 5.0
"""Longest that giving a lock back may take; what is not given back ends by itself."""

_log = structlog.get_logger()


@dataclass(kw_only=True)
class LockOutcome:
    """How the work under a lock ended."""

    lock: ConsolidationLock
    """With the positions that it last saw."""
    again_in_s: float | None = 0.0
    """When the session is to be looked at again, at once if the work is cut short; None: when it has grown."""


async def hold(
    locks: ConsolidationLocks,
    lock: ConsolidationLock,
    work: Callable[[LockOutcome], Awaitable[None]],
    *,
    renew_s: float,
    rest_s: float,
) -> LockOutcome:
    """Do ``work`` under ``lock``, renewed every ``renew_s``; however it ends, the lock is given back.

    After an error of ``work`` the session rests for ``rest_s``: whatever it is, it will not be over at once.

    Raises:
        LockLost: somebody else has the lock; the work was cut short.
    """
    ended, lost = LockOutcome(lock=lock), False

    async def renew() -> None:
        nonlocal lost
        held_until = anyio.current_time() + locks.lease_s
        while True:
            await anyio.sleep(renew_s)
            asked_at = anyio.current_time()
            try:
                await locks.renew(lock)
            except LockLost:
                break
            except BusError:
                if anyio.current_time() > held_until:
                    break
            else:
                held_until = asked_at + locks.lease_s
        lost = True
        tg.cancel_scope.cancel()

    try:
        async with anyio.create_task_group() as tg:
            tg.start_soon(renew)
            await work(ended)
            tg.cancel_scope.cancel()
    except ExceptionGroup as group:
        ended.again_in_s = rest_s
        raise group.exceptions[0] from group
    finally:
        if not lost:
            await _give_back(locks, ended)
    if lost:
        raise LockLost(f"session {lock.session} is now being consolidated by another worker. Nothing more was written.")
    return ended


async def _give_back(locks: ConsolidationLocks, ended: LockOutcome) -> None:
    with anyio.move_on_after(GIVE_BACK_S, shield=True):
        try:
            await locks.give_back(ended.lock, again_in_s=ended.again_in_s)
        except BusError as error:
            _log.debug("lock.kept", reason=brief(error))
