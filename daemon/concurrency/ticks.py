"""Common ticks: periodic work of one process wakes up together, and its Redis commands become one pipeline."""

import math

import anyio


def until_tick(every_s: float) -> float:
    """Seconds until the next tick: above 0, and at most ``every_s``.

    Ticks are the multiples of ``every_s`` on the event loop's clock, so that a loop with a period of 1 s wakes up with
    every second tick of a loop with a period of 0.5 s.
    """
    return every_s - anyio.current_time() % every_s


BLOCK_MIN_MS = 2
"""Shortest wait of a blocking command, in milliseconds. Redis blocks for ever with 0, and Redis before 7.2 truncates
0.001 s to 0."""


def block_ms(every_s: float) -> int:
    """Milliseconds until the next tick, for a blocking command: at least ``BLOCK_MIN_MS``."""
    return max(BLOCK_MIN_MS, math.ceil(until_tick(every_s) * 1000))
