"""Sessions that want a worker: taking them from ``ready``, giving them back, and waking what is overdue."""

import random
from collections.abc import Sequence

from redis import exceptions as redis_errors

from daemon.bus.connection import Bus
from daemon.bus.joined import translated
from daemon.bus.publish import longest_deadline_s
from daemon.bus.replies import pairs
from daemon.bus.script import load_script
from daemon.config import QueueConfig

REAP = load_script(__file__, "reap.lua")
WAKE = load_script(__file__, "wake.lua")

BLOCK_S = 0.5
"""Longest blocking read: what a stopping worker waits for its taker, and two commands a second while idle."""

REAP_MOST = 1_000
"""Sessions that one pass wakes in a partition; the next pass follows at once when there are more."""


async def take(bus: Bus, *, at_most: int) -> list[str]:
    """Up to ``at_most`` ready sessions, waiting up to ``BLOCK_S`` for the first.

    What is taken is gone from ``ready``; whoever does not use it gives it back with ``wake``, and the reaper heals the
    rest. Never cancel it: an answer that nobody reads would leave its session asleep until then.

    Raises:
        BusUnavailable: Redis is away.
    """
    # The pop looks at its keys in order: in a fixed one, a flood in the first partition would keep all others waiting.
    ready = [bus.keys.ready(partition) for partition in range(bus.keys.partitions)]
    random.shuffle(ready)
    try:
        first = await bus.client.execute_command("BZPOPMIN", *ready, BLOCK_S)
        if first is None:
            return []
        sessions: list[bytes] = [first[1]]
        if at_most > 1:
            more = await bus.client.execute_command("ZPOPMIN", first[0], at_most - 1)
            sessions += [session for session, _ in pairs(more)]
    except (redis_errors.RedisError, OSError) as error:
        raise translated(error) from error
    return [session.decode() for session in sessions]


async def wake(bus: Bus, sessions: Sequence[str]) -> None:
    """Give back sessions that were taken and not claimed."""
    for session in sessions:
        partition = bus.keys.partition(session)
        await bus.run(WAKE, [bus.keys.ready(partition), bus.keys.due(partition)], [session])


async def reap(bus: Bus, config: QueueConfig) -> tuple[int, float | None]:
    """Wake what is overdue in every partition: how many, and the seconds until the next deadline (None: none)."""
    woken, nearest = 0, None
    for partition in range(bus.keys.partitions):
        count, until_ms = await bus.run(
            REAP,
            [bus.keys.due(partition), bus.keys.ready(partition)],
            [round(config.wakeup_s * 1000), round(longest_deadline_s(config) * 1000), REAP_MOST],
        )
        woken += count
        if until_ms >= 0:
            nearest = until_ms / 1000 if nearest is None else min(nearest, until_ms / 1000)
    return woken, nearest
