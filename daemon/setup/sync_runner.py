"""Running what a question needs to be tried, from code that asks people and is not asynchronous."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

_T = TypeVar("_T")


def run(work: Callable[[], Awaitable[_T]]) -> _T:
    """What ``work`` gives.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed meanwhile.
    """
    try:
        return anyio.run(work)
    except asyncio.CancelledError:
        # So Ctrl-C looks when something else was being cancelled just then: asyncio cannot tell them apart.
        raise KeyboardInterrupt from None
