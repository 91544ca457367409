"""What turns use is noted, and a bot's limits keep turns from beginning; on a real server with a scripted model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from msgspec import structs
from structlog.testing import capture_logs

from daemon.config import BotConfig, Config, LimitsConfig, ModelConfig, PricesConfig
from daemon.errors import ModelUnavailable
from daemon.events import LogEntry
from daemon.memory import MemoryLocation
from daemon.model import Answer, CutOff, ToolCall, Usage
from daemon.process import Process
from daemon.testing import FailingBus, Gate, ManualClock, ScriptedModel
from daemon.usage import Amount, UsageBook, last_days
from tests.conftest import QUEUE, Lab, an_inbound
from tests.integration.test_asides import answered
from tests.integration.test_turns import Bot, notices_of, replies_of, worked_off
from tests.limits import until
from workers.agent import limit_gate as gates
from workers.agent.turn import Turns
from workers.agent.turn_tracing import TurnTracing
from workers.paid_calls import account

QUEUE = msgspec.structs.replace(QUEUE, backoff_max_s=0.02)
"""Messages that came too fast are put off, and come again at once."""


DAY = "2026-11-20"


def says(text: str, *, tokens_in: int = 100, tokens_out: int = 10, **more: Any) -> Answer:
    usage = Usage(tokens_in=tokens_in, tokens_out=tokens_out, cost_nano=1_000_000, currency="EUR", **more)
    return Answer(text=text, usage=usage, model="m")


def calls_time(**more: Any) -> Answer:
    return structs.replace(says("", **more), tool_calls=(ToolCall(id="call-1", name="time", arguments="{}"),))


def limited(process: Process, **bot: Any) -> Process:
    limits = {name: bot.pop(name) for name in list(bot) if name in LimitsConfig.__struct_fields__}
    bots = {"pond": BotConfig(limits=msgspec.convert(limits, LimitsConfig), **bot)}
    return replace(process, config=msgspec.structs.replace(process.config, bots=bots))


def text_of(entry: LogEntry) -> str:
    wire: Mapping[str, Any] = msgspec.json.decode(entry.wire)
    return str(wire.get("content"))


async def the_amount(lab: Lab, *, day: str = DAY) -> Amount:
    (amount,) = (await UsageBook(lab.bus).read([day], by="session")).values()
    return amount


async def test_a_turn_is_noted_with_all_its_calls(process: Process, lab: Lab) -> None:
    await lab.publish("a")
    with capture_logs() as logs:
        await worked_off(process, lab, ScriptedModel(calls_time(cached_in=40), says("late", estimated=True)))

    assert await the_amount(lab) == Amount(
        messages=1, calls=2, tokens_in=200, cached_in=40, tokens_out=20, estimated=1, costs_nano={"EUR": 2_000_000},
    )  # fmt: skip
    assert [(log["model"], log["tokens_in"]) for log in logs if log["event"] == "turn.done"] == [("m", 200)]
    for by, name in (("person", "pond web:ann"), ("bot", "pond"), ("model", "m")):
        assert list(await UsageBook(lab.bus).read([DAY], by=by)) == [name]  # type: ignore[arg-type]


async def test_a_turn_within_limits_is_noted_once(process: Process, lab: Lab) -> None:
    await lab.publish("a")
    await worked_off(limited(process, tokens_per_day={"bot": 1_000}), lab, ScriptedModel(calls_time(), says("late")))

    amount = await the_amount(lab)
    assert (amount.messages, amount.calls, amount.tokens_in) == (1, 2, 200)


async def test_what_a_turn_used_before_an_outage_is_noted_too(process: Process, lab: Lab) -> None:
    await lab.publish("a")
    model = ScriptedModel(calls_time(), ModelUnavailable("away"), says("done"))
    await worked_off(process, lab, model)

    amount = await the_amount(lab)
    assert (amount.calls, amount.tokens_in, amount.messages) == (2, 200, 1)


async def test_answers_that_were_cut_off_are_noted_too(process: Process, lab: Lab) -> None:
    await lab.publish("a")
    cut = CutOff("cut off", finish_reason="length", answer=says("half"))
    last = structs.replace(says("done"), cut_off=(structs.replace(says("half"), model="other"),))
    await worked_off(process, lab, ScriptedModel(cut, last))

    amount = await the_amount(lab)
    assert (amount.calls, amount.tokens_in, amount.messages) == (3, 300, 1)
    assert set(await UsageBook(lab.bus).read([DAY], by="model")) == {"m", "other"}


async def test_a_turn_without_a_call_is_not_noted(process: Process, lab: Lab) -> None:
    await lab.publish("a", command="stop")
    await worked_off(process, lab, ScriptedModel())

    assert await UsageBook(lab.bus).read([DAY], by="day") == {}


async def test_a_note_that_cannot_be_written_is_kept_and_holds_up_nothing(process: Process, lab: Lab) -> None:
    await lab.publish("a")
    turns = Turns(Bot(process, ScriptedModel()).process, lab.sessions)
    kit = await turns.kits.of("pond")
    claim = await lab.claim()
    turn = await turns._begin(
        claim, an_inbound("a"), kit, MemoryLocation(scope=claim.begun.scope, is_bare=True), TurnTracing(process.clock)
    )
    account(turn.progress.used, says("hi"))

    with capture_logs() as logs:
        cut_off = replace(process, bus=FailingBus(process.bus, at=1))
        turn.payer = msgspec.structs.replace(turn.payer, ledger=cut_off.ledger)
        await gates.LimitGate(cut_off).account(turn)
        assert await UsageBook(lab.bus).read([DAY], by="day") == {}
        await cut_off.ledger.written()

    assert [(log["event"], log["count"]) for log in logs] == [("usage.kept", 1)]
    assert (await the_amount(lab)).tokens_in == 100


async def test_a_day_is_that_of_the_bot(process: Process, lab: Lab, clock: ManualClock) -> None:
    clock.advance(10 * 3_600)
    await lab.publish("a")
    await worked_off(limited(process, time_zone="Asia/Shanghai"), lab, ScriptedModel(says("hi")))

    assert list(await UsageBook(lab.bus).read([DAY, "2026-11-21"], by="day")) == ["2026-11-21"]
    config = Config(bots={"a": BotConfig(), "b": BotConfig(time_zone="Asia/Shanghai")})
    assert last_days(config, 2, clock) == ["2026-11-21", DAY]


@pytest.mark.parametrize(("whose", "line"), [("person", "You have"), ("chat", "This conversation"), ("bot", "I have")])
async def test_when_the_tokens_of_a_day_are_used_up_a_sentence_answers_until_the_next(
    process: Process, lab: Lab, clock: ManualClock, whose: str, line: str
) -> None:
    model = ScriptedModel(says("one"), says("two"))
    async with Bot(limited(process, tokens_per_day={whose: 110}), model).working():
        for message_id in ("a", "b", "c"):
            await lab.publish(message_id)
            await until(lab.is_idle)
        clock.advance(86_400)
        await lab.publish("d")
        await until(lab.is_idle)

    log = await lab.log()
    answers = [(entry.answers, text_of(entry)) for entry in log if entry.answers]
    assert [ids for ids, _ in answers] == [("a",), ("b",), ("c",), ("d",)]
    assert [text.startswith(line) for _, text in answers] == [False, True, True, False]
    assert len(model.requests) == 2
    assert (await the_amount(lab)).messages == 1


async def test_push_channels_are_told_once_a_day_that_tokens_are_used_up(
    process: Process, lab: Lab, clock: ManualClock
) -> None:
    worker = limited(process, tokens_per_day={"chat": 1}, language="zh")
    async with Bot(worker, ScriptedModel(then=says("answer"))).working():
        for day in range(2):
            for number in range(4):
                await lab.publish(f"{day}-{number}", session="tg:ann", delivery="push")
                await until(lambda: lab.is_idle("tg:ann"))
            clock.advance(86_400)

    line = "这个对话今天的额度已经用完，明天我可以继续回答。"
    assert [reply.text for reply in await replies_of(lab, "tg")] == ["answer", line, "answer", line]
    assert len([entry for entry in await lab.log("tg:ann") if entry.answers]) == 8


@pytest.mark.parametrize(
    ("limits", "called", "last"),
    [
        ({}, 3, "done"),
        ({"tokens_per_day": {"chat": 111}}, 2, "I stopped here because this conversation has reached its usage limit"),
        ({"tokens_per_day": {"person": 111}}, 2, "I stopped here because you have reached your usage limit"),
        ({"cost_per_day": {"bot": 0.0015}}, 2, "I stopped here because I have reached my usage limit"),
        ({"messages_per_minute": {"chat": 1}}, 3, "done"),
    ],
)
async def test_a_turn_whose_limit_ends_in_the_middle_ends_with_a_sentence_and_keeps_its_steps(
    process: Process, lab: Lab, limits: dict[str, Any], called: int, last: str
) -> None:
    """Each call uses 110 tokens, or 0.001 EUR; the second may pass the limit."""
    model = ScriptedModel(calls_time(), ModelUnavailable("away"), calls_time(), says("done"))
    await lab.publish("a")
    await worked_off(limited(process, model=ModelConfig(prices=PRICES), **limits), lab, model)

    log = await lab.log()
    assert len(model.requests) == called + 1, "with the one that failed"
    assert text_of(log[-1]).startswith(last)
    assert [msgspec.json.decode(entry.wire)["role"] for entry in log].count("tool") == 2
    assert (log[-1].answers, log[-1].unpaid) == (("a",), False)


async def test_too_many_messages_wait_without_an_attempt_and_it_is_said_once(process: Process, lab: Lab) -> None:
    async with Bot(limited(process, messages_per_minute={"chat": 2}), ScriptedModel(then=says("answer"))).working():
        for number in range(5):
            await lab.publish(str(number))

        async def two_answered() -> bool:
            return len(await lab.log()) == 4 and (await lab.state()).retry_at_ms > 0

        await until(two_answered)
        key = lab.bus.keys.bucket("pond", "chat", "web:ann")
        for _ in range(2):
            before = (await lab.state()).claims

            async def claimed_again(before: int = before) -> bool:
                return (await lab.state()).claims > before

            await until(claimed_again)
        state = await lab.state()
        assert (state.head, state.waiting, "parked_at" in await lab.fields()) == (4, 3, False)
        for answered in range(3, 6):
            # As if half a minute had passed: room for one.
            await lab.bus.call("HINCRBY", key, "at", -30_000)

            async def one_more(answered: int = answered) -> bool:
                return len(await lab.log()) == 2 * answered

            await until(one_more)
        await until(lab.is_idle)

    assert [entry.answers for entry in await lab.log() if entry.answers] == [(str(number),) for number in range(5)]
    told = await notices_of(lab)
    assert [notice.kind for notice in told] == ["parked"]
    assert told[0].text.startswith("The limit on messages per minute has been reached.")
    assert (await lab.state()).attempts == 0


async def test_people_of_a_push_channel_are_told_once_that_they_have_to_wait(process: Process, lab: Lab) -> None:
    async with Bot(limited(process, messages_per_minute={"person": 1}), ScriptedModel(then=says("answer"))).working():
        for number in range(3):
            await lab.publish(str(number), session="tg:ann", delivery="push")

        async def told() -> bool:
            return len(await replies_of(lab, "tg")) == 2 and (await lab.state("tg:ann")).claims > 4

        await until(told)

    assert [reply.text.startswith("The limit on messages") for reply in await replies_of(lab, "tg")] == [False, True]


async def test_a_stop_ends_the_wait_and_takes_no_room(process: Process, lab: Lab) -> None:
    async with Bot(limited(process, messages_per_minute={"chat": 1}), ScriptedModel(then=says("answer"))).working():
        await lab.publish("a")
        await lab.publish("b")
        await answered(lab)
        await lab.publish("s", command="stop")
        await until(lab.is_idle)

    assert (await lab.log())[-1].stopped


async def test_commands_count_as_messages_and_keep_their_place_until_there_is_room(process: Process, lab: Lab) -> None:
    async with Bot(limited(process, messages_per_minute={"chat": 2}), ScriptedModel(then=says("answer"))).working():
        for number in range(5):
            await lab.publish(str(number), command="export", text="/export")

        async def put_off() -> bool:
            return (await lab.state()).retry_at_ms > 0

        await until(put_off)
        told = [notice.kind for notice in await notices_of(lab)]
        assert (told, (await lab.state()).waiting) == (["aside", "aside", "parked"], 3)
        await lab.publish("s", command="status", text="/status")
        await answered(lab, 4)
        await lab.publish("stop", command="stop", text="/stop")
        await until(lab.is_idle)

    texts = [notice.text for notice in await notices_of(lab)]
    delayed = [text for text in texts if text.startswith("The limit on messages per minute has been reached. Send")]
    assert len(delayed) == 3, "a stop carries out no command for which there is no room"


async def test_a_search_aside_needs_room_and_takes_none_from_messages_before_it(process: Process, lab: Lab) -> None:
    gate = Gate()
    model = ScriptedModel([gate, says("one")], then=says("two"))
    async with Bot(limited(process, messages_per_minute={"chat": 2}), model).working():
        await lab.publish("a")
        await gate.reached()
        await lab.publish("b")
        for number, text in enumerate(("/memory herons", "/memory herons", "/memory")):
            await lab.publish(f"m{number}", command="memory", text=text)
            await answered(lab, number + 1)
        gate.open()

        async def put_off() -> bool:
            return (await lab.state()).retry_at_ms > 0

        await until(put_off)

    texts = {notice.message_id: notice.text for notice in await notices_of(lab) if notice.kind == "aside"}
    assert {name for name, text in texts.items() if "Send the command again" in text} == {"m1"}
    assert [entry.answers for entry in await lab.log() if entry.answers] == [("a",)]


PRICES = PricesConfig(input=1.0, currency="EUR")


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (
            "en",
            "Today:\nYou: 1 message, 110 tokens (40% of the input cached), 0.0010 EUR (0.0004 EUR for cached input); "
            "890 of 1,000 tokens left, enough for about 1 hour at the current rate\n"
            "This conversation: 1 message, 110 tokens (40% of the input cached), 0.0010 EUR (0.0004 EUR for cached "
            "input); 0.0490 of 0.05 EUR left, enough for about 8 hours at the current rate\n"
            "This bot: 2,890 of 3,000 tokens left, enough for about 4 hours at the current rate\n"
            "Limits per minute: you have 2 of 3 messages left, this conversation has 4 of 5 messages left",
        ),
        (
            "zh",
            "今天：\n你：1 条消息，110 个 token（输入的 40% 来自缓存），0.0010 EUR（其中缓存输入 0.0004 EUR）；"
            "还剩 890 / 1,000 个 token，按目前的速度大约还能用 1 小时\n"
            "这个对话：1 条消息，110 个 token（输入的 40% 来自缓存），0.0010 EUR（其中缓存输入 0.0004 EUR）；"
            "还剩 0.0490 / 0.05 EUR，按目前的速度大约还能用 8 小时\n"
            "这个机器人：还剩 2,890 / 3,000 个 token，按目前的速度大约还能用 4 小时\n"
            "每分钟的消息额度：你还剩 2 / 3 条, 这个对话还剩 4 / 5 条",
        ),
    ],
)
async def test_usage_is_told_aside(process: Process, lab: Lab, language: str, expected: str) -> None:
    model = ModelConfig(base_url="http://127.0.0.1:9/v1", name="m", prices=PRICES)
    each = {
        "tokens_per_day": {"person": 1_000, "bot": 3_000},
        "cost_per_day": {"chat": 0.05},
        "messages_per_minute": {"person": 3, "chat": 5},
    }
    said = says("hi", cached_in=40, reports_cached=True, cached_nano=400_000)
    async with Bot(limited(process, model=model, language=language, **each), ScriptedModel(said)).working():
        await lab.publish("a")
        await until(lab.is_idle)
        await lab.publish("u", command="usage")
        (notice,) = await answered(lab)

    assert (notice.kind, notice.text) == ("aside", expected)
    assert len(await lab.log()) == 2
