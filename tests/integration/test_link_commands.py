"""``/link`` and ``/unlink`` as people say them, and jobs of processes that are killed."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from daemon.bus import argument_of, command_of, publish
from daemon.config import BotConfig, MemoryConfig, RedisConfig
from daemon.people.links import Link
from daemon.process import Process
from daemon.session import Claim
from tests.conftest import Lab, an_inbound
from tests.peoplelab import ANN, BOB, CAT, PeopleLab, session_of
from workers.agent.linking import Linking

ROOT = Path(__file__).parents[2]


@pytest.fixture
def people(process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> PeopleLab:
    for name in ("linking", "parting", "locked"):
        monkeypatch.setattr(f"daemon.people.{name}.REST_S", 0.01)
    monkeypatch.setattr("daemon.jobs.runner.LOOK_S", 0.01)
    return PeopleLab(process, lab)


class Chat:
    def __init__(self, people: PeopleLab, scope: str, *, bot: BotConfig | None = None, **more: Any) -> None:
        self.people, self.scope, self.more = people, scope, more
        self.bot = bot or BotConfig()
        self.session = session_of(scope)
        self.number = 0

    async def says(self, text: str) -> str:
        claim, inbound = await self.claimed(text)
        said = await Linking(self.people.process).said(claim, inbound, self.bot)
        # A worker that died after it: its successor says the same, and asks for nothing more.
        again = await Linking(self.people.process).said(claim, inbound, self.bot)
        assert again == said or "/link " in said  # only the code is another one
        await self.people.lab.commit(claim, go_on=False)
        return said

    async def claimed(self, text: str) -> tuple[Claim, Any]:
        self.number += 1
        name = f"{self.session}-{self.number}"
        inbound = msgspec.structs.replace(
            an_inbound(name, session=self.session, **self.more), text=text, command=command_of(text)
        )
        await publish(self.people.bus, inbound, scope=self.scope, config=self.people.process.config.queue)
        return await self.people.lab.claim(self.session), inbound

    async def code(self) -> str:
        found = re.search(r"/link (\S+) ", await self.says("/link"))
        assert found is not None
        return found[1]


def test_what_is_a_command() -> None:
    assert (command_of("/link"), command_of("/LINK abcd-efgh"), argument_of("/link  a b ")) == ("link", "link", "a b")
    assert (command_of("/unlink"), command_of("/unlink me")) == ("unlink", "")


async def test_two_chats_are_linked_and_parted_by_their_people(people: PeopleLab) -> None:
    await people.remember(ANN, "ann has a cat")
    await people.remember(BOB, "bob rows")
    ann, bob = Chat(people, ANN), Chat(people, BOB)

    code = await ann.code()
    assert "wrong" in await bob.says("/link AAAA-BBBB")
    assert "was created in this chat" in await ann.says(f"/link {code}")
    assert "The code is correct" in await bob.says(f"/link {code.lower()}")
    [job] = await people.jobs.all()
    await people.done(job.id)

    assert await people.text(BOB) == "- ann has a cat\n\n- bob rows\n"
    assert "or in a chat that is linked with this chat" in await bob.says(f"/link {await ann.code()}")

    assert "separating" in await bob.says("/unlink")
    [parting] = [job for job in await people.jobs.all() if job.kind == "unlink"]
    await people.done(parting.id)

    assert await people.text(BOB) == "- bob rows\n"
    assert "not linked with any other" in await bob.says("/unlink")


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
        assert "The configuration links" in await Chat(people, scope).says("/unlink")


async def test_all_is_said_in_chinese_too(people: PeopleLab) -> None:
    chat = Chat(people, ANN, bot=BotConfig(language="zh"))
    assert "你的关联码" in await chat.says("/link")
    assert "关联码不正确" in await chat.says("/link 12345678")


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
