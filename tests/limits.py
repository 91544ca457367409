"""How long tests wait."""

from collections.abc import Callable
from inspect import isawaitable
from typing import Any

import anyio

HANG_S = 120.0
"""Seconds after which whatever a test waits for never comes; ten times what a machine busy with other things needs."""


async def until(reached: Callable[[], Any]) -> None:
    """Look again and again until something is so that no event tells of, on a server for example."""
    with anyio.fail_after(HANG_S):
        while not (await found if isawaitable(found := reached()) else found):  # noqa: ASYNC110 - see above
            await anyio.sleep(0.005)
