"""The adapter of Telegram against a Bot API as strict as its documentation."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import anyio
import pytest

from channels.base import Channel
from channels.telegram.channel import connect
from channels.telegram.updates import kinds_of
from channels.testing.channel_contract import ChannelContract
from channels.testing.lab import RETRY_AFTER_S, Fault, Feature, Lab, Said, Shown
from daemon.config import Config, Secret, TelegramConfig
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.fakes.telegram import Call, Chat, Cut, FakeTelegram, Hang, Page, Person, Refuse
from tests.fakes.telegram import Fault as Wrong

NAME = "lake"
ANN = "1001"

WRONG: dict[Fault, Wrong] = {
    Fault.TOO_MANY: Refuse(429, retry_after=round(RETRY_AFTER_S)),
    Fault.SERVER_ERROR: Refuse(500),
    Fault.PAGE: Page(),
    # In no form it would be taken.
    Fault.REJECTED: Refuse(403, "Forbidden: bot was blocked by the user"),
    Fault.CUT_BEFORE: Cut(acted=False),
    Fault.CUT_AFTER: Cut(),
    Fault.HANG: Hang(),
    Fault.STALL: Hang(half=True),
}
KINDS = {"image": "photo", "video note": "video_note"}
DOES = ("send", "edit", "delete", "setMessageReaction", "getFile", "download")


class TelegramLab(Lab):
    missing = frozenset({Feature.DELETING, Feature.FINDING, Feature.LOOKING_BACK})
    recordings = ("voice", "audio", "video note")

    def __init__(
        self, telegram: FakeTelegram, process: Process, closing: tuple[anyio.CancelScope, anyio.Event]
    ) -> None:
        super().__init__()
        self.telegram = telegram
        self._config = TelegramConfig(token=Secret(telegram.bot.token), base_url=telegram.base_url, hear_reactions=True)
        self._process = replace(process, config=Config(queue=process.config.queue, channels={NAME: self._config}))
        telegram.bot.allowed = kinds_of(self._config)  # as an earlier process asked for
        self._server, self._closed = closing
        self._people: dict[str, Person] = {}
        self._chats: dict[str, Chat] = {}
        self.workspace = self._process.workspace("pond")
        self.chat = SessionKey(channel=NAME, chat=ANN)
        lake = telegram.group()
        lake.has_administrators = True
        self.group = SessionKey(channel=NAME, chat=str(lake.id))
        self._chats[self.group.chat] = lake
        self._chat(ANN)  # a bot can only write to whom has written to it
        telegram.faults.when("*", self._decide)

    @asynccontextmanager
    async def again(self) -> AsyncIterator[Channel]:
        async with connect(self._process, NAME, self._config) as channel:
            yield channel

    def a_chat(self, number: int) -> str:
        return self._chat(str(5_000 + number)) and str(5_000 + number)

    def shown(self, chat: SessionKey) -> list[Shown]:
        return [
            Shown(
                id=str(message.id),
                text=message.text,
                files=(message.file.name,) if message.file else (),
                reply_to=str(message.reply_to.id) if message.reply_to else "",
                is_voice=message.file is not None and message.file.kind == "voice",
                buttons=tuple(message.labels),
            )
            for message in self._chat(chat.chat).shown(thread=int(chat.thread or 0))
        ]

    def typings(self, chat: SessionKey) -> int:
        return len(self._chat(chat.chat).actions)

    def reaction(self, chat: SessionKey, message_id: str) -> str:
        return self._chat(chat.chat).messages[int(message_id)].reactions.get(self.telegram.bot.person.id, "")

    async def say(self, said: Said) -> str:
        chat = self._chat(said.chat or self.chat.chat)
        if said.edits:
            chat.edit(chat.messages[int(said.edits)], said.text)
            return said.edits
        if said.reaction:
            marked = chat.messages[int(said.answers)]
            chat.react(marked, "" if said.removed else said.reaction, by=self._person(said.sender))
            return said.answers
        named = said.mentioned and chat.kind != "private"
        kind = KINDS.get(said.kind, said.kind)
        file = self.telegram.file(kind, said.file, name="said.bin") if said.file is not None else None
        message = chat.say(
            f"@Pond_bot {said.text}" if named else said.text,
            by=self._person(said.sender, is_bot=said.is_bot),
            file=file,
            thread=int(said.thread or 0),
            reply_to=chat.messages[int(said.answers)] if said.answers else None,
            **({"media_group_id": said.album} if said.album else {}),
        )
        return str(message.id)

    async def press(self, chat: SessionKey, message_id: str, label: str, *, by: str) -> None:
        self._chat(chat.chat).press(self._chat(chat.chat).messages[int(message_id)], label, self._person(by))

    async def say_nonsense(self) -> None:
        bot = self.telegram.bot
        bot.push("hologram", {"depth": 3})
        bot.push("message", {"message_id": "seven", "chat": []})
        bot.push("message", {"chat": {"id": int(ANN), "type": "private"}, "date": None, "text": 7})
        bot.push("edited_message", {})

    async def settled(self) -> None:
        await self.telegram.until(lambda: not self.unsettled())

    def unsettled(self) -> bool:
        return bool(self.telegram.bot.updates)

    def lock_out(self) -> None:
        self.telegram.world.bots.clear()

    async def shut_down(self) -> None:
        self._server.cancel()
        await self._closed.wait()

    def _decide(self, call: Call) -> Wrong | None:
        faults = (
            self.update_faults if call.method == "getUpdates" else self.faults if call.method.startswith(DOES) else []
        )
        return WRONG[faults.pop(0)] if faults else None

    def _person(self, number: str, *, is_bot: bool = False) -> Person:
        made = self._people.get(number) or self.telegram.person(f"Person {number}", id=int(number), is_bot=is_bot)
        return self._people.setdefault(number, made)

    def _chat(self, number: str) -> Chat:
        if number not in self._chats:
            self._chats[number] = self.telegram.direct(self._person(number))
        return self._chats[number]


class TestTelegram(ChannelContract, missing=TelegramLab.missing):
    @pytest.fixture
    async def lab(self, process: Process, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TelegramLab]:
        monkeypatch.setattr("channels.telegram.polling.PAUSE_MIN_S", 0.02)
        telegram, server, closed = FakeTelegram(), anyio.CancelScope(), anyio.Event()

        async def serve(*, task_status: anyio.abc.TaskStatus[None]) -> None:
            with server:
                await telegram.serve(task_status=task_status)
            closed.set()

        async with AsyncExitStack() as stack, anyio.create_task_group() as tg:
            await tg.start(serve)
            lab = TelegramLab(telegram, process, (server, closed))
            lab.channel = await stack.enter_async_context(lab.again())
            yield lab
            assert telegram.oddities() == []
            await stack.aclose()
            server.cancel()
