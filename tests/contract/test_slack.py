"""The adapter of Slack against a Slack as strict as its documentation."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import anyio
import pytest
from msgspec.structs import replace as replaced

from channels.base import Channel
from channels.slack import connect
from channels.testing.channel_contract import ChannelContract
from channels.testing.lab import RETRY_AFTER_S, Fault, Feature, Lab, Said, Shown
from daemon.config import AccessConfig, Config, Secret, SlackConfig, SlackEventsConfig
from daemon.process import Process
from daemon.sessionkey import SessionKey
from daemon.setup.platforms.slack_scopes import REACTION_SCOPE, SCOPES, manifest
from tests.fakes.slack import Call, Cut, FakeSlack, Hang, Message, Page, Person, Refuse
from tests.fakes.slack import Channel as Conversation
from tests.fakes.slack import Fault as Wrong
from tests.fakes.slack.texts import escaped, unescaped
from tests.limits import HANG_S
from tests.ports import free_port

NAME = "lake"
SIGNS = {"eyes": "👀", "thumbsup": "👍"}
NAMES = {sign: name for name, sign in SIGNS.items()}
REPEAT_S = HANG_S / 2  # after which what was not acknowledged over a socket comes again
BRING_AGAIN_S = 0.05  # after which what was not taken by HTTP is brought again: when nobody listens yet

WRONG: dict[Fault, Wrong] = {
    Fault.TOO_MANY: Refuse(retry_after=round(RETRY_AFTER_S)),
    Fault.SERVER_ERROR: Refuse("service_unavailable", status=503),
    Fault.PAGE: Page(),
    # In no form it would be taken.
    Fault.REJECTED: Refuse("is_archived"),
    Fault.CUT_BEFORE: Cut(acted=False),
    Fault.CUT_AFTER: Cut(),
    Fault.HANG: Hang(),
    Fault.STALL: Hang(half=True),
}
FILES: dict[str, dict[str, str]] = {
    "document": {},
    "image": {"mimetype": "image/png"},
    "voice": {"mimetype": "audio/mp4", "subtype": "slack_audio"},
    "audio": {"mimetype": "audio/mpeg"},
    "video note": {"mimetype": "video/mp4", "subtype": "slack_video"},
}
DOES = ("chat.", "reactions.", "assistant.", "files.", "download", "conversations.")
HEARS = ("apps.connections.open",)


class SlackLab(Lab):
    missing = frozenset({Feature.QUOTING, Feature.ALBUMS, Feature.LENDING, Feature.VOICES})
    recordings = ("voice", "audio", "video note")
    files_max = 10

    def __init__(
        self, slack: FakeSlack, process: Process, closing: tuple[anyio.CancelScope, anyio.Event], config: SlackConfig
    ) -> None:
        super().__init__()
        self.slack = slack
        self._config = config
        self._process = replace(process, config=Config(queue=process.config.queue, channels={NAME: self._config}))
        self._server, self._closed = closing
        self._people: dict[str, Person] = {}
        self.workspace = self._process.workspace("pond")
        self.chat = SessionKey(channel=NAME, chat=self._direct("1001").id)
        self._lake = slack.channel(self._person("1001"), self._person("2002"))
        self.group = SessionKey(channel=NAME, chat=self._lake.id)
        # An answer is shown being written in threads alone; this one began before anybody listened.
        self._root = self._lake.say("Somebody began a thread.").ts
        slack.app.waiting.clear()
        slack.faults.when("*", self._decide)

    @asynccontextmanager
    async def again(self) -> AsyncIterator[Channel]:
        async with connect(self._process, NAME, self._config) as channel:
            yield channel

    def a_chat(self, number: int) -> str:
        return self._direct(str(5_000 + number)).id

    def shown(self, chat: SessionKey) -> list[Shown]:
        return [
            Shown(
                id=message.ts,
                text=_read(message),
                files=tuple(file.name for file in message.files),
                buttons=tuple(message.labels),
            )
            for message in self._chat(chat.chat).shown(thread=chat.thread)
        ]

    def known_as(self, sender: str) -> str:
        return self._person(sender).id

    @property
    def typed_in(self) -> SessionKey:
        return SessionKey(channel=NAME, chat=self._lake.id, thread=self._root)

    async def begin_thread(self) -> str:
        return self._lake.say("Somebody began a thread.").ts

    def thread_outside(self, message_id: str) -> str:
        return message_id

    def typings(self, chat: SessionKey) -> int:
        return sum(thread == chat.thread and bool(status) for _, thread, status in self._chat(chat.chat).statuses)

    def reaction(self, chat: SessionKey, message_id: str) -> str:
        marks = self._chat(chat.chat).messages[message_id].reactions
        return "".join(SIGNS[name] for name, who in marks.items() if self.slack.bot.person.id in who)

    async def say(self, said: Said) -> str:
        chat = self._chat(said.chat or self.chat.chat)
        if said.deletes:
            chat.delete(chat.messages[said.deletes])
            return said.deletes
        if said.reaction:
            message = chat.messages[said.answers]
            chat.react(message, NAMES[said.reaction], by=self._person(said.sender), removed=said.removed)
            return said.answers
        if said.edits:
            chat.edit(chat.messages[said.edits], escaped(said.text))
            return said.edits
        named = f"{self.slack.bot.mention} " if said.mentioned and chat.kind != "im" else ""
        return chat.say(
            named + escaped(said.text),
            by=self._person(said.sender, is_bot=said.is_bot),
            thread=said.thread,
            files=[]
            if said.file is None
            else [self.slack.file(said.file, **FILES[said.kind]) for _ in range(said.files)],
        ).ts

    async def press(self, chat: SessionKey, message_id: str, label: str, *, by: str) -> None:
        channel = self._chat(chat.chat)
        channel.press(channel.messages[message_id], label, by=self._person(by))

    async def say_nonsense(self) -> None:
        bot, app = self.slack.bot, self.slack.app
        bot.push({"type": "hologram", "depth": 3})
        bot.push({"type": "message", "channel": ["D1"], "ts": 7, "user": None, "text": {}})
        bot.push({"type": "message", "subtype": "message_changed", "channel": self.chat.chat, "message": "nothing"})
        bot.push({})
        app.bring("events_api", {"team_id": bot.team.id, "event": "none"})
        app.bring("events_api", {})
        app.bring("holograms", {"depth": 3})
        app.bring_raw(b"{")
        app.bring_raw(b"[7]")
        app.bring_raw(b'{"type": 7, "envelope_id": {}}')

    async def settled(self) -> None:
        await self.slack.settled()

    def unsettled(self) -> bool:
        return bool(self.slack.app.waiting)

    def lock_out(self) -> None:
        self.slack.team.bots.clear()

    async def shut_down(self) -> None:
        self._server.cancel()
        await self._closed.wait()

    def _decide(self, call: Call) -> Wrong | None:
        faults = self.update_faults if call.method in HEARS else self.faults if call.method.startswith(DOES) else []
        return WRONG[faults.pop(0)] if faults else None

    def _person(self, number: str, *, is_bot: bool = False) -> Person:
        id = f"U{number}{'B' if is_bot else ''}"
        if id not in self._people:
            self._people[id] = self.slack.person(f"Person {number}", id=id, is_bot=is_bot)
        return self._people[id]

    def _direct(self, number: str) -> Conversation:
        return self.slack.direct(self._person(number))

    def _chat(self, id: str) -> Conversation:
        return self.slack.team.channels[id]


def _read(message: Message) -> str:
    return message.text if message.form == "markdown" else unescaped(message.text)


@asynccontextmanager
async def a_lab(process: Process, *, brought: bool = False) -> AsyncIterator[SlackLab]:
    """An adapter that hears over a socket, or is brought events by HTTP."""
    slack = FakeSlack(repeat_s=BRING_AGAIN_S if brought else REPEAT_S)
    server, closed = anyio.CancelScope(), anyio.Event()
    slack.world.now = lambda: process.clock.now().timestamp()
    # It may do no more than the manifest asks for, and is told of nothing else.
    slack.bot.scopes = {*SCOPES, REACTION_SCOPE}
    slack.app.events = set(re.findall(r"- (app_mention|message\.\w+|reaction_\w+)$", manifest(), re.MULTILINE))

    async def serve(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        with server:
            await slack.serve(task_status=task_status)
        closed.set()

    async with AsyncExitStack() as stack, anyio.create_task_group() as tg:
        await tg.start(serve)
        config = SlackConfig(
            base_url=slack.base_url,
            bot_token=Secret(slack.bot.token),
            hear_reactions=True,
            access=AccessConfig(groups="all"),  # what is said to others at the top level is of interest then
        )
        config = _brought_to(slack, config) if brought else replaced(config, app_token=Secret(slack.app.token))
        lab = SlackLab(slack, process, (server, closed), config)
        lab.channel = await stack.enter_async_context(lab.again())
        yield lab
        assert slack.oddities() == []
        await stack.aclose()
        server.cancel()


def _brought_to(slack: FakeSlack, config: SlackConfig) -> SlackConfig:
    port = free_port()
    slack.app.url = "https://pond.example/slack/events"
    slack.brought_at = f"http://127.0.0.1:{port}"
    slack.pressing[slack.app.id].in_order = True  # it listens only a little after the first thing was said
    events = SlackEventsConfig(url=slack.app.url, port=port)
    return replaced(config, signing_secret=Secret(slack.app.signing_secret), events=events)


class TestSlack(ChannelContract, missing=SlackLab.missing):
    @pytest.fixture
    async def lab(self, process: Process, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SlackLab]:
        monkeypatch.setattr("channels.slack.socket_mode.PAUSE_MIN_S", 0.02)
        async with a_lab(process) as lab:
            yield lab


class TestBrought:
    """What is heard where Slack brings it; the rest is the same."""

    test_handed_in = ChannelContract.test_what_is_said_is_handed_in
    test_early = ChannelContract.test_what_was_said_before_it_listens_is_handed_in_too
    test_mentions = ChannelContract.test_in_a_group_it_says_whether_the_bot_is_meant
    test_threads = ChannelContract.test_it_says_in_which_thread_something_was_said
    test_new_versions = ChannelContract.test_a_new_version_of_a_message_has_its_id_and_says_so
    test_taken_back = ChannelContract.test_what_is_taken_back_is_named_by_its_id_where_it_was_said
    test_bots = ChannelContract.test_a_bot_is_known_as_one
    test_kept_first = ChannelContract.test_nothing_is_dealt_with_before_it_was_taken
    test_cancelled = ChannelContract.test_who_is_cancelled_in_the_middle_of_a_batch_loses_nothing
    test_chats = ChannelContract.test_a_chat_that_waits_holds_up_no_other_and_keeps_its_order
    test_buttons = (
        ChannelContract.test_choices_are_buttons_that_go_once_a_press_was_accepted_and_stay_when_it_was_refused
    )
    test_nonsense = ChannelContract.test_what_nobody_understands_stops_nothing

    @pytest.fixture
    async def lab(self, process: Process) -> AsyncIterator[SlackLab]:
        async with a_lab(process, brought=True) as lab:
            yield lab
