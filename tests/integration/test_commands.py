"""``/new``, ``/model`` and ``/whoami``: what they change, in order, once, whatever fails meanwhile."""

import math
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from daemon.access import is_admin, person_of
from daemon.bus import argument_of, command_of
from daemon.config import BotConfig, Config, FallbackConfig, ModelConfig
from daemon.errors import BusUnavailable, LeaseLost, ModelUnavailable
from daemon.events import LogEntry, Options
from daemon.model import FallbackModel
from daemon.model.fallback_model import FallbackEntry
from daemon.process import Process
from daemon.session import Change, Claim, Commit, Sessions
from daemon.testing import FailingBus, Gate, ScriptedModel
from tests.conftest import Lab, an_entry, an_inbound, with_nonce
from tests.fakes.said import said as words_of
from tests.integration.test_coalescing import WINDOW_S, the_window_ends
from tests.integration.test_turns import Bot, wire, worked_off
from tests.limits import until
from tests.tables import each_row
from workers.agent.prompt.prompt_preview import preview
from workers.agent.turn import Turns
from workers.lease_upkeep import ClaimHold

SESSION = "web:ann"
MODELS = ModelConfig(
    base_url="http://127.0.0.1:1/v1",
    name="big",
    fallbacks=(FallbackConfig(name="small", context_window_tokens=8_192), FallbackConfig(name="tiny")),
)


async def ask(lab: Lab, message_id: str, text: str, **more: Any) -> None:
    assert command_of(text)
    await lab.publish(message_id, text=text, command=command_of(text), **more)


async def notices(lab: Lab, session: str = SESSION) -> list[tuple[str, str, str]]:
    found = await lab.bus.call("XRANGE", lab.bus.keys.notices(session), "-", "+")
    decoded = [msgspec.json.decode(fields[b"notice"]) for _, fields in found]
    return [(notice["kind"], notice["message_id"], notice["text"]) for notice in decoded]


async def replies(lab: Lab, session: str) -> list[dict[str, Any]]:
    out = lab.bus.keys.out(lab.bus.keys.partition(session), session.partition(":")[0])
    found = await lab.bus.call("XRANGE", out, "-", "+")
    return [msgspec.json.decode(fields[b"reply"]) for _, fields in found]


async def grown(lab: Lab, session: str = SESSION) -> list[int]:
    keys = lab.bus.keys
    found = await lab.bus.call("XRANGE", keys.grew(keys.partition(session)), "-", "+")
    events = [msgspec.json.decode(fields[b"event"]) for _, fields in found]
    return [event["head"] for event in events if event["session"] == session]


def with_bot(process: Process, **fields: Any) -> Process:
    config = Config(queue=process.config.queue, bots={"pond": BotConfig(**fields)})
    return replace(process, config=config)


def prompts(model: ScriptedModel) -> list[list[str]]:
    decoded = [[msgspec.json.decode(message) for message in request.messages] for request in model.requests]
    return [[words_of(message["content"]) for message in one if message["role"] == "user"] for one in decoded]


def answers(log: list[LogEntry]) -> list[tuple[str, ...]]:
    return [entry.answers for entry in log if entry.answers]


class Named(ScriptedModel):
    def __init__(self, name: str, *calls: Any) -> None:
        super().__init__(*calls, then=f"{name} says")
        self.name = name


def chain(*names: str) -> tuple[FallbackModel, dict[str, Named]]:
    models = {name: Named(name) for name in names}
    configs = {config.name: config for config in MODELS.chain}
    return FallbackModel([FallbackEntry(model, configs[name]) for name, model in models.items()]), models


@each_row(
    ("text", "command", "argument"),
    [
        *(("/new", "new", ""), (" /NEW\n", "new", ""), ("/new please", "", ""), ("/whoami", "whoami", "")),
        *(("/model", "model", ""), ("/Model  gpt-5 ", "model", "gpt-5"), ("/models", "", ""), ("/model@bot", "", "")),
        *(("/compact", "compact", ""), ("/compact the plans", "compact", "the plans"), ("/compacted", "", "")),
        *(("say /new", "", ""), ("/", "", ""), ("/unheard-of", "", ""), ("", "", ""), ("/status now", "", "")),
        *(("/status", "status", ""), (" /Status\n", "status", ""), ("/HELP", "help", ""), ("/start", "help", "")),
        *(("/Stop", "stop", ""), ("status", "", ""), ("//help", "", ""), ("/memory what is", "memory", "what is")),
    ],
)
def test_only_known_words_are_commands_and_only_some_take_an_argument(text: str, command: str, argument: str) -> None:
    assert command_of(text) == command
    assert not command or argument_of(text) == argument


