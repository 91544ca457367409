"""Asking for several things in one tick of the event loop, which sends them as one pipeline."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

import anyio

from daemon.errors import MillpondError

AT_ONCE = 32
"""Sessions, scopes or keys that are asked for together: the server answers others between them."""

_T = TypeVar("_T")
_R = TypeVar("_R")


async def at_once(items: Sequence[_T], work: Callable[[_T], Coroutine[Any, Any, _R]]) -> list[_R]:
    """What ``work`` gives of each, in order; of errors of ours the first one is raised, alone."""
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
