"""The engine alone: how many messages a second pass through one process, when model and platform take no time."""

import gc
import statistics
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import msgspec
from redis.asyncio import Redis

from benchmarks.folder import data_dir
from benchmarks.result import Result
from channels.base import Limits, Part, Purpose, Rate
from channels.outbox import Outbox
from daemon import log
from daemon.bus import Bus, publish
from daemon.concurrency import SharedTimeout
from daemon.config import AgentConfig, Config, TestingConfig
from daemon.events import Inbound, LogEntry, Reply
from daemon.process import Process
from daemon.run import open_process
from daemon.session import Claim, Commit, Sessions
from daemon.sessionkey import SessionKey
from workers.agent.turn_endings import insist
from workers.lease_upkeep import ClaimHold
from workers.session_consumer import SessionConsumer

MESSAGES = 5_000
"""Of one round, each in a session of its own."""

ROUNDS = 5
IN_FLIGHT = 100
LIMIT = 0.45
CHANNEL = "support"

QUESTION, ANSWER = "q" * 1_000, "a" * 1_000
"""What is said, the same for engine and floor."""

TOKENS = 200
"""What each counts; a model's turn would have counted it."""

COMMIT = """
redis.call('RPUSH', KEYS[2], ARGV[2], ARGV[3])
redis.call('XADD', KEYS[3], '*', 'reply', ARGV[3])
redis.call('XADD', KEYS[4], 'MAXLEN', '~', 10000, '*', 'event', ARGV[4])
redis.call('XACK', KEYS[1], 'jobs', ARGV[1])
redis.call('XDEL', KEYS[1], ARGV[1])
return 1
"""
"""What is left of a turn for somebody who checks nothing: two log entries, the reply, an event, the job done."""


class NullTurn:
    """What the engine calls to answer a claim, with nothing in it but an answer; as every turn, under its hold."""

    def __init__(self, process: Process, sessions: Sessions) -> None:
        self._limit = SharedTimeout(process.config.agent.turn_timeout_s)
        self._sessions = sessions

    async def __call__(self, hold: ClaimHold, *, go_on: Callable[[], bool]) -> Claim | None:
        """See ``workers.session_consumer.Answer``."""
        claim = hold.claim
        text = await hold.until(self._model, limit=self._limit)
        commit = _commit(claim, text or "")
        return await insist(
            lambda: self._sessions.commit(claim, commit, step=0, out_channel=CHANNEL, go_on=go_on()),
        )

    async def _model(self) -> str:
        return ANSWER


def _commit(claim: Claim, text: str) -> Commit:
    waiting, head = claim.begun.waiting, claim.begun.head
    [said] = [entry.inbound for entry in waiting if entry.inbound]
    return Commit(
        entries=(
            LogEntry(time=said.received_at, turn=head, tokens=TOKENS, id=said.id, sender="ann", wire=_wire(said.text)),
            LogEntry(time=said.received_at, turn=head, tokens=TOKENS, answers=(said.id,), wire=_wire(text)),
        ),
        tokens=2 * TOKENS,
        answered=tuple(entry.stream_id for entry in waiting),
        reply=Reply(
            id=f"{claim.session}#{head}", session=claim.session, turn=head, text=text, correlation=said.correlation
        ),
    )


def _wire(text: str) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode({"role": "user", "content": text}))


