"""How turns went: what is kept of it, by whom it is written, and who can read it."""

import datetime as dt
import re
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.inbound import accept, make_inbound
from channels.outbox import delivery_state
from daemon.bus import Bus
from daemon.cli.trace_command import lane, print_trace
from daemon.config import QueueConfig
from daemon.errors import InvalidAnswer
from daemon.forget import ForgetOrder, ForgetRequests, scopes_with
from daemon.job_handlers import job_runner
from daemon.model import Answer, Usage
from daemon.process import Process
from daemon.session import Claim, Commit, sessions
from daemon.testing import Gate, ScriptedModel
from daemon.traces import KEPT_MAX, KEPT_MS, FoundTrace, Row, Span, Trace, Traces, rows, told, trace_records
from daemon.traces.trace_records import LAST
from tests.conftest import Lab, RecordingBus, commit_of
from tests.fakes.sink import Refuse, sink
from tests.integration.test_outbox import ANN as PUSHED
from tests.integration.test_outbox import NAME, pushing, put, replica, until_empty
from tests.integration.test_turns import Bot, calls_time, worked_off
from tests.limits import until
from tests.weblab import Page, page_of
from workers.agent import turn_tracing

ANN = "web:ann"
QUEUE = QueueConfig(lease_s=60.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.02, backoff_max_s=0.1)


async def answered(process: Process, lab: Lab, model: ScriptedModel, *ids: str) -> list[FoundTrace]:
    for message_id in ids:
        await lab.publish(message_id)
    await worked_off(process, lab, model)
    return await Traces(lab.bus).of(ANN)


def a_trace(turn: int, **more: Any) -> Trace:
    fields: dict[str, Any] = {
        "turn": turn, "fence": 1, "received_ms": 1_000, "claimed_ms": 1_200, "worker": "w", "outcome": "done", **more,
    }  # fmt: skip
    return Trace(**fields)


def traced(claim: Claim, trace: Trace | None) -> Commit:
    return msgspec.structs.replace(commit_of(claim), trace=trace)


async def committed(lab: Lab, message_id: str, **more: Any) -> None:
    await lab.publish(message_id)
    claim = await lab.claim()
    trace = a_trace(claim.begun.head, answers=(message_id,), correlation=(f"c-{message_id}",), **more)
    commit = traced(claim, trace)
    await lab.sessions.commit(claim, commit, step=0, go_on=False)


async def test_a_turn_leaves_what_it_waited_for_asked_and_called(process: Process, lab: Lab) -> None:
    usage = Usage(tokens_in=900, cached_in=300, reports_cached=True, tokens_out=12)
    usage = msgspec.structs.replace(usage, cost_nano=1_500_000, cached_nano=100_000, currency="EUR")
    said = Answer(text="it is late", model="little", usage=usage)

    [found] = await answered(process, lab, ScriptedModel(calls_time(), said), "a")

    trace = found.trace
    assert (trace.turn, trace.fence, trace.outcome, trace.worker) == (0, 1, "done", process.name)
    assert (trace.answers, trace.correlation) == (("a",), ("c-a",))
    assert trace.received_ms == round(dt.datetime(2026, 11, 20, 9, tzinfo=dt.UTC).timestamp() * 1000)
    assert trace.received_ms <= trace.claimed_ms and trace.committed_ms > 0
    assert [(span.kind, span.name, span.outcome) for span in trace.spans] == [
        ("model", "scripted", "done"),
        ("tool", "time", "done"),
        ("model", "little", "done"),
    ]
    last = trace.spans[-1]
    assert (last.prompt_tokens, last.cached_tokens, last.completion_tokens) == (900, 300, 12)
    assert (last.cost_nano, last.cached_nano, last.currency) == (1_500_000, 100_000, "EUR")
    assert found.deliveries == ()
    shown = told(found)
    assert (shown["spans"][-1]["cached_tokens"], shown["spans"][-1]["cached_cost"]) == (300, "0.000100 EUR")
    assert "cached_tokens" not in shown["spans"][0]
    totals = shown["totals"]
    assert (totals["cached_tokens"], totals["cached_share"]) == (300, 0.3333)
    assert (totals["cost"], totals["cached_cost"]) == ("0.001500 EUR", "0.000100 EUR")
    assert "900 tokens in (300 cached for 0.000100 EUR), 12 out, 0.001500 EUR" in [row.more for row in rows(found)]


