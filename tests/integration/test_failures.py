"""Each kind of failure is reported for what it is, and no message blocks the ones behind it (docs/failures.md)."""

import json
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import msgspec
import pytest

from daemon.bus import pairs, publish
from daemon.cli.doctor.database_checks import examine
from daemon.cli.doctor.model_checks import examine_models
from daemon.cli.output.session_view import positions
from daemon.cli.run_command import introduce
from daemon.cli.session_command import rows as session_rows
from daemon.config import BotConfig, Config, ModelConfig
from daemon.config.channels import TelegramConfig
from daemon.config.secret import Secret
from daemon.errors import InvalidAnswer, MillpondError, ModelRefused, ModelUnavailable, RateLimited, SetupFault
from daemon.model import RETRY_AFTER_MAX_S, Answer, failing, note_failing
from daemon.overview import read_queues
from daemon.process import Process
from daemon.session import SessionReader
from daemon.testing import Gate, ScriptedModel
from daemon.wording import text as say
from tests.conftest import Lab, an_inbound
from tests.integration.test_turns import (
    Bot,
    calls_time,
    dead_letters,
    notices_of,
    parked_for,
    replace_queue,
    replies_of,
    said,
    worked_off,
)
from tests.limits import HANG_S, until
from tests.recalllab import ScriptedEngine, a_hit, recalling
from workers.agent.model_calls import TEST

FAULT = "The server rejected the API key (401). Check OPENAI_API_KEY or api_key_file."


def configured(process: Process, *, admins: tuple[str, ...] = ()) -> Process:
    model = ModelConfig(base_url="http://127.0.0.1:9/v1", name="m")
    bots = {"pond": BotConfig(model=model, admins=admins)}
    channels = {**process.config.channels, "support": TelegramConfig(bot="pond")}
    return replace(process, config=msgspec.structs.replace(process.config, bots=bots, channels=channels))


async def failing_fields(lab: Lab) -> dict[str, str]:
    [key] = await lab.bus.call("KEYS", f"{lab.bus.keys.prefix}:failing:*")
    return {name.decode(): value.decode() for name, value in pairs(await lab.bus.call("HGETALL", key))}


async def probe_now(lab: Lab) -> None:
    """Let the next caller ask the model, and every session look at once."""
    for key in await lab.bus.call("KEYS", f"{lab.bus.keys.prefix}:failing:*"):
        await lab.bus.call("HSET", key, "next", 0)
    for key in await lab.bus.call("KEYS", f"{lab.bus.keys.prefix}:*:session:*"):
        await lab.expire(key.decode().rpartition(":session:")[2])


async def is_parked(lab: Lab, session: str) -> bool:
    return "parked_why" in await lab.fields(session)


async def test_a_set_up_fault_is_named_to_those_who_can_mend_it(process: Process, lab: Lab) -> None:
    process = configured(process, admins=("support:boss",))

    async with Bot(process, ScriptedModel(then=SetupFault(FAULT, status=401))).working():
        await lab.publish("a")
        for name in ("eve", "boss"):
            inbound = an_inbound("a", session=f"support:{name}", delivery="push")
            inbound = msgspec.structs.replace(inbound, sender_id=name)
            await publish(lab.bus, inbound, config=lab.queue, scope="pond:workspace")
        for session in ("web:ann", "support:eve", "support:boss"):
            await until(lambda session=session: is_parked(lab, session))

    exact = say("setup_fault", "en", reason=FAULT)
    replies = await replies_of(lab, "support")
    assert [notice.text for notice in await notices_of(lab)] == [exact]
    assert {reply.session: reply.text for reply in replies if "#parked" in reply.id} == {
        "support:eve": say("setup_fault_others", "en"),
        "support:boss": exact,
    }
    assert [(reply.session, reply.text) for reply in replies if "#warned" in reply.id] == [
        ("support:boss", say("setup_fault_told", "en", bot="pond", reason=FAULT))
    ]