class NullChannel:
    """Takes every part at once, and can do nothing else."""

    name = CHANNEL

    limits = Limits(
        part_max=10_000,
        edit_every_s=0.0,
        group_edit_every_s=0.0,
        typing_lasts_s=0.0,
        fetch_max_bytes=0,
        send_max_bytes=0,
    )

    def length(self, text: str) -> int:
        """A reply is one part."""
        return len(text)

    def rates(self, _chat: SessionKey, _purpose: Purpose = "send") -> tuple[Rate, ...]:
        """As fast as can be."""
        return ()

    async def send(self, _chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """Sent."""
        return part.reply


def measure() -> list[Result]:
    """Messages a second from publishing to the noted delivery, and jobs a second of the floor, in turns."""
    log.configure("warning")
    with data_dir() as folder:
        engine, floor = anyio.run(_measure, folder)
    return [
        Result(
            name=f"engine, {IN_FLIGHT} in flight",
            unit="messages/s",
            values=tuple(engine),
            floor=statistics.median(floor),
            floor_is="redis-py on the same server: jobs read from a stream, one commit script each",
            limit=LIMIT,
            limit_is="ratio, at least",
        )
    ]


async def _measure(folder: Path) -> tuple[list[float], list[float]]:
    channel = TestingConfig(url="http://localhost/")
    config: Config = msgspec.structs.replace(Config(), agent=AgentConfig(slots=IN_FLIGHT), channels={CHANNEL: channel})
    engine: list[float] = []
    floor: list[float] = []
    async with open_process(config, folder) as process, anyio.create_task_group() as tg:
        sessions = Sessions(process.bus, process.config.queue, worker=process.name)
        tg.start_soon(SessionConsumer(process, sessions, NullTurn(process, sessions), slots=IN_FLIGHT).run)
        tg.start_soon(Outbox(process, NullChannel(), channel).run)
        await _answered(process, "warm", 500)
        gc.freeze()  # as an agent does when it is warm
        for number in range(ROUNDS):
            floor.append(await _floor(process.bus, MESSAGES))
            engine.append(await _answered(process, f"round{number}", MESSAGES))
        process.stopping.set()
    return engine, floor


async def _answered(process: Process, name: str, count: int) -> float:
    """Messages a second, from the first that is published to the last whose delivery is noted."""
    numbers = iter(range(count))

    async def publish_some() -> None:
        for number in numbers:
            inbound = Inbound(
                id="m1",
                bot="pond",
                channel=CHANNEL,
                chat=f"{name}-{number}",
                sender_id="ann",
                text=QUESTION,
                received_at="2026-11-20T09:00:00.000Z",
                correlation=f"{name}-{number}",
                delivery="push",
            )
            await publish(process.bus, inbound, scope="pond:workspace", config=process.config.queue)

    began = time.perf_counter()
    async with anyio.create_task_group() as tg:
        for _ in range(IN_FLIGHT):
            tg.start_soon(publish_some)
    keys = process.bus.keys
    # Answered first: only then is everything in out that will ever be.
    for stream in (keys.inbox(0), keys.out(0, CHANNEL)):
        while await process.bus.call("XLEN", stream):  # noqa: ASYNC110  nobody says when a stream is empty
            await anyio.sleep(0.002)
    return count / (time.perf_counter() - began)


async def _floor(bus: Bus, count: int) -> float:
    """Jobs a second: 100 tasks, each with a job in hand; they were put on the stream before."""
    about: dict[str, Any] = bus.client.connection_pool.connection_kwargs
    # With the library's own defaults, but for the number of connections: 100 in flight need as many.
    client: Any = Redis(unix_socket_path=about["path"], password=about["password"], max_connections=IN_FLIGHT + 1)
    commit = client.register_script(COMMIT)
    jobs: deque[bytes] = deque()
    reading = anyio.Lock()
    left = count

    async def job() -> bytes:
        async with reading:
            if not jobs:
                [[_, found]] = await client.xreadgroup("jobs", "floor", {"floor:in": ">"}, count=IN_FLIGHT, block=1000)
                jobs.extend(job_id for job_id, _ in found)
            return jobs.popleft()

    async def work() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            job_id = jobs.popleft() if jobs else await job()
            keys = ["floor:in", f"floor:log:{job_id.decode()}", "floor:out", "floor:grew"]
            await commit(keys=keys, args=[job_id, QUESTION, ANSWER, "e" * 80])

    await client.xgroup_create("floor:in", "jobs", id="0", mkstream=True)
    async with client.pipeline(transaction=False) as filling:
        for _ in range(count):
            filling.xadd("floor:in", {"job": "j" * 300})
        await filling.execute()
    began = time.perf_counter()
    async with anyio.create_task_group() as tg:
        for _ in range(IN_FLIGHT):
            tg.start_soon(work)
    took_s = time.perf_counter() - began
    for key in [key async for key in client.scan_iter("floor:*", count=10_000)]:
        await client.unlink(key)
    await client.aclose()
    return count / took_s