async def test_a_new_conversation_begins_where_its_command_stood_and_keeps_the_log(process: Process, lab: Lab) -> None:
    model = ScriptedModel("one", "two", "three")
    await lab.publish("a")
    await lab.publish("b")
    await ask(lab, "n", "/new")
    await lab.publish("c")

    await worked_off(process, lab, model)

    state, log = await lab.state(), await lab.log()
    assert prompts(model) == [["text of a"], ["text of a", "text of b"], ["text of c"]]
    assert answers(log) == [("a",), ("b",), ("c",)]
    assert (state.start, state.head, state.cursor, len(log)) == (4, 6, 0, 6)
    assert state.tokens_start == sum(entry.tokens for entry in log[4:])
    assert state.tokens == sum(entry.tokens for entry in log)
    assert [(kind, message) for kind, message, _ in await notices(lab)] == [("aside", "n")]
    assert (await grown(lab)).count(4) == 2
    assert await lab.bus.call("XLEN", lab.bus.keys.inbox(lab.bus.keys.partition(SESSION))) == 0


async def test_a_command_does_not_overtake_the_turn_that_runs(process: Process, lab: Lab) -> None:
    gate = Gate()
    async with Bot(process, ScriptedModel([gate, "one"], "two")).working():
        await lab.publish("a")
        await gate.reached()
        await ask(lab, "n", "/new")
        await ask(lab, "s", "/status")
        await until(lambda: some_notice(lab, "s"))
        assert not await some_notice(lab, "n")
        gate.open()
        await until(lab.is_idle)

    assert [message for _, message, _ in await notices(lab)] == ["s", "n"]


async def some_notice(lab: Lab, message_id: str) -> bool:
    return any(message == message_id for _, message, _ in await notices(lab))


async def test_a_command_in_a_burst_parts_the_turns_before_and_after_it(process: Process, lab: Lab) -> None:
    model = ScriptedModel("one", "two")
    for message_id, text in (("a", "one"), ("b", "two"), ("n", "/new"), ("c", "three"), ("d", "four")):
        await lab.publish(message_id, text=text, command=command_of(text), debounce_s=WINDOW_S)
    await the_window_ends(lab)

    await worked_off(process, lab, model)

    assert answers(await lab.log()) == [("a", "b"), ("c", "d")]
    assert prompts(model)[1] == ["three\n\nfour"] or prompts(model)[1] == ["three\nfour"]
    assert [message for _, message, _ in await notices(lab)] == ["n"]


async def test_a_session_may_begin_with_the_command(process: Process, lab: Lab) -> None:
    await ask(lab, "n", "/new")

    await worked_off(process, lab, ScriptedModel())

    assert ((await lab.state()).head, (await lab.state()).start) == (0, 0)
    assert await lab.log() == []
    assert [message for _, message, _ in await notices(lab)] == ["n"]


async def test_people_of_a_push_channel_are_told_by_one_reply(process: Process, lab: Lab) -> None:
    await ask(lab, "n", "/new", session="support:eve", delivery="push")
    await ask(lab, "m", "/model", session="support:eve", delivery="push")

    await worked_off(process, lab, ScriptedModel(), "support:eve")

    found = await replies(lab, "support:eve")
    assert [reply["correlation"] for reply in found] == ["c-n", "c-m"]
    assert len({reply["id"] for reply in found}) == 2
    assert found[0]["text"].startswith("A new conversation has started")


async def test_a_stop_ends_the_turn_and_carries_out_the_command_that_waited(process: Process, lab: Lab) -> None:
    gate = Gate()
    model = ScriptedModel(["be", gate, "never"], "two")
    async with Bot(process, model).working():
        await lab.publish("a", delivery="push")
        await gate.reached()
        await ask(lab, "n", "/new", delivery="push")
        await lab.publish("b", delivery="push")
        await lab.publish("s", command="stop", delivery="push")
        await until(lab.is_idle)
        await lab.publish("c")
        await until(lab.is_idle)

    log, state = await lab.log(), await lab.state()
    assert answers(log) == [("a", "b", "s"), ("c",)]
    assert prompts(model)[-1] == ["text of c"]
    assert state.start == state.head - 2
    assert [message for _, message, _ in await notices(lab)] == ["n"]
    (reply,) = await replies(lab, SESSION)
    assert "[stopped]" in reply["text"] and "A new conversation has started" in reply["text"]


