"""Reminders: each occurrence fires exactly once as a turn, whatever happens; and what people and models can ask."""

import datetime as dt
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import anyio
import msgspec
import pytest

from daemon.clock import stamp
from daemon.config import AccessConfig, BotConfig, RemindersConfig, TelegramConfig
from daemon.errors import BusUnavailable
from daemon.events import Inbound
from daemon.model import Answer, ToolCall
from daemon.process import Process
from daemon.reminders import Reminders, all_reminders, change, following, id_of, prefer, preferences_of, reminder_store
from daemon.testing import FailingBus, Gate, ScriptedModel
from tests.conftest import Lab, RecordingBus, an_entry, an_inbound
from tests.integration.test_turns import Bot, notices_of, replies_of, said, worked_off
from tests.limits import HANG_S, until
from tests.remindlab import SCOPE, RemindLab, place_of
from workers.agent import reminder_sweep
from workers.agent.commands.reminder_desk import ReminderDesk
from workers.agent.reminder_sweep import LOOK_S, SOONEST_S, ReminderSweep


@pytest.fixture
def remind(process: Process, lab: Lab) -> RemindLab:
    return RemindLab(process, lab)


def calls_remind(*calls: dict[str, Any]) -> Answer:
    encoded = [msgspec.json.encode(arguments).decode() for arguments in calls]
    asked = [ToolCall(id=f"call-{at}", name="remind", arguments=text) for at, text in enumerate(encoded)]
    return Answer(text="", tool_calls=tuple(asked))


def results(log: list[Any]) -> list[str]:
    return [text for role, text in said(log) if role == "tool"]


async def test_a_changed_time_may_name_another_repetition(remind: RemindLab) -> None:
    await remind.met()
    await remind.set(when="每周三早上八点", count=3)
    (stored,) = await remind.reminders.of("web:ann")

    changed = await change(remind.reminders, stored, when="every tuesday and thursday 08:30")

    assert (changed.rule, changed.local[11:], changed.left) == ("FREQ=WEEKLY;BYDAY=TU,TH", "08:30:00", 3)


async def test_a_repetition_with_an_end_can_be_changed_into_a_single_reminder(remind: RemindLab) -> None:
    await remind.met()
    await remind.set(when="", rule="FREQ=DAILY", count=3, until="2030-01-01")
    (stored,) = await remind.reminders.of("web:ann")

    once = await change(remind.reminders, stored, rule="", when="2h")

    assert (once.rule, once.left, once.until) == ("", 0, "")


# Firing


async def test_a_fixed_text_is_sent_once_as_it_is_without_a_model(remind: RemindLab) -> None:
    session, model = "support:eve", ScriptedModel()
    await remind.met(session, delivery="push")
    before = await replies_of(remind.lab, "support")
    await remind.set("call the dentist", session=session, place=place_of(session, delivery="push"))
    await remind.time_comes(session=session)

    async with Bot(remind.with_bot(), model).working():
        await until(lambda: _turned(remind, session, 4))

    reply = (await replies_of(remind.lab, "support"))[len(before)]
    role, text = said(await remind.lab.log(session))[2]
    assert (reply.text, reply.reply_to) == ("call the dentist", "")
    assert role == "user"
    assert text.startswith("[Reminder ")
    assert text.endswith("\ncall the dentist")
    assert model.requests == []
    assert await remind.kept(session) == []


async def _turned(remind: RemindLab, session: str, head: int) -> bool:
    return (await remind.lab.state(session)).head == head and await remind.lab.is_idle(session)


