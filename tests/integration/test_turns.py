"""Turns on a real server with a scripted model: what a claim's messages become, whatever goes wrong."""

import math
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import msgspec
import pytest
import structlog
from structlog.testing import capture_logs

from daemon.errors import ContextOverflow, InvalidAnswer, ModelTimeout, ModelUnavailable, RateLimited
from daemon.events import Inbound, LogEntry, Notice, Reply
from daemon.memory import MemoryLocation
from daemon.model import LASTS_S, Answer, Model, ToolCall
from daemon.process import Process
from daemon.session import Sessions
from daemon.testing import FailingBus, Gate, ScriptedModel
from daemon.wording import text as say
from tests.conftest import Lab
from tests.limits import HANG_S, until
from workers.agent.log_entries import LogEntries
from workers.agent.service import serve
from workers.agent.turn import Turns
from workers.agent.turn_tracing import TurnTracing
from workers.lease_upkeep import ClaimHold
from workers.session_consumer import SessionConsumer


def wire(entry: LogEntry) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(entry.wire)
    return found


def said(log: list[LogEntry]) -> list[tuple[str, str]]:
    return [(wire(entry)["role"], wire(entry).get("content") or "") for entry in log]


def calls_time(call_id: str = "call-1", name: str = "time") -> Answer:
    return Answer(text="", tool_calls=(ToolCall(id=call_id, name=name, arguments="{}"),))