def test_the_start_names_the_model_of_each_bot_and_its_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = {
        "pond": ModelConfig(base_url="http://127.0.0.1:9/v1", name="m"),
        "lake": ModelConfig(api="anthropic", name="n", api_key=Secret("sk-1234567890")),
        "sea": ModelConfig(),
    }

    introduce(Config(bots={name: BotConfig(model=model) for name, model in models.items()}), tmp_path)

    offline, *named = capsys.readouterr().out.splitlines()[-3:]
    assert offline.startswith("No real model is set for sea,")
    assert named == ["Model of pond: m at 127.0.0.1:9", "Model of lake: n at api.anthropic.com"]


async def test_one_caller_at_a_time_finds_out_whether_a_model_works_again(process: Process, lab: Lab) -> None:
    gate = Gate()
    model = ScriptedModel(SetupFault(FAULT), [gate, "here"], then="here")
    sessions = [f"web:{number}" for number in range(3)]

    async with Bot(configured(process), model).working():
        await lab.publish("a", session=sessions[0])
        await until(lambda: is_parked(lab, sessions[0]))
        for session in sessions[1:]:
            await lab.publish("a", session=session)
            await until(lambda session=session: is_parked(lab, session))
        assert len(model.requests) == 1

        await probe_now(lab)
        await gate.reached()
        await until(lambda: all_wait(lab, sessions))
        assert len(model.requests) == 2
        gate.open()
        await until(lambda: any_idle(lab, sessions))
        await probe_now(lab)
        for session in sessions:
            await until(lambda session=session: lab.is_idle(session))

    assert len(model.requests) == 4
    assert await lab.bus.call("KEYS", f"{lab.bus.keys.prefix}:failing:*") == []


@pytest.mark.parametrize("error", [ModelRefused("no", status=400), InvalidAnswer("nothing")])
async def test_a_caller_whose_message_is_refused_finds_out_that_the_model_is_there(
    process: Process, lab: Lab, error: Exception
) -> None:
    """All others waited for two minutes, until somebody else found that out."""
    model = ScriptedModel(SetupFault(FAULT), error, then="here")
    await lab.publish("a", session="web:0")

    async with Bot(configured(process), model).working():
        await until(lambda: is_parked(lab, "web:0"))
        await probe_now(lab)
        await until(lambda: len(model.requests) > 1)
        await until(lambda: no_model_fails(lab))
        await lab.publish("b", session="web:1")
        await until(lambda: lab.is_idle("web:1"))


async def test_a_stop_says_nothing_about_a_model_that_fails(process: Process, lab: Lab) -> None:
    """The next messages asked the model at once, and its administrators were told again."""
    await lab.publish("a")

    async with Bot(configured(process), ScriptedModel(then=SetupFault(FAULT))).working():
        await until(lambda: is_parked(lab, "web:ann"))
        await lab.publish("s", command="stop")
        await until(lab.is_idle)

    assert not await no_model_fails(lab)


async def no_model_fails(lab: Lab) -> bool:
    return not await lab.bus.call("KEYS", f"{lab.bus.keys.prefix}:failing:*")


async def all_wait(lab: Lab, sessions: list[str]) -> bool:
    states = [await lab.state(session) for session in sessions]
    return sum(bool(state.worker) for state in states) == 1 and all(
        [state.worker or "retry_at" in await lab.fields(state.session) for state in states]
    )


async def any_idle(lab: Lab, sessions: list[str]) -> bool:
    return any([await lab.is_idle(session) for session in sessions])


async def test_messages_behind_a_parked_one_are_counted_for_their_people(process: Process, lab: Lab) -> None:
    await lab.publish("a")
    await parked_for(lab, 200.0)

    async with Bot(configured(process), ScriptedModel(then=ModelUnavailable("away", brief="It fails."))).working():
        await until(lambda: is_parked(lab, "web:ann"))
        await lab.publish("b")

        async def counted() -> bool:
            return len(await notices_of(lab)) == 2

        await until(counted)

    first, second = await notices_of(lab)
    assert (first.text, first.message_id) == (say("parked", "en"), "a")
    assert second.message_id == "b"
    assert second.text == "2 messages are queued. The model has not responded for 3 minutes."


