"""``/status`` and ``/help``: answered once, at once, whatever their session is doing, and in no log."""

import re
from dataclasses import replace
from typing import Any

import anyio
import msgspec
import pytest

from daemon.bus import publish
from daemon.config import BotConfig, Config
from daemon.errors import BusUnavailable, RateLimited, SessionFull
from daemon.events import Notice, Reply
from daemon.memory import Memories
from daemon.process import Process
from daemon.session import ImmediateCommands, SessionNotice
from daemon.testing import FailingBus, Gate, ScriptedModel
from tests.conftest import Lab, an_inbound
from tests.integration.test_turns import Bot, notices_of, replies_of
from tests.limits import HANG_S, until
from workers.agent.bot_runtime import Kits
from workers.agent.commands.immediate_answers import ImmediateAnswers
from workers.agent.tool_loop import ServerTools


async def ask(lab: Lab, message_id: str, command: Any = "status", **more: Any) -> None:
    await lab.publish(message_id, command=command, **{"text": f"/{command}", **more})


async def answered(lab: Lab, count: int = 1, session: str = "web:ann") -> list[Notice]:
    with anyio.fail_after(HANG_S):
        while len(found := await notices_of(lab, session)) < count:  # noqa: ASYNC110 - it comes from the server
            await anyio.sleep(0.005)
    return found


async def test_a_status_is_answered_while_a_turn_runs_and_stands_in_no_log(process: Process, lab: Lab) -> None:
    gate = Gate()
    async with Bot(process, ScriptedModel([gate, "done"])).working():
        await lab.publish("a")
        await gate.reached()
        await lab.publish("b")
        await ask(lab, "s")
        (notice,) = await answered(lab)
        gate.open()
        await until(lab.is_idle)

    assert (notice.kind, notice.message_id) == ("aside", "s")
    assert "Model: scripted" in notice.text
    assert "Pending messages: 2" in notice.text
    assert re.search(r"working on an answer for \d s", notice.text)
    assert [entry.answers for entry in await lab.log() if entry.answers] == [("a",), ("b",)]
    assert await lab.bus.call("XLEN", lab.bus.keys.inbox(0)) == 0


async def test_a_status_is_answered_in_a_back_off_and_does_not_end_it(process: Process, lab: Lab) -> None:
    model = ScriptedModel(then=RateLimited("slow", retry_after_s=60.0))
    async with Bot(process, model).working():
        await lab.publish("a")
        await answered(lab)
        retry_at = (await lab.state()).retry_at_ms
        await ask(lab, "s")
        notices = await answered(lab, 2)

        assert (await lab.state()).retry_at_ms == retry_at > 0
    assert len(model.requests) == 1
    assert [notice.kind for notice in notices] == ["parked", "aside"]


async def test_help_names_the_commands_in_the_language_of_the_bot(process: Process, lab: Lab) -> None:
    config = Config(queue=lab.queue, bots={"pond": BotConfig(language="zh")})
    async with Bot(replace(process, config=config), ScriptedModel()).working():
        await ask(lab, "h", "help", text="/help")
        (notice,) = await answered(lab)

    assert all(command in notice.text for command in ("/stop", "/status", "/memory", "/help"))
    assert "回答" in notice.text


async def test_memory_is_shown_with_its_version_and_its_change_in_the_bots_time(process: Process, lab: Lab) -> None:
    memories, scope = Memories(lab.bus), "pond:workspace"
    config = Config(queue=lab.queue, bots={"pond": BotConfig(time_zone="Asia/Shanghai")})
    await lab.publish("a")
    async with Bot(replace(process, config=config), ScriptedModel()).working():
        await ask(lab, "n", "memory")
        await answered(lab)
        await memories.edit(scope, of=0, text="- likes tea\n", by="test", time="2026-11-20T20:00:00.000Z")
        await ask(lab, "m", "memory")
        await answered(lab, 2)
        await memories.edit(scope, of=1, text="x" * 5_000, by="test", time="2026-11-20T20:00:00.000Z")
        await ask(lab, "l", "memory")
        none, short, long = await answered(lab, 3)

    assert none.text.startswith("My memory of this chat is empty.")
    assert short.text == (
        "My memory of this chat (version 1, last changed 2026-11-21 04:00 Saturday (Asia/Shanghai, UTC+0800)):\n\n"
        "- likes tea"
    )
    assert f"\n\n{'x' * 3_000}…\n\n2,000 more characters are not shown. To see the whole" in long.text


