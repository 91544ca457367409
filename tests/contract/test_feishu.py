"""The adapter of Feishu against a Feishu as strict as its documentation."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import anyio
import pytest
from msgspec.structs import replace as replaced

from channels.base import Channel
from channels.feishu import connect
from channels.testing.channel_contract import ChannelContract
from channels.testing.lab import RETRY_AFTER_S, Fault, Feature, Lab, Said, Shown
from daemon.clock import SystemClock
from daemon.config import AccessConfig, Config, FeishuConfig, FeishuEventsConfig, Secret
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.fakes.feishu import Chat, Cut, FakeFeishu, Hang, Message, Page, Person, Refuse
from tests.fakes.feishu import Fault as Wrong
from tests.fakes.platform import Call
from tests.limits import HANG_S
from tests.ports import free_port

NAME = "lake"
SIGNS = {"GLANCE": "👀", "THUMBSUP": "👍"}
NAMES = {sign: name for name, sign in SIGNS.items()}
REPEAT_S = HANG_S / 2
POST_AGAIN_S = 0.05

WRONG: dict[Fault, Wrong] = {
    Fault.TOO_MANY: Refuse(status=429, retry_after=round(RETRY_AFTER_S)),
    Fault.SERVER_ERROR: Refuse(1500, status=500),
    Fault.PAGE: Page(),
    Fault.REJECTED: Refuse(230002),  # in no form it would be taken
    Fault.CUT_BEFORE: Cut(acted=False),
    Fault.CUT_AFTER: Cut(),
    Fault.HANG: Hang(),
    Fault.STALL: Hang(half=True),
}
FILES = {
    "image": ("image", ""),
    "voice": ("audio", ""),
    "video note": ("media", "said.mp4"),
    "audio": ("file", "a.mp3"),
}
DOES = ("messages.", "reactions.", "cards.", "resources.", "images.", "files.")
HEARS = ("ws.endpoint", "event")


class FeishuLab(Lab):
    missing = frozenset({Feature.TYPING, Feature.ALBUMS, Feature.AMENDING, Feature.BOTS, Feature.FINDING})
    recordings = ("voice", "audio", "video note")

    def __init__(
        self, feishu: FakeFeishu, process: Process, closing: tuple[anyio.CancelScope, anyio.Event], config: FeishuConfig
    ) -> None:
        super().__init__()
        self.feishu = feishu
        self._config = config
        config_of_all = Config(queue=process.config.queue, channels={NAME: config})
        self._process = replace(process, config=config_of_all, clock=SystemClock())
        self._server, self._closed = closing
        self.workspace = self._process.workspace("pond")
        self.chat = SessionKey(channel=NAME, chat=self._direct("1001").id)
        self._group = feishu.world.chat("oc_lake", "group")
        self.group = SessionKey(channel=NAME, chat=self._group.id)
        feishu.faults.when("*", self._decide)

    @asynccontextmanager
    async def again(self) -> AsyncIterator[Channel]:
        async with connect(self._process, NAME, self._config) as channel:
            yield channel

    def a_chat(self, number: int) -> str:
        return self._direct(str(5_000 + number)).id

    def shown(self, chat: SessionKey) -> list[Shown]:
        return [
            Shown(
                id=message.id,
                text=message.text,
                files=self._files(message),
                reply_to=message.parent,
                is_voice=message.kind == "audio",
                buttons=tuple(message.labels),
            )
            for message in self.feishu.world.chats[chat.chat].shown(thread=chat.thread)
        ]

    def known_as(self, sender: str) -> str:
        return self._person(sender).id

    async def begin_thread(self) -> str:
        root = self._group.add("text", {"text": "Somebody began a thread."}, by=self._person("3003"))
        return root.id

    def typings(self, chat: SessionKey) -> int:
        return 0

    def reaction(self, chat: SessionKey, message_id: str) -> str:
        marks = self.feishu.world.message(message_id).reactions.values()
        return "".join(SIGNS[emoji] for emoji, _ in marks)

    async def say(self, said: Said) -> str:
        chat = self.feishu.world.chats[said.chat or self.chat.chat]
        if said.deletes:
            chat.recall(chat.messages[said.deletes])
            return said.deletes
        if said.reaction:
            chat.react(
                chat.messages[said.answers], NAMES[said.reaction], by=self._person(said.sender), removed=said.removed
            )
            return said.answers
        by, named = self._person(said.sender), said.mentioned and chat.kind == "group"
        if said.file is None:
            return chat.say(said.text, by=by, thread=said.thread, answers=said.answers, named=named).id
        kind, name = FILES.get(said.kind, ("file", "said.bin"))
        key, field = ("img_v3_1", "image_key") if kind == "image" else ("file_v3_1", "file_key")
        content = {field: key, **({"file_name": name} if name else {})}
        message = chat.say(by=by, kind=kind, content=content, thread=said.thread)
        self.feishu.world.resources[(message.id, key)] = said.file
        return message.id

    async def press(self, chat: SessionKey, message_id: str, label: str, *, by: str) -> None:
        found = self.feishu.world.chats[chat.chat]
        found.press(found.messages[message_id], label, by=self._person(by))

    async def say_nonsense(self) -> None:
        world = self.feishu.world
        for event in (7, {}, {"message": []}, {"sender": {}, "message": {"chat_id": self.chat.chat, "content": 7}}):
            world.push("im.message.receive_v1", event)
        world.app.events.add("im.hologram_v1")
        world.push("im.hologram_v1", {"depth": 3})
        for raw in (b"{", b"[7]", b'{"header": 7}', b"[" * 10_000, b"\xff"):
            world.push_raw(raw)

    async def settled(self) -> None:
        await self.feishu.settled()

    def unsettled(self) -> bool:
        return bool(self.feishu.app.waiting)

    def lock_out(self) -> None:
        self.feishu.app.secret = "another secret of the app"
        self.feishu.app.tokens.clear()

    async def shut_down(self) -> None:
        self._server.cancel()
        await self._closed.wait()

    def _decide(self, call: Call) -> Wrong | None:
        faults = self.update_faults if call.method in HEARS else self.faults if call.method.startswith(DOES) else []
        return WRONG[faults.pop(0)] if faults else None

    def _files(self, message: Message) -> tuple[str, ...]:
        key = message.content.get("file_key") or message.content.get("image_key")
        return (self.feishu.world.files[key][0],) if key else ()

    def _person(self, number: str) -> Person:
        return self.feishu.world.person(f"ou_{number}", f"Person {number}")

    def _direct(self, number: str) -> Chat:
        world = self.feishu.world
        return world.directs.setdefault(self._person(number).id, world.chat(f"oc_{number}", "p2p"))


@asynccontextmanager
async def a_lab(process: Process, *, by_http: bool = False) -> AsyncIterator[FeishuLab]:
    """An adapter that hears over a long-lived connection, or by HTTP."""
    feishu = FakeFeishu(repeat_s=POST_AGAIN_S if by_http else REPEAT_S)
    server, closed = anyio.CancelScope(), anyio.Event()

    async def serve(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        with server:
            await feishu.serve(task_status=task_status)
        closed.set()

    async with AsyncExitStack() as stack, anyio.create_task_group() as tg:
        await tg.start(serve)
        config = FeishuConfig(
            base_url=feishu.base_url,
            app_id=feishu.app.id,
            app_secret=Secret(feishu.app.secret),
            hear_reactions=True,
            access=AccessConfig(groups="all"),
        )
        config = _by_http(feishu, config) if by_http else config
        lab = FeishuLab(feishu, process, (server, closed), config)
        lab.channel = await stack.enter_async_context(lab.again())
        yield lab
        await stack.aclose()
        server.cancel()


def _by_http(feishu: FakeFeishu, config: FeishuConfig) -> FeishuConfig:
    port = free_port()
    feishu.app.url = "https://pond.example/feishu/events"
    feishu.delivered_at = f"http://127.0.0.1:{port}"
    events = FeishuEventsConfig(url=feishu.app.url, port=port)
    return replaced(config, encrypt_key=Secret(feishu.app.encrypt_key), events=events)


class TestFeishu(ChannelContract, missing=FeishuLab.missing):
    @pytest.fixture
    async def lab(self, process: Process, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FeishuLab]:
        monkeypatch.setattr("channels.feishu.long_connection.PAUSE_MIN_S", 0.02)
        async with a_lab(process) as lab:
            yield lab


class TestByHttp:
    """What is heard where Feishu sends it; the rest is the same."""

    test_handed_in = ChannelContract.test_what_is_said_is_handed_in
    test_early = ChannelContract.test_what_was_said_before_it_listens_is_handed_in_too
    test_mentions = ChannelContract.test_in_a_group_it_says_whether_the_bot_is_meant
    test_threads = ChannelContract.test_it_says_in_which_thread_something_was_said
    test_buttons = (
        ChannelContract.test_choices_are_buttons_that_go_once_a_press_was_accepted_and_stay_when_it_was_refused
    )
    test_taken_back = ChannelContract.test_what_is_taken_back_is_named_by_its_id_where_it_was_said
    test_kept_first = ChannelContract.test_nothing_is_dealt_with_before_it_was_taken
    test_cancelled = ChannelContract.test_who_is_cancelled_in_the_middle_of_a_batch_loses_nothing
    test_chats = ChannelContract.test_a_chat_that_waits_holds_up_no_other_and_keeps_its_order
    test_nonsense = ChannelContract.test_what_nobody_understands_stops_nothing

    @pytest.fixture
    async def lab(self, process: Process) -> AsyncIterator[FeishuLab]:
        async with a_lab(process, by_http=True) as lab:
            yield lab