async def test_a_trace_holds_no_text(process: Process, lab: Lab) -> None:
    await answered(process, lab, ScriptedModel(calls_time(name="teleport"), "a heron"), "a", "b")

    raws = await lab.bus.call("LRANGE", lab.bus.keys.traces(ANN), 0, -1)

    assert len(raws) == 2
    for raw in raws:
        assert not re.search(rb"heron|text of|was not found|arguments|sender|ann\b", raw), raw
    known = {field.name for kind in (Trace, Span, trace_records.Delivered) for field in msgspec.structs.fields(kind)}
    words = {"name", "kind", "currency", "worker", "outcome", "answers", "correlation"}
    numbers = {each for each in known - words if each not in ("spans", "span", "recalls", "missing")}
    assert all(
        each.endswith(("_ms", "_tokens", "_nano")) or each in ("turn", "fence", "part", "left_out") for each in numbers
    )


async def test_a_tool_that_failed_and_a_model_that_was_stopped_are_told_as_that(process: Process, lab: Lab) -> None:
    gate = Gate()
    await lab.publish("a")

    async with Bot(process, ScriptedModel(calls_time(name="teleport"), gate)).working():
        await gate.reached()
        await lab.publish("s", command="stop")
        await until(lab.is_idle)

    [found] = await Traces(lab.bus).of(ANN)
    assert found.trace.outcome == "stopped"
    assert [(span.kind, span.outcome) for span in found.trace.spans] == [
        ("model", "done"),
        ("tool", "failed"),
        ("model", "stopped"),
    ]


async def test_a_dead_letter_has_a_trace(process: Process, lab: Lab) -> None:
    [found] = await answered(
        process, lab, ScriptedModel(*[InvalidAnswer("no")] * process.config.queue.attempts_max), "a"
    )

    assert (found.trace.outcome, found.trace.answers) == ("dead", ("a",))


async def test_steps_beyond_the_limit_are_counted(process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_tracing, "SPANS_MAX", 2)

    [found] = await answered(process, lab, ScriptedModel(calls_time(), calls_time("call-2"), "done"), "a")

    assert (len(found.trace.spans), found.trace.left_out) == (2, 3)


async def test_a_turn_makes_no_call_more_for_its_trace_and_leaves_one_if_it_is_committed_twice(
    process: Process, lab: Lab, bus: Bus
) -> None:
    await lab.publish("a")
    claim = await lab.claim()
    before = len(lab.bus.scripts)

    commit = traced(claim, a_trace(0))
    await lab.sessions.commit(claim, commit, step=0, go_on=False)

    assert [script.name for script, _, _ in lab.bus.scripts[before:]] in ([], ["commit.lua"])
    assert await bus.call("LLEN", bus.keys.traces(ANN)) == 1
    await lab.sessions.commit(claim, commit, step=0, go_on=False)
    assert len(await Traces(lab.bus).of(ANN)) == 1


async def test_commits_that_share_a_script_leave_each_its_own_trace(lab: Lab) -> None:
    names = [f"web:s{number}" for number in range(12)]
    for name in names:
        await lab.publish(f"m-{name}", session=name)
    claims = [await lab.claim(name) for name in names]

    async def commit(number: int) -> None:
        trace = a_trace(0, answers=(f"m-{names[number]}",)) if number % 3 else None
        await lab.sessions.commit(claims[number], traced(claims[number], trace), step=0, go_on=False)

    async with anyio.create_task_group() as tg:
        for number in range(len(names)):
            tg.start_soon(commit, number)

    for number, name in enumerate(names):
        found = await Traces(lab.bus).of(name)
        assert [each.trace.answers for each in found] == ([(f"m-{name}",)] if number % 3 else [])
        assert len(await lab.log(name)) == 2


