"""Holds a session's consolidation lock. The lock is renewed during the work and released afterwards."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio
import structlog

from daemon.errors import BusError, LockLost, brief
from daemon.session import Lock, Locks

GIVE_BACK_S = 5.0
"""Longest that giving a lock back may take; what is not given back ends by itself."""

_log = structlog.get_logger()


@dataclass(kw_only=True)
class Ended:
    """How the work under a lock ended."""

    lock: Lock
    """With the positions that it last saw."""
    again_in_s: float | None = 0.0
    """When the session is to be looked at again, at once if the work is cut short; None: when it has grown."""


async def hold(
    locks: Locks, lock: Lock, work: Callable[[Ended], Awaitable[None]], *, renew_s: float, rest_s: float
) -> Ended:
    """Do ``work`` under ``lock``, renewed every ``renew_s``; however it ends, the lock is given back.

    After an error of ``work`` the session rests for ``rest_s``: whatever it is, it will not be over at once.

    Raises:
        LockLost: somebody else has the lock; the work was cut short.
    """
    ended, lost = Ended(lock=lock), False

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


async def _give_back(locks: Locks, ended: Ended) -> None:
    with anyio.move_on_after(GIVE_BACK_S, shield=True):
        try:
            await locks.give_back(ended.lock, again_in_s=ended.again_in_s)
        except BusError as error:
            _log.debug("lock.kept", reason=brief(error))
