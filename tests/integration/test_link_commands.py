"""``/link`` and ``/unlink`` as people say them, and jobs of processes that are killed."""

import itertools
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from daemon import forget
from daemon.access import Access
from daemon.bus import argument_of, command_of, publish
from daemon.config import BotConfig, MemoryConfig, RedisConfig
from daemon.events import Inbound, Notice
from daemon.forget import ForgetOrder
from daemon.people.link_dependencies import Link
from daemon.process import Process
from daemon.session import Claim
from tests.conftest import Lab, RecordingBus, an_inbound
from tests.cut_short import Died, DyingBus
from tests.intakelab import NAME, with_channel
from tests.peoplelab import ANN, BOB, CAT, PeopleLab, session_of
from workers.agent.commands.slash_link import LinkCommand

ROOT = Path(__file__).parents[2]
_numbers = itertools.count()


@pytest.fixture
def people(process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> PeopleLab:
    for name in ("link_job", "unlink_job", "scope_locks"):
        monkeypatch.setattr(f"daemon.people.{name}.REST_S", 0.01)
    monkeypatch.setattr("daemon.jobs.job_runner.LOOK_S", 0.01)
    return PeopleLab(process, lab)


class Chat:
    def __init__(
        self, people: PeopleLab, scope: str, *, bot: BotConfig | None = None, called: str = "", **more: Any
    ) -> None:
        self.people, self.scope, self.called, self.more = people, scope, called, more
        self.bot = bot or BotConfig()
        self.session = session_of(scope)

    async def says(self, text: str, *, dies_at: int = 0, carried_out: bool = True) -> str:
        """What is said of it, also by the successor of a worker that dies at a call to Redis, or after the last."""
        said, _ = await self.says_cut(text, dies_at=dies_at, carried_out=carried_out)
        return said

    async def says_cut(self, text: str, *, dies_at: int = 0, carried_out: bool = True) -> tuple[str, int]:
        """As ``says``, and how many calls the first worker made."""
        claim, inbound = await self.claimed(text)
        bus, said = DyingBus(self.people.bus, at=dies_at, carried_out=carried_out), ""
        with suppress(Died):
            said = (await LinkCommand(self.people.through(bus)).outcome(claim, inbound, self.bot)).text
        again = (await LinkCommand(self.people.process).outcome(claim, inbound, self.bot)).text
        assert again == said or not said or text == "/link"  # only the code is another one
        await self.people.lab.commit(claim, go_on=False)
        return again, bus.calls

    async def claimed(self, text: str) -> tuple[Claim, Inbound]:
        name = f"{self.session}-{next(_numbers)}"
        inbound = msgspec.structs.replace(
            an_inbound(name, session=self.session, **self.more),
            text=text,
            command=command_of(text),
            sender_name=self.called,
        )
        await publish(self.people.bus, inbound, scope=self.scope, config=self.people.process.config.queue)
        return await self.people.lab.claim(self.session), inbound

    async def code(self) -> str:
        found = re.search(r"/link (\w{4}-\w{4})", await self.says("/link"))
        assert found is not None
        return found[1]

    async def told(self) -> list[str]:
        """What was said in the chat of its own accord."""
        bus = self.people.bus
        found = await bus.call("XRANGE", bus.keys.notices(self.session), "-", "+")
        return [msgspec.json.decode(fields[b"notice"], type=Notice).text for _, fields in found]


async def asked(people: PeopleLab, **more: Any) -> tuple[Chat, Chat]:
    """Ann, whose code Bob has sent, and Bob."""
    ann, bob = Chat(people, ANN, **more), Chat(people, BOB, **more)
    await bob.says(f"/link {await ann.code()}")
    return ann, bob


async def nothing_is_linked(people: PeopleLab) -> bool:
    return await people.jobs.all() == [] and await people.people.links() == {}


def test_what_is_a_command() -> None:
    assert (command_of("/link"), command_of("/LINK abcd-efgh"), argument_of("/link  a b ")) == ("link", "link", "a b")
    assert (command_of("/unlink"), command_of("/unlink me")) == ("unlink", "")


async def test_two_chats_are_linked_and_separated_by_their_people(people: PeopleLab) -> None:
    await people.remember(ANN, "ann has a cat")
    await people.remember(BOB, "bob rows")
    ann, bob = Chat(people, ANN, called="Ann"), Chat(people, BOB, called="[Bob](http://x)")

    code = await ann.code()
    assert "wrong" in await bob.says("/link AAAA-BBBB")
    assert "was created in this chat" in await ann.says(f"/link {code}")
    for side, other, heard in (
        (bob, "“Ann” (web:ann)", await bob.says(f"/link {code.lower()}")),
        (ann, "“Bob http x” (web:bob)", (await ann.told())[-1]),
    ):
        assert other in heard
        assert "share one memory" in heard
        assert all(text in heard for text in ("/link yes", "/link no", "10 minutes"))
        assert await side.says("/link") == heard, "it is asked again"
    assert len(await ann.told()) == 1, "also if a worker dies and another one does it again"
    assert "waiting for “Ann” (web:ann) to confirm" in await bob.says("/link YES!")
    assert "waiting" in await bob.says("/link yes")
    assert await nothing_is_linked(people)
    assert "Both chats have confirmed" in await ann.says("/link yes")
    assert "already confirmed" in await bob.says("/link no")
    [job] = await people.jobs.all()
    await people.done(job.id)

    assert await people.text(BOB) == "- ann has a cat\n\n- bob rows\n"
    assert "or in a linked chat" in await bob.says(f"/link {await ann.code()}")

    assert "separating" in await bob.says("/unlink")
    [parting] = [job for job in await people.jobs.all() if job.kind == "unlink"]
    await people.done(parting.id)

    assert await people.text(BOB) == "- bob rows\n"
    assert "not linked to any other" in await bob.says("/unlink")


@pytest.mark.parametrize("maker_says_no", [True, False])
async def test_the_no_of_either_side_is_the_end_of_a_link(people: PeopleLab, maker_says_no: bool) -> None:
    ann, bob = await asked(people)
    side, other = (ann, bob) if maker_says_no else (bob, ann)
    await other.says("/link yes")

    assert await side.says("/link no") == "The link was rejected. Nothing was shared."

    assert (await other.told())[-1] == f"{side.session} rejected the link. Nothing was shared."
    for chat in (side, other):
        assert "already been rejected" in await chat.says("/link yes")
    assert await nothing_is_linked(people)
    assert "wrong" in await bob.says("/link AAAA-BBBB"), "the chats can ask anew"
    assert "confirm" in await bob.says(f"/link {await ann.code()}")


async def test_link_requests_that_cannot_be_confirmed_are_explained(people: PeopleLab) -> None:
    ann, bob, cat = (Chat(people, scope) for scope in (ANN, BOB, CAT))
    keys = people.bus.keys
    for text in ("/link yes", "/link no"):
        assert "no pending link request" in await ann.says(text)
    assert "no pending link request" in await ann.says("/link yes"), "a code alone is none"
    replaced, code = await ann.code(), await ann.code()
    assert "when you create a newer code" in await bob.says(f"/link {replaced}")
    await bob.says(f"/link {code}")
    assert "can be used once" in await cat.says(f"/link {code}")
    assert "already has an open link request" in await bob.says(f"/link {await cat.code()}")
    await bob.says("/link yes")
    await people.bus.call("DEL", keys.pair(code.replace("-", "")), keys.linking(ANN), keys.linking(BOB))
    for chat in (ann, bob):
        assert "expire after 10 minutes" in await chat.says("/link yes")
    await people.bus.call("HSET", keys.pair("BEFORE22"), "scope", ANN, "bot", "pond", "chat", "{}", "link", "link-1")
    await people.bus.call("PEXPIRE", keys.pair("BEFORE22"), 600_000)
    assert "before Millpond was updated" in await bob.says("/link BEFORE-22")
    assert await nothing_is_linked(people)


async def test_an_answer_that_was_sent_before_the_request_is_no_answer_to_it(people: PeopleLab) -> None:
    ann, bob = Chat(people, ANN), Chat(people, BOB)
    code = await ann.code()
    claim, inbound = await ann.claimed("/link yes")
    question = await bob.says(f"/link {code}")
    await bob.says("/link yes")

    said = (await LinkCommand(people.process).outcome(claim, inbound, ann.bot)).text

    assert "wants to link" in said
    assert "created this code" in question
    assert await nothing_is_linked(people)


async def test_chats_that_were_linked_meanwhile_are_told_so_and_merged_once(people: PeopleLab) -> None:
    await people.remember(ANN, "ann has a cat")
    await people.remember(BOB, "bob rows")
    ann, bob = await asked(people)
    await people.link(BOB, ANN)
    for chat in (ann, bob):
        await chat.says("/link yes")

    [job] = [each for each in await people.jobs.all() if not each.has_ended]
    await people.done(job.id)

    assert sorted(await people.texts(ANN) + await people.texts(BOB)) == ["ann has a cat", "ann has a cat", "bob rows"]
    for chat in (ann, bob):
        assert "are already linked and share one memory" in (await chat.told())[-1]


@pytest.mark.parametrize("first", [ANN, BOB])
async def test_nobody_is_linked_with_a_person_who_was_banned_meanwhile(people: PeopleLab, first: str) -> None:
    ann, bob = (Chat(people, scope.replace("web", NAME)) for scope in (ANN, BOB))
    people.process = with_channel(people.process)
    await bob.says(f"/link {await ann.code()}")
    early, late = (ann, bob) if first == ANN else (bob, ann)
    await early.says("/link yes")
    access = Access(people.bus, NAME)
    await access.decide(early.session.split(":")[1], "banned", by="boss", time="")

    said = await late.says("/link yes")

    assert "no longer accept messages from one of the two people" in said
    assert (await early.told())[-1] == said
    assert await nothing_is_linked(people)
    await access.decide(early.session.split(":")[1], "free", by="boss", time="")
    assert "already been rejected" in await late.says("/link yes")


@pytest.mark.parametrize("gone", [ANN, BOB])
async def test_nobody_is_linked_with_a_person_who_was_forgotten_meanwhile(people: PeopleLab, gone: str) -> None:
    ann, bob = await asked(people)
    for chat in (ann, bob) if gone == ANN else (bob, ann):
        if chat.scope != gone:
            assert "no pending link request" in await chat.says("/link yes")
            continue
        await chat.says("/link yes")
        order = ForgetOrder(whole="scope", name=gone, scopes=(gone,))
        await people.done(await forget.ForgetRequests(people.bus, people.jobs).order(order, None, name="x"))

    assert [job.kind for job in await people.jobs.all()] == ["forget"]


async def test_a_worker_that_dies_at_any_call_leaves_no_link_that_was_not_confirmed_and_none_twice(
    people: PeopleLab,
) -> None:
    most = {"code": 0, "bob": 0, "ann": 0}
    for carried_out in (False, True):
        for at in itertools.count(1):
            await people.begin_anew()
            await people.remember(ANN, "ann has a cat")
            await people.remember(BOB, "bob rows")
            ann, bob = Chat(people, ANN), Chat(people, BOB)
            _, most["code"] = await bob.says_cut(f"/link {await ann.code()}", dies_at=at, carried_out=carried_out)
            assert len(await ann.told()) == 1, at
            said, most["bob"] = await bob.says_cut("/link yes", dies_at=at, carried_out=carried_out)
            assert "waiting" in said, at
            assert await nothing_is_linked(people), at
            said, most["ann"] = await ann.says_cut("/link yes", dies_at=at, carried_out=carried_out)
            assert "Both chats have confirmed" in said, at
            [job] = await people.jobs.all()
            await people.done(job.id)
            assert await people.texts(ANN) == ["ann has a cat", "bob rows"], at
            if at > max(most.values()):
                break
    assert min(most.values()) > 2


@pytest.mark.parametrize("answer", ["/link yes", "/link no"])
async def test_copies_of_a_link_request_that_come_late_change_nothing(people: PeopleLab, answer: str) -> None:
    recording = RecordingBus(people.bus)
    people.process = replace(people.process, bus=recording)
    ann, bob = await asked(people)
    await bob.says("/link yes")
    await ann.says(answer)
    code = await ann.code()  # a newer one, which copies of the earlier request do not touch
    calls = list(recording.scripts)

    async def state() -> list[Any]:
        keys = people.bus.keys
        names = [keys.pair(code.replace("-", "")), keys.linking(ANN), keys.linking(BOB)]
        found = [await people.bus.call("HGETALL", name) for name in names]
        jobs = [(job.id, job.kind, job.status) for job in await people.jobs.all()]
        return [*found, jobs, await ann.told(), await bob.told()]

    before = await state()
    for call in (*calls, *reversed(calls)):
        await recording.arrive(*call)

    assert await state() == before


async def test_answers_that_several_workers_work_out_together_link_once(people: PeopleLab) -> None:
    await people.remember(ANN, "ann has a cat")
    await people.remember(BOB, "bob rows")
    said = [await chat.claimed("/link yes") for chat in await asked(people)]

    async with anyio.create_task_group() as tg:
        for claim, inbound in said * 3:
            tg.start_soon(LinkCommand(people.process).outcome, claim, inbound, BotConfig())

    for claim, _ in said:
        await people.lab.commit(claim, go_on=False)
    [job] = await people.jobs.all()
    await people.done(job.id)
    assert await people.texts(BOB) == ["bob rows"]
    assert await people.texts(ANN) == ["ann has a cat", "bob rows"]


async def test_groups_and_what_is_no_persons_memory_are_not_linked(people: PeopleLab) -> None:
    assert "Only direct chats" in await Chat(people, "pond:group:web:room", chat_kind="group").says("/link")
    assert "Only direct chats" in await Chat(people, CAT, chat_kind="group").says("/link")
    assert "Only direct chats" in await Chat(people, "pond:group:web:room2").says("/unlink")
    for kind, told in (("session", "one memory per conversation"), ("workspace", "one memory for all conversations")):
        bot = BotConfig(memory=MemoryConfig(scope=kind))  # type: ignore[arg-type]
        assert told in await Chat(people, f"pond:{kind}:x:{kind}", bot=bot).says("/link")
    assert await people.jobs.all() == []


async def test_what_the_configuration_links_it_parts(people: PeopleLab) -> None:
    await people.remember(ANN, "a")
    await people.remember(BOB, "b")
    await people.link(ANN, BOB)
    await people.people.note(BOB, Link(home=ANN, by="config", time=""))

    for scope in (ANN, BOB):
        assert "The configuration file links this chat to another chat" in await Chat(people, scope).says("/unlink")


async def test_all_is_said_in_chinese_too(people: PeopleLab) -> None:
    bot = BotConfig(language="zh")
    assert "你的关联码" in await Chat(people, CAT, bot=bot).says("/link")
    ann, bob = await asked(people, bot=bot)
    assert "关联码不正确" in await bob.says("/link 12345678")
    assert "想与你的聊天关联" in (await ann.told())[-1]
    assert "等待 web:ann 确认" in await bob.says("/link 同意")
    assert "已拒绝关联" in await ann.says("/link 拒绝")


@pytest.mark.parametrize("parts", [False, True])
async def test_a_job_whose_process_is_killed_is_ended_by_another(
    people: PeopleLab, redis: tuple[RedisConfig, Path], prefix: str, parts: bool
) -> None:
    wanted = None
    for at in (0, 24):  # tests/integration/test_links.py cuts it short at each call
        await people.begin_anew()
        await people.remember(ANN, "ann has a cat")
        await people.remember(BOB, "bob rows")
        if parts:
            await people.link(ANN, BOB)
            await people.remember(BOB, "bob sings")
        job = await (people.ask_to_part(BOB) if parts else people.ask(ANN, BOB))
        if at:
            killed(redis[1], people.process.data_dir, prefix, job, at)

        await people.done(job)

        wanted = wanted or await people.view()
        assert await people.view() == wanted, at


def killed(server_dir: Path, data_dir: Path, prefix: str, job: str, at: int) -> None:
    """Have another process begin a job, and kill it before its ``at``-th call."""
    arguments = [str(server_dir), str(data_dir), prefix, job, str(at)]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.job_worker", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert any(line.strip() == "here" for line in process.stdout)
        process.kill()
