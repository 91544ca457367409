"""The fake platform of the example in docs/channels-example.md, as the contract tests need it."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from channels.base import Channel
from channels.push import connect
from channels.testing.lab import HANG_S, RETRY_AFTER_S, Fault, Feature, Lab, Said, Shown
from daemon.config import Config, PushConfig, load
from daemon.process import Process
from daemon.sessionkey import SessionKey
from tests.fakes.lines import KEY, Answered, Dropped, LinesServer, Request

NAME = "harbour"

FAULTS = {
    Fault.TOO_MANY: Answered(f'{{"later_s": {RETRY_AFTER_S}}}'.encode()),
    Fault.SERVER_ERROR: Answered(b'{"later_s": 0}'),
    Fault.REJECTED: Answered(b'{"never": "you are blocked"}'),
    Fault.CUT_BEFORE: Dropped(done=False),
    Fault.CUT_AFTER: Dropped(done=True),
    Fault.HANG: Dropped(done=True, hangs=True),
}


CHANNEL = """
[channels.harbour]
type = "lines"
port = 7070
key_file = "~/.secrets/lines"
access.policy = "pairing"
"""
"""As in docs/channels-example.md."""


def configured(folder: Path, port: int, *, key: str = KEY) -> Config:
    (folder / "key").write_text(key)
    (folder / "key").chmod(0o600)
    text = CHANNEL.replace("port = 7070", f"port = {port}").replace("~/.secrets/lines", "key")
    file = folder / "millpond.toml"
    file.write_text(f'data_dir = "{folder}"\n{text}')
    return load(file, environ={}).config


class LinesLab(Lab):
    missing = frozenset(
        {
            *(Feature.ALBUMS, Feature.BUTTONS, Feature.THREADS, Feature.DELETING),
            *(Feature.REACTING, Feature.FINDING, Feature.LOOKING_BACK),
            *(Feature.LENDING, Feature.VOICES),
        }
    )
    impossible = frozenset({Fault.PAGE, Fault.STALL})

    def __init__(self, process: Process, folder: Path) -> None:
        """``folder``: for the configuration and the workspace."""
        super().__init__()
        self.chat = SessionKey(channel=NAME, chat="ann")
        self.group = SessionKey(channel=NAME, chat="#tides")
        self._process = process
        self._folder = folder
        self._numbers = 0
        self.server = LinesServer(self._decide)
        self.serving = anyio.CancelScope()

    async def serve(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        with self.serving:
            await self.server.serve(task_status=task_status)

    def again(self) -> AbstractAsyncContextManager[Channel]:
        config = configured(self._folder, self.server.port)
        channel: Any = config.channels[NAME]
        assert isinstance(channel, PushConfig)
        process = replace(self._process, config=config)
        self.workspace = process.workspace("pond")
        return connect(process, NAME, channel)

    def a_chat(self, number: int) -> str:
        return f"chat-{number}"

    def shown(self, chat: SessionKey) -> list[Shown]:
        return [
            Shown(
                id=number,
                text=message["text"],
                files=(message["file"]["name"],) if "file" in message else (),
                reply_to=message["answers"],
            )
            for number, message in self.server.messages.items()
            if message["chat"] == chat.chat
        ]

    def typings(self, chat: SessionKey) -> int:
        return sum(act["do"] == "writing" and act["chat"] == chat.chat for act in self.server.acts)

    def reaction(self, chat: SessionKey, message_id: str) -> str:
        signs = [act["sign"] for act in self.server.acts if act["do"] == "mark" and act["id"] == message_id]
        return signs[-1] if signs else ""

    async def say(self, said: Said) -> str:
        self._numbers += 1
        number = said.edits or f"p{self._numbers}"
        chat = said.chat or self.chat.chat
        group = chat == self.group.chat
        message: Request = {"id": number, "chat": chat, "who": said.sender, "bot": said.is_bot, "group": group}
        message["text"] = f"@pond {said.text}" if group and said.mentioned else said.text
        message["instead"], message["answers"] = bool(said.edits), said.answers
        message["answers_you"] = said.answers in self.server.messages
        if said.file is not None:
            self.server.files[number] = said.file
            message["file"] = {"id": number, "name": "file", "bytes": len(said.file)}
        self.server.say(message)
        return number

    async def say_nonsense(self) -> None:
        for nonsense in ({"id": 7}, {"chat": "x"}, {"id": "1", "chat": [], "who": {}}):
            self.server.say(nonsense)

    async def settled(self) -> None:
        with anyio.fail_after(HANG_S):
            await self.server.until(lambda: not self.server.said)

    def unsettled(self) -> bool:
        return bool(self.server.said)

    def lock_out(self) -> None:
        self.server.key = "another"

    async def shut_down(self) -> None:
        self.serving.cancel()
        await anyio.wait_all_tasks_blocked()

    def _decide(self, request: Request) -> Answered | Dropped | None:
        faults = self.update_faults if request["do"] == "listen" else self.faults
        return FAULTS[faults.pop(0)] if faults else None


@asynccontextmanager
async def lines_lab(process: Process, folder: Path) -> AsyncGenerator[LinesLab]:
    """The fake platform, and the adapter connected to it."""
    lab = LinesLab(process, folder)
    async with AsyncExitStack() as stack, anyio.create_task_group() as tg:
        await tg.start(lab.serve)
        lab.channel = await stack.enter_async_context(lab.again())
        yield lab
        tg.cancel_scope.cancel()
