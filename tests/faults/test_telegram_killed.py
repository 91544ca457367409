"""Real processes on a fake Bot API, killed at any point: no update is lost, and none is answered twice."""

import random
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from tests.fakes.openai_server import FakeOpenAI, Say, fake_openai
from tests.fakes.said import said as words_of
from tests.fakes.telegram import Call, Chat, FakeTelegram, fake_telegram
from tests.limits import HANG_S
from tests.ponds import Pond, pond
from tests.ports import free_port
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
type = "telegram"
token = "{token}"
base_url = "{telegram}"
send_timeout_s = 0.7
debounce_s = 0
streaming = {streaming}
typing = {streaming}
[channels.lake.access]
policy = "open"
"""


@dataclass(kw_only=True)
class Lake(Pond):
    """Processes on one data directory, and what stands around them."""

    telegram: FakeTelegram
    said: dict[Chat, list[str]] = field(default_factory=dict[Chat, list[str]])  # ids of what people said, by chat

    async def first(self) -> Daemon:
        daemon = await self.start("channels")
        await self.telegram.polled(within_s=HANG_S)
        await self.led(NAME)
        return daemon

    def say(self, chat: Chat, text: str) -> None:
        self.said.setdefault(chat, []).append(str(chat.say(text).id))

    async def answered(self, chat: Chat) -> tuple[list[str], list[str]]:
        """The ids that the turns of a chat answer, and what the turns said, in order."""
        return await self.replies(f"{NAME}:{chat.id}")

    async def all_answered(self) -> None:
        """Wait until every message is answered, and every answer is shown."""
        with anyio.fail_after(HANG_S):
            for chat, expected in self.said.items():
                while not set(expected) <= set((await self.answered(chat))[0]):  # noqa: ASYNC110 - looked up
                    await anyio.sleep(0.05)
                _, texts = await self.answered(chat)
                await self.telegram.until(
                    lambda chat=chat, texts=texts: set(texts) <= set(chat.texts()), within_s=HANG_S
                )

    async def see_all_is_well(self, *, previews: bool = False) -> None:
        """Each message answered by one turn, each answer shown once and in order, but for those that are listed."""
        extra = 0
        for chat, expected in self.said.items():
            answered, texts = await self.answered(chat)
            assert answered == expected, f"lost, doubled or out of order in {chat.id}"
            shown = [text for text in chat.texts() if text in texts or not previews]
            extra += len(chat.texts()) - len(texts)
            assert list(dict.fromkeys(shown)) == texts
            assert max(Counter(shown).values(), default=0) <= 2
        assert extra <= await self.unknown(), "something was said twice, and nobody knows"


@asynccontextmanager
async def lake(tmp_path: Path, *, model: FakeOpenAI, streaming: bool = False, more: str = "") -> AsyncGenerator[Lake]:
    """A data directory with one worker; adapters are started by the test. ``more``: of the configuration."""
    async with fake_telegram(floods=False) as telegram:
        config = CONFIG.format(
            data=tmp_path / "data",
            lease_s=LEASE_S,
            model=model.base_url,
            token=telegram.bot.token,
            telegram=telegram.base_url,
            streaming=str(streaming).lower(),
        )
        async with (
            pond(tmp_path / "data", config + more) as (folder, bus),
            Lake(folder=folder, bus=bus, telegram=telegram) as here,
        ):
            yield here


def _handed_out(call: Call) -> bool:
    return call.method == "getUpdates" and bool(call.answer.get("result"))


def _confirming(call: Call) -> bool:
    return call.method == "getUpdates" and bool(call.params.get("offset"))


def _sending(call: Call) -> bool:
    return call.method.startswith("sendM") or call.method.startswith("sendR")


POINTS: dict[str, tuple[str, Callable[[Call], bool]]] = {
    "updates-written": ("acted", _handed_out),
    "updates-read": ("answered", _handed_out),
    "confirmation-asked": ("asked", _confirming),
    "reply-asked": ("asked", _sending),
    "reply-done": ("acted", _sending),
    "reply-answered": ("answered", _sending),
}
"""When the replica dies: as its call comes, once that is done, once it is answered; and which call."""


def dying(telegram: FakeTelegram, daemon: Daemon, point: str, number: int) -> anyio.Event:
    """Have a process killed by its ``number``-th call of the kind; set when that was done."""
    when, which = POINTS[point]
    dead, seen = anyio.Event(), 0

    def look(call: Call) -> None:
        nonlocal seen
        if which(call) and not dead.is_set():
            seen += 1
            if seen == number:
                daemon.process.kill()
                dead.set()

    if when == "asked":
        telegram.faults.when("*", look)  # which is no fault
    elif when == "acted":
        telegram.on_call = look
    else:
        telegram.on_answered = look
    return dead


@pytest.mark.parametrize("number", [1, pytest.param(3, marks=pytest.mark.long)])
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.slow
async def test_a_replica_killed_at_any_point_loses_and_doubles_nothing(tmp_path: Path, point: str, number: int) -> None:
    await _killed_at(tmp_path, point, number)


async def test_a_replica_killed_while_it_sends_loses_and_doubles_nothing(tmp_path: Path) -> None:
    await _killed_at(tmp_path, "reply-done", 2)


async def _killed_at(tmp_path: Path, point: str, number: int) -> None:
    async with fake_openai() as model, lake(tmp_path, model=model) as here:
        first = await here.first()
        await here.start("channels")
        dead = dying(here.telegram, first, point, number)
        chats = [here.telegram.direct(here.telegram.person(f"Person {n}")) for n in range(6)]
        for turn in range(3):
            for chat in chats:
                here.say(chat, f"message {turn} of {chat.id}")
            await anyio.sleep(0.15)
        with anyio.fail_after(HANG_S):
            await dead.wait()
        await here.kill(first)
        for chat in chats:
            here.say(chat, f"the last one of {chat.id}")
        await here.all_answered()

        await here.see_all_is_well()
        assert here.telegram.bot.updates == []


async def test_a_second_replica_takes_over_when_the_lease_of_a_killed_one_has_run_out(tmp_path: Path) -> None:
    async with fake_openai() as model, lake(tmp_path, model=model) as here:
        first = await here.first()
        second = await here.start("channels")
        ann = here.telegram.direct(here.telegram.person("Ann"))
        here.say(ann, "is anybody there?")
        await here.all_answered()
        await here.all_delivered("lake")
        await here.telegram.polled(within_s=HANG_S)
        asking = here.telegram.bot.poll
        await here.kill(first)
        # The second one may have its place by then.
        await here.telegram.until(lambda: here.telegram.bot.poll is not asking, within_s=HANG_S)
        here.say(ann, "and now?")
        await here.all_answered()

        await here.see_all_is_well()
        assert second.process.poll() is None
        assert await here.unknown() == 0


@pytest.mark.slow
@pytest.mark.parametrize("when", ["asked", "answered"])
async def test_a_webhook_killed_with_an_update_in_its_hand_is_brought_it_again(tmp_path: Path, when: str) -> None:
    port = free_port()
    hook = f'[channels.lake.webhook]\nurl = "https://millpond.example/hooks/lake"\nport = {port}\n'
    async with fake_openai() as model, lake(tmp_path, model=model, more=hook) as here:
        here.telegram.webhook_at = f"http://127.0.0.1:{port}"
        first = await here.start("channels")
        await here.telegram.until(lambda: bool(here.telegram.bot.hook.url), within_s=HANG_S)
        chats = [here.telegram.direct(here.telegram.person(f"Person {n}")) for n in range(5)]
        for turn in range(3):
            for chat in chats:
                here.say(chat, f"message {turn} of {chat.id}")
        bot = here.telegram.bot
        await here.telegram.until(lambda: len(bot.updates) <= 10, within_s=HANG_S)
        if when == "answered":
            await anyio.sleep(0.005)  # anywhere on the way of the next one
        await here.kill(first)
        await here.start("channels")
        await here.all_answered()

        await here.see_all_is_well()
        await here.telegram.until(lambda: not bot.updates, within_s=HANG_S)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "streaming", [pytest.param(False, marks=pytest.mark.long, id="whole"), pytest.param(True, id="streamed")]
)
async def test_forty_seconds_of_killing_replicas_lose_double_and_reorder_nothing(tmp_path: Path, streaming: bool):
    dice = random.Random(20261120)
    kills = 0

    def answer(body: dict[str, object]) -> Say:
        words = " ".join(words_of(m["content"]) for m in body["messages"][-1:])  # type: ignore[index, union-attr]
        return Say(f"You said: {words}, and so on and so forth, for a while", delay_s=0.05 if streaming else 0.0)

    async with fake_openai(answer) as model, lake(tmp_path, model=model, streaming=streaming) as here:
        replicas = [await here.start("channels") for _ in range(2)]
        chats = [here.telegram.direct(here.telegram.person(f"Person {n}")) for n in range(12)]
        until = anyio.current_time() + 40
        while anyio.current_time() < until:
            chat = dice.choice(chats)
            here.say(chat, f"message {len(here.said.get(chat, ()))} of {chat.id}")
            if dice.random() < 0.05:
                victim = dice.randrange(2)
                await here.kill(replicas[victim])
                replicas[victim] = await here.start("channels")
                kills += 1
            if dice.random() < 0.03:
                here.telegram.bot.again(dice.randrange(1, 5))
            await anyio.sleep(dice.random() * 0.3)
        await here.all_answered()

        await here.see_all_is_well(previews=streaming)
        assert kills > 5
