"""Jobs: kept in Redis, done by one at a time, gone on with by whoever comes next."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import anyio
import msgspec
import pytest
from structlog.testing import capture_logs

from daemon.bus import Bus
from daemon.errors import BusUnavailable, JobLost, JobRefused, JobWaits
from daemon.jobs import Job, JobRecord, JobRunner, Jobs, NotifiedChat
from daemon.process import Process
from daemon.testing import FailingBus, ManualClock
from tests.conftest import Lab
from tests.cut_short import Died, DyingBus, StoppingBus
from tests.limits import HANG_S

LEASE_S = 0.5


class Counting(msgspec.Struct, frozen=True, kw_only=True):
    done: tuple[int, ...] = ()


@pytest.fixture
async def jobs(lab: Lab, clock: ManualClock) -> AsyncIterator[Jobs]:
    yield Jobs(lab.bus, lease_s=LEASE_S, worker="worker", clock=clock)
    await lab.bus.call("UNLINK", lab.bus.keys.jobs)


async def shift(bus: Bus, by_ms: int) -> None:
    for job_id in await bus.call("ZRANGE", bus.keys.jobs, 0, -1):
        await bus.call("ZADD", bus.keys.jobs, "XX", "INCR", by_ms, job_id)


async def found(jobs: Jobs, job_id: str = "a") -> JobRecord:
    record = await jobs.find(job_id)
    assert record is not None
    return record


async def test_a_job_is_made_once_and_known_until_long_after_its_end(jobs: Jobs, lab: Lab) -> None:
    assert await jobs.create("count", {"upto": 3}, job_id="a", secret={"needle": "canary"})
    assert not await jobs.create("count", {"upto": 9}, job_id="a")
    assert (await jobs.due(), (await found(jobs)).spec) == (["a"], {"upto": 3})

    held = await jobs.take("a")
    assert held is not None
    assert (held.kind, held.spec, held.secret, held.attempts) == ("count", b'{"upto":3}', b'{"needle":"canary"}', 1)
    await jobs.save(held, {"at": "canary"}, step=1)
    await jobs.finish(held, {"counted": 3})

    record = await found(jobs)
    assert (record.status, record.report, await jobs.due()) == ("done", {"counted": 3}, [])
    assert "canary" not in str(await lab.dump())
    assert not await jobs.create("count", {"upto": 9}, job_id="a")
    assert await jobs.take("a", at_once=True) is None
    assert [each.id for each in await jobs.all()] == ["a"]
    assert 29 * 86_400_000 < await lab.bus.call("PTTL", lab.bus.keys.job("a")) <= 30 * 86_400_000


async def test_one_process_at_a_time_has_a_job_and_the_next_goes_on_from_what_was_saved(jobs: Jobs, lab: Lab) -> None:
    await jobs.create("count", {}, job_id="a")
    first = await jobs.take("a")
    assert first is not None
    await jobs.save(first, {"at": 1}, step=1)
    assert (await jobs.take("a"), await jobs.take("a", at_once=True), await jobs.due()) == (None, None, [])

    await shift(lab.bus, -3_600_000)
    assert await jobs.due() == ["a"]
    second = await jobs.take("a")

    assert second is not None
    assert (second.fence, second.state, second.step, second.attempts) == (first.fence + 1, b'{"at":1}', 1, 1)
    for write in (
        lambda: jobs.renew(first),
        lambda: jobs.save(first, {"at": 7}, step=2),
        lambda: jobs.put_off(first, delay_s=9),
        lambda: jobs.finish(first, {}),
    ):
        with pytest.raises(JobLost):
            await write()
    assert (await found(jobs)).status == "running"


async def test_attempts_count_what_died_without_getting_on(jobs: Jobs, lab: Lab) -> None:
    await jobs.create("count", {}, job_id="a")
    for attempt in (1, 2, 3):
        held = await jobs.take("a")
        assert held is not None
        assert held.attempts == attempt
        await shift(lab.bus, -3_600_000)
    await jobs.save(held, {}, step=1)
    await jobs.put_off(held, delay_s=60, reason="the disk is full")

    assert await jobs.take("a") is None
    assert (await found(jobs)).reason == "the disk is full"
    again = await jobs.take("a", at_once=True)
    assert again is not None
    assert again.attempts == 1
    await jobs.put_off(again, delay_s=0, counts=False)
    assert (await found(jobs)).attempts == 0


async def test_a_clock_that_was_set_back_holds_up_nothing(jobs: Jobs, lab: Lab) -> None:
    await jobs.create("count", {}, job_id="a")
    assert await jobs.take("a")
    await shift(lab.bus, 7_200_000)

    assert await jobs.due() == ["a"]
    assert await jobs.take("a")


async def test_copies_that_come_late_change_nothing(jobs: Jobs, lab: Lab) -> None:
    """A job that is saved, put off, taken again and ended; after each step every call so far comes once more."""

    async def late() -> None:
        before = await dump_without_clock(lab)
        for call in (*lab.bus.scripts, *reversed(lab.bus.scripts)):
            await lab.bus.arrive(*call)
        assert await dump_without_clock(lab) == before

    await jobs.create("count", {"a": 1}, job_id="a", secret={"b": 2}, tell=NotifiedChat(session="web:ann"))
    await late()
    held = await jobs.take("a")
    assert held is not None
    assert (await lab.bus.repeat("take.lua"))[0] == b"taken"  # the reply to the first was lost
    await late()
    await jobs.save(held, {"at": 1}, step=1)
    await jobs.save(held, {"at": 2}, step=2)
    await late()
    await jobs.put_off(held, delay_s=0, reason="rest")
    await late()
    held = await jobs.take("a")
    assert held is not None
    await late()
    await jobs.finish(held, {"c": 3})
    await late()
    assert (await found(jobs)).report == {"c": 3}


async def dump_without_clock(lab: Lab) -> dict[str, Any]:
    """Everything, without the deadlines, which every call of the holder's may extend."""
    found = await lab.dump()
    jobs = found.pop(lab.bus.keys.jobs, [])
    return found | {"jobs": sorted(part for part in flat(jobs) if isinstance(part, bytes) and not part[:1].isdigit())}