@pytest.mark.parametrize(
    ("session", "sender", "kind", "shown"),
    [
        ("web:ann", "ann", "direct", "of ann"),
        ("web:bob", "bob", "direct", "of bob"),
        ("web:pool", "ann", "group", "of the group"),
        ("web:other", "ann", "group", "is empty"),
    ],
)
async def test_in_a_group_its_own_memory_is_shown_and_nobody_elses(
    process: Process, lab: Lab, session: str, sender: str, kind: str, shown: str
) -> None:
    memories = Memories(lab.bus)
    for scope, text in (
        ("pond:person:web:ann", "of ann"), ("pond:person:web:bob", "of bob"), ("pond:group:web:pool", "of the group"),
        ("pond:workspace", "of all"),
    ):  # fmt: skip
        await memories.edit(scope, of=0, text=text, by="test", time="2026-11-20T20:00:00.000Z")

    async with Bot(process, ScriptedModel()).working():
        inbound = an_inbound("m", session=session, command="memory", chat_kind=kind)
        inbound = msgspec.structs.replace(inbound, text="/memory", sender_id=sender)
        await publish(lab.bus, inbound, scope="", config=lab.queue)
        (notice,) = await answered(lab, 1, session)

    assert shown in notice.text
    others = {"of ann", "of bob", "of the group", "of all"} - {shown}
    assert not [text for text in others if text in notice.text]


async def test_a_command_wakes_and_makes_no_session(lab: Lab) -> None:
    await ask(lab, "s")

    assert await lab.ready() == []
    assert await lab.due() is None
    assert not (await lab.state()).exists
    assert await lab.bus.call("XLEN", lab.bus.keys.inbox(0)) == 1


async def test_the_same_command_accepted_twice_is_answered_once(process: Process, lab: Lab) -> None:
    await ask(lab, "s", correlation="one")
    await ask(lab, "s", correlation="two")

    async with Bot(process, ScriptedModel()).working():
        await answered(lab)
        await ask(lab, "t")
        notices = await answered(lab, 2)

    assert [notice.message_id for notice in notices] == ["s", "t"]


async def test_commands_are_answered_in_a_session_that_is_full_but_not_without_end(process: Process, lab: Lab) -> None:
    for number in range(lab.queue.waiting_max):
        await lab.publish(f"m{number}")
    for number in range(16):
        await ask(lab, f"s{number}")
    with pytest.raises(SessionFull, match="web:ann already has 16 unanswered commands"):
        await ask(lab, "one too many")
    await ask(lab, "s", session="web:ann:thread")
    await ask(lab, "s", session="web:ann2")

    speaker = ImmediateAnswers(Bot(process, ScriptedModel()).process, Kits(process), ServerTools(process))
    await speaker._answer_all(0)

    assert len(await notices_of(lab)) == 16
    assert (await lab.state()).waiting == lab.queue.waiting_max
    await ask(lab, "again")


async def test_a_push_channel_gets_the_answer_as_a_reply_of_its_own(process: Process, lab: Lab) -> None:
    await ask(lab, "s", session="support:eve", delivery="push")
    await ask(lab, "t", session="support:eve", delivery="push")

    async with Bot(process, ScriptedModel()).working():
        await answered(lab, 2, "support:eve")

    first, second = await replies_of(lab, "support")
    assert first.session == "support:eve"
    assert first.text.startswith("Model: scripted")
    assert first.correlation == "c-s"
    assert first.id != second.id


async def test_many_workers_answer_a_command_once(process: Process, lab: Lab) -> None:
    bot = Bot(process, ScriptedModel())
    async with bot.working(), bot.working(), bot.working():
        for number in range(10):
            await ask(lab, f"s{number}")
        await answered(lab, 10)
        await ask(lab, "last")
        notices = await answered(lab, 11)

    assert len(notices) == 11
    assert {notice.message_id for notice in notices} == {*(f"s{number}" for number in range(10)), "last"}


