"""Messages a second through one process of another engine: ``peer_engines.py ENGINE REDIS_URL MESSAGES``.

Run by an interpreter that has the engines. As in ``benchmarks.engine``, the time begins with the first message that is
sent and ends with the last one that is done, 100 are sent at the same time, and 100 may be in work. The handlers do
nothing: these engines keep no order, no log, and no reply.
"""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor

TEXT = "q" * 1_000
IN_FLIGHT = 100
SENDERS = 40
"""Fewer than the connections of redis-py's pools."""
THREADS = 8
"""Of dramatiq, its default."""
WARM = 200
"""Messages before the clock starts."""


class Done:
    """Counts messages, and says when all are done."""

    def __init__(self) -> None:
        self._left, self._all = 0, asyncio.Event()

    def note(self) -> None:
        """One more is done."""
        self._left -= 1
        if not self._left:
            self._all.set()

    async def rate_beside(
        self, worker: Coroutine[object, object, object], send: Callable[[], Awaitable[object]], count: int
    ) -> float:
        """Send and handle ``count`` messages: messages a second. ``worker`` handles them; it need not end."""
        working = asyncio.create_task(worker)
        await asyncio.sleep(0)  # it begins
        await self._rate(send, WARM)
        rate = await self._rate(send, count)
        assert not working.done() or working.exception() is None
        return rate

    async def _rate(self, send: Callable[[], Awaitable[object]], count: int) -> float:
        self._left = count
        self._all.clear()
        numbers = iter(range(count))

        async def some() -> None:
            for _ in numbers:
                await send()

        began = time.perf_counter()
        await asyncio.gather(*(some() for _ in range(SENDERS)))
        await self._all.wait()
        return count / (time.perf_counter() - began)


async def arq(url: str, count: int) -> float:
    """Arq, with its default of storing results turned off."""
    from arq import create_pool, func  # noqa: PLC0415
    from arq.connections import RedisSettings  # noqa: PLC0415
    from arq.worker import Worker  # noqa: PLC0415

    done = Done()

    async def handle(_context: object, _text: str) -> None:
        done.note()

    settings = RedisSettings.from_dsn(url)
    pool = await create_pool(settings)
    worker = Worker(
        [func(handle, name="handle", keep_result=0)],
        redis_settings=settings,
        max_jobs=IN_FLIGHT,
        handle_signals=False,
        poll_delay=0.01,
        log_results=False,
    )
    return await done.rate_beside(worker.async_run(), lambda: pool.enqueue_job("handle", TEXT), count)


async def taskiq(url: str, count: int) -> float:
    """Taskiq on Redis streams, without a result backend."""
    from taskiq.api import run_receiver_task  # noqa: PLC0415
    from taskiq_redis import RedisStreamBroker  # noqa: PLC0415

    done = Done()
    broker = RedisStreamBroker(url)

    @broker.task  # type: ignore[untyped-decorator]
    async def handle(_text: str) -> None:
        done.note()

    broker.is_worker_process = True
    await broker.startup()
    receiver = run_receiver_task(broker, max_async_tasks=IN_FLIGHT)
    return await done.rate_beside(receiver, lambda: handle.kiq(TEXT), count)


async def faststream(url: str, count: int) -> float:
    """FastStream on a Redis stream with a consumer group."""
    from faststream.redis import RedisBroker, StreamSub  # noqa: PLC0415

    done = Done()
    broker = RedisBroker(url, logger=None)
    await broker.connect()

    @broker.subscriber(  # type: ignore[untyped-decorator]
        stream=StreamSub("faststream", group="workers", consumer="one", polling_interval=10, max_records=IN_FLIGHT),
        max_workers=IN_FLIGHT,
    )
    async def handle(_text: str) -> None:
        done.note()

    await broker.start()  # messages from before the group are not its messages
    return await done.rate_beside(asyncio.sleep(0), lambda: broker.publish(TEXT, stream="faststream"), count)


async def dramatiq(url: str, count: int) -> float:
    """Dramatiq, which sends and handles in threads."""
    import dramatiq as library  # noqa: PLC0415
    from dramatiq.brokers.redis import RedisBroker  # noqa: PLC0415

    done, loop = Done(), asyncio.get_running_loop()
    broker = RedisBroker(url=url)
    library.set_broker(broker)

    @library.actor(max_retries=0)  # type: ignore[untyped-decorator]
    def handle(_text: str) -> None:
        loop.call_soon_threadsafe(done.note)

    library.Worker(broker, worker_threads=THREADS).start()
    pool = ThreadPoolExecutor(THREADS)

    async def send() -> None:
        await loop.run_in_executor(pool, handle.send, TEXT)

    return await done.rate_beside(asyncio.sleep(0), send, count)


ENGINES = {engine.__name__: engine for engine in (arq, taskiq, faststream, dramatiq)}

if __name__ == "__main__":
    _, name, address, messages = sys.argv

    async def main() -> None:
        """Print the rate and end at once: some engines wait for their next poll, or for ever."""
        print(f"rate: {await ENGINES[name](address, int(messages))}", flush=True)
        os._exit(0)

    asyncio.run(main())
