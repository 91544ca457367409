"""Somebody on a terminal: one ``millpond chat`` behind pipes, for as long as the run lasts."""

import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.abc import Process as Child
from anyio.streams.text import TextReceiveStream

from tests.processes import environment_of
from tests.soak.chats import Chat


class Terminal:
    def __init__(self, child: Child) -> None:
        self.child = child
        self.shown = ""

    @property
    def code(self) -> int | None:
        """How it ended; None: it has not."""
        return self.child.returncode

    async def say(self, _chat: Chat, text: str) -> None:
        """Type a line; it waits in the pipe as long as nobody takes it."""
        assert self.child.stdin is not None
        await self.child.stdin.send(f"{text}\n".encode())

    async def read(self) -> None:
        assert self.child.stdout is not None
        async for text in TextReceiveStream(self.child.stdout):
            self.shown += text

    async def end(self) -> None:
        """No more lines: it ends once all are answered."""
        assert self.child.stdin is not None
        await self.child.stdin.aclose()


@asynccontextmanager
async def terminal(folder: Path, config: Path, session: str) -> AsyncGenerator[Terminal]:
    words = ["--config", str(config), "chat", "--session", session]
    with (folder / "terminal.log").open("ab") as log:
        child = await anyio.open_process(
            [sys.executable, "-m", "millpond", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment_of(folder / "data", {}),
        )
    typed = Terminal(child)
    try:
        async with anyio.create_task_group() as tg:
            tg.start_soon(typed.read)
            yield typed
            tg.cancel_scope.cancel()
    finally:
        if child.returncode is None:
            child.kill()
        with anyio.CancelScope(shield=True):
            await child.wait()
