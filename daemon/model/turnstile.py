"""Fairness between answers that come at the same time."""

import time

import anyio

SLICE_S = 0.001
"""How long one answer is worked on before the others are let through."""


class Turnstile:
    """Lets one task through in each round of the event loop.

    Two hundred answers whose bytes have all come would be taken apart in one round, 200 ms long, and nothing else would
    be heard meanwhile: neither a lease's renewal nor a person's ``/stop``.
    """

    def __init__(self) -> None:
        # Not the fast kind: whoever gets it waits a round, lock in hand, and so the others queue up.
        self._lock = anyio.Lock()

    async def through(self) -> float:
        """Wait to be let through; until when one may work on, by ``time.perf_counter()``."""
        async with self._lock:
            """Leaving wakes the next one, who runs in the next round."""
        return time.perf_counter() + SLICE_S
