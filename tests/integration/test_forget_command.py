"""``/forget``: what is listed, what is chosen, who may, and that the command itself is kept nowhere."""

import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from daemon.bus import publish
from daemon.config import BotConfig
from daemon.forget.forget_requests import choice_of
from daemon.job_handlers import job_runner
from daemon.process import Process
from daemon.testing import ScriptedModel
from daemon.wording import text as say
from tests.conftest import Lab, an_inbound, dump
from tests.forgetlab import ANN, CANARY, KEPT, SCOPE, Pond, files_with, pond, stands_in, texts
from tests.integration.test_commands import notices, worked_off
from tests.limits import HANG_S
from tests.tables import each_row


@pytest.fixture
def world(process: Process, lab: Lab, tmp_path: Path) -> Pond:
    return Pond(pond(process, tmp_path / "work"), lab)


async def asked(world: Pond, message_id: str, text: str, *, session: str = ANN, scope: str = SCOPE, **more: str) -> str:
    message = an_inbound(message_id, session=session, text=text)
    message = msgspec.structs.replace(message, command="forget", **more)
    await publish(world.bus, message, scope=scope, config=world.process.config.queue)
    await worked_off(world.process, world.lab, ScriptedModel(then="ok"), session)
    return next(said for _, name, said in reversed(await notices(world.lab, session)) if name == message_id)


async def jobs_done(world: Pond) -> list[dict[str, object]]:
    """Every job that was ordered, done."""
    runner = job_runner(world.process)
    ids = [job_id.decode() for job_id in await world.bus.call("ZRANGE", world.bus.keys.jobs, 0, -1)]
    return [(await runner.until_ended(job_id, within_s=HANG_S)).report for job_id in ids]


async def test_what_is_listed_can_be_chosen_by_number_and_the_command_is_kept_nowhere(world: Pond) -> None:
    await world.turn(ANN, f"I have a {CANARY}.")
    await world.turn(ANN, f"I have a {KEPT}.", answer=f"Better than a {CANARY}!")

    listed = await asked(world, "f1", f"/forget {CANARY}")
    assert re.findall(r"(?m)^(\d+)\. messages, 2026-11-20: (.*)$", listed) == [
        ("1", f"Better than a {CANARY}!"),
        ("2", f"I have a {CANARY}."),
    ]
    assert await asked(world, "f2", "/forget 2") == say("forget_began", "en")
    [report] = await jobs_done(world)

    log = texts(await world.lab.log(ANN))
    assert (f"I have a {CANARY}." in log, f"Better than a {CANARY}!" in log, "/forget" in log) == (False, True, False)
    assert report["removed"] == {"messages": 1, "notices": 1}
    told = [text for kind, _, text in await notices(world.lab) if kind == "aside"]
    assert told[-1].startswith("The text was forgotten. Deleted:\n- messages: 1\n- notices: 1\n")
    assert "backups" in told[-1]

    await asked(world, "f3", f"/forget {CANARY}")
    await asked(world, "f4", "/forget all")
    await jobs_done(world)

    everything = await dump(world.bus)
    assert not [key for key, value in everything.items() if stands_in(value, CANARY) or stands_in(value, "/forget")]
    assert not files_with(CANARY, world.workspace, world.process.data_dir)


@each_row(
    ("argument", "kind", "numbers"),
    [
        ("", "nothing", ()),
        ("Berlin", "text", ()),
        ("all", "all", ()),
        ("ALL", "all", ()),
        ("全部", "all", ()),
        ("1", "numbers", (1,)),
        ("1 3", "numbers", (1, 3)),
        ("1, 3，3、2", "numbers", (1, 3, 2)),
        ("１ ３", "numbers", (1, 3)),
        ("1 Berlin", "text", ()),
        ("2026", "text", ()),
        ("x", "short", ()),
        ("茶", "text", ()),
        ("x" * 501, "long", ()),
    ],
)
def test_an_argument_is_a_text_or_a_choice(argument: str, kind: str, numbers: tuple[int, ...]) -> None:
    choice = choice_of(argument)

    assert (choice.kind, choice.numbers) == (kind, numbers)


async def test_what_cannot_be_done_is_told(world: Pond) -> None:
    await world.turn(ANN, f"I have a {CANARY}.")

    assert await asked(world, "f1", "/forget") == say("forget_how", "en")
    assert await asked(world, "f2", "/forget 1") == say("forget_stale", "en")
    assert await asked(world, "f3", "/forget all") == say("forget_stale", "en")
    assert await asked(world, "f4", "/forget x") == say("forget_length", "en", most=500)
    assert await asked(world, "f5", "/forget nothing of that kind") == say("forget_none", "en")
    await asked(world, "f6", f"/forget {CANARY}")
    assert await asked(world, "f7", "/forget 2") == say("forget_number", "en", number=2, count=1)
    assert await asked(world, "f8", "/forget 0 1") == say("forget_number", "en", number=0, count=1)
    assert await jobs_done(world) == []


async def test_what_is_not_the_senders_alone_only_administrators_forget(world: Pond) -> None:
    refused = say("admins_only", "en")
    group, groups = "web:club", "pond:group:web:club"

    assert await asked(world, "f1", "/forget tea", session=group, scope=groups, chat_kind="group") == refused
    assert await asked(world, "f2", "/forget tea", session="web:eve", scope="pond:workspace") == refused
    assert await asked(world, "f3", "/forget tea", session="web:mae", scope="pond:session:web:mae") != refused
    club = await asked(world, "f5", "/forget tea", session="web:pub", scope=SCOPE, chat_kind="group")
    assert club == refused
    bots = {"pond": msgspec.structs.replace(world.process.config.bots["pond"], admins=("web:ann",))}
    assert isinstance(bots["pond"], BotConfig)
    config = msgspec.structs.replace(world.process.config, bots=bots)
    world.process = replace(world.process, config=config)
    assert await asked(world, "f4", "/forget tea", session=group, scope=groups, chat_kind="group") != refused


async def test_nobody_chooses_from_the_list_of_another(world: Pond) -> None:
    session, scope = "web:eve", "pond:session:web:eve"
    await world.bus.call("HSET", world.bus.keys.session(session), "head", 0, "scope", scope)
    message = an_inbound("m", session=session, text=f"A {CANARY}")
    await publish(world.bus, message, scope=scope, config=world.process.config.queue)
    await worked_off(world.process, world.lab, ScriptedModel(then="ok"), session)

    assert CANARY in await asked(world, "f1", f"/forget {CANARY}", session=session, scope=scope)
    assert await asked(world, "f2", "/forget all", session=session, scope=scope, sender_id="mallory") == say(
        "forget_stale", "en"
    )


async def test_a_command_that_kills_its_workers_leaves_no_letter(world: Pond) -> None:
    await world.inbound(ANN, f"/forget {CANARY}", command="forget")
    message = (await world.lab.claim(ANN)).begun.waiting[0].inbound
    assert message is not None
    for _ in range(world.process.config.queue.attempts_max + 1):
        await world.bus.call("HSET", world.bus.keys.session(ANN), "lease", 1, "attempts", 9)
        await world.lab.expire(ANN)
    await worked_off(world.process, world.lab, ScriptedModel(then="ok"), ANN)

    assert await world.lab.is_idle(ANN)
    assert not [key for key, value in (await dump(world.bus)).items() if stands_in(value, CANARY)]
