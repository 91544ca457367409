"""Real processes on a fake Feishu, killed and paused at any point: no event lost, no reply shown twice."""

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
from tests.fakes.feishu import Chat, Cut, FakeFeishu, Refuse, fake_feishu
from tests.fakes.openai_server import FakeOpenAI, Say, fake_openai
from tests.fakes.platform import Call
from tests.fakes.said import said as words_of
from tests.fakes.slack import every
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
type = "feishu"
app_id = "{app}"
app_secret = "{secret}"
base_url = "{feishu}"
send_timeout_s = 0.7
streaming = {streaming}
{heard}
[channels.lake.access]
policy = "open"
"""


@dataclass(eq=False)
class Talk:
    """Direct messages, or a thread of a group, which its first message begins."""

    feishu: FakeFeishu
    chat: Chat
    root: str = ""
    said: list[str] = field(default_factory=list[str])

    def say(self, text: str) -> None:
        person = self.feishu.world.person(f"ou_{self.chat.id}", "Person")
        group = self.chat.kind == "group"
        if group and not self.root:
            self.root = self.chat.add("text", {"text": "a thread"}, by=person).id
        self.said.append(self.chat.say(text, by=person, thread=self.root, named=group).id)

    @property
    def session(self) -> str:
        return str(SessionKey(channel=NAME, chat=self.chat.id, thread=self.root))

    def shown(self) -> list[str]:
        return [each.text for each in self.chat.shown(thread=self.root)]


@dataclass(kw_only=True)
class Lake(Pond):
    feishu: FakeFeishu
    talks: list[Talk] = field(default_factory=list[Talk])

    def talk(self, number: int) -> Talk:
        chat = self.feishu.world.chat(f"oc_{number}", "group" if number % 2 else "p2p")
        self.talks.append(Talk(self.feishu, chat))
        return self.talks[-1]

    async def first(self) -> Daemon:
        """A replica of the role channels that leads everything, and hears."""
        daemon = await self.start("channels")
        if not self.feishu.app.url:
            await self.feishu.until(lambda: bool(self.feishu.sockets), within_s=HANG_S)
        await self.led(NAME)
        return daemon

    async def all_answered(self) -> None:
        await self.feishu.settled()
        with anyio.fail_after(HANG_S):
            for talk in self.talks:
                while not set(talk.said) <= set((await self.replies(talk.session))[0]):  # noqa: ASYNC110 - looked up
                    await anyio.sleep(0.05)
                _, texts = await self.replies(talk.session)
                await self.feishu.until(lambda talk=talk, texts=texts: set(texts) <= set(talk.shown()))

    async def see_all_is_well(self, *, previews: bool = False) -> None:
        """Each question answered by one turn, each answer shown once and in order, and nothing else shown.

        With ``previews``, what was begun by a process that was killed may stay, as often as it is listed.
        """
        extra = 0
        for talk in self.talks:
            answered, texts = await self.replies(talk.session)
            assert max(Counter(answered).values(), default=0) <= 1, f"answered twice in {talk.session}"
            assert sorted(answered) == sorted(talk.said), f"lost in {talk.session}"

            def whole(talk: Talk = talk, texts: list[str] = texts) -> list[str]:
                return [text for text in talk.shown() if text in texts or not previews]

            # What may still be under way is the end of something that was shown while it was written.
            with suppress(TimeoutError):
                await self.feishu.until(lambda whole=whole, texts=texts: whole() == texts)
            assert whole() == texts
            extra += len(talk.shown()) - len(texts)
        assert extra <= await self.unknown(), "something was left of which nobody knows"


@asynccontextmanager
async def lake(
    tmp_path: Path, *, model: FakeOpenAI, streaming: bool = False, port: int | None = None
) -> AsyncGenerator[Lake]:
    """A data directory with one worker; adapters are started by the test. With ``port`` events are sent there."""
    async with fake_feishu(repeat_s=1.0) as feishu:
        app, heard = feishu.app, ""
        if port is not None:
            app.url, feishu.delivered_at = "https://millpond.example/feishu", f"http://127.0.0.1:{port}"
            heard = f'encrypt_key = "{app.encrypt_key}"\n[channels.lake.events]\nurl = "{app.url}"\nport = {port}'
        config = CONFIG.format(
            data=tmp_path / "data", lease_s=LEASE_S, model=model.base_url, app=app.id, secret=app.secret,
            feishu=feishu.base_url, streaming=str(streaming).lower(), heard=heard,
        )  # fmt: skip
        async with (
            pond(tmp_path / "data", config) as (folder, bus),
            Lake(folder=folder, bus=bus, feishu=feishu) as here,
        ):
            yield here


def slowly(body: dict[str, object]) -> Say:
    words = " ".join(words_of(m["content"]) for m in body["messages"][-1:])  # type: ignore[index, union-attr]
    return Say(f"You said: {words}, and so on and so forth, for a while", delay_s=0.2)


@dataclass(frozen=True)
class Point:
    when: str  # ``asked``: as the call comes; ``acted``: once that is done; ``answered``: once it is answered
    methods: tuple[str, ...]
    hearing: bool = False  # it is one of those that hear: nobody else does until it is dead
    streaming: bool = False


SENDS = ("messages.create", "messages.reply")
POINTS = {
    "name-asked": Point("asked", ("users.get",), hearing=True),
    "reply-asked": Point("asked", SENDS),
    "reply-done": Point("acted", SENDS),
    "reply-answered": Point("answered", SENDS),
    "preview-begun": Point("acted", SENDS, streaming=True),
    "card-converted": Point("acted", ("cards.id_convert",), streaming=True),
    "preview-told": Point("acted", ("cards.content",), streaming=True),
    "stream-ended": Point("acted", ("cards.update",), streaming=True),
}


def dying(feishu: FakeFeishu, daemon: Daemon, point: Point, number: int) -> anyio.Event:
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
        feishu.faults.when("*", look)  # which is no fault
    elif point.when == "acted":
        feishu.on_call = look
    else:
        feishu.on_answered = look
    return dead


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.slow
async def test_a_replica_killed_at_any_point_loses_and_doubles_nothing(tmp_path: Path, point: str) -> None:
    await _killed_at(tmp_path, POINTS[point], 1)


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
        dead = dying(here.feishu, first, point, number)
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

        await here.see_all_is_well()


@pytest.mark.slow
async def test_a_replica_that_is_paused_for_longer_than_its_lease_doubles_nothing(tmp_path: Path) -> None:
    async with fake_openai() as model, lake(tmp_path, model=model) as here:
        first = await here.first()
        await here.start("channels")
        talks = [here.talk(each) for each in range(4)]
        for turn in range(3):
            for talk in talks:
                talk.say(f"message {turn} of {talk.chat.id}")
            first.process.send_signal(signal.SIGSTOP if turn == 0 else 0)
            await anyio.sleep(LEASE_S)
        first.process.send_signal(signal.SIGCONT)
        await here.all_answered()

        await here.see_all_is_well()


@pytest.mark.slow
async def test_what_was_sent_by_http_to_a_replica_that_is_killed_is_sent_again(tmp_path: Path, free_port: int) -> None:
    async with fake_openai() as model, lake(tmp_path, model=model, port=free_port) as here:
        first = await here.first()
        talks = [here.talk(each) for each in range(5)]
        for turn in range(3):
            for talk in talks:
                talk.say(f"message {turn} of {talk.chat.id}")
        await here.feishu.until(lambda: here.feishu.answers.count(200) >= 5)
        await here.kill(first)
        await here.start("channels")
        await here.all_answered()

        await here.see_all_is_well()


@pytest.mark.slow
async def test_twenty_seconds_of_killing_replicas_lose_and_double_nothing(tmp_path: Path) -> None:
    dice = random.Random(20261126)
    lost = every(7, (Cut(), Cut(acted=False), Refuse(), Refuse(1500, status=500)))
    async with fake_openai(slowly) as model, lake(tmp_path, model=model, streaming=True) as here:
        here.feishu.faults.when("messages.*", lost)
        replicas = [await here.start("channels") for _ in range(2)]
        talks = [here.talk(each) for each in range(8)]
        until, next_kill = anyio.current_time() + 20, anyio.current_time() + 4
        while anyio.current_time() < until:
            talk = dice.choice(talks)
            talk.say(f"message {len(talk.said)} of {talk.chat.id}")
            if anyio.current_time() >= next_kill:
                victim = dice.randrange(2)
                await here.kill(replicas[victim])
                replicas[victim] = await here.start("channels")
                next_kill = anyio.current_time() + dice.uniform(2.0, 5.0)
            if dice.random() < 0.05 and here.feishu.sockets:
                await dice.choice(here.feishu.sockets).cut()
            await anyio.sleep(dice.random() * 0.4)
        here.feishu.faults.clear()
        await here.all_answered()

        await here.see_all_is_well(previews=True)
