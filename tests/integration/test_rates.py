"""Rates: each process records what it does by the minute, and a history adds up what all of them did."""

import datetime as dt
import json
from dataclasses import replace

import anyio
import pytest

from daemon import metrics
from daemon.bus import Bus
from daemon.errors import BusUnavailable
from daemon.process import Process
from daemon.rates import RateRecorder, RateStep, read_history
from daemon.run import run_services
from daemon.testing import FailingBus, ManualClock
from tests.conftest import Lab, all_keys
from tests.integration.test_turns import Bot
from tests.limits import HANG_S, until
from tests.tables import each_row
from tests.weblab import page_of


def happens(*, messages: int = 1, turn_s: float = 0.3, cost: float = 0.25) -> None:
    """What a process counts when so many messages are accepted and one turn answers them."""
    metrics.ACCEPTED.labels("web", "accepted").inc(messages)
    metrics.ACCEPTED.labels("web", "duplicate").inc(5)
    metrics.TURNS.labels("done").inc()
    metrics.TURN_SECONDS.observe(turn_s)
    metrics.WAITED_SECONDS.observe(0.0)
    for direction, tokens in (("in", 100), ("cached", 30), ("cacheable", 60), ("out", 7)):
        metrics.TOKENS.labels("m", direction).inc(tokens)
    metrics.COST.labels("m", "EUR").inc(cost)


async def test_the_numbers_of_all_processes_are_added_up_by_the_minute(bus: Bus) -> None:
    clock = ManualClock()
    first, second = (RateRecorder(bus, clock, name) for name in ("first", "second"))
    happens(messages=2)
    await first.save()
    clock.advance(60)
    await first.save()
    happens()
    await first.save()
    metrics.TURNS.labels("failed").inc()
    await second.save()

    history = await read_history(bus, clock, "hour")

    assert (len(history.steps), history.step_s) == (60, 60)
    before, now = history.steps[-2:]
    # The second process has counted since its start what the first one did as well: they share the metrics of a test.
    assert (before.count("messages"), now.count("messages")) == (2 + 3, 1)
    assert (before.answered, now.answered, before.failed, now.failed) == (1 + 2, 1, 1, 0)
    assert (now.count("in"), now.count("out"), now.cached_share, now.costs) == (100, 7, 0.5, {"EUR": 0.25})
    assert history.total.count("messages") == 6
    assert history.steps[0].cached_share is None
    assert now.at == clock.now().replace(second=0, microsecond=0)


async def test_saving_again_and_an_outage_change_no_number(bus: Bus) -> None:
    clock, away = ManualClock(), FailingBus(bus, at=1)
    recorder = RateRecorder(away, clock, "process")
    happens(messages=4)
    with pytest.raises(BusUnavailable):
        await recorder.save()
    clock.advance(60)
    for _ in range(3):
        await recorder.save()

    history = await read_history(bus, clock, "hour")

    assert [step.count("messages") for step in history.steps[-2:]] == [4, 0]


async def test_a_quiet_process_writes_nothing_and_an_hour_expires_after_a_day(bus: Bus) -> None:
    clock = ManualClock()
    recorder = RateRecorder(bus, clock, "process")
    before = await all_keys(bus)
    await recorder.save()
    quiet = await all_keys(bus)
    happens()
    await recorder.save()

    [key] = set(await all_keys(bus)) - set(before)

    assert quiet == before
    assert 25 * 3_600_000 < await bus.call("PTTL", key) <= 26 * 3_600_000


async def test_a_day_has_steps_of_a_quarter_of_an_hour_and_no_older_numbers(bus: Bus) -> None:
    clock = ManualClock()
    recorder = RateRecorder(bus, clock, "process")
    for messages, later_s in ((1, 15 * 60), (2, 23 * 3_600), (4, 60)):
        happens(messages=messages)
        await recorder.save()
        clock.advance(later_s)
        await recorder.save()
    await bus.call("HSET", bus.keys.rates(int(clock.now().timestamp() // 3_600)), f"{_minute(clock)} hand", "damaged")

    day = await read_history(bus, clock, "day")
    clock.advance(45 * 60)
    later = await read_history(bus, clock, "day")

    assert (len(day.steps), day.step_s) == (96, 900)
    assert [step.count("messages") for step in day.steps if step.answered] == [1, 2, 4]
    assert [step.count("messages") for step in later.steps if step.answered] == [2, 4]


def _minute(clock: ManualClock) -> int:
    return int(clock.now().timestamp() // 60)


async def test_a_process_records_what_it_does_until_it_stops(process: Process) -> None:
    process = replace(process, stopping=anyio.Event())

    async def work(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        task_status.started()
        await anyio.wait_all_tasks_blocked()
        happens(messages=3)
        process.stopping.set()

    with anyio.fail_after(HANG_S):
        await run_services(process, [work], signals=False)

    history = await read_history(process.bus, process.clock, "hour")
    assert (history.total.count("messages"), history.total.answered) == (3, 1)


BUCKETS = {"turn_s 0.5": 2.0, "turn_s 1.0": 2.0, "turn_s 2.0": 8.0, "turn_s +Inf": 10.0}


@each_row(
    "numbers, share, expected",
    [
        ({}, 0.5, None),
        (BUCKETS, 0.5, 1.5),
        (BUCKETS, 0.2, 0.5),
        (BUCKETS, 0.1, 0.25),
        (BUCKETS, 0.95, 2.0),
        ({"turn_s 0.5": 0.0, "turn_s +Inf": 0.0}, 0.5, None),
    ],
)
def test_a_duration_is_read_from_the_buckets(numbers: dict[str, float], share: float, expected: float | None) -> None:
    assert RateStep(at=dt.datetime.now(dt.UTC), numbers=numbers).duration("turn_s", share) == expected


async def test_a_turn_appears_in_the_history_of_the_page(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("channels.web.system.system_endpoints.RATES_FRESH_S", 3_600.0)
    process = replace(process, clock=ManualClock())
    recorder = RateRecorder(process.bus, process.clock, process.name)
    async with page_of(process) as page:
        await page.client.post("/api/messages", json={"session": "ann", "text": "hello"})
        async with Bot(process).working():
            await until(lambda: _answered(lab))
        await recorder.save()

        history = await page.get("/api/system/history")
        day = await page.get("/api/system/history", period="day")
        assert await page.refused("/api/system/history?period=week", 400) == "bad_request"
        happens()
        await recorder.save()
        assert await page.get("/api/system/history") == history  # read once for all viewers

    last, total = history["steps"][-1], history["total"]
    assert (history["period"], history["step_s"], len(history["steps"])) == ("hour", 60, 60)
    assert (last["messages"], last["answered"], last["failed"]) == (1, 1, 0)
    assert last["tokens_in"] > 0 and last["tokens_out"] > 0
    typical, slow = total["turn_s"]
    assert 0 <= typical <= slow
    assert history["steps"][0] == {
        "at": history["steps"][0]["at"], "messages": 0, "answered": 0, "failed": 0, "turn_s": None, "waited_s": None,
        "tokens_in": 0, "cached_in": 0, "tokens_out": 0, "cached_share": None, "costs": {},
    }  # fmt: skip
    assert day["total"]["messages"] == 1
    assert "hello" not in json.dumps(history)


async def _answered(lab: Lab) -> bool:
    return (await lab.state()).head > 0