async def test_an_answer_said_twice_or_late_changes_nothing(lab: Lab) -> None:
    asides = ImmediateCommands(lab.bus, lab.queue)
    await ask(lab, "s", session="support:eve", delivery="push")
    (aside,) = await asides.waiting(0)
    reply = Reply(id="support:eve#1", session="support:eve", turn=0, text="x", correlation="c")
    notice = Notice(kind="aside", text="x", time="2026-11-20T09:00:00.000Z", message_id="s")

    said = [await asides.answer(aside, notice, reply, out_channel="support") for _ in range(2)]
    after = await lab.dump()
    await lab.bus.repeat("aside.lua", back=2)

    assert said == [True, False]
    assert await lab.dump() == after
    assert len(await notices_of(lab, "support:eve")) == len(await replies_of(lab, "support")) == 1


async def test_a_worker_that_fails_at_any_call_leaves_one_answer_to_another(process: Process, lab: Lab) -> None:
    counting = FailingBus(process.bus, at=0)
    await by_two(replace(process, bus=counting), process, lab, "m0")

    for carried_out in (False, True):
        for at in range(1, counting.calls + 1):
            failing = FailingBus(process.bus, at=at, carried_out=carried_out)
            await by_two(replace(process, bus=failing), process, lab, f"m{at}-{carried_out}")

    ids = [notice.message_id for notice in await notices_of(lab)]
    assert counting.calls >= 5
    assert len(ids) == len(set(ids)) == 1 + 2 * counting.calls


async def by_two(first: Process, second: Process, lab: Lab, message_id: str) -> None:
    await ask(lab, message_id)
    for process in (first, second):
        try:
            await ImmediateAnswers(
                Bot(process, ScriptedModel()).process, Kits(process), ServerTools(process)
            )._answer_all(0)
        except BusUnavailable:
            continue


async def test_an_unreadable_command_becomes_a_dead_letter_and_a_deleted_one_nothing(process: Process, lab: Lab):
    keys = lab.bus.keys
    entry = await lab.bus.call("XADD", keys.inbox(0), "*", "session", "web:ann", "id", "b", "message", "{garbage")
    await lab.bus.call("ZADD", keys.asides(0), 0, b"web:ann " + entry, 0, "web:ann 1-1")
    await ask(lab, "s")

    async with Bot(process, ScriptedModel()).working():
        await answered(lab)

    ((_, letter),) = await lab.bus.call("XRANGE", keys.dead(0), "-", "+")
    assert (letter[b"reason"], letter[b"message"]) == (b"unreadable", b"{garbage")
    assert await lab.bus.call("EXISTS", keys.asides(0), keys.inbox(0)) == 1
    assert await lab.bus.call("XLEN", keys.inbox(0)) == 0


async def test_a_command_for_an_unknown_bot_is_left_to_another_process(process: Process, lab: Lab) -> None:
    await ask(lab, "s")
    stranger = replace(process, config=Config(queue=lab.queue, bots={"nemo": BotConfig()}))

    await ImmediateAnswers(Bot(stranger, ScriptedModel()).process, Kits(stranger), ServerTools(stranger))._answer_all(0)
    assert await notices_of(lab) == []
    async with Bot(process, ScriptedModel()).working():
        notices = await answered(lab)

    assert [notice.message_id for notice in notices] == ["s"]


async def test_what_is_said_when_a_session_parks_is_said_once_however_often_that_arrives(lab: Lab) -> None:
    await lab.publish("a", session="support:eve", delivery="push")
    notice = Notice(kind="parked", text="x", time="2026-11-20T09:00:00.000Z", message_id="a")
    reply = Reply(id="support:eve#parked-1", session="support:eve", turn=0, text="x", correlation="c")
    word = SessionNotice(notice=notice, reply=reply, out_channel="support")

    for _ in range(2):
        await lab.sessions.park(await lab.claim("support:eve"), delay_s=0.3, word=word)
        await lab.bus.repeat("release.lua")
        await lab.expire("support:eve")
    after = await lab.dump()
    await lab.bus.repeat("release.lua", back=2)

    assert await lab.dump() == after
    assert await notices_of(lab, "support:eve") == [notice]
    assert await replies_of(lab, "support") == [reply]