async def test_the_reason_of_what_is_parked_is_shown(process: Process, lab: Lab) -> None:
    process = configured(process)
    await lab.publish("a")

    async with Bot(process, ScriptedModel(then=SetupFault(FAULT))).working():
        await until(lambda: is_parked(lab, "web:ann"))

    reason = f"setup: {FAULT}"
    assert (await read_queues(lab.bus)).reasons == {reason: 1}
    found = [each.text for each in await examine(lab.bus, embedded=True) if each.check == "parked"]
    assert found == [f"pending conversations: 1; {reason}"]
    [row] = await session_rows(lab.bus, 5)
    state = await SessionReader(lab.bus).state("web:ann")
    assert row["parked_reason"] == positions(state, 0)["parked_reason"] == reason
    [finding] = await examine_models(lab.bus, process.config)
    assert (finding.check, finding.state) == ("model m", "error")
    assert finding.text.startswith(f"{FAULT} (set-up fault for ")


@pytest.mark.parametrize("kind", [RateLimited, ModelUnavailable])
async def test_a_server_that_asks_for_an_hour_is_asked_after_a_minute(
    process: Process, lab: Lab, kind: type[ModelUnavailable]
) -> None:
    await lab.publish("a")

    async with Bot(configured(process), ScriptedModel(then=kind("slow down", retry_after_s=3_600.0))).working():
        await until(lambda: is_parked(lab, "web:ann"))

    fields = await failing_fields(lab)
    assert int(fields["next"]) - int(fields["at"]) == RETRY_AFTER_MAX_S * 1000
    assert [notice.text for notice in await notices_of(lab)] == [say("parked", "en")], "that it lasts is known at once"
    session = await lab.fields()
    assert int(session["retry_at"]) - int(session["parked_at"]) <= RETRY_AFTER_MAX_S * 1000


async def test_a_bot_does_not_wait_because_of_the_key_or_the_address_of_another_one(process: Process, lab: Lab) -> None:
    """A wrong key of one bot held up another bot with the same model and a key of its own."""
    model = configured(process).config.bots["pond"].model
    await note_failing(lab.bus, model, "setup", FAULT)

    assert await failing(lab.bus, msgspec.structs.replace(model, max_concurrent=1)) is not None
    for other in ({"api_key": Secret("sk-other")}, {"base_url": "http://127.0.0.1:9/other/v1"}, {"name": "n"}):
        assert await failing(lab.bus, msgspec.structs.replace(model, **other)) is None, other


async def test_an_outage_that_nobody_has_noticed_for_long_is_another_one(process: Process, lab: Lab) -> None:
    """A model that failed in the morning, and again in the evening, had failed all day."""
    model = configured(process).config.bots["pond"].model
    await note_failing(lab.bus, model, "outage", "It fails.")
    [key] = await lab.bus.call("KEYS", f"{lab.bus.keys.prefix}:failing:*")
    since = await lab.server_ms() - 3_600_000

    found: list[bool] = []
    for seconds in (60, 1_200):
        at = await lab.server_ms() - seconds * 1000
        await lab.bus.call("HSET", key, "since", since, "at", at)
        found.append((await note_failing(lab.bus, model, "outage", "It fails.")).since_s > 3_000)

    assert found == [True, False]


async def test_a_refused_message_is_given_up_alone_and_never_sent_again(process: Process, lab: Lab) -> None:
    model = Picky("poison")
    await lab.publish("a", text="hello")
    await lab.publish("b", text="poison")
    await lab.publish("c", text="are you there?")

    await worked_off(configured(process), lab, model)

    log = await lab.log()
    assert [text for role, text in said(log) if role == "user"] == ["hello", "poison", "are you there?"]
    assert [entry.dead for entry in log if entry.dead] == [("b",)]
    assert "c-b" in said(log)[3][1]
    assert model.refused == 3, "the last time without the history"
    [letter] = await dead_letters(lab)
    assert (letter[b"id"], letter[b"reason"]) == (b"b", BRIEF.encode())
    assert (await lab.log())[-1].answers == ("c",)
    prompt = [json.loads(message).get("content") for message in model.requests[-1].messages]
    assert "[This message is left out because the model's server rejected it.]" in prompt