def flat(parts: Sequence[Any]) -> list[Any]:
    return [leaf for part in parts for leaf in (flat(part) if isinstance(part, list | tuple) else [part])]


class Counter:
    """A handler that counts to three and notes each number in Redis, saving after each."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus

    async def __call__(self, job: Job) -> Mapping[str, Any]:
        done = job.state(Counting()).done
        for number in range(len(done), 3):
            await self.bus.call("SADD", f"{self.bus.keys.prefix}:job:test", number)
            done = (*done, number)
            await job.save(Counting(done=done))
        await job.tell("counted", name="end")
        return {"counted": done}


def runner(process: Process, bus: Bus) -> JobRunner:
    return JobRunner(replace(process, bus=bus), {"count": Counter(bus)})


@pytest.mark.parametrize(
    ("kind", "carried_out"),
    [(DyingBus, True), (DyingBus, False), (FailingBus, True), (FailingBus, False), (StoppingBus, True)],
)
async def test_a_job_cut_short_at_any_call_is_ended_by_the_next(
    process: Process, lab: Lab, jobs: Jobs, kind: type[FailingBus], carried_out: bool
) -> None:
    for at in range(1, 100):
        job_id = f"job-{at}"
        await jobs.create("count", {}, job_id=job_id, tell=NotifiedChat(session=f"web:{at}"))
        with anyio.CancelScope() as scope, capture_logs(), suppress(Died, BusUnavailable):
            bus = kind(process.bus, at=at, carried_out=carried_out, cancel=scope if kind is StoppingBus else None)
            await runner(process, bus).run_one(job_id)
        await shift(process.bus, -3_600_000)

        record = await runner(process, process.bus).until_ended(job_id, within_s=HANG_S)

        assert (record.status, record.report) == ("done", {"counted": [0, 1, 2]})
        assert await process.bus.call("XLEN", process.bus.keys.notices(f"web:{at}")) == 1
        if bus.calls < at:
            break
    assert 6 < at < 99


async def test_a_job_that_waits_is_put_off_and_does_not_count(process: Process, jobs: Jobs) -> None:
    waits = [JobWaits("somebody consolidates", delay_s=0.0), JobRefused("there is no such session")]

    async def handle(job: Job) -> Mapping[str, Any]:
        raise waits.pop(0)

    doing = JobRunner(process, {"count": handle})
    await jobs.create("count", {}, job_id="a")
    await doing.run_one("a")
    record = await found(jobs)
    assert (record.status, record.attempts, record.reason) == ("waiting", 0, "somebody consolidates")

    with capture_logs() as logs:
        await doing.run_one("a")

    record = await found(jobs)
    assert (record.status, record.report) == ("failed", {"error": "there is no such session"})
    assert [line["event"] for line in logs] == ["job.failed"]


async def test_a_bug_in_a_handler_is_kept_and_tried_again_later(process: Process, jobs: Jobs) -> None:
    async def handle(job: Job) -> Mapping[str, Any]:
        raise ZeroDivisionError("oops")

    await jobs.create("count", {}, job_id="a")
    with capture_logs() as logs:
        await JobRunner(process, {"count": handle}).run_one("a")
        await JobRunner(process, {"count": handle}).run_one("a")  # it rests

    record = await found(jobs)
    assert (record.status, record.attempts, record.reason) == ("waiting", 1, "ZeroDivisionError: oops")
    assert [line["event"] for line in logs] == ["job.broken", "job.put_off"]


async def test_whoever_loses_the_lease_is_cut_short(process: Process, lab: Lab, jobs: Jobs) -> None:
    async def handle(job: Job) -> Mapping[str, Any]:
        while await jobs.take("a") is None:  # it may be renewed between the two calls
            await shift(lab.bus, -3_600_000)
        await anyio.sleep_forever()
        raise AssertionError

    queue = msgspec.structs.replace(process.config.queue, renew_s=0.01)
    hasty = replace(process, config=msgspec.structs.replace(process.config, queue=queue))
    await jobs.create("count", {}, job_id="a")
    with capture_logs() as logs, anyio.fail_after(HANG_S):
        await JobRunner(hasty, {"count": handle}).run_one("a")

    assert [line["event"] for line in logs] == ["job.lost"]
    assert (await found(jobs)).status == "running"


async def test_a_process_does_what_is_due_and_hands_over_when_it_stops(
    process: Process, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.jobs.job_runner.LOOK_S", 0.01)
    begun, ended = anyio.Event(), anyio.Event()

    async def handle(job: Job) -> Mapping[str, Any]:
        if job.id == "a":
            ended.set()
            return {}
        begun.set()
        await anyio.sleep_forever()
        raise AssertionError

    doing = JobRunner(process, {"count": handle})
    await jobs.create("count", {}, job_id="a")
    await jobs.create("count", {}, job_id="b")
    await jobs.create("newer", {}, job_id="c")
    with anyio.fail_after(HANG_S):
        async with anyio.create_task_group() as tg:
            tg.start_soon(doing.run, process.stopping)
            await begun.wait()
            await ended.wait()
            while not (await found(jobs, "a")).has_ended or not (await found(jobs, "c")).reason:  # noqa: ASYNC110 - in Redis
                await anyio.sleep(0.01)
            tg.cancel_scope.cancel()

    record = await found(jobs, "b")
    assert (record.status, record.attempts, await jobs.due()) == ("waiting", 0, ["b"])
    assert (await found(jobs, "c")).reason == "no worker in this process can run jobs of kind newer"


async def test_what_a_job_says_is_said_once_and_also_sent(process: Process, lab: Lab, jobs: Jobs) -> None:
    async def handle(job: Job) -> Mapping[str, Any]:
        said = [
            await job.tell("done", name="end"),
            await job.tell("done", name="end"),
            await job.tell("more", name="b"),
        ]
        other = await job.tell("there too", name="end", to=NotifiedChat(session="web:bob"))
        return {"said": [*said, other]}

    tell = NotifiedChat(session="support:ann", out_channel="support", correlation="c1", message_id="m1")
    await jobs.create("count", {}, job_id="a", tell=tell)
    record = await JobRunner(process, {"count": handle}).until_ended("a", within_s=HANG_S)

    assert record.report == {"said": [True, False, True, True]}
    keys = lab.bus.keys
    replies = await lab.bus.call("XRANGE", keys.out(keys.partition("support:ann"), "support"), "-", "+")
    assert [b'"text":"done"' in fields[b"reply"] for _, fields in replies] == [True, False]
    assert await lab.bus.call("XLEN", keys.notices("web:bob")) == 1
    await lab.bus.call("UNLINK", keys.out(keys.partition("support:ann"), "support"))
