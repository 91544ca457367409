"""Who talks, where: conversations on every channel, each of which says one numbered message after the other."""

import itertools
import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import anyio
import httpx2

from channels.arrival import Arrival, Sender
from daemon.sessionkey import SessionKey
from tests.chaos.marks import mark
from tests.fakes.sink import Sink
from tests.fakes.slack import FakeSlack
from tests.fakes.slack import world as slack_world
from tests.fakes.telegram import FakeTelegram
from tests.fakes.telegram import world as telegram_world
from tests.soak.mind import ASKS
from tests.soak.setting import LAKE, PUSH, SITE, TERMINAL, WORK

WEIGHTS: Mapping[str, int] = {SITE: 38, PUSH: 28, LAKE: 20, WORK: 12, TERMINAL: 2}
"""Percent of all messages that come over each channel."""

SHARES: Mapping[str, int] = {SITE: 40, PUSH: 26, LAKE: 20, WORK: 14}  # percent of all chats; the terminal has one

BALLAST_WORDS = (8, 60)  # what a message carries besides: windows are to fill
TOOL_CHANCE = 0.04
OVERHEARD_CHANCE = 0.1  # in groups something is said that is not for the bot
GROUP_EVERY = 6  # each so-many-th chat of a platform is a group
BURST = (1, 2, 2, 3)  # messages that somebody says at once; one turn answers them
TALKATIVE_SAY = 0.5
TALKATIVE_EVERY = 8  # each so-many-th chat is one where so much of all is said: these are consolidated again and again
AGAIN_S = 0.3
POST_LIMIT_S = 15.0
GONE = (httpx2.HTTPError, OSError)
PEOPLE = ("Ann", "Bob", "Cho")

Say = Callable[["Chat", str], Awaitable[None]]


@dataclass(eq=False, kw_only=True)
class Chat:
    name: str  # what its marks begin with
    channel: str
    say: Say  # says something in it, until somebody has it: the platform, or Millpond
    session: str = ""  # its key; empty before it is known
    household: str = ""  # whose memory it shares; empty: nobody's but its own. That of a group begins with that word
    ids: list[str] = field(default_factory=list[str])
    """Of what was said, in order; those of the terminal are not known here."""
    count: int = 0
    busy: bool = False

    @property
    def home(self) -> str:
        return self.household or self.name


class Crowd:
    def __init__(self, chats: Sequence[Chat], dice: random.Random) -> None:
        self.chats = chats
        self.said: Counter[str] = Counter()
        """Messages that were begun, by channel."""
        self.rest = 0
        """Of these, how many nobody has yet."""
        self._dice = dice
        self._by_channel = {name: [chat for chat in chats if chat.channel == name] for name in WEIGHTS}
        self._talkative = {name: _talkative(own) for name, own in self._by_channel.items()}

    def next(self) -> tuple[Chat, int] | None:
        """Who speaks next, and how many messages it says; None: all whom the dice look at are at it still."""
        [channel] = self._dice.choices(list(WEIGHTS), list(WEIGHTS.values()))
        among = self._talkative if self._dice.random() < TALKATIVE_SAY else self._by_channel
        chats = among[channel]
        near, far = self._dice.sample(chats, min(4, len(chats))), self._dice.sample(self.chats, 8)
        found = next((chat for chat in (*near, *far) if not chat.busy), None)
        if found is None:
            return None
        found.busy = True
        return found, self._dice.choice(BURST)

    async def speak(self, chat: Chat, count: int) -> None:
        self.rest += count
        for _ in range(count):
            text = self._text(chat)
            chat.count += 1
            self.said[chat.channel] += 1
            await chat.say(chat, text)
            self.rest -= 1
        chat.busy = False

    def _text(self, chat: Chat) -> str:
        asks = f"{ASKS} " if self._dice.random() < TOOL_CHANCE else ""
        # The mark stands first: what has no room is shown without its middle.
        return f"{mark(chat.name, chat.count)} {asks}({'why ' * self._dice.randint(*BALLAST_WORDS)})"