BRIEF = "The server refuses the request (400), bad_text"
REFUSED = ModelRefused(f"{BRIEF}: do not say poison", status=400, brief=BRIEF)


class Picky(ScriptedModel):
    """Fails with messages that hold a word, so many times."""

    def __init__(self, word: str, error: MillpondError = REFUSED, *calls: str, times: float = inf) -> None:
        super().__init__(*calls, then="fine")
        self._word = word
        self._times = times
        self._error = error
        self.refused = 0

    async def stream(self, request: Any) -> Any:
        if self.refused < self._times and any(self._word in message.decode() for message in request.messages):
            self.refused += 1
            raise self._error
        async for chunk in super().stream(request):
            yield chunk


async def test_a_failure_of_one_message_while_the_model_answers_a_test_message_gives_up_that_message(
    process: Process, lab: Lab
) -> None:
    """A firewall's 403 or web page counted as a fault of the set-up, and a message that made its server fail as an
    outage: the conversation was blocked for six hours, and others that use the model were delayed."""
    rows = {
        "forbidden": (SetupFault("no", status=403), 0.0, "rejected this message (403)"),
        "page": (SetupFault("no", status=200), 0.0, "returned a web page for this message"),
        "outage": (ModelUnavailable("no"), 1_900.0, "fails to answer this message"),
    }
    for name, (error, parked_s, reason) in rows.items():
        session = f"web:{name}"
        await lab.publish("a", session=session, text="poison")
        await lab.publish("b", session=session)
        if parked_s:
            await parked_for(lab, parked_s, session)

        await worked_off(configured(process), lab, Picky("poison", error), session)

        letter = (await dead_letters(lab))[-1]
        assert reason in letter[b"reason"].decode(), name
        assert said(await lab.log(session))[-1] == ("assistant", "fine"), name
        assert await no_model_fails(lab), name


async def test_a_message_is_answered_although_a_proxy_in_trouble_answered_twice_with_a_web_page(
    process: Process, lab: Lab
) -> None:
    """An empty answer and a web page, half a second apart, made a dead letter of a message that nobody refused."""
    await lab.publish("a", session="web:page", text="poison")
    model = Picky("poison", SetupFault("no", status=200), times=2)

    await worked_off(configured(process), lab, model, "web:page")

    assert said(await lab.log("web:page"))[-1] == ("assistant", "fine")
    assert await dead_letters(lab) == []


async def test_an_answer_that_the_server_refuses_to_be_sent_does_not_block_later_messages(
    process: Process, lab: Lab
) -> None:
    """A firewall refused what the model itself had said: it refused all later messages of the conversation.

    Recall brought the words back that were left out.
    """
    await lab.bus.call("HSET", lab.bus.keys.session("web:elsewhere"), "head", 0, "scope", "pond:workspace")
    for word, error in {"poison": REFUSED, "venom": SetupFault("no", status=403)}.items():
        session, model = f"web:{type(error).__name__}", Picky(word, error, word)
        await lab.publish("a", session=session)
        await worked_off(configured(process), lab, model, session)
        for message_id in ("b", "c"):
            await lab.publish(message_id, session=session)

        await worked_off(recalling(configured(process), ScriptedEngine(a_hit(word))), lab, model, session)

        answers = [text for role, text in said(await lab.log(session)) if role == "assistant"]
        assert answers == [word, "fine", "fine"], word
    assert await dead_letters(lab) == []


async def test_a_large_prompt_that_is_refused_for_its_words_is_sent_without_older_messages(
    process: Process, lab: Lab
) -> None:
    """Each of two attempts halved the prompt, and no attempt left the older messages out."""
    long = "poison " + "word " * 4_000
    model = Picky("poison", REFUSED, long)
    for message_id in ("a", "b"):
        await lab.publish(message_id)
        await worked_off(configured(process), lab, model)

    assert [text for role, text in said(await lab.log()) if role == "assistant"] == [long, "fine"]
    assert await dead_letters(lab) == []