class Bot:
    """An agent worker in this process, answering with a scripted model, or with the one that is configured."""

    def __init__(self, process: Process, model: Model | None = None) -> None:
        async def connect(_config: object, *, language: str) -> Model:
            assert model is not None
            return model

        connecting = process.connect_model if model is None else connect
        self.process = replace(process, connect_model=connecting, stopping=anyio.Event())

    @asynccontextmanager
    async def working(self) -> AsyncGenerator[None]:
        async with anyio.create_task_group() as tg:
            await tg.start(self._serve)
            yield
            self.process.stopping.set()

    async def _serve(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        await serve(self.process, task_status=task_status)


async def worked_off(process: Process, lab: Lab, model: Model | None = None, session: str = "web:ann") -> None:
    async with Bot(process, model).working():
        await until(lambda: lab.is_idle(session))


async def test_messages_of_one_session_are_answered_one_by_one_in_order(process: Process, lab: Lab) -> None:
    model = ScriptedModel("one", "two", "three")
    for message_id in ("a", "b", "c"):
        await lab.publish(message_id)

    await worked_off(process, lab, model)

    log = await lab.log()
    assert [entry.answers for entry in log if entry.answers] == [("a",), ("b",), ("c",)]
    assert said(log)[1::2] == [("assistant", "one"), ("assistant", "two"), ("assistant", "three")]
    assert [wire["role"] for wire in map(msgspec.json.decode, model.requests[2].messages)] == [
        *("system", "user", "assistant", "user", "assistant", "user")
    ]


async def test_a_tool_call_and_its_result_are_journalled_and_committed(process: Process, lab: Lab) -> None:
    await lab.publish("a")

    await worked_off(process, lab, ScriptedModel(calls_time(), "it is late"))

    log = await lab.log()
    assert [wire(entry)["role"] for entry in log] == ["user", "assistant", "tool", "assistant"]
    assert wire(log[1])["tool_calls"][0]["id"] == wire(log[2])["tool_call_id"] == "call-1"
    assert "2026-11-20 09:00" in wire(log[2])["content"]
    assert (await lab.state()).tokens == sum(entry.tokens for entry in log)


async def test_a_tool_that_does_not_exist_is_a_result_that_the_model_reads(process: Process, lab: Lab) -> None:
    await lab.publish("a")

    await worked_off(process, lab, ScriptedModel(calls_time(name="teleport"), "sorry"))

    refused = wire((await lab.log())[2])["content"]
    assert refused.startswith("Error: The tool 'teleport' was not found. Available tools: time, message, ")


async def test_a_model_that_never_stops_asking_for_tools_is_ended(process: Process, lab: Lab) -> None:
    config = replace_agent(process, iterations_max=3)
    await lab.publish("a")

    await worked_off(config, lab, ScriptedModel(then=calls_time()))

    log = await lab.log()
    assert len([entry for entry in log if wire(entry)["role"] == "tool"]) == 3
    assert log[-1].answers == ("a",)


def replace_agent(process: Process, **values: object) -> Process:
    agent = msgspec.structs.replace(process.config.agent, **values)
    return replace(process, config=msgspec.structs.replace(process.config, agent=agent))


def replace_queue(process: Process, **values: object) -> Process:
    queue = msgspec.structs.replace(process.config.queue, **values)
    return replace(process, config=msgspec.structs.replace(process.config, queue=queue))


async def test_a_successor_goes_on_after_the_last_journalled_step(process: Process, lab: Lab) -> None:
    await lab.publish("a")
    gate = Gate()
    first = ScriptedModel(calls_time("call-1"), [gate, "never said"])
    async with anyio.create_task_group() as tg:
        tg.start_soon(abandoned, Bot(process, first).process)
        await gate.reached()
        await lab.expire()
        tg.cancel_scope.cancel()

    second = ScriptedModel("done")
    await worked_off(process, lab, second)

    log = await lab.log()
    assert [wire(entry)["role"] for entry in log] == ["user", "assistant", "tool", "assistant"]
    assert len(second.requests) == 1
    assert [msgspec.json.decode(m)["role"] for m in second.requests[0].messages[1:]] == ["user", "assistant", "tool"]


async def abandoned(process: Process) -> None:
    """Work on one claim and die without a word: no hand-over, no release."""
    sessions = Sessions(process.bus, process.config.queue, worker="dying")
    claim = await sessions.claim("web:ann")
    assert claim is not None
    await Turns(process, sessions)(ClaimHold(claim, held_until=math.inf), go_on=lambda: False)


async def test_a_call_cut_off_by_a_crash_runs_again_only_if_its_tool_is_repeatable(process: Process, lab: Lab) -> None:
    await lab.publish("a")
    claim = await lab.claim()
    turns = Turns(Bot(process, ScriptedModel()).process, lab.sessions)
    kit = await turns.kits.of("pond")
    turn = await turns._begin(
        claim,
        claim.begun.waiting[0].inbound,
        kit,
        MemoryLocation(scope=claim.begun.scope, is_bare=True),
        TurnTracing(process.clock),
    )
    calls = (ToolCall(id="r", name="time", arguments="{}"), ToolCall(id="n", name="pay", arguments="{}"))
    entries = [*turn.progress.entries, await turn.entries.calls(Answer(text="", tool_calls=calls))]
    await lab.sessions.journal(claim, step=0, entries=entries)
    await lab.expire()

    await worked_off(process, lab, ScriptedModel("done"))

    found = [wire(entry) for entry in await lab.log() if wire(entry)["role"] == "tool"]
    results = {result["tool_call_id"]: result["content"] for result in found}
    assert "2026-11-20" in results["r"]
    assert results["n"] == "Error: interrupted, outcome unknown"


@pytest.mark.parametrize(
    "failure",
    [
        *(ModelUnavailable("away"), ModelTimeout("slow"), RateLimited("slow down", retry_after_s=0.01)),
    ],
)
async def test_an_outage_that_lasts_parks_the_session_and_says_so_once(
    process: Process, lab: Lab, failure: Exception
) -> None:
    await lab.publish("a")
    await parked_for(lab, LASTS_S)

    async with Bot(process, ScriptedModel(failure, failure, failure, "here again")).working():  # type: ignore[arg-type]
        await until(lab.is_idle)

    assert said(await lab.log()) == [("user", "text of a"), ("assistant", "here again")]
    notices = await notices_of(lab)
    assert [(notice.kind, notice.message_id) for notice in notices] == [("parked", "a")]


async def parked_for(lab: Lab, seconds: float, session: str = "web:ann") -> None:
    since = await lab.server_ms() - round(seconds * 1000)
    await lab.bus.call("HSET", lab.bus.keys.session(session), "parked_at", since)


async def test_an_outage_that_is_over_soon_is_not_announced(process: Process, lab: Lab) -> None:
    await lab.publish("a")

    await worked_off(process, lab, ScriptedModel(ModelUnavailable("away"), "here again"))

    assert said(await lab.log()) == [("user", "text of a"), ("assistant", "here again")]
    assert await notices_of(lab) == []


async def notices_of(lab: Lab, session: str = "web:ann") -> list[Notice]:
    found = await lab.bus.call("XRANGE", lab.bus.keys.notices(session), "-", "+")
    return [msgspec.json.decode(fields[b"notice"], type=Notice) for _, fields in found]


async def test_an_outage_beyond_the_limit_becomes_a_dead_letter(process: Process, lab: Lab) -> None:
    process = replace_queue(process, park_max_s=60.0)
    await lab.publish("a")
    await parked_for(lab, 61.0)

    await worked_off(process, lab, ScriptedModel(then=ModelUnavailable("away")))

    assert (await lab.log())[-1].dead == ("a",)
    assert (await dead_letters(lab))[0][b"reason"] == b"outage"


async def test_a_message_that_waited_for_a_worker_outlives_a_short_outage(process: Process, lab: Lab) -> None:
    process = replace_queue(process, park_max_s=60.0)
    await lab.publish("a")
    process.clock.advance(8 * 3_600)  # type: ignore[attr-defined]

    await worked_off(process, lab, ScriptedModel(ModelUnavailable("away"), "good morning"))

    assert (await lab.log())[-1].answers == ("a",)


async def dead_letters(lab: Lab) -> list[dict[bytes, bytes]]:
    found = await lab.bus.call("XRANGE", lab.bus.keys.dead(0), "-", "+")
    return [fields for _, fields in found]


async def test_an_unusable_answer_becomes_a_dead_letter_and_the_next_is_answered(process: Process, lab: Lab) -> None:
    await lab.publish("poison")
    await lab.publish("next")
    script = [InvalidAnswer("garbage")] * process.config.queue.attempts_max

    await worked_off(process, lab, ScriptedModel(*script, "fine"))

    log = await lab.log()
    assert [entry.dead for entry in log if entry.dead] == [("poison",)]
    assert "c-poison" in said(log)[1][1]
    assert log[-1].answers == ("next",)
    letter = (await dead_letters(lab))[0]
    assert (letter[b"id"], letter[b"reason"]) == (b"poison", b"attempts")
    assert msgspec.json.decode(letter[b"message"])["text"] == "text of poison"


async def test_a_prompt_refused_as_too_long_is_tried_once_at_half_its_length(process: Process, lab: Lab) -> None:
    model = ScriptedModel(ContextOverflow("too long"), calls_time(), "fine")
    await lab.publish("a", text="word " * 10_000)

    await worked_off(process, lab, model)

    log = await lab.log()
    assert log[-1].answers == ("a",)
    assert wire(log[0])["content"] == "word " * 10_000, "what is stored stays whole"
    whole, *shorter = [request.tokens for request in model.requests]
    assert len(shorter) == 2
    assert max(shorter) <= whole // 2, "the turn's next calls are not refused again"


async def test_a_prompt_that_stays_too_long_becomes_a_dead_letter_that_says_so(process: Process, lab: Lab) -> None:
    model = ScriptedModel(*[ContextOverflow("Check context_window_tokens")] * 2, then="fine")
    await lab.publish("long", text="word " * 10_000)
    await lab.publish("next")

    with capture_logs() as logs:
        await worked_off(process, lab, model)

    log = await lab.log()
    assert [entry.dead for entry in log if entry.dead] == [("long",)]
    assert "too long for the model" in said(log)[1][1]
    assert log[-1].answers == ("next",)
    assert [letter[b"reason"] for letter in await dead_letters(lab)] == [b"ContextOverflow"]
    [reason] = [entry["reason"] for entry in logs if entry["event"] == "turn.failed"]
    assert "Check context_window_tokens" in reason


async def test_a_turn_that_takes_too_long_counts_and_becomes_a_dead_letter(process: Process, lab: Lab) -> None:
    process = replace_agent(process, turn_timeout_s=0.01)
    await lab.publish("endless")

    await worked_off(process, lab, ScriptedModel(then=[Gate()]))

    letter = (await dead_letters(lab))[0]
    assert (letter[b"reason"], letter[b"attempts"]) == (b"attempts", b"6")
    assert (await lab.log())[-1].dead == ("endless",)


async def test_a_message_that_cannot_even_be_given_up_as_a_turn_becomes_a_dead_letter_all_the_same(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_self: LogEntries, inbound: Inbound, lines: Sequence[str] | None = None) -> LogEntry:
        if inbound.id == "poison":
            raise ValueError(inbound.id)
        return await whole(_self, inbound, lines)

    whole = LogEntries.user
    monkeypatch.setattr(LogEntries, "user", broken)
    process = replace_queue(process, attempts_max=1)
    await lab.publish("poison", session="support:eve", delivery="push")
    await lab.publish("next", session="support:eve", delivery="push")

    await worked_off(process, lab, ScriptedModel("fine"), "support:eve")

    letter = (await dead_letters(lab))[0]
    assert (letter[b"id"], letter[b"reason"], letter[b"attempts"]) == (b"poison", b"attempts", b"3")
    assert [entry.answers for entry in await lab.log("support:eve") if entry.answers] == [("next",)]
    said_to_eve = await replies_of(lab, "support")
    assert "c-poison" in said_to_eve[0].text
    assert said_to_eve[1].text == "fine"


async def replies_of(lab: Lab, channel: str) -> list[Reply]:
    found = await lab.bus.call("XRANGE", lab.bus.keys.out(0, channel), "-", "+")
    return [msgspec.json.decode(fields[b"reply"], type=Reply) for _, fields in found]


async def test_people_of_a_push_channel_are_told_once_that_they_have_to_wait(process: Process, lab: Lab) -> None:
    await lab.publish("a", session="support:eve", delivery="push")
    await parked_for(lab, LASTS_S, "support:eve")

    await worked_off(process, lab, ScriptedModel(*[ModelUnavailable("away")] * 3, "here"), "support:eve")

    first, second = await replies_of(lab, "support")
    assert first.text == say("parked", "en")
    assert (first.correlation, second.text) == ("c-a", "here")
    assert first.id != second.id


async def test_people_of_a_push_channel_are_told_that_there_is_nothing_to_stop(process: Process, lab: Lab) -> None:
    await lab.publish("s", session="support:eve", delivery="push", command="stop")

    await worked_off(process, lab, ScriptedModel(), "support:eve")

    assert [reply.text for reply in await replies_of(lab, "support")] == [
        "I am not working on an answer right now, so there was nothing to stop."
    ]


async def test_steps_of_predecessors_count_against_the_turns_limit(process: Process, lab: Lab) -> None:
    process = replace_agent(process, iterations_max=3)
    await lab.publish("a")
    failing = [calls_time("one"), InvalidAnswer("garbage"), calls_time("two"), InvalidAnswer("garbage")]
    model = ScriptedModel(*failing, then=calls_time("three"))

    await worked_off(process, lab, model)

    assert len(model.requests) == 5
    assert "after 3 steps" in said(await lab.log())[-1][1]


async def test_what_cannot_be_read_becomes_a_dead_letter_with_its_payload(process: Process, lab: Lab) -> None:
    await lab.publish("a")
    stream = lab.bus.keys.inbox(0)
    entry = await lab.bus.call("XADD", stream, "*", "session", "web:ann", "id", "b", "message", "{garbage")
    await lab.bus.call("RPUSH", lab.bus.keys.waiting("web:ann"), entry)
    await lab.publish("c")

    await worked_off(process, lab, ScriptedModel("one", "two"))

    assert [e.answers for e in await lab.log() if e.answers] == [("a",), ("c",)]
    letter = (await dead_letters(lab))[0]
    assert (letter[b"message"], letter[b"reason"]) == (b"{garbage", b"unreadable")


async def test_a_bot_that_nobody_configured_parks_its_messages(process: Process, lab: Lab) -> None:
    await lab.publish("a")
    fields = msgspec.json.decode(await payload(lab))
    fields["bot"] = "nemo"
    await replace_payload(lab, msgspec.json.encode(fields))

    async with Bot(process, ScriptedModel()).working():
        await until(lambda: parked(lab))

    assert (await lab.state()).waiting == 1
    assert (await lab.state()).attempts == 0


async def payload(lab: Lab) -> bytes:
    found = await lab.bus.call("XRANGE", lab.bus.keys.inbox(0), "-", "+")
    return bytes(found[0][1][b"message"])


async def replace_payload(lab: Lab, message: bytes) -> None:
    old = (await lab.bus.call("LRANGE", lab.bus.keys.waiting("web:ann"), 0, 0))[0]
    new = await lab.bus.call("XADD", lab.bus.keys.inbox(0), "*", "session", "web:ann", "id", "a", "message", message)
    await lab.bus.call("XDEL", lab.bus.keys.inbox(0), old)
    await lab.bus.call("LSET", lab.bus.keys.waiting("web:ann"), 0, new)


async def parked(lab: Lab) -> bool:
    return (await lab.state()).retry_at_ms > 0


async def test_a_stop_ends_the_turn_keeps_what_was_said_and_answers_what_waited(process: Process, lab: Lab) -> None:
    gate = Gate()
    model = ScriptedModel(["as far as ", "this", gate, " and no further"])
    process = replace_queue(process, renew_s=3_600.0)  # so that nothing but the nudge tells of the stop
    async with Bot(process, model).working():
        await lab.publish("a")
        await gate.reached()
        await lab.publish("b")
        await lab.publish("s", command="stop")
        await until(lab.is_idle)

    log = await lab.log()
    assert said(log) == [("user", "text of a"), ("user", "text of b"), ("assistant", "as far as this\n\n[stopped]")]
    assert log[-1].stopped
    assert log[-1].answers == ("a", "b", "s")
    assert len(model.requests) == 1
    assert await notices_of(lab) == []


async def test_what_comes_after_a_stop_is_answered_as_ever(process: Process, lab: Lab) -> None:
    gate = Gate()
    async with Bot(process, ScriptedModel([gate], "fine")).working():
        await lab.publish("a")
        await gate.reached()
        await lab.publish("s", command="stop")
        await lab.publish("b")
        await until(lab.is_idle)

    assert [entry.answers for entry in await lab.log() if entry.answers] == [("a", "s"), ("b",)]


async def test_a_stop_in_a_back_off_ends_it_without_a_model_call(process: Process, lab: Lab) -> None:
    model = ScriptedModel(then=RateLimited("slow", retry_after_s=60.0))
    async with Bot(process, model).working():
        await lab.publish("a")
        await until(lambda: parked(lab))
        await lab.publish("s", command="stop")
        await until(lab.is_idle)

    assert len(model.requests) == 1
    assert (await lab.log())[-1].answers == ("a", "s")


async def test_a_stop_with_nothing_to_stop_is_said_aside_and_stands_in_no_log(process: Process, lab: Lab) -> None:
    async with Bot(process, ScriptedModel()).working():
        await lab.publish("s", command="stop")
        await until(lab.is_idle)

    assert await lab.log() == []
    assert [notice.text for notice in await notices_of(lab)] == [
        "I am not working on an answer right now, so there was nothing to stop."
    ]


async def test_a_stop_during_a_tool_leaves_no_call_without_a_result(process: Process, lab: Lab) -> None:
    gate = Gate()
    async with Bot(process, ScriptedModel(calls_time(), [gate])).working():
        await lab.publish("a")
        await gate.reached()
        await lab.publish("s", command="stop")
        await until(lab.is_idle)

    roles = [wire(entry)["role"] for entry in await lab.log()]
    assert roles == ["user", "assistant", "tool", "assistant"]


async def test_stopping_hands_a_turn_over_after_the_grace_time_uncounted(process: Process, lab: Lab) -> None:
    run = msgspec.structs.replace(process.config.run, grace_s=0.1)
    process = replace(process, config=msgspec.structs.replace(process.config, run=run))
    gate = Gate()
    async with Bot(process, ScriptedModel([gate])).working():
        await lab.publish("a")
        await gate.reached()

    state = await lab.state()
    assert (state.worker, state.attempts, state.waiting) == ("", 0, 1)
    assert await lab.ready() == ["web:ann"]


async def test_stopping_lets_a_turn_finish_within_the_grace_time(process: Process, lab: Lab) -> None:
    gate = Gate()
    bot = Bot(process, ScriptedModel([gate, "in time"]))
    async with bot.working():
        await lab.publish("a")
        await lab.publish("b")
        await gate.reached()
        bot.process.stopping.set()
        gate.open()

    assert [entry.answers for entry in await lab.log() if entry.answers] == [("a",)]
    assert await lab.ready() == ["web:ann"]


async def test_a_worker_that_lost_its_lease_writes_nothing_and_ends_its_model_call(process: Process, lab: Lab) -> None:
    gate = Gate()
    model = ScriptedModel([gate, "too late"], "by the other")
    with capture_logs() as logs:
        async with Bot(replace_queue(process, renew_s=0.02), model).working():
            await lab.publish("a")
            await gate.reached()
            await lab.bus.call("HSET", lab.bus.keys.session("web:ann"), "nonce", "somebody-else")
            await until(lambda: logged(logs, "lease.lost"))
            await lab.expire()
            await until(lab.is_idle)

    assert said(await lab.log()) == [("user", "text of a"), ("assistant", "by the other")]


async def logged(logs: Any, event: str) -> bool:
    return any(line["event"] == event for line in logs)


async def test_a_turn_that_fails_at_any_redis_call_is_answered_once(process: Process, lab: Lab) -> None:
    counting = FailingBus(process.bus, at=0)
    await one_turn(replace(process, bus=counting), lab, "m0")
    expected = ["m0"]
    held: list[tuple[int, bool]] = []

    for carried_out in (False, True):
        for at in range(1, counting.calls + 1):
            message_id = f"m{at}-{carried_out}"
            bus = FailingBus(process.bus, at=at, carried_out=carried_out)
            if await one_turn(replace(process, bus=bus), lab, message_id):
                held.append((at, carried_out))
            expected.append(message_id)

    assert counting.calls >= 5
    # Only a claim whose nonce got lost with its reply has to wait for its lease to run out.
    assert held == [(1, True)]
    assert [message_id for entry in await lab.log() for message_id in entry.answers] == expected


async def one_turn(process: Process, lab: Lab, message_id: str) -> str:
    """Answer one message on a bus that fails once, then on a sound one if need be; who held it in between."""
    await lab.publish(message_id)
    bot = Bot(process, ScriptedModel(calls_time(message_id), "ok"))
    await once(bot.process)
    holder = (await lab.state()).worker
    while (await lab.state()).waiting:
        await lab.expire()
        await once(replace(bot.process, bus=lab.bus))
    return holder


async def once(process: Process) -> None:
    """A consumer that works off one wake-up, then gives up as after a crash."""
    sessions = Sessions(process.bus, process.config.queue, worker="one")
    consumer = SessionConsumer(process, sessions, Turns(process, sessions), slots=1)
    with anyio.fail_after(HANG_S):
        await consumer.work(["web:ann"])


async def test_one_event_a_turn_with_its_ids_and_no_text(process: Process, lab: Lab) -> None:
    await lab.publish("a", text="a secret text")

    with capture_logs(processors=[merge]) as logs:
        await worked_off(process, lab, ScriptedModel("a secret answer"))

    done = [line for line in logs if line["event"] == "turn.done"]
    assert len(done) == 1
    assert (done[0]["session"], done[0]["message_id"], done[0]["correlation"]) == ("web:ann", "a", "c-a")
    assert "secret" not in repr(logs)


def merge(logger: Any, name: str, event: Any) -> Any:
    return structlog.contextvars.merge_contextvars(logger, name, event)


async def test_a_message_whose_wake_ups_were_deleted_by_hand_is_answered_all_the_same(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.lease_upkeep.MEND_EVERY_S", 0.02)
    await lab.publish("m1")
    await lab.bus.call("DEL", lab.bus.keys.ready(0), lab.bus.keys.due(0))

    await worked_off(process, lab, ScriptedModel("found"))

    assert (await lab.log())[-1].answers == ("m1",)
