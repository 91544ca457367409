"""``/pair``, ``/ban``, ``/unban``, ``/pause`` and ``/resume`` as administrators say them, on a real server."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest
from msgspec import structs

from daemon.access import EVERYWHERE, Access, AccessEntry, PairingCodes, Pauses, Stranger, may_take
from daemon.bus import Bus, command_of
from daemon.config import GROUP_COMMANDS, AccessConfig, BotConfig
from daemon.events import Quote
from daemon.process import Process
from daemon.sessionkey import SessionKey
from daemon.testing import Gate, ScriptedModel
from tests.conftest import Lab, an_inbound
from tests.intakelab import NAME, OPEN, an_arrival, intake_of, texts, told, with_channel
from tests.integration.test_turns import Bot
from tests.limits import HANG_S, until
from tests.tables import each_row

BOSS = f"{NAME}:boss"
PAIRING = AccessConfig(policy="pairing")


class Room:
    """A channel with an agent worker behind it, and people who write there."""

    def __init__(
        self,
        process: Process,
        model: ScriptedModel,
        *,
        access: AccessConfig = PAIRING,
        groups_may: tuple[str, ...] | None = None,
    ) -> None:
        process = with_channel(process, access=access, admins=[BOSS])
        if groups_may is not None:
            bots = {"pond": structs.replace(process.bot("pond"), groups_may=groups_may)}
            process = replace(process, config=structs.replace(process.config, bots=bots))
        self.process = process
        self.model = model
        self.intake = intake_of(self.process)
        self.bus = process.bus

    @asynccontextmanager
    async def working(self) -> AsyncGenerator["Room"]:
        async with anyio.create_task_group() as tg:
            tg.start_soon(self.intake.run)
            async with Bot(self.process, self.model).working():
                yield self
            tg.cancel_scope.cancel()

    async def says(self, text: str, *, who: str = "boss", **more: Any) -> str:
        """What is answered, in the same chat, to something that is said."""
        before = {reply.id for reply in await told(self.bus)}
        arrival = an_arrival(text, who=who, **more)
        await self.intake.take(arrival)
        session = str(SessionKey(channel=NAME, chat=arrival.chat, thread=arrival.thread))
        with anyio.fail_after(HANG_S):
            while True:
                new = [each for each in await told(self.bus) if each.id not in before and each.session == session]
                if new:
                    return new[0].text
                await anyio.sleep(0.005)

    async def entries(self) -> dict[str, AccessEntry]:
        return dict(await Access(self.bus, NAME).read())


def code_in(text: str) -> str:
    found = re.search(r"/pair (\S+)", text)
    assert found
    return found[1]


@each_row(
    ("text", "command"),
    [
        *(("/pair", "pair"), ("/pair AB-12", "pair"), ("/ban 7", "ban"), ("/unban 7", "unban")),
        *(("/pause", "pause"), ("/pause all", "pause"), ("/RESUME all", "resume"), ("pause", "")),
    ],
)
def test_what_administrators_say_is_known_as_a_command(text: str, command: str) -> None:
    assert command_of(text) == command


async def test_a_stranger_is_let_in_by_the_code_and_told_so(process: Process) -> None:
    async with Room(process, ScriptedModel(then="welcome indeed")).working() as room:
        code = code_in(await room.says("hi", who="ann"))

        assert "Ann is now approved" in await room.says(f"/pair {code.lower().replace('-', ' ')}")
        assert "already been used" in await room.says(f"/pair {code}")
        assert await room.says("hi again", who="ann") == "welcome indeed"
        lines = [each.text for each in await told(process.bus) if each.session == f"{NAME}:ann"]

    assert lines[1].startswith("You have been approved")
    entry = (await room.entries())["ann"]
    assert (entry.state, entry.name, entry.by) == ("paired", "Ann", BOSS)


async def test_nobody_but_administrators_decides_anything(process: Process) -> None:
    async with Room(process, ScriptedModel(), access=OPEN).working() as room:
        for text in ("/pair ABCD-EFGH", "/ban boss", "/unban boss", "/pause", "/pause all", "/resume"):
            assert "Only this bot's administrators" in await room.says(text, who="ann")
        assert "/ban" not in await room.says("/help", who="ann")
        assert "/ban ID" in await room.says("/help")

        assert await room.entries() == {}


@pytest.mark.parametrize("listed", [None, (), ("new", "compact", "forget"), ("export", "model")])
async def test_members_of_a_group_use_the_commands_that_the_configuration_allows(
    process: Process, listed: tuple[str, ...] | None
) -> None:
    async with Room(process, ScriptedModel(), access=OPEN, groups_may=listed).working() as room:
        allowed = ("memory", "stop") if listed is None else listed
        for command in GROUP_COMMANDS:
            # Each by a member of his own, for each is told once a minute.
            said = await room.says(f"/{command}", who=f"ann-{command}", chat="-1")
            assert ("only this bot's administrators" in said) == (command not in allowed), command
            assert "dministrators" not in await room.says(f"/{command}", chat="-2"), command
        for text in ("/new", "/model"):
            assert "In groups" not in await room.says(text, who="ann"), "of the person's own chat"
        shown = re.findall("^/([a-z]+)", await room.says("/help", who="ann", chat="-1"), re.MULTILINE)
        assert set(shown) == {"status", "usage", "whoami", "help", "reminders", *allowed}
        shown = re.findall("^/([a-z]+)", await room.says("/help", chat="-1"), re.MULTILINE)
        assert {*GROUP_COMMANDS, "pair"} < set(shown)
        assert "link" not in shown


def test_members_of_a_group_take_no_memory_that_is_not_the_groups() -> None:
    bot = BotConfig(groups_may=("forget", "export"))
    kinds = ("group:web:x", "session:web:x", "person:web:ann", "workspace")
    for command in ("forget", "export"):
        inbound = an_inbound("m", chat_kind="group", command=command)
        assert [may_take(bot, inbound, f"pond:{kind}") for kind in kinds] == [True, True, False, False]


async def test_a_code_is_guessed_five_times_and_no_more(process: Process) -> None:
    async with Room(process, ScriptedModel()).working() as room:
        code = code_in(await room.says("hi", who="ann"))
        for _ in range(5):
            assert "wrong" in await room.says("/pair AAAA-AAAA")

        assert "Too many wrong codes" in await room.says(f"/pair {code}")
        assert await room.entries() == {}


async def test_a_group_is_let_in_by_an_administrator_in_it(process: Process) -> None:
    async with Room(process, ScriptedModel(then="yes")).working() as room:
        await room.intake.take(an_arrival("hello", who="ann", chat="-1"))
        assert await texts(process.bus) == []

        assert "This group is approved" in await room.says("/pair", chat="-1")
        assert await room.says("hello", who="ann", chat="-1") == "yes"
        assert "/pair CODE" in await room.says("/pair")


async def test_a_code_used_twice_by_the_same_message_lets_in_once(process: Process) -> None:
    pairing = PairingCodes(process.bus, NAME)
    code = await pairing.offer(Stranger(id="ann", name="Ann", session=f"{NAME}:ann"))
    first = await pairing.redeem(code, who="m1", by=BOSS, time="t", at="5-0")
    await Access(process.bus, NAME).decide("ann", "banned", by=BOSS, time="t", at="6-0")
    again = await pairing.redeem(code, who="m1", by=BOSS, time="t", at="5-0")
    other = await pairing.redeem(code, who="m2", by=BOSS, time="t", at="7-0")

    assert first == again == Stranger(id="ann", name="Ann", session=f"{NAME}:ann")
    assert other == "wrong"
    assert (await Access(process.bus, NAME).read())["ann"].state == "banned"


async def test_who_is_banned_is_heard_no_more_until_the_ban_is_lifted(process: Process) -> None:
    async with Room(process, ScriptedModel(then="yes"), access=OPEN).working() as room:
        assert await room.says("one", who="ann") == "yes"
        assert "ann is banned" in await room.says("/ban ann")
        assert "banned" in [entry.state for entry in (await room.intake._access.read()).values()]
        await until(room.intake._access.entries)
        await room.intake.take(an_arrival("two", who="ann"))
        assert "no longer banned" in await room.says(f"/unban {NAME}:ann")
        assert "is not banned" in await room.says("/unban ann")
        with anyio.fail_after(HANG_S):
            while (await room.intake._access.entries())["ann"].state == "banned":  # noqa: ASYNC110 - see above
                await anyio.sleep(0.005)
        assert await room.says("three", who="ann") == "yes"
        said = [entry for entry in room.model.requests if b"two" in b"".join(entry.messages)]

    assert said == []


async def test_a_ban_by_answering_a_message_is_of_whoever_wrote_it(process: Process) -> None:
    async with Room(process, ScriptedModel(), access=OPEN).working() as room:
        quote = Quote(text="spam", sender_name="Eve", sender_id="eve")
        assert "Eve (eve) is banned" in await room.says("/ban", chat="-1", quote=quote)
        assert "/ban ID" in await room.says("/ban", chat="-1", quote=Quote(text="my own"))
        assert "is an administrator" in await room.says("/ban boss")
        for text in ("/ban", "/ban @eve"):
            assert "/ban ID" in await room.says(text)

        assert {name: entry.state for name, entry in (await room.entries()).items()} == {"eve": "banned"}


async def test_a_decision_that_arrives_late_or_again_changes_nothing(process: Process) -> None:
    access = Access(process.bus, NAME)

    async def decide(state: Any, at: str) -> str:
        return await access.decide("ann", state, by="test", time="t", at=at)

    assert [await decide("banned", "9-1"), await decide("free", "10-0"), await decide("banned", "9-1")] == [
        "done",
        "done",
        "late",
    ]
    assert [await decide("free", "10-0"), await decide("free", "11-0")] == ["done", "none"]
    assert (await access.read())["ann"].state == "free"


async def test_what_a_hand_has_spoilt_counts_as_nothing(process: Process) -> None:
    await process.bus.call("HSET", process.bus.keys.access(NAME), "ann", "{", "bob", "[]")
    access = Access(process.bus, NAME)

    assert await access.entries() == {}
    assert await access.decide("ann", "banned", by="test", time="t") == "done"
    assert set(await access.entries()) == {"ann"}


async def test_what_is_written_in_a_pause_is_kept_told_once_and_answered_after(process: Process) -> None:
    queue = structs.replace(process.config.queue, wakeup_s=3_600.0, backoff_max_s=3_600.0)
    process = replace(process, config=structs.replace(process.config, queue=queue))
    async with Room(process, ScriptedModel("one", "two"), access=OPEN).working() as room:
        assert "paused in this chat" in await room.says("/pause")
        assert "already paused" in await room.says("/pause")
        assert "I am currently paused" in await room.says("a", thread="5")
        await room.intake.take(an_arrival("b", who="boss", thread="5"))
        assert await room.says("/status")
        assert room.model.requests == []
        with anyio.fail_after(HANG_S):
            assert "I am active in this chat again" in await room.says("/resume")
            while len(room.model.requests) < 2:  # noqa: ASYNC110 - it happens in the worker
                await anyio.sleep(0.005)
        assert "I am not paused" in await room.says("/resume")
        replies = [each.text for each in await told(process.bus)]

    assert sum("I am currently paused" in text for text in replies) == 1
    assert {"one", "two"} <= set(replies)


async def test_a_pause_of_one_chat_leaves_others_alone_and_one_of_all_does_not(process: Process) -> None:
    async with Room(process, ScriptedModel(then="yes"), access=OPEN).working() as room:
        await room.says("/pause", chat="-1", thread="7")
        assert "I am currently paused" in await room.says("hi", who="ann", chat="-1", thread="8")
        assert await room.says("hi", who="ann") == "yes"
        assert "all my chats" in await room.says("/pause all")
        assert "I am currently paused" in await room.says("hi", who="bob")
        assert "To end the pause, send /resume all" in await room.says("/resume")
        await room.says("/resume all")
        with anyio.fail_after(HANG_S):
            while "yes" not in [each.text for each in await told(process.bus) if each.session == f"{NAME}:bob"]:  # noqa: ASYNC110 - as above
                await anyio.sleep(0.005)
        assert "/pause and /resume apply to this chat" in await room.says("/pause for a while")

        assert await texts(process.bus) == ["hi"]


async def test_a_pause_costs_no_attempt_and_a_stop_is_obeyed_in_it(process: Process, lab: Lab) -> None:
    room = Room(process, ScriptedModel(then="yes"), access=OPEN)
    await Pauses(process.bus, process.config.queue).pause("pond", EVERYWHERE, by="test", time="t")
    async with room.working():
        assert "I am currently paused" in await room.says("hi", who="ann")
        for _ in range(2 * process.config.queue.attempts_max):
            seen = (await lab.state(f"{NAME}:ann")).claims
            await lab.expire(f"{NAME}:ann")
            await until(lambda seen=seen: _claimed_since(lab, seen))
        lines = [each.text for each in await told(process.bus)]
        assert sum("I am currently paused" in text for text in lines) == 1
        assert "[stopped]" in await room.says("/stop", who="ann")

        assert await process.bus.call("EXISTS", process.bus.keys.dead(0)) == 0
        assert room.model.requests == []


async def _claimed_since(lab: Lab, claims: int) -> bool:
    state = await lab.state(f"{NAME}:ann")
    return state.claims > claims and not state.worker


async def test_what_has_begun_goes_on_to_its_end_in_a_pause(process: Process) -> None:
    gate = Gate()
    async with Room(process, ScriptedModel([gate, "done"], "later"), access=OPEN).working() as room:
        await room.intake.take(an_arrival("hi", who="ann"))
        await gate.reached()
        await room.says("/pause all")
        gate.open()
        with anyio.fail_after(HANG_S):
            while "done" not in [each.text for each in await told(process.bus)]:  # noqa: ASYNC110 - as above
                await anyio.sleep(0.005)
        assert "I am currently paused" in await room.says("more", who="ann")


async def test_a_pause_that_arrives_late_or_again_changes_nothing(bus: Bus, process: Process) -> None:
    pauses, chat = Pauses(bus, process.config.queue), f"{NAME}:ann"
    session = SessionKey.parse(chat)

    assert await pauses.pause("pond", chat, by="t", time="t", at="5-0") == "done"
    assert await pauses.of("pond", session) == "5-0"
    assert await pauses.resume("pond", chat, by="t", time="t", at="6-0") == "done"
    assert await pauses.pause("pond", chat, by="t", time="t", at="5-0") == "late"
    assert await pauses.resume("pond", chat, by="t", time="t", at="6-0") == "done"
    assert await pauses.of("pond", session) == ""


async def test_usage_tells_administrators_what_all_used(process: Process) -> None:
    async with Room(process, ScriptedModel(then="yes"), access=OPEN).working() as room:
        await room.says("hi", who="ann")

        assert "All users of this bot: " in await room.says("/usage")
        assert "All users of this bot: " not in await room.says("/usage", who="ann")