async def test_a_stop_does_not_wait_for_the_answer_to_a_test_message(process: Process, lab: Lab) -> None:
    gate = Gate()
    await lab.publish("a")

    async with Bot(configured(process), ScriptedModel(SetupFault("no", status=403), [gate, "late"])).working():
        await gate.reached()
        await lab.publish("s", command="stop")
        await until(lab.is_idle)

    assert [entry.stopped for entry in await lab.log()] == [False, True]


async def test_a_model_that_fails_with_a_test_message_too_is_not_set_up_right(process: Process, lab: Lab) -> None:
    """Each message became a dead letter, and no administrator was told."""
    rows = {
        "refused": (REFUSED, "The server rejects every request, even a short test message"),
        "garbage": (InvalidAnswer("no JSON"), "The server returns unusable answers, even to a short test message"),
    }
    for name, (error, reason) in rows.items():
        session, model = f"web:{name}", ScriptedModel(then=error)
        await lab.publish("a", session=session)

        async with Bot(configured(process), model).working():
            await until(lambda session=session: is_parked(lab, session))

        assert (await lab.fields(session))["parked_why"].startswith(f"setup: {reason}"), name
    assert await dead_letters(lab) == []


async def test_administrators_are_told_when_the_messages_of_several_conversations_are_refused_in_a_row(
    process: Process, lab: Lab
) -> None:
    """A firewall refused the bot's own prompt: each conversation was told that it was about its message."""
    process = configured(process, admins=("support:boss",))
    model = Picky("poison")

    async with Bot(process, model).working():
        for number in range(4):
            await lab.publish("a", session=f"web:{number}", text="poison")
            await until(lambda number=number: lab.is_idle(f"web:{number}"))
            assert bool(await examine_models(lab.bus, process.config)) == (number >= 2)
        assert await failing(lab.bus, process.config.bots["pond"].model) is None
        [finding] = await examine_models(lab.bus, process.config)
        replies = await replies_of(lab, "support")
        await lab.publish("b", session="web:0")
        await until(lambda: lab.is_idle("web:0"))

    assert finding.text.startswith(f"The server rejected messages from 3 conversations in a row ({BRIEF}).")
    assert [reply.session for reply in replies] == ["support:boss"]
    assert await no_model_fails(lab)


async def test_others_need_not_wait_for_the_end_of_a_long_turn_that_finds_a_model_to_work(
    process: Process, lab: Lab
) -> None:
    gate = Gate()
    model = ScriptedModel(SetupFault(FAULT), calls_time(), [gate, "late"], then="here")

    async with Bot(configured(process), model).working():
        await lab.publish("a", session="web:0")
        await until(lambda: is_parked(lab, "web:0"))
        await probe_now(lab)
        await gate.reached()
        assert await no_model_fails(lab)
        gate.open()
        await until(lambda: lab.is_idle("web:0"))


async def test_an_answer_that_breaks_off_after_text_was_shown_counts_as_an_attempt(process: Process, lab: Lab) -> None:
    attempts = process.config.queue.attempts_max
    model = ScriptedModel(*[["half", ModelUnavailable("gone")]] * attempts, "fine")
    await lab.publish("a")
    await lab.publish("b")

    await worked_off(configured(process), lab, model)

    assert [entry.dead for entry in await lab.log() if entry.dead] == [("a",)]
    assert len([request for request in model.requests if TEST not in request.messages]) == attempts + 1
    assert await notices_of(lab) == []


async def test_an_outage_is_asked_about_by_all_until_it_lasts(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each session is claimed again when its pause ends, not when the reaper happens to look."""
    monkeypatch.setattr("workers.lease_upkeep.REAP_EVERY_S", 100 * HANG_S)
    process = replace_queue(process, lease_s=100 * HANG_S, renew_s=50 * HANG_S)
    model = ScriptedModel(ModelUnavailable("away"), ModelUnavailable("away"), then=Answer(text="here"))
    await lab.publish("a")
    await lab.publish("a", session="web:bob")

    async with Bot(configured(process), model).working():
        for session in ("web:ann", "web:bob"):
            await until(lambda session=session: lab.is_idle(session))

    assert len(model.requests) == 4
    assert await notices_of(lab) == []
