"""Real Millpond processes around one data directory and one bus, to be killed and looked at."""

import json
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Self

import anyio
from anyio import to_thread

from daemon.bus import Bus, open_bus
from daemon.config import RedisConfig
from daemon.session import SessionReader
from tests.fakes.said import said as words_of
from tests.limits import HANG_S
from tests.processes import Daemon, shut_down, start


@dataclass(kw_only=True)
class Pond:
    """Processes on one data directory: a worker from the beginning, all others as a test starts them.

    At the end of its block all are ended in order.
    """

    folder: Path
    bus: Bus
    running: list[Daemon] = field(default_factory=list[Daemon])

    async def __aenter__(self) -> Self:
        await self.start("agent")
        return self

    async def __aexit__(self, *_error: object) -> None:
        with anyio.CancelScope(shield=True):
            for daemon in self.running:
                daemon.process.terminate()
            for daemon in self.running:
                await to_thread.run_sync(daemon.stop)

    async def start(self, role: str) -> Daemon:
        daemon = await to_thread.run_sync(partial(start, self.folder, "--role", role, web=False))
        self.running.append(daemon)
        return daemon

    async def kill(self, daemon: Daemon) -> None:
        """SIGKILL, if it is not dead yet, and its end."""
        self.running.remove(daemon)
        await to_thread.run_sync(daemon.kill)

    async def end(self, daemon: Daemon) -> None:
        """SIGTERM, and its orderly end; one that has hardly begun ends as the signal has it."""
        self.running.remove(daemon)
        code = await to_thread.run_sync(daemon.stop)
        assert code in (0, -signal.SIGTERM), code

    async def led(self, channel: str) -> None:
        """Wait until the replies of every partition have somebody who sends them."""
        keys = self.bus.keys
        leaders = [keys.leader(partition, channel) for partition in range(keys.partitions)]
        with anyio.fail_after(HANG_S):
            while not all(await self.bus.each([("EXISTS", leader) for leader in leaders])):  # noqa: ASYNC110 - they say nothing
                await anyio.sleep(0.05)

    async def replies(self, session: str) -> tuple[list[str], list[str]]:
        """The ids that the turns of a session answer, and what the turns said, in order."""
        reader = SessionReader(self.bus)
        log = [entry for _, entry in await reader.committed(session, limit=10_000)]
        wires = [json.loads(bytes(entry.wire)) for entry in log]
        texts = [words_of(wire["content"]) for wire in wires if wire["role"] == "assistant"]
        return [number for entry in log for number in entry.answers], texts

    async def all_delivered(self, channel: str) -> None:
        """Wait until it is written that each reply was delivered, which is a little after it is shown."""
        keys = [self.bus.keys.out(partition, channel) for partition in range(self.bus.keys.partitions)]
        with anyio.fail_after(HANG_S):
            while any(await self.bus.each([("XLEN", key) for key in keys])):  # noqa: ASYNC110 - looked up
                await anyio.sleep(0.02)

    async def unknown(self) -> int:
        """How many sends are listed of which nobody knows what became of them."""
        keys = [self.bus.keys.unknown(partition) for partition in range(self.bus.keys.partitions)]
        return sum(await self.bus.each([("XLEN", key) for key in keys]))


@asynccontextmanager
async def pond(folder: Path, config: str) -> AsyncGenerator[tuple[Path, Bus]]:
    """A data directory with that configuration, and its bus; the server is ended behind the block."""
    _write(folder, config)
    try:
        async with open_bus(RedisConfig(), folder) as bus:
            yield folder, bus
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(shut_down, folder)


def _write(folder: Path, config: str) -> None:
    folder.mkdir()
    file = folder / "millpond.toml"
    file.write_text(config)
    file.chmod(0o600)
