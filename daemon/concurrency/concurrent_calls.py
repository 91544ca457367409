"""Several calls at a time: in one tick of the event loop the bus sends them as one pipeline."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

import anyio

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