async def test_a_call_to_fire_that_arrives_twice_or_late_fires_nothing(
    remind: RemindLab, recorded: RecordingBus
) -> None:
    reminders = Reminders(recorded, remind.lab.queue)
    await remind.met()
    await remind.set(when="", rule="FREQ=DAILY")
    await remind.time_comes()
    (stored,) = (await reminders.overdue(0)).reminders
    assert stored.reminder is not None
    now = await reminders.now()
    after = following(stored.reminder, now=now)

    await reminders.fire(stored, stored.reminder, after, now=now)
    await recorded.repeat("fire.lua")
    await reminders.fire(stored, stored.reminder, after, now=now)

    assert len(await remind.waiting()) == 1
    assert [reminder.due for reminder in await remind.kept()] == [after.due if after else ""]

    await remind.time_comes()  # of the next occurrence, which this late call is not about
    await recorded.repeat("fire.lua")
    assert len(await remind.waiting()) == 1


async def test_many_workers_fire_each_of_many_reminders_once(remind: RemindLab) -> None:
    sessions, each = [f"web:person-{at}" for at in range(5)], 20
    lab = Lab(remind.lab.bus, msgspec.structs.replace(remind.lab.queue, waiting_max=each, partition_max=1_000))
    remind = RemindLab(remind.process, lab)
    process = remind.with_bot(rules=RemindersConfig(written_within_days=0))
    for session in sessions:
        await remind.met(session)
        for at in range(each):
            await remind.set(f"reminder {at}", session=session)
        await remind.time_comes(session=session)

    async with anyio.create_task_group() as tg:
        for _ in range(4):
            tg.start_soon(remind.sweep, process)

    for session in sessions:
        fired = [inbound.text for inbound in await remind.waiting(session)]
        assert sorted(fired) == sorted(f"reminder {at}" for at in range(each))
        assert await remind.kept(session) == []


async def test_a_reminder_never_fires_before_its_time_on_the_servers_clock(remind: RemindLab) -> None:
    await remind.met()
    reminder = await remind.set()
    (stored,) = await remind.reminders.of("web:ann")

    # As after the clock was set back: a worker that saw it overdue calls all the same.
    fired = await remind.reminders.fire(stored, reminder, None, now=await remind.reminders.now())
    await remind.sweep()

    assert fired == "early"
    assert (await remind.waiting(), await remind.kept()) == ([], [reminder])


