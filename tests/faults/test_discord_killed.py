"""Real processes on a fake Discord, killed or paused at any point: no event lost, no reply doubled."""

import random
import signal
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from daemon.sessionkey import SessionKey
from tests.fakes.discord import Chat, Cut, FakeDiscord, Person, Refuse, fake_discord
from tests.fakes.faults import every
from tests.fakes.openai_server import FakeOpenAI, Say, fake_openai
from tests.fakes.said import said as words_of
from tests.limits import HANG_S
from tests.ponds import Pond, pond
from tests.processes import Daemon

pytestmark = pytest.mark.timeout(600)

NAME = "lake"
LEASE_S = 1.5

CONFIG = """
data_dir = "{data}"
[queue]
lease_s = {lease_s}
renew_s = 0.3
wakeup_s = 0.5
backoff_min_s = 0.1
backoff_max_s = 1.0
attempts_max = 1000
[run]
grace_s = 5.0
[bots.pond.model]
name = "fake"
base_url = "{model}"
[channels.lake]
type = "discord"
token = "{token}"
base_url = "{discord}"
send_timeout_s = 0.7
streaming = {streaming}
typing = {streaming}
[channels.lake.access]
policy = "open"
"""


@dataclass(eq=False)
class Talk:
    """A conversation: direct messages, or a thread of a server."""

    discord: FakeDiscord
    chat: Chat
    person: Person
    said: list[str] = field(default_factory=list[str])  # ids of what was said

    def say(self, text: str) -> None:
        asked = f"{self.discord.bot.person.mention} {text}" if self.chat.guild else text
        self.said.append(self.chat.say(asked, by=self.person).id)

    @property
    def session(self) -> str:
        parent = self.chat.parent
        if parent is None:
            return str(SessionKey(channel=NAME, chat=self.chat.id))
        return str(SessionKey(channel=NAME, chat=parent.id, thread=self.chat.id))


@dataclass(kw_only=True)
class Lake(Pond):
    """Processes on one data directory, and what stands around them."""

    discord: FakeDiscord
    talks: list[Talk] = field(default_factory=list[Talk])

    def talk(self, number: int) -> Talk:
        person = self.discord.person(f"Person {number}")
        direct = number % 2 == 0
        chat = self.discord.direct(person)
        if not direct:
            chat = self.discord.world.thread(self.discord.channel(f"lake-{number}"))
        self.talks.append(Talk(self.discord, chat, person))
        return self.talks[-1]

    async def first(self) -> Daemon:
        """A replica of the role channels that leads everything, and hears."""
        daemon = await self.start("channels")
        await self.discord.connected()
        await self.led(NAME)
        with anyio.fail_after(HANG_S):
            # Nobody can resume a session of which the killed replica had not yet heard.
            while not await self.bus.call("HGET", self.bus.keys.poller(NAME), "session"):  # noqa: ASYNC110 - looked up
                await anyio.sleep(0.02)
        return daemon

    async def all_answered(self) -> None:
        """Wait until everything that was told is taken, every question answered, and every answer shown."""
        await self.discord.until(lambda: not self.discord.unsettled())
        with anyio.fail_after(HANG_S):
            for talk in self.talks:
                while not set(talk.said) <= set((await self.replies(talk.session))[0]):  # noqa: ASYNC110 - looked up
                    await anyio.sleep(0.05)
                _, texts = await self.replies(talk.session)
                await self.discord.until(lambda talk=talk, texts=texts: set(texts) <= set(talk.chat.texts()))

    async def see_all_is_well(self) -> None:
        """Each question answered by one turn and in order, each answer shown once and in order, and nothing else."""
        for talk in self.talks:
            answered, texts = await self.replies(talk.session)
            assert max(Counter(answered).values(), default=0) <= 1, f"answered twice in {talk.session}"
            assert answered == talk.said, f"lost or out of order in {talk.session}"
            # What may still be under way is the end of something that was shown while it was written.
            with suppress(TimeoutError):
                await self.discord.until(lambda talk=talk, texts=texts: talk.chat.texts() == texts)
            assert talk.chat.texts() == texts
        assert self.discord.oddities() == []


@asynccontextmanager
async def lake(tmp_path: Path, *, model: FakeOpenAI, streaming: bool = False) -> AsyncGenerator[Lake]:
    """A data directory with one worker; adapters are started by the test."""
    async with fake_discord(limits=False, heartbeat_s=0.3) as discord:
        config = CONFIG.format(
            data=tmp_path / "data",
            lease_s=LEASE_S,
            model=model.base_url,
            token=discord.bot.token,
            discord=discord.base_url,
            streaming=str(streaming).lower(),
        )
        async with (
            pond(tmp_path / "data", config) as (folder, bus),
            Lake(folder=folder, bus=bus, discord=discord) as here,
        ):
            yield here


def slowly(body: dict[str, object]) -> Say:
    words = " ".join(words_of(m["content"]) for m in body["messages"][-1:])  # type: ignore[index, union-attr]
    return Say(f"You said: {words}, and so on and so forth, for a while", delay_s=0.05)


