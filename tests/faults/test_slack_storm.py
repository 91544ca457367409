"""Everything at once on Slack: people who say, edit and take back, calls that fail, sockets that break."""

import random
from collections import Counter
from typing import Any

import anyio
import pytest

from daemon.config import QueueConfig
from daemon.process import Process
from tests.fakes.slack import Channel, Cut, FakeSlack, Message, Page, Person, Refuse, fake_slack
from tests.fakes.slack import Slow as Late
from tests.integration.test_slack_walk import session, walking
from tests.limits import HANG_S
from tests.speaking import Slow, Walk

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ACTS = 60
CALLS_FAIL, WIRE_FAILS = 0.12, 0.01  # of all calls, and of all envelopes and acknowledgements

CALLS: list[Any] = [
    *(Cut(), Cut(acted=False), Cut(half=True), Page(), Late(0.3)),
    *(Refuse(retry_after=1), Refuse(error="internal_error", acted=True), Refuse(error="internal_error")),
]
WIRES: list[Any] = [Cut(), Cut(acted=False), Cut(half=True)]
QUEUE = QueueConfig(lease_s=6.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.02, backoff_max_s=0.1)


class Storm:
    """People in direct messages and in channels, who do things by the dice."""

    def __init__(self, slack: FakeSlack, seed: int) -> None:
        self.slack = slack
        self.dice = random.Random(seed)
        people = [slack.person(f"Person {number}") for number in range(4)]
        self.chats = [slack.direct(person) for person in people]
        self.chats += [slack.channel(*people, name=f"lake{number}") for number in range(3)]
        self.asked: list[Message] = []
        self.regretted: list[Message] = []

    def let_fail(self) -> None:
        for methods in ("chat.*", "conversations.*", "reactions.*", "assistant.*", "users.*"):
            self.slack.faults.when(methods, lambda _call: self._fault(CALLS, CALLS_FAIL))
        for methods in ("envelope", "acknowledge"):
            self.slack.faults.when(methods, lambda _call: self._fault(WIRES, WIRE_FAILS))

    def _fault(self, faults: list[Any], share: float) -> Any:
        return self.dice.choice(faults) if self.dice.random() < share else None

    async def blow(self) -> None:
        for number in range(ACTS):
            message = self._say(str(number))
            await anyio.sleep(self.dice.random() * 0.2)
            if message in self.asked and self.dice.random() < 0.15:
                self._change(message)
            if self.dice.random() < 0.15:
                self.slack.app.again(min(3, len(self.slack.app.done)))
            if self.slack.app.sockets and self.dice.random() < 0.05:
                await self.dice.choice(self.slack.app.sockets).cut(half=True)
            await anyio.sleep(self.dice.random() * 0.2)

    def _say(self, text: str) -> Message:
        chat = self.dice.choice(self.chats)
        by: Person = self.dice.choice([person for person in chat.members if not person.is_bot])
        if chat.kind == "im":
            return self._ask(chat.say(text, by=by))
        threads = [each.ts for each in self.asked if each.channel is chat and not each.thread]
        thread = self.dice.choice(["", *threads])
        if thread and self.dice.random() < 0.3:
            return chat.say(text, by=by, thread=thread)  # to the others there
        return self._ask(chat.say(f"{self.slack.bot.mention} {text}", by=by, thread=thread))

    def _ask(self, message: Message) -> Message:
        self.asked.append(message)
        return message

    def _change(self, message: Message) -> None:
        if self.dice.random() < 0.5:
            message.channel.edit(message, f"{message.text} or more")
        elif message.thread or message.channel.kind == "im":  # else nothing would stand where the answers hang from
            message.channel.delete(message)
            self.regretted.append(message)


def place_of(message: Message) -> tuple[Channel, str]:
    """Where a message is answered: the channel, and the thread in it."""
    direct = message.channel.kind == "im"
    return message.channel, message.thread or ("" if direct else message.ts)


async def answers(walk: Walk, place: tuple[Channel, str]) -> list[tuple[str, ...]]:
    return [entry.answers for entry in await walk.log(session(*place)) if entry.answers]


@pytest.mark.parametrize("seed", [1, 5])
async def test_in_a_storm_everybody_is_answered_once_and_every_reply_shown_once(
    process: Process, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("channels.slack.socket_mode.PAUSE_MAX_S", 1.0)
    model = Slow(pause_s=0.02, answer=lambda text: f"echo: {text} {'and so on ' * (len(text) % 7)}end")
    async with fake_slack() as slack, walking(process, slack, model=model, replicas=2) as walk:
        await slack.connected(2, within_s=HANG_S)
        storm = Storm(slack, seed)
        storm.let_fail()
        await storm.blow()
        places = {place_of(message) for message in storm.asked}
        due = {message.ts for message in storm.asked if message not in storm.regretted}

        async def is_settled() -> bool:
            replies = {place: await answers(walk, place) for place in places}
            answered = {ts for each in replies.values() for ids in each for ts in ids}
            shown = {place: len(place[0].texts(thread=place[1])) for place in places}
            return answered >= due and shown == {place: len(each) for place, each in replies.items()}

        with anyio.move_on_after(HANG_S):
            while not await is_settled():  # noqa: ASYNC110 - what is stored tells nobody
                await anyio.sleep(0.5)
        # What would be said twice, or stand there for good, has the time to show.
        await anyio.sleep(3.0)

        count = Counter([ts for place in places for ids in await answers(walk, place) for ts in ids])
        assert due - set(count) == set()
        assert [ts for ts, times in count.items() if times > 1] == []
        assert await is_settled()
        assert [message for chat in storm.chats for message in chat.shown() if message.streaming] == []
        assert slack.app.lost == []