async def test_the_newest_turns_are_kept_for_a_week(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "KEPT_MAX", 3)
    for number in range(5):
        await committed(lab, f"m{number}")

    kept = await Traces(lab.bus).of(ANN)

    assert [each.trace.turn for each in kept] == [8, 6, 4]
    assert 0 < await lab.bus.call("PTTL", lab.bus.keys.traces(ANN)) <= KEPT_MS
    assert (KEPT_MAX, KEPT_MS) == (300, 604_800_000)


async def keep_a_trace(bus: Bus) -> None:
    await bus.call("RPUSH", bus.keys.traces(PUSHED), trace_records.encode(a_trace(0)))
    await bus.call("PEXPIRE", bus.keys.traces(PUSHED), 60_000)


async def test_each_part_that_is_sent_is_noted_once_with_its_marks(process: Process) -> None:
    await keep_a_trace(process.bus)
    async with sink() as platform:
        await put(process.bus, "one two three")
        async with replica(pushing(process, platform, part_max_chars=5)):
            await until_empty(process.bus)

    [found] = await Traces(process.bus).of(PUSHED)
    assert [(span.kind, span.name, span.part, span.outcome) for span in found.deliveries] == [
        ("delivery", NAME, part, "done") for part in range(3)
    ]
    assert all(span.took_ms >= 0 and span.began_ms > 1_600_000_000_000 for span in found.deliveries)
    raws = b" ".join(await process.bus.call("LRANGE", process.bus.keys.traces(PUSHED), 0, -1))
    assert b"two" not in raws and b"three" not in raws
    assert 0 < await process.bus.call("PTTL", process.bus.keys.traces(PUSHED)) <= 60_000
    assert await Traces(process.bus).newest(PUSHED) == found.trace


async def test_the_newest_turn_is_found_behind_the_many_parts_of_its_reply(process: Process) -> None:
    await keep_a_trace(process.bus)
    span = Span(kind="delivery", name=NAME, began_ms=1, took_ms=1.0)
    parts = [trace_records.encode(trace_records.Delivered(turn=0, span=span)) for _ in range(LAST + 1)]
    await process.bus.call("RPUSH", process.bus.keys.traces(PUSHED), *parts)

    found = await Traces(process.bus).newest(PUSHED)
    assert found is not None and found.turn == 0


async def test_of_many_parts_the_newest_are_kept(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_state, "KEPT_MAX", 2)
    await keep_a_trace(process.bus)
    async with sink() as platform:
        await put(process.bus, "one two three")
        async with replica(pushing(process, platform, part_max_chars=5)):
            await until_empty(process.bus)

    raws = await process.bus.call("LRANGE", process.bus.keys.traces(PUSHED), 0, -1)
    assert [each.span.part for each in trace_records.delivered_in(raws)] == [1, 2]
    assert await Traces(process.bus).newest(PUSHED) is None


async def test_without_a_trace_of_any_turn_no_delivery_is_kept(process: Process) -> None:
    async with sink() as platform:
        await put(process.bus, "hello")
        async with replica(pushing(process, platform)):
            await until_empty(process.bus)

    assert not await process.bus.call("EXISTS", process.bus.keys.traces(PUSHED))


async def test_a_part_that_was_refused_is_noted_as_that(process: Process) -> None:
    await keep_a_trace(process.bus)
    async with sink([Refuse()]) as platform:
        await put(process.bus, "hello")
        async with replica(pushing(process, platform)):
            await until_empty(process.bus)

    raws = await process.bus.call("LRANGE", process.bus.keys.traces(PUSHED), 0, -1)
    assert [each.span.outcome for each in trace_records.delivered_in(raws)] == ["refused", "done"]


async def test_marks_that_arrive_twice_note_a_delivery_once(process: Process) -> None:
    await keep_a_trace(process.bus)
    recording = RecordingBus(process.bus)
    async with sink() as platform:
        await put(process.bus, "hello")
        async with replica(pushing(replace(process, bus=recording), platform)):
            await until_empty(process.bus)
    marked = [call for call in recording.scripts if call[0].name == "marks.lua"]
    for call in marked:
        await recording.arrive(*call)

    assert (
        len(trace_records.delivered_in(await process.bus.call("LRANGE", process.bus.keys.traces(PUSHED), 0, -1))) == 1
    )


