"""Work under a session's lock that can be done later. It gives way to a turn that waits for the lock."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import anyio

from daemon.errors import BusError
from daemon.session import Lock, Locks

LOOK_S = 0.5
"""How often the holder of a lock looks whether a turn waits for it."""

T = TypeVar("T")


async def unless_wanted(locks: Locks, lock: Lock, work: Callable[[], Awaitable[T]]) -> T | None:
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