async def test_a_worker_looks_when_the_next_reminder_is_due_and_within_a_second(
    remind: RemindLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a reminder is never late by more than a pause and a look, however slow the machine is."""
    await remind.met()
    sweep, pauses = ReminderSweep(remind.with_bot()), list[float]()
    looks: list[float | Exception] = [0.0, 0.3, 30.0, BusUnavailable("away"), 0.0]

    async def look(_partition: int) -> float:
        found = looks.pop(0)
        if isinstance(found, Exception):
            raise ExceptionGroup("away", [found])
        return found

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if not looks:
            raise LookupError

    assert await sweep.look(0) == LOOK_S <= 1.0
    await remind.set(when="1h")
    assert 3_500 < await sweep.look(0) <= 3_600
    monkeypatch.setattr(sweep, "look", look)
    monkeypatch.setattr(reminder_sweep, "until_tick", lambda every_s: every_s)  # at a tick
    slept = SimpleNamespace(sleep=sleep, create_task_group=anyio.create_task_group)
    monkeypatch.setattr(reminder_sweep, "anyio", slept)
    with pytest.RaisesGroup(LookupError):
        await sweep.run()
    assert pauses == [SOONEST_S, 0.3, LOOK_S, LOOK_S, SOONEST_S]


async def test_whatever_fails_while_a_reminder_fires_it_fires_once(remind: RemindLab) -> None:
    """At each call in turn Redis is away, or carries the call out and its reply is lost."""
    await remind.met()
    calls = 0
    for carried_out in (False, True):
        at = 0
        while not at or at <= calls:
            await remind.set(f"{carried_out} {at}")
            await remind.time_comes()
            bus = FailingBus(remind.bus, at=at, carried_out=carried_out)
            with anyio.fail_after(HANG_S):
                try:
                    await ReminderSweep(replace(remind.with_bot(), bus=bus)).look(0)
                except* BusUnavailable:
                    pass
                calls = max(calls, bus.calls)
                await remind.sweep()
            fired = [inbound.text for inbound in await remind.waiting()]
            assert fired == [f"{carried_out} {at}"], (carried_out, at)
            await remind.lab.commit(await remind.lab.claim(), go_on=False)
            at += 1
    assert calls > 3


async def test_a_full_session_gets_its_reminder_when_there_is_room_again(remind: RemindLab) -> None:
    await remind.met()
    await remind.set()
    for at in range(remind.lab.queue.waiting_max):
        await remind.lab.publish(f"m{at}")
    await remind.time_comes()

    await remind.sweep()
    full = [inbound.reminder for inbound in await remind.waiting()]
    await remind.lab.commit(await remind.lab.claim(), go_on=False)
    await remind.sweep()

    assert full == [None] * remind.lab.queue.waiting_max
    assert (await remind.waiting())[-1].text == "tea"


async def test_a_repeated_reminder_goes_on_and_fires_once_for_all_it_missed(remind: RemindLab) -> None:
    await remind.met()
    await remind.set(when="", rule="FREQ=HOURLY", count=10)
    await remind.time_comes(ago_s=5 * 3_600)

    await remind.sweep()
    await remind.sweep()

    (reminder,) = await remind.kept()
    until_next = dt.datetime.fromisoformat(reminder.due) - await remind.reminders.now()
    assert len(await remind.waiting()) == 1
    assert 0 < until_next.total_seconds() <= 3_600
    assert reminder.left == 4


async def test_a_reminder_that_a_hand_has_spoilt_or_removed_holds_up_no_other(remind: RemindLab) -> None:
    await remind.met()
    await remind.set("spoilt")
    await remind.set("removed")
    await remind.set("fine")
    await remind.time_comes()
    key = remind.bus.keys.reminders("web:ann")
    for stored in await remind.reminders.of("web:ann"):
        if stored.reminder is not None and stored.reminder.text == "spoilt":
            await remind.bus.call("HSET", key, stored.id, "{")
        if stored.reminder is not None and stored.reminder.text == "removed":
            await remind.bus.call("HDEL", key, stored.id)

    await remind.sweep()

    assert [inbound.text for inbound in await remind.waiting()] == ["fine"]
    assert await remind.bus.call("ZCARD", remind.bus.keys.upcoming(0)) == 1


async def test_reminders_that_cannot_fire_delay_no_other_and_stay_due_for_other_workers(
    remind: RemindLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chat has too many pending messages; another process has the bot; a time zone is unknown on this machine."""
    monkeypatch.setattr(reminder_store, "PAGE", 2)
    for name in ("FULL_S", "UNKNOWN_S", "FAILED_S"):
        monkeypatch.setattr(reminder_sweep, name, 10_000.0)
    held = ("web:full", "web:lake", "web:zone")
    for session in (*held, "web:ann"):
        await remind.met(session)
        for number in range(1 if session == "web:ann" else 5):
            await remind.set(f"tea {number}", session=session)
        await remind.time_comes(session=session, ago_s=1 if session == "web:ann" else 5)
    for at in range(remind.lab.queue.waiting_max):
        await remind.lab.publish(f"m{at}", session="web:full")
    for session, spoilt in (("web:lake", {"bot": "lake"}), ("web:zone", {"zone": "Atlantis/City"})):
        for stored in await remind.reminders.of(session):
            assert stored.reminder is not None
            await remind.reminders.change(stored, msgspec.structs.replace(stored.reminder, **spoilt))

    sweep, looks = ReminderSweep(remind.with_bot()), 0
    with anyio.fail_after(HANG_S):
        while not await remind.waiting("web:ann"):
            assert await sweep.look(0) == 0.0
            looks += 1

    assert looks <= 8  # of two reminders each
    assert [len(await remind.kept(session)) for session in held] == [5, 5, 5]
    assert len((await remind.reminders.overdue(0, without=["x"] * 20)).reminders) == 2
    assert await remind.bus.call("ZCOUNT", remind.bus.keys.upcoming(0), "-inf", await remind.lab.server_ms()) == 15


async def test_a_partition_whose_server_does_not_answer_delays_no_other(
    remind: RemindLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    third = anyio.Event()

    async def look(partition: int) -> float:
        if partition == 0:
            await anyio.sleep_forever()
        looks.append(partition)
        if len(looks) == 3:
            third.set()
        return 0.0

    sweep = ReminderSweep(replace(remind.process, bus=SimpleNamespace(keys=SimpleNamespace(partitions=2))))  # type: ignore[arg-type]
    monkeypatch.setattr(sweep, "look", look)
    async with anyio.create_task_group() as tg:
        tg.start_soon(sweep.run)
        with anyio.fail_after(HANG_S):
            await third.wait()
        tg.cancel_scope.cancel()

    assert looks == [1, 1, 1]


# The turn


async def test_a_late_reminder_says_so_in_the_language_of_the_bot(remind: RemindLab) -> None:
    for language, late in (("en", "(This reminder is late. It was due on "), ("zh", "（这个提醒迟到了")):
        session = f"web:{language}"
        await remind.met(session)
        await remind.set("tea", session=session, zone="Europe/Berlin")
        await remind.time_comes(ago_s=90, session=session)
        process = remind.with_bot(language=language)
        process.clock.advance((await remind.reminders.now() - process.clock.now()).total_seconds())  # type: ignore[attr-defined]

        await worked_off_with(remind, process, ScriptedModel(), session, head=4)

        assert said(await remind.lab.log(session))[-1][1].startswith(late)


async def worked_off_with(remind: RemindLab, process: Process, model: ScriptedModel, session: str, head: int) -> None:
    async with Bot(process, model).working():
        await until(lambda: _turned(remind, session, head))


async def test_a_request_is_answered_as_a_proactive_turn_that_may_say_nothing(remind: RemindLab) -> None:
    session = "support:eve"
    await remind.met(session, delivery="push")
    before = len(await replies_of(remind.lab, "support"))
    for text, head, answer in (("any news?", 4, "Two messages."), ("the weather", 6, "NO_REPLY")):
        await remind.set(text, kind="prompt", session=session, place=place_of(session, delivery="push"))
        await remind.time_comes(session=session)
        model = ScriptedModel(answer)
        await worked_off_with(remind, remind.with_bot(), model, session, head=head)

        (request,) = model.requests
        asked = msgspec.json.decode(request.messages[-1])
        assert asked["role"] == "user"
        assert "Started by: reminder " in asked["content"]
        assert asked["content"].endswith(text)

    assert [reply.text for reply in (await replies_of(remind.lab, "support"))[before:]] == ["Two messages."]
    assert [entry.silent for entry in await remind.lab.log(session) if entry.answers][1:] == [False, True]


async def test_a_proactive_turn_is_not_shown_before_it_is_whole(remind: RemindLab) -> None:
    await remind.met()
    await remind.set("any news?", kind="prompt")
    await remind.time_comes()
    gate = Gate()
    async with Bot(remind.with_bot(), ScriptedModel(["NO", gate, "_REPLY"])).working():
        await gate.reached()
        assert await remind.bus.call("EXISTS", remind.bus.keys.live("web:ann")) == 0
        gate.open()
        await until(lambda: _turned(remind, "web:ann", 4))


async def test_a_reminder_is_a_turn_of_its_own_and_no_stop_takes_it_back(remind: RemindLab) -> None:
    await remind.met()
    gate = Gate()
    async with Bot(remind.with_bot(), ScriptedModel([gate, "never said"], then="fine")).working():
        await remind.lab.publish("a")
        await gate.reached()
        await remind.set("tea")
        await remind.time_comes()
        await until(lambda: _waits(remind, 2))
        await remind.lab.publish("s", command="stop")
        await until(lambda: _turned(remind, "web:ann", 6))

    log = await remind.lab.log()
    assert log[3].stopped
    assert said(log)[-1] == ("assistant", "tea")


async def _waits(remind: RemindLab, count: int) -> bool:
    return len(await remind.waiting()) == count


async def test_reminders_that_come_together_are_turns_one_by_one(remind: RemindLab) -> None:
    await remind.met()
    await remind.lab.publish("a", debounce_s=0.001)
    for text in ("one", "two"):
        await remind.set(text)
    await remind.time_comes()

    await worked_off_with(remind, remind.with_bot(), ScriptedModel("ok"), "web:ann", head=8)

    assert sorted(text for _, text in said(await remind.lab.log())[5::2]) == ["one", "two"]


# Bounds


async def test_what_exceeds_a_limit_is_put_off_and_never_dropped(remind: RemindLab) -> None:
    now = (await remind.reminders.now()).replace(second=0)
    quiet = f"{now - dt.timedelta(minutes=1):%H:%M}-{now + dt.timedelta(minutes=5):%H:%M}"
    rows = {
        "quiet": RemindersConfig(quiet_hours=quiet),
        "person": RemindersConfig(person_per_day=1),
        "bot": RemindersConfig(bot_per_day=1, person_per_day=0),
        "silent": RemindersConfig(written_within_days=1),
    }
    for held, rules in rows.items():
        session = f"web:{held}"
        await remind.met(session)
        for text in ("one", "two"):
            await remind.set(text, session=session)
        await remind.time_comes(session=session)
        if held == "silent":
            await _made_long_ago(remind, session)
        process = remind.with_bot(rules=rules)
        await remind.bus.call("DEL", remind.bus.keys.proactive("pond", f"{now:%Y-%m-%d}"))

        await remind.sweep(process)
        await remind.sweep(process)

        fired, kept = len(await remind.waiting(session)), await remind.kept(session)
        assert fired + len(kept) == 2, held
        assert {reminder.held for reminder in kept} == {held}
        await remind.bus.call("ZADD", remind.bus.keys.upcoming(0), *_past(session, kept))
        await remind.sweep(
            remind.with_bot(rules=RemindersConfig(person_per_day=0, bot_per_day=0, written_within_days=0))
        )
        assert (len(await remind.waiting(session)), await remind.kept(session)) == (2, []), held


async def test_all_workers_that_carry_out_a_command_give_the_same_answer(remind: RemindLab) -> None:
    """Of those, one found the reminder that another had deleted or changed, and its answer came first."""
    await remind.met()
    bot, desk = BotConfig(), ReminderDesk(remind.process)
    rows = {"pause": "is paused", "resume": "is active", "over": "has passed, so", "delete": "is deleted"}
    for number, (name, expected) in enumerate(rows.items()):
        reminder = await remind.set(name)
        action = {"over": "resume"}.get(name, name)
        (stored,) = await remind.reminders.of("web:ann")
        if action == "resume":
            past = {"due": "2020-01-01T00:00:00.000Z"} if name == "over" else {}
            await remind.reminders.change(stored, msgspec.structs.replace(reminder, paused=True, **past))
        inbound = an_inbound(f"m{number}", text=f"/remind {action} {reminder.id}")
        answers = list[str]()

        async def carry_out(
            inbound: Inbound = inbound, at: str = f"{number + 1}-0", answers: list[str] = answers
        ) -> None:
            words = inbound.text.partition(" ")[2]
            answers.append(await desk.remind_said(inbound, bot, text=words, scope=SCOPE, at=at))

        async with anyio.create_task_group() as tg:
            for _ in range(8):
                tg.start_soon(carry_out)
        await carry_out()

        assert len({*answers}) == 1, (name, {*answers})
        assert expected in answers[0]
        for stored in await remind.reminders.of("web:ann"):
            await remind.reminders.change(stored, None)


async def test_only_messages_of_people_count_as_written_also_those_that_left_redis(remind: RemindLab) -> None:
    new, old = stamp(await remind.reminders.now()), "2020-01-01T00:00:00.000Z"
    a_reminders = {"id": "reminder-k3f9ab-1795766400000", "is_reminder": True}
    rows: dict[str, tuple[list[tuple[str, dict[str, Any]]], bool]] = {
        "written": ([(old, {"id": "a"}), (new, {"id": "b"}), (new, {})], False),
        "an id like a reminder's": ([(old, {"id": "a"}), (new, {"id": "reminder-k3f9ab-1795766400000"})], False),
        "reminders alone": ([(old, {"id": "a"}), *[(new, a_reminders), (new, {})] * 70], True),
        "before many reminders": ([(new, {"id": "a"}), *[(new, a_reminders), (new, {})] * 70], False),
        "nothing": ([], True),
    }
    process = remind.with_bot(rules=RemindersConfig(written_within_days=1))
    for name, (log, is_silent) in rows.items():
        for is_archived in (False, True):
            session = f"web:{id_of(name, str(is_archived))}"
            keys = remind.bus.keys.of(session)
            entries = [
                msgspec.json.encode(msgspec.structs.replace(an_entry(0, **more), time=time)) for time, more in log
            ]
            if entries:
                await remind.bus.call("RPUSH", keys.log, *entries)
            positions = ("head", len(entries), "cursor", len(entries), "start", len(entries))
            await remind.bus.call("HSET", keys.session, "scope", SCOPE, *positions)
            if is_archived and entries:
                await process.archive.write(session, 0, entries)
                assert await process.archive.trim(session, len(entries)) == len(entries)
            await remind.set(session=session)
            await remind.time_comes(session=session)
            await _made_long_ago(remind, session)

            await remind.sweep(process)

            assert [each.held for each in await remind.kept(session)] == ["silent"] * is_silent, (name, is_archived)
            assert len(await remind.waiting(session)) == (not is_silent), (name, is_archived)


async def _made_long_ago(remind: RemindLab, session: str) -> None:
    for stored in await remind.reminders.of(session):
        assert stored.reminder is not None
        made_at = "2020-01-01T00:00:00.000Z"
        await remind.reminders.change(stored, msgspec.structs.replace(stored.reminder, made_at=made_at))


def _past(session: str, kept: Any) -> list[Any]:
    return [word for reminder in kept for word in (1, f"{session} {reminder.id}")]


async def test_a_person_who_is_no_longer_admitted_gets_no_reminder(remind: RemindLab) -> None:
    session = "support:7"
    await remind.met(session, delivery="push")
    await remind.set(session=session, place=place_of(session, delivery="push"))
    await remind.time_comes(session=session)
    bots = remind.with_bot()
    channels = {"support": TelegramConfig(bot="pond", access=AccessConfig(policy="closed"))}
    closed = replace(bots, config=msgspec.structs.replace(bots.config, channels=channels))

    await remind.sweep(closed)

    (kept,) = await remind.kept(session)
    assert (kept.held, kept.paused) == ("access", False)
    assert await remind.waiting(session) == []


async def test_a_person_can_stop_all_reminders_and_start_them_again(remind: RemindLab) -> None:
    await remind.met()
    await remind.set()
    async with Bot(remind.with_bot(), ScriptedModel()).working():
        await command(remind, 1, "/remind stop")
        await remind.time_comes()
        await until(lambda: _held(remind, "stopped"))
        texts = await command(remind, 2, "/remind 20m coffee")
        assert texts[-1].startswith("You have turned off all reminders")
        assert await remind.waiting() == []
        assert (await remind.lab.state()).head == 2
        await command(remind, 3, "/remind start")
        await until(lambda: _turned(remind, "web:ann", 4))
        assert (await preferences_of(remind.bus, "pond", "web:ann")).stopped == ""

    # Its time passed while they were stopped; it was put off, and not dropped.
    assert (said(await remind.lab.log())[-1], await remind.kept()) == (("assistant", "tea"), [])


async def _held(remind: RemindLab, held: str) -> bool:
    return [reminder.held for reminder in await remind.kept()] == [held]


# Commands and the tool


async def command(remind: RemindLab, number: int, text: str, **more: Any) -> list[str]:
    """Send a command; the texts of all notices once it is answered."""
    name: Any = text.split(maxsplit=1)[0][1:]
    session = more.get("session", "web:ann")
    await remind.lab.publish(f"c{number}", text=text, command=name, **more)
    await until(lambda: _told(remind, session, number))
    return [notice.text for notice in await notices_of(remind.lab, session)]


async def _told(remind: RemindLab, session: str, count: int) -> bool:
    return len(await notices_of(remind.lab, session)) >= count


async def test_commands_set_list_pause_and_delete_reminders(remind: RemindLab) -> None:
    await remind.met()
    async with Bot(remind.with_bot(time_zone="Asia/Shanghai"), ScriptedModel()).working():
        await command(remind, 1, "/reminders")
        await command(remind, 2, "/remind tomorrow 09:00 call the dentist")
        (kept,) = await remind.kept()
        await command(remind, 3, f"/remind pause {kept.id}")
        await command(remind, 4, "/reminders")
        await command(remind, 5, f"/remind resume {kept.id}")
        await command(remind, 6, f"/remind delete {kept.id}")
        await command(remind, 7, f"/remind delete {kept.id}")
        await command(remind, 8, "/remind at some time")
        await command(remind, 9, "/remind zone Europe/Berlin")
        texts = await command(remind, 10, "/remind ask weekdays 08:00 What is new?")

    (daily,) = await remind.kept()
    assert texts[0].startswith("This chat has no reminders.")
    assert texts[1].startswith(f"Reminder {kept.id} is set. It fires on ")
    assert kept.due.endswith("T01:00:00.000Z")
    assert "paused" in texts[3]
    assert texts[5:7] == [
        f"Reminder {kept.id} is deleted.",
        f"This chat has no reminder {kept.id}. To list the reminders in this chat, send /reminders.",
    ]
    assert texts[7].startswith("“at” is not a time.")
    assert texts[7].endswith("\nYou can also ask for a reminder in your own words, without /remind.")
    assert (daily.kind, daily.zone, daily.rule) == ("prompt", "Europe/Berlin", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR")


async def test_a_model_sets_lists_changes_and_deletes_a_reminder(remind: RemindLab) -> None:
    await remind.lab.publish("a")
    await worked_off(
        remind.with_bot(), remind.lab, ScriptedModel(calls_remind({"action": "set", "text": "tea", "at": "2h"}))
    )
    (first,) = await remind.kept()
    changes = [
        {"action": "change", "id": first.id, "text": "green tea"},
        {"action": "pause", "id": first.id},
        {"action": "list"},
    ]
    await remind.lab.publish("b")
    await worked_off(remind.with_bot(), remind.lab, ScriptedModel(*map(calls_remind, changes)))
    (second,) = await remind.kept()
    await remind.lab.publish("c")
    await worked_off(remind.with_bot(), remind.lab, ScriptedModel(calls_remind({"action": "delete", "id": first.id})))

    set_, changed, paused, listed, deleted = results(await remind.lab.log())
    assert set_.startswith(f"Reminder {first.id} is set.")
    assert (second.text, second.due, second.paused) == ("green tea", first.due, True)
    assert changed.startswith(f"Reminder {first.id} is set.")
    assert "paused" in paused
    assert "green tea" in listed
    assert deleted == f"Reminder {first.id} is deleted."
    assert await remind.kept() == []


async def test_a_model_that_sets_reminders_in_a_loop_meets_a_limit(remind: RemindLab) -> None:
    await remind.lab.publish("a")
    many = [{"action": "set", "text": f"tea {at}", "at": "2h"} for at in range(8)]

    process = remind.with_bot(rules=RemindersConfig(chat_max=5))
    await worked_off(process, remind.lab, ScriptedModel(*[calls_remind(each) for each in many]))

    refused = "Error: This chat already has the maximum of 5 reminders. Delete a reminder first."
    assert len(await remind.kept()) == 5
    assert results(await remind.lab.log())[5:] == [refused] * 3


async def test_ten_thousand_reminders_cost_a_look_no_more_calls_and_are_listed_in_one_message(
    remind: RemindLab,
) -> None:
    await remind.met()
    first = await remind.set("tea", when="2h")
    many = [msgspec.structs.replace(first, id=id_of(str(at)), text=f"tea {at}") for at in range(10_000 - 1)]
    assert len({each.id for each in many}) == len(many)
    keys = remind.bus.keys
    fields = [word for each in many for word in (each.id, each.raw)]
    await remind.bus.call("HSET", keys.reminders("web:ann"), *fields)
    await remind.bus.call("ZADD", keys.upcoming(0), *[w for each in many for w in (each.due_ms, f"web:ann {each.id}")])
    process = remind.with_bot(rules=RemindersConfig(chat_max=10_000))

    bus = FailingBus(remind.bus, at=0)
    await ReminderSweep(replace(process, bus=bus)).look(0)
    async with Bot(process, ScriptedModel()).working():
        await command(remind, 1, "/remind 20m one more")
        refused, listed = await command(remind, 2, "/reminders")

    assert bus.calls == 1
    assert refused == "This chat already has the maximum of 10000 reminders. Delete a reminder first."
    assert listed.endswith("… and 9970 more reminders")
    assert len(listed) < 4_000
    assert len([each async for each in all_reminders(remind.bus, remind.reminders)]) == 10_000


async def test_a_reminder_cannot_set_reminders(remind: RemindLab) -> None:
    await remind.met()
    await remind.set("remind me again", kind="prompt")
    await remind.time_comes()
    model = ScriptedModel(calls_remind({"action": "set", "text": "again", "at": "20m"}), "sorry")

    await worked_off_with(remind, remind.with_bot(), model, "web:ann", head=6)

    assert results(await remind.lab.log())[0].startswith(
        "Error: You are responding to a reminder, so you cannot set or change reminders now."
    )
    assert await remind.kept() == []


async def test_a_call_that_a_successor_repeats_sets_no_second_reminder(remind: RemindLab) -> None:
    """Also when the first one has fired meanwhile."""
    await remind.met()
    reminder = await remind.set()
    await remind.time_comes()
    await remind.sweep()

    again = await remind.reminders.create(reminder, asked_as=reminder.id, at_most=100)

    assert again == "again"
    assert (await remind.kept(), len(await remind.waiting())) == ([], 1)


async def test_in_a_group_only_administrators_set_reminders_and_others_in_their_direct_chat(remind: RemindLab) -> None:
    group, scopes = "web:pool", {"scope": "pond:group:web:pool"}
    await remind.met("web:ann", scope="pond:person:web:ann")
    await remind.met(group, chat_kind="group", sender_id="ann", **scopes)
    process = remind.with_bot(admins=("web:boss",))
    ask = {"action": "set", "text": "tea", "at": "2h"}
    for message_id, sender in (("a", "ann"), ("b", "boss")):
        await remind.lab.publish(message_id, session=group, chat_kind="group", sender_id=sender, **scopes)
    model = ScriptedModel(calls_remind(ask, ask | {"direct": True}), "ok", calls_remind(ask), "ok")

    await worked_off(process, remind.lab, model, group)

    refused, direct, allowed = results(await remind.lab.log(group))
    assert refused.startswith("Error: In a group, only this bot's administrators")
    assert (direct[:9], allowed[:9]) == ("Reminder ", "Reminder ")
    assert [reminder.sender_id for reminder in await remind.kept(group)] == ["boss"]
    assert [reminder.sender_id for reminder in await remind.kept("web:ann")] == ["ann"]


async def test_preferences_that_a_hand_has_spoilt_are_none(remind: RemindLab) -> None:
    await remind.bus.call("HSET", remind.bus.keys.preferences("pond"), "web:ann", "{")

    chosen = await preferences_of(remind.bus, "pond", "web:ann")
    await prefer(remind.bus, "pond", "web:ann", chosen)

    assert await remind.bus.call("EXISTS", remind.bus.keys.preferences("pond")) == 0
    assert stamp(await remind.reminders.now()) > "2026"