async def test_a_command_before_an_idle_stop_runs_and_both_are_answered(process: Process, lab: Lab) -> None:
    await lab.publish("s1", command="stop")
    await ask(lab, "n", "/new")
    await lab.publish("s2", command="stop")
    await lab.publish("s3", command="stop")

    await worked_off(process, lab, ScriptedModel())

    found = await notices(lab)
    assert [message for _, message, _ in found] == ["s1", "n", "s2", "s3"]
    assert [text.split()[0] for _, _, text in found] == ["I", "A", "I", "I"]


async def test_a_change_that_is_repeated_late_or_not_its_holders_changes_nothing(lab: Lab) -> None:
    await lab.publish("a")
    await lab.commit(await lab.claim(), go_on=False)
    await ask(lab, "n", "/new")
    lost = await lab.claim()
    await lab.expire()
    claim = await lab.claim()
    before = await lab.dump()
    for wrong in (lost, with_nonce(claim, "another"), placed(claim, head=claim.begun.head + 1)):
        with pytest.raises(LeaseLost):
            await lab.sessions.commit(wrong, starting_over(wrong), step=0)
    assert await lab.dump() == before

    await lab.sessions.commit(claim, starting_over(claim), step=0, go_on=False)
    state, after = await lab.state(), await lab.dump()
    assert await lab.bus.repeat("commit.lua") == [[b"done"]]
    assert await lab.dump() == after
    assert (state.start, state.head, state.tokens_start, state.tokens) == (2, 2, 0, 6)
    assert state.options == Options(model="small")

    await lab.publish("b")
    await lab.commit(await lab.claim(), go_on=False)
    after = await lab.dump()
    await lab.bus.repeat("commit.lua", back=2)
    assert await lab.dump() == after
    assert ((await lab.state()).start, (await lab.state()).tokens_start) == (2, 6)


def placed(claim: Claim, *, head: int) -> Claim:
    return msgspec.structs.replace(claim, begun=msgspec.structs.replace(claim.begun, head=head))


def starting_over(claim: Claim) -> Commit:
    answered = tuple(waiting.stream_id for waiting in claim.begun.waiting)
    change = Change(start_over=True, options=Options(model="small"))
    return Commit(entries=(), tokens=0, answered=answered, change=change)


async def test_the_holder_goes_on_behind_the_new_start(lab: Lab) -> None:
    await lab.publish("a")
    await lab.commit(await lab.claim(), go_on=False)
    await ask(lab, "n", "/new")
    await lab.publish("b")

    following = await lab.sessions.commit(claim := await lab.claim(), starting_over(claim), step=0)

    assert following is not None
    assert (following.begun.start, following.begun.head) == (2, 2)
    assert following.begun.options.model == "small"
    [again] = await lab.bus.repeat("commit.lua")
    assert again[0] == b"next"


async def test_whatever_call_fails_commands_and_messages_are_handled_once(process: Process, lab: Lab) -> None:
    admin = with_bot(process, admins=("web:ann",), model=MODELS)
    counting = FailingBus(process.bus, at=0)
    await cut_short(admin, counting, lab, "web:m0")
    assert counting.calls >= 4

    for carried_out in (False, True):
        for at in range(1, counting.calls + 1):
            failing = FailingBus(process.bus, at=at, carried_out=carried_out)
            await cut_short(admin, failing, lab, f"web:m{at}-{carried_out}")


async def cut_short(process: Process, bus: FailingBus, lab: Lab, session: str) -> None:
    """A worker whose bus fails at some call works a session off, and others come after it."""
    await lab.publish("a", session=session)
    await ask(lab, "n", "/new", session=session)
    await ask(lab, "m", "/model small", session=session)
    await lab.publish("b", session=session)
    worker: Process = replace(process, bus=bus)
    while not await lab.is_idle(session):
        await one_claim(worker, session)
        worker = process
        await lab.expire(session)

    log, state = await lab.log(session), await lab.state(session)
    assert answers(log) == [("a",), ("b",)]
    assert (state.start, state.head, state.options.model) == (2, 4, "small")
    assert [message for _, message, _ in await notices(lab, session)] == ["n", "m"]


async def one_claim(process: Process, session: str) -> None:
    models, _ = chain("big", "small", "tiny")
    worker = Bot(process, models).process
    sessions = Sessions(worker.bus, worker.config.queue, worker="one")
    turns = Turns(worker, sessions)
    try:
        claim = await sessions.claim(session)
        while claim is not None:
            claim = await turns(ClaimHold(claim, held_until=math.inf), go_on=lambda: True)
    except (BusUnavailable, LeaseLost):
        return


