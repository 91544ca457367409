"""Real processes on a fake Slack, killed at any point: no event lost, none answered twice, no reply said twice."""

import random
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from daemon.sessionkey import SessionKey
from tests.fakes.openai_server import FakeOpenAI, Say, fake_openai
from tests.fakes.said import said as words_of
from tests.fakes.slack import Call, Channel, Cut, FakeSlack, Refuse, every, fake_slack
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
type = "slack"
bot_token = "{bot}"
base_url = "{slack}"
send_timeout_s = 0.7
streaming = {streaming}
typing = {streaming}
{heard}
[channels.lake.access]
policy = "open"
"""


@dataclass(eq=False)
class Talk:
    """A conversation: direct messages, or a thread of a channel, which its first message begins."""

    slack: FakeSlack
    chat: Channel
    root: str = ""
    said: list[str] = field(default_factory=list[str])  # ids of what was said

    def say(self, text: str) -> None:
        asked = text if self.chat.kind == "im" else f"{self.slack.bot.mention} {text}"
        self.said.append(self.chat.say(asked, thread=self.root).ts)
        if self.chat.kind != "im":
            self.root = self.said[0]

    @property
    def session(self) -> str:
        return str(SessionKey(channel=NAME, chat=self.chat.id, thread=self.root))

    def shown(self) -> list[str]:
        return self.chat.texts(thread=self.root)


@dataclass(kw_only=True)
class Lake(Pond):
    """Processes on one data directory, and what stands around them."""

    slack: FakeSlack
    talks: list[Talk] = field(default_factory=list[Talk])

    def talk(self, number: int) -> Talk:
        """One more conversation: of direct messages, or in a channel, where each question is two events."""
        person = self.slack.person(f"Person {number}")
        direct = number % 2 == 0
        chat = self.slack.direct(person) if direct else self.slack.channel(person, name=f"lake-{number}")
        self.talks.append(Talk(self.slack, chat))
        return self.talks[-1]

    async def first(self) -> Daemon:
        """A replica of the role channels that leads everything, and hears."""
        daemon = await self.start("channels")
        if not self.slack.app.url:
            await self.slack.connected(within_s=HANG_S)
        await self.led(NAME)
        return daemon

    async def all_answered(self) -> None:
        """Wait until everything that was told is taken, every question answered, and every answer shown."""
        await self.slack.settled(within_s=HANG_S)
        with anyio.fail_after(HANG_S):
            for talk in self.talks:
                while not set(talk.said) <= set((await self.replies(talk.session))[0]):  # noqa: ASYNC110 - looked up
                    await anyio.sleep(0.05)
                _, texts = await self.replies(talk.session)
                await self.slack.until(lambda talk=talk, texts=texts: set(texts) <= set(talk.shown()), within_s=HANG_S)

    async def see_all_is_well(self, *, in_order: bool = True) -> None:
        """Each question answered by one turn, each answer shown once and in order, and nothing else shown.

        What is repeated since nobody had acknowledged it comes behind what was said later: where that may have
        happened, questions need not be in order.
        """
        for talk in self.talks:
            answered, texts = await self.replies(talk.session)
            assert max(Counter(answered).values(), default=0) <= 1, f"answered twice in {talk.session}"
            assert sorted(answered) == talk.said, f"lost in {talk.session}"
            assert answered == talk.said or not in_order, f"out of order in {talk.session}"
            # What may still be under way is the end of something that was shown while it was written.
            with suppress(TimeoutError):
                await self.slack.until(lambda talk=talk, texts=texts: talk.shown() == texts, within_s=HANG_S)
            assert talk.shown() == texts
        assert self.slack.oddities() == []


@asynccontextmanager
async def lake(
    tmp_path: Path, *, model: FakeOpenAI, streaming: bool = False, port: int | None = None
) -> AsyncGenerator[Lake]:
    """A data directory with one worker; adapters are started by the test. With ``port`` events are brought there."""
    async with fake_slack(floods=False, repeat_s=1.0) as slack:
        heard = f'app_token = "{slack.app.token}"'
        if port is not None:
            slack.app.url, slack.brought_at = "https://millpond.example/slack", f"http://127.0.0.1:{port}"
            events = f'[channels.lake.events]\nurl = "{slack.app.url}"\nport = {port}'
            heard = f'signing_secret = "{slack.app.signing_secret}"\n{events}'
        config = CONFIG.format(
            data=tmp_path / "data",
            lease_s=LEASE_S,
            model=model.base_url,
            bot=slack.bot.token,
            slack=slack.base_url,
            streaming=str(streaming).lower(),
            heard=heard,
        )
        async with pond(tmp_path / "data", config) as (folder, bus), Lake(folder=folder, bus=bus, slack=slack) as here:
            yield here


def slowly(body: dict[str, object]) -> Say:
    words = " ".join(words_of(m["content"]) for m in body["messages"][-1:])  # type: ignore[index, union-attr]
    return Say(f"You said: {words}, and so on and so forth, for a while", delay_s=0.05)


@dataclass(frozen=True)
class Point:
    when: str  # ``asked``: as the call comes; ``acted``: once that is done; ``answered``: once it is answered
    methods: tuple[str, ...]
    hearing: bool = False  # it is one of those that hear: nobody else does until it is dead
    streaming: bool = False
    lossy: bool = False  # answers to what is sent are lost now and then, so that has to be looked for


READS = ("conversations.history", "conversations.replies")
POINTS = {
    "event-told": Point("asked", ("envelope",), hearing=True),
    "name-asked": Point("asked", ("users.info",), hearing=True),
    "event-acknowledged": Point("asked", ("acknowledge",), hearing=True),
    "reply-asked": Point("asked", ("chat.postMessage",)),
    "reply-done": Point("acted", ("chat.postMessage",)),
    "reply-answered": Point("answered", ("chat.postMessage",)),
    "look-asked": Point("asked", READS, lossy=True),
    "look-answered": Point("answered", READS, lossy=True),
    "stream-begun": Point("acted", ("chat.startStream",), streaming=True),
    "preview-begun": Point("acted", ("chat.startStream", "chat.postMessage"), streaming=True),
    "preview-told": Point("acted", ("chat.appendStream", "chat.update"), streaming=True),
    "stream-ended": Point("acted", ("chat.stopStream",), streaming=True),
}


def dying(slack: FakeSlack, daemon: Daemon, point: Point, number: int) -> anyio.Event:
    """Have a process killed by its ``number``-th call of the kind; set when that was done."""
    dead, seen = anyio.Event(), 0

    def look(call: Call) -> None:
        nonlocal seen
        if call.method in point.methods and not dead.is_set():
            seen += 1
            if seen == number:
                daemon.process.kill()
                dead.set()

    if point.when == "asked":
        slack.faults.when("*", look)  # which is no fault
    elif point.when == "acted":
        slack.on_call = look
    else:
        slack.on_answered = look
    return dead


@pytest.mark.parametrize("number", [1, pytest.param(3, marks=pytest.mark.long)])
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.slow
async def test_a_replica_killed_at_any_point_loses_and_doubles_nothing(tmp_path: Path, point: str, number: int) -> None:
    await _killed_at(tmp_path, POINTS[point], number)


async def test_a_replica_killed_while_it_sends_loses_and_doubles_nothing(tmp_path: Path) -> None:
    await _killed_at(tmp_path, POINTS["reply-done"], 2)


async def _killed_at(tmp_path: Path, point: Point, number: int) -> None:
    async with (
        fake_openai(slowly if point.streaming else ()) as model,
        lake(tmp_path, model=model, streaming=point.streaming) as here,
    ):
        first = await here.first()
        if not point.hearing:
            await here.start("channels")
        dead = dying(here.slack, first, point, number)
        if point.lossy:
            here.slack.faults.when("chat.postMessage", every(3, (Cut(), Cut(acted=False))))
        talks = [here.talk(each) for each in range(6)]
        for turn in range(3):
            for talk in talks:
                talk.say(f"message {turn} of {talk.chat.id}")
            await anyio.sleep(0.15)
        with anyio.fail_after(HANG_S):
            await dead.wait()
        await here.kill(first)
        if point.hearing:
            await here.start("channels")
        for talk in talks:
            talk.say(f"the last one of {talk.chat.id}")
        await here.all_answered()

        await here.see_all_is_well(in_order=False)


async def test_a_second_replica_takes_over_when_the_lease_of_a_killed_one_has_run_out(tmp_path: Path) -> None:
    async with fake_openai() as model, lake(tmp_path, model=model) as here:
        first = await here.first()
        second = await here.start("channels")
        await here.slack.connected(2, within_s=HANG_S)
        talk = here.talk(0)
        talk.say("is anybody there?")
        await here.all_answered()
        await here.all_delivered("lake")
        first.process.kill()
        await here.kill(first)
        talk.say("and now?")
        await here.all_answered()

        await here.see_all_is_well()
        assert second.process.poll() is None
        assert await here.unknown() == 0


@pytest.mark.slow
@pytest.mark.parametrize("when", ["at once", "some taken", "on the way"])
async def test_what_was_brought_to_a_replica_that_is_killed_is_brought_again(tmp_path: Path, free_port: int, when: str):
    async with fake_openai() as model, lake(tmp_path, model=model, port=free_port) as here:
        first = await here.first()
        talks = [here.talk(each) for each in range(5)]
        for turn in range(3):
            for talk in talks:
                talk.say(f"message {turn} of {talk.chat.id}")
        app = here.slack.app
        if when != "at once":
            await here.slack.until(lambda: len(app.done) >= 5, within_s=HANG_S)
        if when == "on the way":
            await anyio.sleep(0.005)  # anywhere on the way of the next one
        await here.kill(first)
        await here.start("channels")
        await here.all_answered()

        # What is brought at once is brought in no order.
        await here.see_all_is_well(in_order=False)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "streaming", [pytest.param(False, marks=pytest.mark.long, id="whole"), pytest.param(True, id="streamed")]
)
async def test_forty_seconds_of_killing_replicas_lose_and_double_nothing(tmp_path: Path, *, streaming: bool) -> None:
    dice = random.Random(20261122)
    kills = 0
    lost = every(7, (Cut(), Cut(acted=False), Refuse(), Refuse("internal_error", acted=True)))

    async with (
        fake_openai(slowly if streaming else ()) as model,
        lake(tmp_path, model=model, streaming=streaming) as here,
    ):
        here.slack.faults.when("chat.*", lost)
        replicas = [await here.start("channels") for _ in range(2)]
        talks = [here.talk(each) for each in range(12)]
        until, next_kill = anyio.current_time() + 40, anyio.current_time() + 4
        while anyio.current_time() < until:
            talk = dice.choice(talks)
            talk.say(f"message {len(talk.said)} of {talk.chat.id}")
            if anyio.current_time() >= next_kill:
                victim = dice.randrange(2)
                if dice.random() < 0.3:
                    await here.end(replicas[victim])
                else:
                    await here.kill(replicas[victim])
                replicas[victim] = await here.start("channels")
                kills, next_kill = kills + 1, anyio.current_time() + dice.uniform(1.0, 5.0)
            if dice.random() < 0.03:
                here.slack.app.again(dice.randrange(1, 5))
            if dice.random() < 0.03 and here.slack.app.sockets:
                await dice.choice(here.slack.app.sockets).disconnect(after_s=0.1)
            await anyio.sleep(dice.random() * 0.3)
        here.slack.faults.clear()
        await here.all_answered()

        await here.see_all_is_well(in_order=False)
        assert kills > 5