async def test_a_turn_of_a_push_channel_is_told_from_its_message_to_its_delivery(process: Process, lab: Lab) -> None:
    async def model(_config: object, *, language: str) -> ScriptedModel:
        return ScriptedModel("the answer")

    async with sink() as platform:
        both = replace(pushing(process, platform), connect_model=model)
        inbound = make_inbound(both, channel=NAME, chat="ann", text="one", sender_id="ann")
        await accept(both, inbound)
        async with replica(both), Bot(both, ScriptedModel("the answer")).working():
            await platform.count(1)
            await until_empty(process.bus)

    found = await Traces(process.bus).find(inbound.correlation)
    assert found is not None and found.session == PUSHED
    assert [row.kind for row in rows(found)] == ["waiting", "claim", "model", "commit", "delivery"]


async def test_a_turn_is_found_by_its_name_a_message_or_a_correlation_id(lab: Lab) -> None:
    for message_id in ("a", "b", 'c"#1'):
        await committed(lab, message_id)
    traces = Traces(lab.bus)

    async def turn(name: str) -> int | None:
        found = await traces.find(name)
        return None if found is None else found.trace.turn

    assert [await turn(name) for name in ("a", "c-a", "web:ann#0")] == [0, 0, 0]
    assert [await turn(name) for name in ("b", "c-b", "web:ann#2", 'c"#1')] == [2, 2, 2, 4]
    # What only looks like one of them: part of an id, a worker, an index within a turn.
    assert [await turn(name) for name in ("c", "c-", "w", "done", "web:ann#1", "web:bob#0", "", "web:ann#x")] == [
        None
    ] * 8


async def test_an_id_is_found_in_the_session_that_was_active_last(lab: Lab) -> None:
    for at, session in enumerate(("web:old", "web:new")):
        await lab.publish("same", session=session)
        claim = await lab.claim(session)
        await lab.sessions.commit(claim, traced(claim, a_trace(0, answers=("same",))), step=0, go_on=False)
        await lab.bus.activity.written()
        await lab.bus.call("ZADD", lab.bus.keys.sessions, at, session)

    found = await Traces(lab.bus).find("same")

    assert found is not None and found.session == "web:new"


async def test_turns_are_read_backwards(lab: Lab) -> None:
    for number in range(5):
        await committed(lab, f"m{number}")
    traces = Traces(lab.bus)

    assert [each.trace.turn for each in await traces.of(ANN, limit=2)] == [8, 6]
    assert [each.trace.turn for each in await traces.of(ANN, before=6)] == [4, 2, 0]
    one = await traces.one(ANN, 4)
    assert one is not None and one.trace.answers == ("m2",)
    assert await traces.one(ANN, 3) is None


async def test_what_is_forgotten_as_a_whole_leaves_no_trace(process: Process, lab: Lab) -> None:
    for session in (ANN, "web:bob"):
        await lab.publish("a", session=session)
        claim = await lab.claim(session)
        await lab.sessions.commit(claim, traced(claim, a_trace(0)), step=0, go_on=False)
    runner = job_runner(process)
    scopes = await scopes_with(process.bus, "pond:workspace")
    order = ForgetOrder(whole="session", name=ANN, session=ANN, scopes=scopes)
    job = await ForgetRequests(process.bus, runner.jobs).order(order, None, name="x")

    await runner.until_ended(job, within_s=30.0)

    keys = lab.bus.keys
    assert [await lab.bus.call("EXISTS", keys.traces(each)) for each in (ANN, "web:bob")] == [0, 1]


@pytest.fixture
async def page(process: Process) -> AsyncGenerator[Page]:
    async with page_of(process) as page:
        yield page


