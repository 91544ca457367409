"""The clock of the event loop, by which every deadline of a test and of the product is kept."""

import asyncio
from collections.abc import Callable
from typing import Any

from channels.testing.lab import HANG_S

_time = asyncio.BaseEventLoop.time
# Of the class, before any loop is made: some keep the method of their loop, and a deadline by a clock that stays behind
# the loop's is looked at each time the loop goes round.
asyncio.BaseEventLoop.time = lambda self: _time(self) + getattr(self, "ahead_s", 0.0)  # type: ignore[method-assign]


def put_forward(by_s: float = HANG_S) -> None:
    """Let all deadlines that lie within so many seconds have passed."""
    loop: Any = asyncio.get_running_loop()
    loop.ahead_s = getattr(loop, "ahead_s", 0.0) + by_s


def put_forward_when(reached: Callable[[], bool]) -> None:
    """Do that as soon as something is reached: a request that hangs, say, has arrived."""
    loop = asyncio.get_running_loop()

    def look() -> None:
        if reached():
            put_forward()
        else:
            loop.call_later(0.001, look)

    loop.call_soon(look)


async def run_fast() -> None:
    """Until cancelled, put the clock forward by a second each time the event loop goes round."""
    while True:
        put_forward(1.0)
        await asyncio.sleep(0)