async def test_a_command_that_always_fails_becomes_a_dead_letter_and_the_conversation_goes_on(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("workers.agent.commands.session_commands.SessionCommands.outcome", fail)
    await ask(lab, "n", "/new")
    await lab.publish("a")

    await worked_off(process, lab, ScriptedModel("one"))

    keys = lab.bus.keys
    ((_, letter),) = await lab.bus.call("XRANGE", keys.dead(keys.partition(SESSION)), "-", "+")
    assert (letter[b"id"], letter[b"reason"]) == (b"n", b"attempts")
    assert answers(await lab.log()) == [("a",)]
    assert [message for _, message, _ in await notices(lab)] == ["n"]


async def test_an_admin_chooses_a_model_for_this_session_from_then_on(process: Process, lab: Lab) -> None:
    admin = with_bot(process, admins=("web:ann",), model=MODELS)
    models, each = chain("big", "small", "tiny")
    await lab.publish("a")
    await ask(lab, "m1", "/model")
    await ask(lab, "m2", "/model SMALL")
    await lab.publish("b")
    await lab.publish("c", session="web:bob")

    async with Bot(admin, models).working():
        await until(lab.is_idle)
        await until(lambda: lab.is_idle("web:bob"))

    texts = [wire(entry)["content"] for entry in await lab.log()]
    assert texts[1::2] == ["big says", "small says"]
    assert wire((await lab.log("web:bob"))[1])["content"] == "big says"
    assert each["small"].requests[0].max_completion_tokens == 8_192 // 4
    assert [text for *_, text in await notices(lab)] == [
        "Model: big\nAvailable models: big, small, tiny\nTo select a model for this conversation, send /model NAME.",
        "From now on, small will answer in this conversation.",
    ]
    assert (await lab.fields())["options"] == '{"model":"small"}'
    assert (await preview(admin, SESSION))["model"] == "small"


async def test_a_chosen_model_outlives_the_process_and_falls_back(process: Process, lab: Lab) -> None:
    admin = with_bot(process, admins=("ann",), model=MODELS)
    await ask(lab, "m1", "/model tiny")
    await worked_off(admin, lab, chain("big", "small", "tiny")[0])
    models, each = chain("big", "small", "tiny")
    each["tiny"]._then = ModelUnavailable("away")

    await lab.publish("a")
    await worked_off(admin, lab, models)
    await ask(lab, "m2", "/model Big")
    await lab.publish("b")
    await worked_off(admin, lab, models)

    texts = [wire(entry)["content"] for entry in await lab.log()]
    assert texts[1::2] == ["big says", "big says"]
    assert len(each["tiny"].requests) == 1
    assert (await lab.state()).options == Options()


async def test_others_are_refused_and_an_unknown_model_is_not_chosen(process: Process, lab: Lab) -> None:
    await ask(lab, "m1", "/model small")
    await worked_off(with_bot(process, admins=("telegram:ann",), model=MODELS), lab, chain("big", "small")[0])
    await ask(lab, "m2", "/model huge")
    await worked_off(with_bot(process, admins=("web:ann",), model=MODELS, language="zh"), lab, chain("big")[0])

    refused, unknown = [text for *_, text in await notices(lab)]
    assert refused.startswith("Only this bot's administrators")
    assert "big, small, tiny" in unknown and "没有找到这个模型" in unknown
    assert "options" not in await lab.fields()


async def test_a_removed_model_or_unreadable_options_leave_the_bots_own_model(process: Process, lab: Lab) -> None:
    for options in ('{"model":"gone"}', '{"model":3}', "\udcff garbage".encode(errors="surrogateescape"), "[]"):
        await lab.publish(f"a{options!r}"[:20])
        await lab.bus.call("HSET", lab.bus.keys.session(SESSION), "options", options)
        await worked_off(with_bot(process, model=MODELS), lab, chain("big", "small")[0])

    assert {wire(entry)["content"] for entry in (await lab.log())[1::2]} == {"big says"}


async def test_a_model_without_room_for_the_bots_prompts_is_not_chosen(process: Process, lab: Lab) -> None:
    small = FallbackConfig(name="small", context_window_tokens=4_096, safety_buffer_tokens=2_900)
    fitting = msgspec.structs.replace(MODELS, fallbacks=(small,))
    await ask(lab, "m", "/model small")

    await worked_off(with_bot(process, admins=("ann",), model=fitting), lab, chain("big", "small")[0])

    ((_, _, text),) = await notices(lab)
    assert text.startswith("small cannot be used: ")
    assert "options" not in await lab.fields()


async def test_a_chosen_model_that_has_no_room_any_longer_leaves_the_bots_own(process: Process, lab: Lab) -> None:
    small = FallbackConfig(name="small", context_window_tokens=4_096, safety_buffer_tokens=2_900)
    fitting = msgspec.structs.replace(MODELS, fallbacks=(small,))
    await lab.publish("a")
    await lab.bus.call("HSET", lab.bus.keys.session(SESSION), "options", '{"model":"small"}')

    await worked_off(with_bot(process, model=fitting), lab, chain("big", "small")[0])

    assert wire((await lab.log())[1])["content"] == "big says"


async def test_offline_there_is_one_model(process: Process, lab: Lab) -> None:
    await ask(lab, "m", "/model")

    await worked_off(with_bot(process, admins=("ann",)), lab, ScriptedModel())

    assert (await notices(lab))[0][2].startswith("Model: offline\nAvailable models: offline\n")


@each_row(
    ("admins", "channel", "sender", "is_one"),
    [
        (("web:ann",), "web", "ann", True),
        (("ann",), "telegram", "ann", True),
        (("telegram:ann",), "web", "ann", False),
        # Nobody passes for somebody else by calling himself so.
        (("telegram:42",), "web", "telegram:42", False),
        (("a:b:c",), "a", "b:c", False),
        (("a:b%3Ac",), "a", "b:c", True),
        ((), "web", "ann", False),
        (("",), "web", "ann", False),
    ],
)
def test_an_admin_is_listed_by_channel_or_plain_id(admins: tuple[str, ...], channel: str, sender: str, is_one: bool):
    asking = msgspec.structs.replace(an_inbound("x", session=f"{channel}:c"), sender_id=sender)

    assert is_admin(BotConfig(admins=admins), asking) == is_one
    assert person_of(asking).count(":") == 1


async def test_whoami_says_who_asks_where_and_whether_that_is_an_admin(process: Process, lab: Lab) -> None:
    admin = with_bot(process, admins=("support:ann",))
    async with Bot(admin, ScriptedModel()).working():
        await ask(lab, "w", "/whoami", session="support:c%20d:7", delivery="push", sender_name="Ann B.")
        await ask(lab, "w", "/whoami")
        await until(lambda: some_notice(lab, "w"))
        await until(lambda: said_once(lab))

    (reply,) = await replies(lab, "support:c%20d:7")
    assert reply["text"].splitlines() == [
        "You: support:ann (Ann B.)", "Channel: support", "Chat: c d:7", "Session: support:c%20d:7",
        "Memory: pond:person:support:ann", "Administrator: yes",
    ]  # fmt: skip
    assert (await notices(lab))[0][2].endswith("Administrator: no")


async def said_once(lab: Lab) -> bool:
    return len(await replies(lab, "support:c%20d:7")) == 1


async def test_status_tells_what_fills_the_context_by_part(process: Process, lab: Lab) -> None:
    (process.workspace("pond")).mkdir(parents=True)
    (process.workspace("pond") / "AGENTS.md").write_text("Be kind. " * 200)
    await lab.publish("a", text="word " * 300)
    async with Bot(process, ScriptedModel("one")).working():
        await until(lab.is_idle)
        await ask(lab, "s", "/status")
        await until(lambda: some_notice(lab, "s"))
        await ask(lab, "n", "/new")
        await until(lambda: some_notice(lab, "n"))
        await ask(lab, "t", "/status")
        await until(lambda: some_notice(lab, "t"))

    before, after = (context_of(text) for _, message, text in await notices(lab) if message in ("s", "t"))
    assert before["system"] > 600 and before["history"] > 300
    assert (after["history"], after["system"]) == (0, before["system"])
    assert after["free"] == before["free"] + before["history"]
    assert sum(before.values()) == process.bot("pond").model.budget_tokens


def context_of(text: str) -> dict[str, int]:
    line = next(line for line in text.splitlines() if line.startswith("Context:"))
    parts = line.partition("tokens: ")[2].split(", ")
    return {name: int(number.replace(",", "")) for name, number in (part.rsplit(" ", 1) for part in parts)}


async def test_a_log_entry_of_a_turn_is_unchanged_by_what_a_commit_does_beside_it(lab: Lab) -> None:
    await lab.publish("a")
    claim = await lab.claim()
    entry = an_entry(0, answers=("a",))
    change = Change(options=Options(model="small"))
    commit = Commit(entries=(entry,), tokens=3, answered=(claim.begun.waiting[0].stream_id,), change=change)

    await lab.sessions.commit(claim, commit, step=0, go_on=False)

    assert await lab.log() == [entry]
    assert (await lab.state()).start == 0
