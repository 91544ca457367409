"""The beginning that consecutive prompts of a conversation share, by bytes: prefix caches charge less for it.

The scenarios are those of ``tests/integration/test_prefix.py``. Requests right after a consolidation are left out.
"""

from collections.abc import Awaitable, Callable

import anyio

from benchmarks import cache_day
from benchmarks.folder import data_dir
from benchmarks.result import Result
from daemon import log
from daemon.config import Config
from daemon.run import open_process
from tests.prefixlab import Talk, conversations_in_turns, plain_turns, talking, tool_turns

Scenario = Callable[[Talk], Awaitable[dict[str, list[float]]]]
SCENARIOS: tuple[tuple[str, float, Scenario], ...] = (
    ("plain turns through a flush", 0.92, plain_turns),
    ("calls of turns with three tool calls", 0.90, tool_turns),
    ("two conversations of a person", 0.90, conversations_in_turns),
)
"""Each with the least share of every request."""


def measure() -> list[Result]:
    """Plain turns, turns with tools, and two conversations of one person, each in an own data directory; a day."""
    log.configure("error")
    shares = [
        Result(
            name=f"shared prefix: {what}, {session}",
            unit="of the bytes",
            values=tuple(shares),
            floor=0.0,
            floor_is="no shared prefix",
            limit=limit,
            limit_is="worst, at least",
        )
        for what, limit, scenario in SCENARIOS
        for session, shares in anyio.run(_shares, scenario).items()
    ]
    return [*shares, *cache_day.measure()]


async def _shares(scenario: Scenario) -> dict[str, list[float]]:
    with data_dir() as folder:
        async with open_process(Config(), folder) as process, talking(process) as talk:
            return await scenario(talk)
