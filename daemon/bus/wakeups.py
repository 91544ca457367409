"""Sessions that need a worker: taking them from ``ready``, returning them, and waking overdue sessions."""

import random
from collections.abc import Sequence
from typing import Any

import anyio

from daemon.bus.cluster import PartitionChanges
from daemon.bus.command_batch import translated
from daemon.bus.connection import Bus
from daemon.bus.pipeline_connection import Part, pairs
from daemon.bus.publish import longest_deadline_s
from daemon.bus.script_batch import load_script
from daemon.concurrency import block_ms
from daemon.config import QueueConfig
from daemon.errors import BusError

MEND = load_script(__file__, "mend.lua")
REAP = load_script(__file__, "reap.lua")
WAKE = load_script(__file__, "wake.lua")

BLOCK_S = 0.5
"""Longest blocking read: what a stopping worker waits for its taker, and two commands a second while idle."""

MEND_MOST = 100
"""Oldest messages of a partition whose sessions are looked at; of the largest allowed size they are 25 MB."""

REAP_MOST = 1_000
"""Sessions that one pass wakes in a partition; the next pass follows at once when there are more."""


async def take(bus: Bus, *, at_most: int) -> list[str]:
    """Up to ``at_most`` ready sessions, waiting up to ``BLOCK_S`` for the first.

    What is taken is gone from ``ready``; whoever does not use it gives it back with ``wake``, and the reaper heals the
    rest. Never cancel it: an answer that nobody reads would leave its session asleep until then.

    Raises:
        BusUnavailable: Redis is away.
    """
    changes = bus.changes("ready", bus.keys.ready)
    if changes is None:
        return await _take_from_any(bus, at_most)
    return await _take_from_changed(bus, changes, at_most)


async def _take_from_any(bus: Bus, at_most: int) -> list[str]:
    # The pop looks at its keys in order: in a fixed one, a flood in the first partition would keep all others waiting.
    ready = [bus.keys.ready(partition) for partition in range(bus.keys.partitions)]
    random.shuffle(ready)
    # With one partition its others are asked for in the same breath.
    others: list[tuple[Part, ...]] = [("ZPOPMIN", ready[0], at_most - 1)] if at_most > 1 and len(ready) == 1 else []
    block_s = block_ms(BLOCK_S) / 1000
    first, *more = await bus.block([("BZPOPMIN", *ready, block_s), *others], block_s=block_s)
    if isinstance(first, BaseException):
        raise translated(first) from first
    sessions: list[bytes] = [first[1]] if first else []
    if first and at_most > 1 and len(ready) > 1:
        more = await bus.block([("ZPOPMIN", first[0], at_most - 1)])
    # What was popped first counts, whatever became of the others.
    found: Any = more[0] if more and not isinstance(more[0], BaseException) else []
    return [session.decode() for session in (*sessions, *(session for session, _ in pairs(found)))]


async def _take_from_changed(bus: Bus, changes: PartitionChanges, at_most: int) -> list[str]:
    until = anyio.current_time() + BLOCK_S
    sessions: list[str] = []
    while not sessions and (left_s := until - anyio.current_time()) > 0:
        partitions = await changes.next(at_most, within_s=left_s)
        if partitions:
            sessions = await _take_from(bus, changes, partitions, at_most // len(partitions))
    return sessions


async def _take_from(bus: Bus, changes: PartitionChanges, partitions: Sequence[int], at_most: int) -> list[str]:
    """Up to ``at_most`` sessions of each partition; those that may hold more are looked at again."""
    sessions: list[str] = []
    errors: list[BaseException] = []
    popped = await bus.each([("ZPOPMIN", bus.keys.ready(partition), at_most) for partition in partitions])
    for partition, found in zip(partitions, popped, strict=True):
        if isinstance(found, BaseException):
            # Its partition is looked at again with all others, or as soon as its node is heard.
            errors.append(found)
            continue
        sessions += [session.decode() for session, _ in pairs(found)]
        if len(found) == at_most:
            changes.put(partition)
    if len(errors) == len(partitions):
        raise translated(errors[0]) from errors[0]
    return sessions


async def wake(bus: Bus, sessions: Sequence[str]) -> None:
    """Return sessions that were taken but not claimed."""
    for session in sessions:
        partition = bus.keys.partition(session)
        await bus.run(WAKE, [bus.keys.ready(partition), bus.keys.due(partition)], [session])


async def reap(bus: Bus, config: QueueConfig) -> tuple[int, float | None]:
    """Wake the overdue sessions of all partitions. Returns their number, and the seconds until the next deadline (None:
    none).

    Raises:
        BusUnavailable: Redis, or a node of it, is away; the partitions of the others were looked after.
    """
    args = [round(config.wakeup_s * 1000), round(longest_deadline_s(config) * 1000), REAP_MOST]
    passes: list[tuple[int, int]] = []
    errors: list[BusError] = []

    async def look_after(partition: int) -> None:
        try:
            passes.append(await bus.run(REAP, [bus.keys.due(partition), bus.keys.ready(partition)], args))
        except BusError as error:
            errors.append(error)

    # At once, so that they share pipelines.
    async with anyio.create_task_group() as tg:
        for partition in range(bus.keys.partitions):
            tg.start_soon(look_after, partition)
    if errors:
        raise errors[0]
    nearest_ms = min((until_ms for _, until_ms in passes if until_ms >= 0), default=None)
    return sum(count for count, _ in passes), None if nearest_ms is None else nearest_ms / 1000


async def mend(bus: Bus) -> int:
    """Restore deadlines of sessions that were removed from ``due`` by hand. Returns their number.

    Raises:
        BusUnavailable: Redis is away.
    """
    keys = bus.keys
    return sum([await bus.run(MEND, [keys.inbox(at), keys.due(at)], [MEND_MOST]) for at in range(keys.partitions)])