@dataclass(frozen=True)
class Point:
    when: str  # ``told``: an event is sent; ``asked``: a call comes; ``acted``: it is done; ``answered``
    method: str = ""
    streaming: bool = False
    lossy: bool = False  # answers to what is sent are lost now and then, so that has to be looked for


POINTS = {
    "event-told": Point("told"),
    "reply-asked": Point("asked", "POST messages"),
    "reply-done": Point("acted", "POST messages"),
    "reply-answered": Point("answered", "POST messages"),
    "look-asked": Point("asked", "GET messages", lossy=True),
    "look-answered": Point("answered", "GET messages", lossy=True),
    "preview-begun": Point("acted", "POST messages", streaming=True),
    "preview-told": Point("acted", "PATCH messages", streaming=True),
}


def dying(discord: FakeDiscord, daemon: Daemon, point: Point, number: int) -> anyio.Event:
    """Have a process killed at the ``number``-th time; set when that was done."""
    dead, seen = anyio.Event(), 0

    def look(found: object) -> None:
        nonlocal seen
        if getattr(found, "method", "") == point.method or (point.when == "told" and not dead.is_set()):
            seen += 1
            if seen == number:
                daemon.process.kill()
                dead.set()

    if point.when == "told":
        discord.world.on_event = look
    elif point.when == "asked":
        discord.faults.when("*", look)  # which is no fault
    elif point.when == "acted":
        discord.on_call = look
    else:
        discord.on_answered = look
    return dead


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.slow
async def test_a_replica_killed_at_any_point_loses_and_doubles_nothing(tmp_path: Path, point: str) -> None:
    await _killed_at(tmp_path, POINTS[point], 3)


async def test_a_replica_killed_while_it_sends_loses_and_doubles_nothing(tmp_path: Path) -> None:
    await _killed_at(tmp_path, POINTS["reply-done"], 2)


async def _killed_at(tmp_path: Path, point: Point, number: int) -> None:
    async with (
        fake_openai(slowly if point.streaming else ()) as model,
        lake(tmp_path, model=model, streaming=point.streaming) as here,
    ):
        first = await here.first()
        await here.start("channels")
        dead = dying(here.discord, first, point, number)
        if point.lossy:
            here.discord.faults.when("POST messages", every(3, (Cut(), Cut(acted=False))))
        talks = [here.talk(each) for each in range(4)]
        for turn in range(3):
            for talk in talks:
                talk.say(f"message {turn} of {talk.chat.id}")
            await anyio.sleep(0.15)
        with anyio.fail_after(HANG_S):
            await dead.wait()
        await here.kill(first)
        for talk in talks:
            talk.say(f"the last one of {talk.chat.id}")
        await here.all_answered()

        await here.see_all_is_well()


@pytest.mark.slow
async def test_a_replica_that_stood_still_longer_than_its_lease_doubles_nothing(tmp_path: Path) -> None:
    async with fake_openai() as model, lake(tmp_path, model=model) as here:
        first = await here.first()
        talk = here.talk(0)
        talk.say("before")
        await here.all_answered()
        before = here.discord.socket
        first.process.send_signal(signal.SIGSTOP)
        talk.say("meanwhile")
        await here.start("channels")
        await here.discord.until(lambda: here.discord.socket is not before)
        await here.all_answered()
        first.process.send_signal(signal.SIGCONT)
        talk.say("after")
        await here.all_answered()

        await here.see_all_is_well()


@pytest.mark.slow
@pytest.mark.parametrize(
    "streaming", [pytest.param(False, marks=pytest.mark.long, id="whole"), pytest.param(True, id="streamed")]
)
async def test_forty_seconds_of_killing_replicas_lose_and_double_nothing(tmp_path: Path, *, streaming: bool) -> None:
    dice = random.Random(20261122)
    kills = 0
    lost = every(7, (Cut(), Cut(acted=False), Refuse(), Refuse(500)))

    async with (
        fake_openai(slowly if streaming else ()) as model,
        lake(tmp_path, model=model, streaming=streaming) as here,
    ):
        here.discord.faults.when("POST messages", lost)
        replicas = [await here.start("channels") for _ in range(2)]
        await here.discord.connected()
        talks = [here.talk(each) for each in range(8)]
        until, next_kill = anyio.current_time() + 40, anyio.current_time() + 4
        while anyio.current_time() < until:
            talk = dice.choice(talks)
            talk.say(f"message {len(talk.said)} of {talk.chat.id}")
            if anyio.current_time() >= next_kill:
                victim = dice.randrange(2)
                await (here.end if dice.random() < 0.3 else here.kill)(replicas[victim])
                replicas[victim] = await here.start("channels")
                kills, next_kill = kills + 1, anyio.current_time() + dice.uniform(1.0, 5.0)
            if dice.random() < 0.03 and not here.discord.socket.closed.is_set():
                await here.discord.socket.reconnect()
            await anyio.sleep(dice.random() * 0.3)
        here.discord.faults.clear()
        await here.all_answered()

        await here.see_all_is_well()
        assert kills > 5