def _talkative(chats: Sequence[Chat]) -> Sequence[Chat]:
    """Some with one person; to groups platforms let nobody say much."""
    direct = [chat for chat in chats if not chat.household.startswith("group")]
    return direct[: max(1, len(chats) // TALKATIVE_EVERY)]


class Site:
    """The web API, of which each process has an address of its own."""

    def __init__(self, client: httpx2.AsyncClient, urls: Sequence[str], problems: list[str]) -> None:
        self.client = client
        self._urls = itertools.cycle(urls)
        self._problems = problems
        self.bad_inputs = 0

    def url(self) -> str:
        return next(self._urls)

    async def say(self, chat: Chat, text: str) -> None:
        name = f"m{chat.count:06}"
        body = {"session": chat.session, "text": text, "id": name, "user": chat.home}
        while not await self._accepted(body):  # noqa: ASYNC110 - nobody tells
            await anyio.sleep(AGAIN_S)
        chat.ids.append(name)

    async def _accepted(self, body: Mapping[str, str]) -> bool:
        try:
            answer = await self.client.post(f"{self.url()}/api/messages", json=body, timeout=POST_LIMIT_S)
        except GONE:
            return False
        if answer.status_code not in (202, 429, 503):
            self._problems.append(f"{answer.status_code} {answer.text[:200]} to a message of {body['session']}")
        return answer.status_code == 202

    BAD: Sequence[bytes] = (
        *(b"", b"{", b"[]", b"null", b'{"session": "x"}', b'{"session": "", "text": "x"}', b"\xff\xfe{}"),
        *(b'{"session": "x", "text": ""}', b'{"session": "x", "text": 7}', b'{"session": "a:b:c:d:e", "text": "x"}'),
        json.dumps({"session": "x", "text": "x" * 300_000}).encode(),
    )

    async def badly(self, number: int) -> None:
        """Hand in something that is no message; it has to be refused with a reason."""
        headers = {"Content-Type": "application/json"}
        content = self.BAD[number % len(self.BAD)]
        try:
            answer = await self.client.post(
                f"{self.url()}/api/messages", content=content, headers=headers, timeout=POST_LIMIT_S
            )
        except GONE:
            return
        self.bad_inputs += 1
        if answer.status_code != 503 and not (400 <= answer.status_code < 500 and "error" in answer.text):
            self._problems.append(f"{answer.status_code} {answer.text[:200]} to {content[:60]!r}")


def _of_site(site: Site, names: Iterator[str], count: int) -> Iterator[Chat]:
    for number in range(count):
        name = next(names)
        # Two chats of one person share a memory, now and then.
        home = f"p{number // 2}" if number % 8 < 2 else ""
        yield Chat(name=name, channel=SITE, session=f"{SITE}:{name}", say=site.say, household=home)


def _of_sink(platform: Sink, names: Iterator[str], count: int) -> Iterator[Chat]:
    orders = itertools.count(1)

    async def say(chat: Chat, text: str) -> None:
        number, group = next(orders), chat.household.startswith("group")
        who = PEOPLE[number % len(PEOPLE)] if group else chat.name
        platform.say(
            Arrival(
                seen_as=f"u{number}",
                id=f"a{number}",
                order=float(number),
                chat=chat.name,
                chat_kind="group" if group else "direct",
                sender=Sender(id=f"{who}-{chat.name}", name=who),
                text=text,
            )
        )
        chat.ids.append(f"a{number}")

    for number in range(count):
        name = next(names)
        home = f"group {name}" if number % GROUP_EVERY == 0 else ""
        yield Chat(name=name, channel=PUSH, session=f"{PUSH}:{name}", say=say, household=home)


@dataclass(frozen=True, kw_only=True)
class _OnTelegram:
    """A chat there: of one person, or a group."""

    telegram: FakeTelegram
    place: telegram_world.Chat
    people: Sequence[telegram_world.Person]
    dice: random.Random

    async def say(self, chat: Chat, text: str) -> None:
        asked = text
        if len(self.people) > 1:
            asked = f"@{self.telegram.bot.person.username} {text}"
            if self.dice.random() < OVERHEARD_CHANCE:
                self.place.say("the reeds are high this year", by=self.dice.choice(self.people))
        chat.ids.append(str(self.place.say(asked, by=self.dice.choice(self.people)).id))


def _of_telegram(telegram: FakeTelegram, names: Iterator[str], count: int, dice: random.Random) -> Iterator[Chat]:
    for number in range(count):
        group, name = number % GROUP_EVERY == 0, next(names)
        people = [telegram.person(f"{who} of {name}") for who in (PEOPLE if group else PEOPLE[:1])]
        place = telegram.group(title=name) if group else telegram.direct(people[0])
        there = _OnTelegram(telegram=telegram, place=place, people=people, dice=dice)
        session, home = str(SessionKey(channel=LAKE, chat=str(place.id))), f"group {name}" if group else ""
        yield Chat(name=name, channel=LAKE, session=session, say=there.say, household=home)


@dataclass(frozen=True, kw_only=True)
class _OnSlack:
    """A conversation there: direct messages, or one thread of a channel."""

    slack: FakeSlack
    place: slack_world.Channel
    dice: random.Random

    async def say(self, chat: Chat, text: str) -> None:
        if self.place.kind == "im":
            chat.ids.append(self.place.say(text).ts)
            chat.session = str(SessionKey(channel=WORK, chat=self.place.id))
            return
        root = SessionKey.parse(chat.session).thread if chat.session else ""
        if root and self.dice.random() < OVERHEARD_CHANCE:
            self.place.say("the reeds are high this year", thread=root)
        ts = self.place.say(f"{self.slack.bot.mention} {text}", thread=root).ts
        chat.ids.append(ts)
        # What is said in a channel is answered in a thread of it, which is a conversation of its own.
        chat.session = chat.session or str(SessionKey(channel=WORK, chat=self.place.id, thread=ts))


def _of_slack(slack: FakeSlack, names: Iterator[str], count: int, dice: random.Random) -> Iterator[Chat]:
    for number in range(count):
        threaded, name = number % 2 == 1, next(names)
        person = slack.person(f"Person {name}")
        place = slack.channel(person, name=f"lake-{name}") if threaded else slack.direct(person)
        there = _OnSlack(slack=slack, place=place, dice=dice)
        yield Chat(name=name, channel=WORK, say=there.say, household=f"group {name}" if threaded else "")


def crowd(
    count: int, dice: random.Random, *, site: Site, platform: Sink, telegram: FakeTelegram, slack: FakeSlack, typed: Say
) -> Crowd:
    """So many conversations, in their shares, and one on a terminal."""
    names = (f"s{number:03}" for number in itertools.count())
    of = {name: max(4, count * share // 100) for name, share in SHARES.items()}
    own = next(names)
    chats = [
        Chat(name=own, channel=TERMINAL, session=f"{TERMINAL}:{own}", say=typed),
        *_of_site(site, names, of[SITE]),
        *_of_sink(platform, names, of[PUSH]),
        *_of_telegram(telegram, names, of[LAKE], dice),
        *_of_slack(slack, names, of[WORK], dice),
    ]
    return Crowd(chats, dice)