async def test_turns_are_told_by_the_api(page: Page, lab: Lab) -> None:
    span = Span(
        kind="model", name="m", began_ms=1_300, took_ms=40.5, first_token_ms=7.1, prompt_tokens=9, completion_tokens=2,
        cost_nano=1_500_000, currency="EUR",
    )  # fmt: skip
    await committed(lab, "a", spans=(span,))
    await committed(lab, "b/c d")

    turns = (await page.get("/api/sessions/ann/turns"))["turns"]

    assert [(each["session"], each["turn"], each["answers"]) for each in turns] == [
        (ANN, 2, ["b/c d"]),
        (ANN, 0, ["a"]),
    ]
    first = turns[1]
    assert (first["received"], first["claimed"]) == ("1970-01-01T00:00:01.000Z", "1970-01-01T00:00:01.200Z")
    assert first["committed"] > "2026" and first["outcome"] == "done"
    assert first["spans"] == [
        {
            "kind": "model", "name": "m", "began": "1970-01-01T00:00:01.300Z", "took_ms": 40.5, "first_token_ms": 7.1,
            "prompt_tokens": 9, "completion_tokens": 2, "cost": "0.001500 EUR", "outcome": "done",
        }
    ]  # fmt: skip
    assert (await page.get("/api/sessions/ann/turns", before=2))["turns"] == [first]
    assert await page.get("/api/sessions/ann/turns/0") == first
    for name in ("a", "c-a", "web:ann#0"):
        assert await page.get(f"/api/trace/{quote(name, safe='')}") == first
    assert (await page.get(f"/api/trace/{quote('b/c d', safe='')}"))["turn"] == 2
    for gone in (
        "/api/sessions/ann/turns/1", "/api/sessions/bob/turns/0", "/api/trace/nobody", "/api/trace/web:ann%231",
    ):  # fmt: skip
        assert await page.refused(gone, 404) == "no_trace"
    assert await page.refused("/api/sessions/ann/turns/x", 400) == "bad_request"
    assert (await page.get("/api/sessions/nobody/turns"))["turns"] == []


def test_the_command_prints_a_waterfall(capsys: pytest.CaptureFixture[str]) -> None:
    spans = (
        Span(kind="tool", name="time", began_ms=1_700, took_ms=100.0, outcome="failed"),
        Span(kind="model", name="m", began_ms=1_300, took_ms=400.0, first_token_ms=90.0, prompt_tokens=1_234),
    )
    spans = (spans[0], msgspec.structs.replace(spans[1], cached_tokens=617, cacheable_tokens=1_234))
    delivery = Span(kind="delivery", name="tg", began_ms=2_000, took_ms=50.0, part=0)
    trace = a_trace(4, answers=("a",), correlation=("c-a",), spans=spans, committed_ms=1_900, left_out=3)

    print_trace(FoundTrace(session=ANN, trace=trace, deliveries=(delivery,)))

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("web:ann#4: done, 1,050 ms, processed by worker w (lease number 1)")
    assert lines[1:3] == ["answers a; correlation c-a", "1,234 tokens in (50% cached), 0 tokens out"]
    steps = [line.split("·")[0].split("█")[0].strip() for line in lines[5:]]
    assert steps[:6] == ["waiting", "claim", "model m", "tool time", "commit", "delivery tg"]
    assert "first token 90 ms, 1,234 tokens in" in lines[7] and lines[8].rstrip().endswith("failed")
    assert "part 0" in lines[10] and lines[-1] == "steps of this turn that were not recorded: 3"


@given(began=st.integers(0, 10_000), took=st.floats(0, 20_000), whole=st.floats(1, 10_000))
def test_a_row_is_drawn_within_its_lane(began: int, took: float, whole: float) -> None:
    row = Row(kind="tool", name="", began_ms=began, took_ms=took, more="")

    assert re.fullmatch("·*█+·*", lane(row, 0, whole)) and len(lane(row, 0, whole)) == 32


@given(
    times=st.lists(st.integers(0, 5_000), min_size=3, max_size=3),
    spans=st.lists(st.tuples(st.integers(0, 5_000), st.floats(0, 900)), max_size=5),
)
def test_no_clock_makes_a_step_take_less_than_nothing(times: list[int], spans: list[tuple[int, float]]) -> None:
    received, claimed, done = times
    made = tuple(Span(kind="tool", name="t", began_ms=began, took_ms=took) for began, took in spans)
    trace = a_trace(0, received_ms=received, claimed_ms=claimed, committed_ms=done, spans=made)

    found = FoundTrace(session=ANN, trace=trace, deliveries=())

    assert all(row.took_ms >= 0 for row in rows(found))
    assert [span["began"] for span in told(found)["spans"]] == sorted(span["began"] for span in told(found)["spans"])
