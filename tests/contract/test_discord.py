"""The adapter of Discord against a Discord as strict as its documentation."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import anyio
import msgspec
import pytest

from channels.base import Channel
from channels.discord import connect
from channels.testing.channel_contract import ChannelContract
from channels.testing.contract_steps import OPUS, a_file, a_part, receiving
from channels.testing.lab import RETRY_AFTER_S, Fault, Feature, Heard, Lab, Said, Shown
from daemon.config import Config, DiscordConfig, Secret
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.fakes.discord import Call, Chat, Cut, FakeDiscord, Hang, Page, Person, Refuse
from tests.fakes.discord.world import File
from tests.limits import HANG_S

NAME = "lake"
HEARTBEAT_S = 0.05  # by which the platform hears what was dealt with

WRONG = {
    Fault.TOO_MANY: Refuse(429, retry_after=RETRY_AFTER_S),
    Fault.SERVER_ERROR: Refuse(500),
    Fault.PAGE: Page(),
    Fault.REJECTED: Refuse(403, 50_001),
    Fault.CUT_BEFORE: Cut(acted=False),
    Fault.CUT_AFTER: Cut(),
    Fault.HANG: Hang(),
    Fault.STALL: Hang(half=True),
}
TYPES = {"image": "image/png", "voice": "audio/ogg", "audio": "audio/mpeg", "document": ""}
VOICE = 1 << 13
HEARS = ("connect", "GET bot")


class DiscordLab(Lab):
    missing = frozenset({Feature.ALBUMS})
    recordings = ("voice", "audio")
    files_max = 10

    def __init__(self, discord: FakeDiscord, process: Process, closing: tuple[anyio.CancelScope, anyio.Event]) -> None:
        super().__init__()
        self.discord = discord
        self._config = DiscordConfig(base_url=discord.base_url, token=Secret(discord.bot.token), hear_reactions=True)
        self._process = replace(process, config=Config(queue=process.config.queue, channels={NAME: self._config}))
        self._server, self._closed = closing
        self._people: dict[str, Person] = {}
        self._direct: dict[str, Chat] = {}
        self.workspace = self._process.workspace("pond")
        self._lake = discord.channel("lake")
        self.chat = SessionKey(channel=NAME, chat=self._direct_with("1001").id)
        self.group = SessionKey(channel=NAME, chat=self._lake.id)
        discord.faults.when("*", self._decide)

    @asynccontextmanager
    async def again(self) -> AsyncIterator[Channel]:
        async with connect(self._process, NAME, self._config) as channel:
            yield channel

    async def begin(self) -> None:
        """Let a process connect, and go: what is said from then on belongs to its session."""
        async with receiving(self.channel, Heard()):
            await self.discord.connected()
            await self.discord.until(lambda: not self.discord.unsettled())

    def a_chat(self, number: int) -> str:
        return self._direct_with(str(5_000 + number)).id

    def shown(self, chat: SessionKey) -> list[Shown]:
        return [
            Shown(
                id=message.id,
                text=message.text,
                files=tuple(file.name for file in message.files),
                reply_to=message.reply_to.id if message.reply_to else "",
                is_voice=bool(message.flags & VOICE),
                buttons=tuple(message.labels),
            )
            for message in self._chat(chat.thread or chat.chat).shown()
        ]

    async def begin_thread(self) -> str:
        return self.discord.world.thread(self._lake).id

    def typings(self, chat: SessionKey) -> int:
        return self._chat(chat.chat).typings

    def reaction(self, chat: SessionKey, message_id: str) -> str:
        marks = self._chat(chat.chat).messages[message_id].reactions
        return "".join(emoji for emoji, who in marks.items() if self.discord.bot.person.id in who)

    async def say(self, said: Said) -> str:
        chat = self._chat(said.thread or said.chat or self.chat.chat)
        if said.deletes:
            chat.delete(chat.messages[said.deletes])
            return said.deletes
        if said.reaction:
            marked = chat.messages[said.answers]
            chat.react(marked, said.reaction, by=self._person(said.sender), removed=said.removed)
            return said.answers
        if said.edits:
            chat.edit(chat.messages[said.edits], said.text)
            return said.edits
        named = f"{self.discord.bot.person.mention} " if said.mentioned and chat.guild else ""
        return chat.say(
            f"{named}{said.text}",
            by=self._person(said.sender, is_bot=said.is_bot),
            reply_to=chat.messages[said.answers] if said.answers else None,
            files=[] if said.file is None else [self._file(said, said.file) for _ in range(said.files)],
            **({"flags": VOICE} if said.kind == "voice" else {}),
        ).id

    def _file(self, said: Said, data: bytes) -> File:
        return self.discord.file(data, content_type=TYPES[said.kind])

    def age(self) -> None:
        for file in self.discord.world.files.values():
            file.key = "another"

    async def press(self, chat: SessionKey, message_id: str, label: str, *, by: str) -> None:
        self.discord.world.press(self._chat(chat.chat).messages[message_id], label, by=self._person(by))

    async def say_nonsense(self) -> None:
        assert self.discord.session is not None
        for kind, event in (
            ("HOLOGRAM", {"depth": 3}),
            ("MESSAGE_CREATE", {"id": 7, "channel_id": ["1"], "author": None}),
            ("MESSAGE_CREATE", {}),
            ("MESSAGE_UPDATE", {"channel_id": self.chat.chat, "content": None}),
            ("MESSAGE_DELETE", {"channel_id": self.chat.chat}),
            ("GUILD_CREATE", {"id": None, "channels": "none"}),
            ("INTERACTION_CREATE", {"channel_id": self.chat.chat, "type": "seven"}),
        ):
            self.discord.session.add(kind, event)
        for raw in (b"{", b"[7]", b'{"op": "seven"}', b'{"op": 77, "d": {}}'):
            self.discord.session.add("", raw)

    async def settled(self) -> None:
        await self.discord.until(lambda: not self.unsettled())

    def unsettled(self) -> bool:
        return self.discord.unsettled()

    def lock_out(self) -> None:
        self.discord.world.bots.clear()

    async def shut_down(self) -> None:
        self._server.cancel()
        await self._closed.wait()

    def _decide(self, call: Call) -> object:
        asks_who = call.method.endswith((" users", " applications", " commands", " channels"))
        faults = self.update_faults if call.method in HEARS else [] if asks_who else self.faults
        return WRONG[faults.pop(0)] if faults else None

    def _person(self, number: str, *, is_bot: bool = False) -> Person:
        made = self._people.get(number) or self.discord.person(f"Person {number}", id=number, is_bot=is_bot)
        return self._people.setdefault(number, made)

    def _direct_with(self, number: str) -> Chat:
        if number not in self._direct:
            self._direct[number] = self.discord.direct(self._person(number))
        return self._direct[number]

    def _chat(self, number: str) -> Chat:
        return self.discord.world.chats[number]


class TestDiscord(ChannelContract, missing=DiscordLab.missing):
    async def test_where_no_voice_message_is_allowed_a_recording_is_a_file(self, lab: DiscordLab) -> None:
        lab.discord.world.chats[lab.chat.chat].takes_no_voice = True
        file = msgspec.structs.replace(a_file(lab, "answer.ogg", OPUS), kind="voice")

        await lab.channel.send(lab.chat, a_part("", attachments=(file,)), timeout_s=HANG_S)

        assert [(shown.files, shown.is_voice) for shown in lab.shown(lab.chat)] == [(("answer.ogg",), False)]

    @pytest.fixture
    async def lab(self, process: Process, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[DiscordLab]:
        monkeypatch.setattr("channels.discord.gateway.PAUSE_MIN_S", 0.02)
        discord, server, closed = FakeDiscord(heartbeat_s=HEARTBEAT_S), anyio.CancelScope(), anyio.Event()
        discord.world.now = lambda: process.clock.now().timestamp()

        async def serve(*, task_status: anyio.abc.TaskStatus[None]) -> None:
            with server:
                await discord.serve(task_status=task_status)
            closed.set()

        async with AsyncExitStack() as stack, anyio.create_task_group() as tg:
            await tg.start(serve)
            lab = DiscordLab(discord, process, (server, closed))
            lab.channel = await stack.enter_async_context(lab.again())
            await lab.begin()
            yield lab
            assert discord.oddities() == []
            await stack.aclose()
            server.cancel()
