"""The testing channel holds to the contract, on the fake platform that tests of everything else use."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from channels.arrival import Arrival, Sender, reacted
from channels.testing import TestingChannel, connect
from channels.testing.channel_contract import ChannelContract
from channels.testing.lab import RETRY_AFTER_S, Fault, Feature, Lab, Said, Shown
from daemon.config import TestingConfig
from daemon.events import Attachment, ChatKind
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.fakes import sink as fakes
from tests.fakes.sink import Post, Sink
from tests.limits import HANG_S

NAME = "testing"

FAULTS: dict[Fault, fakes.Fault] = {
    Fault.TOO_MANY: fakes.Refuse(429, retry_after_s=RETRY_AFTER_S),
    Fault.SERVER_ERROR: fakes.Refuse(503),
    Fault.PAGE: fakes.Page(502),
    Fault.REJECTED: fakes.Refuse(403),
    Fault.CUT_BEFORE: fakes.Cut(delivered=False),
    Fault.CUT_AFTER: fakes.Cut(),
    Fault.HANG: fakes.Hang(),
}


class SinkLab(Lab):
    missing = frozenset({Feature.BUTTONS, Feature.CONTENTS, Feature.LENDING, Feature.VOICES})
    impossible = frozenset({Fault.STALL})

    def __init__(self, process: Process, workspace: Path, kind: type[TestingChannel] | None = None) -> None:
        super().__init__()
        self._kind = kind
        self.chat = SessionKey(channel=NAME, chat="ann")
        self.group = SessionKey(channel=NAME, chat="everybody")
        self.workspace = workspace
        self._process = process
        self._locked = False
        self._said = 0
        self.sink = Sink(self._decide, self._decide)
        self.serving = anyio.CancelScope()

    async def serve(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        with self.serving:
            await self.sink.serve(task_status=task_status)

    @asynccontextmanager
    async def again(self) -> AsyncIterator[TestingChannel]:
        config = TestingConfig(url=self.sink.url, updates_url=self.sink.updates_url, looks=True)
        async with connect(self._process, NAME, config) as channel:
            yield self._kind(NAME, channel._config, channel._client) if self._kind else channel

    def a_chat(self, number: int) -> str:
        return f"chat-{number}"

    def shown(self, chat: SessionKey) -> list[Shown]:
        return [
            Shown(
                id=number,
                text=post["text"],
                files=(
                    *(["reply.md"] if "document" in post else []),
                    *(a["name"] for a in post.get("attachments", ())),
                ),
                reply_to=post.get("reply_to", ""),
            )
            for number, post in self.sink.messages.items()
            if post["session"] == str(chat)
        ]

    def typings(self, chat: SessionKey) -> int:
        return sum(post["session"] == str(chat) for post in self.sink.acts_of("typing"))

    def reaction(self, chat: SessionKey, message_id: str) -> str:
        signs = [post["sign"] for post in self.sink.acts_of("react") if post["id"] == message_id]
        return signs[-1] if signs else ""

    async def say(self, said: Said) -> str:
        self._said += 1
        number = said.edits or said.deletes or f"p{self._said}"
        files = ()
        if said.file is not None:
            self.sink.files[number] = said.file
            files = (Attachment(kind="document", name="file", source=number, size_bytes=len(said.file)),)
        chat = said.chat or self.chat.chat
        if said.reaction:
            sender = Sender(id=said.sender)
            kind: ChatKind = "group" if chat == self.group.chat else "direct"
            self.sink.say(
                reacted(
                    chat=chat,
                    message=said.answers,
                    emoji=said.reaction,
                    sender=sender,
                    chat_kind=kind,
                    removed=said.removed,
                )
            )
            return said.answers
        self.sink.say(
            Arrival(
                seen_as=f"u{self._said}",
                id=number,
                order=self._said,
                chat=chat,
                thread=said.thread,
                reply_to=said.answers,
                chat_kind="group" if chat == self.group.chat else "direct",
                sender=Sender(id=said.sender, is_bot=said.is_bot),
                text=said.text,
                mentioned=said.mentioned or said.answers in self.sink.messages,
                attachments=files,
                album=said.album,
                edited=bool(said.edits),
                deleted=bool(said.deletes),
            )
        )
        return number

    async def say_nonsense(self) -> None:
        for nonsense in ({"id": 7}, None, [[]], {"chat": {}, "sender": "nobody"}, "hello"):
            self.sink.say(nonsense)

    async def settled(self) -> None:
        await self.sink.heard(within_s=HANG_S)

    def unsettled(self) -> bool:
        return bool(self.sink.updates)

    def lock_out(self) -> None:
        self._locked = True

    async def shut_down(self) -> None:
        self.serving.cancel()
        await anyio.wait_all_tasks_blocked()

    def _decide(self, post: Post) -> Any:
        if self._locked:
            return fakes.Refuse(401)
        faults = self.update_faults if post.get("kind") == "updates" else self.faults
        return FAULTS[faults.pop(0)] if faults and post.get("kind") != "health" else None


@asynccontextmanager
async def lab_of(
    process: Process, workspace: Path, *, kind: type[TestingChannel] | None = None
) -> AsyncIterator[SinkLab]:
    lab = SinkLab(process, workspace, kind)
    async with AsyncExitStack() as stack, anyio.create_task_group() as tg:
        await tg.start(lab.serve)
        lab.channel = await stack.enter_async_context(lab.again())
        yield lab
        tg.cancel_scope.cancel()


class TestTestingChannel(ChannelContract, missing=SinkLab.missing):
    @pytest.fixture
    async def lab(self, process: Process, tmp_path: Path) -> AsyncIterator[SinkLab]:
        async with lab_of(process, tmp_path) as lab:
            yield lab
