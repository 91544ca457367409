"""The clock of the event loop, by which every deadline of a test and of the product is kept."""

import asyncio
from collections.abc import Callable

from tests.limits import HANG_S


def put_forward(by_s: float = HANG_S) -> None:
    """Let all deadlines that lie within so many seconds have passed."""
    loop = asyncio.get_running_loop()
    time = loop.time
    loop.time = lambda: time() + by_s  # type: ignore[method-assign]


def put_forward_when(reached: Callable[[], bool], by_s: float = HANG_S) -> None:
    """Do that as soon as something is reached: a request that hangs, say, has arrived."""
    loop = asyncio.get_running_loop()

    def look() -> None:
        if reached():
            put_forward(by_s)
        else:
            loop.call_later(0.001, look)

    loop.call_soon(look)
