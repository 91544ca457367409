"""What looking for lost answers of Redis costs: CPU of calls to Redis with ``StreamingConnection.watch`` and without
it."""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager

import anyio

from benchmarks.folder import data_dir
from benchmarks.result import Result
from daemon.bus import Bus, open_bus
from daemon.bus.streaming_connection import StreamingConnection
from daemon.config import RedisConfig

CALLS = 20_000
"""Of one round."""
IN_FLIGHT = 100
ROUNDS = 7
LIMIT = 1.1


def measure() -> list[Result]:
    """Rounds with and without, in turns; CPU time, because others may use the machine."""
    rounds = [anyio.run(_both) for _ in range(ROUNDS)]
    return [
        Result(
            name="a call to Redis, watched for a lost answer",
            unit="µs CPU",
            values=tuple(watched for watched, _ in rounds),
            floor=statistics.median(bare for _, bare in rounds),
            floor_is="the same without the watch",
            limit=LIMIT,
            limit_is="ratio, at most",
        )
    ]


async def _both() -> tuple[float, float]:
    watched = await _cpu_us()
    with _unwatched():
        return watched, await _cpu_us()


async def _cpu_us() -> float:
    """Microseconds of this process's CPU for one call."""
    with data_dir() as folder:
        async with open_bus(RedisConfig(), folder) as bus:
            await _calls(bus, IN_FLIGHT)
            began = time.process_time()
            async with anyio.create_task_group() as tg:
                for _ in range(IN_FLIGHT):
                    tg.start_soon(_calls, bus, CALLS // IN_FLIGHT)
            return (time.process_time() - began) * 1e6 / CALLS


async def _calls(bus: Bus, count: int) -> None:
    for _ in range(count):
        await bus.call("HGET", bus.keys.session("web:ann"), "head")


@contextmanager
def _unwatched() -> Iterator[None]:
    async def sleep(_stream: object) -> None:
        await anyio.sleep_forever()

    watch, StreamingConnection.watch = StreamingConnection.watch, sleep  # type: ignore[assignment,method-assign]  # the product, unchanged
    try:
        yield
    finally:
        StreamingConnection.watch = watch  # type: ignore[method-assign]
