"""Reminders with real processes and real signals: each fires exactly once as a turn, and none before its time.

Workers and the server are killed, workers are paused for longer than a lease, and in the long form the server's clock
steps by an hour and by a day, forwards and back. Everything is counted by the server's clock.
"""

import datetime as dt
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from channels.inbound import accept, make_inbound
from daemon.clock import stamp
from daemon.config import load
from daemon.errors import BusError
from daemon.process import Process
from daemon.reminders import Reminder, Reminders, id_of
from daemon.run import open_process
from daemon.server.redis_program import find_program
from tests.conftest import server_ms
from tests.faults.test_clock_steps import WallClock
from tests.limits import HANG_S
from tests.processes import Daemon, server_pid, shut_down, start

HOUR_S, DAY_S = 3_600, 86_400
LEASE_S = 1.0

CONFIG = """
data_dir = "{folder}/data"
[redis]
server = "{server}"
[queue]
lease_s = {lease_s}
renew_s = 0.25
wakeup_s = 0.5
[bots.pond.reminders]
person_per_day = 0
bot_per_day = 0
"""


@dataclass(kw_only=True)
class Trial:
    folder: Path
    process: Process
    clock: WallClock | None
    sessions: list[str]
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    workers: list[Daemon] = field(default_factory=list)
    set: dict[str, Reminder] = field(default_factory=dict)
    """By the id of the message that each is to become."""
    downs: list[tuple[int, int]] = field(default_factory=list)
    """When the server was down (ms)."""
    stepped_ms: int = 0
    """When its clock was stepped first; 0: never. Until then it is the true time."""

    async def begin(self, workers: int) -> None:
        for session in self.sessions:
            channel, chat = session.split(":")
            inbound = make_inbound(self.process, channel=channel, chat=chat, text="hi", sender_id=chat)
            await accept(self.process, inbound)
        for _ in range(workers):
            await self.worker()

    async def worker(self) -> None:
        environment = {"MILLPOND_CONFIG": str(self.folder / "millpond.toml")}
        begin = lambda: start(self.folder / "data", "--role", "agent", web=False, **environment)  # noqa: E731
        self.workers.append(await to_thread.run_sync(begin))

    async def remind(self, count: int, *, after_s: float, within_s: float) -> None:
        """Set so many reminders, all to fire from ``after_s`` on ``within_s``; each is set as a confirmed call does."""
        reminders = Reminders(self.process.bus, self.process.config.queue)
        base = await reminders.now()
        for _ in range(count):
            session, number = self.chance.choice(self.sessions), len(self.set)
            channel, chat = session.split(":")
            due = base + dt.timedelta(seconds=after_s + self.chance.uniform(0, within_s))
            reminder = Reminder(
                id=id_of(session, str(number)), kind="prompt" if number % 5 == 0 else "text", text=f"reminder {number}",
                due=stamp(due), local=due.replace(tzinfo=None).isoformat(), zone="UTC", bot="pond", channel=channel,
                chat=chat, sender_id=chat, scope=f"pond:person:{session}", made_at=stamp(base),
            )  # fmt: skip
            assert await reminders.create(reminder, asked_as=reminder.id, at_most=count) == "created"
            self.set[reminder.inbound(base).id] = reminder

    # Troubles

    async def kill(self) -> None:
        """A worker, whose place another one takes, or now and then the server."""
        await (self.kill_server() if self.chance.random() < 0.15 else self.kill_worker())

    async def kill_worker(self) -> None:
        daemon = self.workers.pop(self.chance.randrange(len(self.workers)))
        daemon.kill()
        await self.worker()

    async def kill_server(self) -> None:
        began, pid = await self.now_ms(), server_pid(self.folder / "data")
        os.kill(pid, signal.SIGKILL)
        forget_clock(pid)
        self.downs.append((began, await self.now_ms()))

    async def pause(self) -> None:
        """A worker, for longer than its lease."""
        process = self.chance.choice(self.workers).process
        os.kill(process.pid, signal.SIGSTOP)
        await anyio.sleep(2 * LEASE_S)
        os.kill(process.pid, signal.SIGCONT)

    async def step(self, to_s: int) -> None:
        """Step the server's clock to so many seconds beside the true time."""
        assert self.clock is not None
        self.stepped_ms = self.stepped_ms or await self.now_ms()
        self.clock.step(to_s)
        await anyio.sleep(1.0)

    async def now_ms(self) -> int:
        with anyio.fail_after(HANG_S):
            while True:
                with suppress(BusError):
                    return await server_ms(self.process.bus)
                await anyio.sleep(0.05)

    # Counting

    async def all_fired(self) -> None:
        """Wait until nothing is left; what is missing is told by the count."""
        bus = self.process.bus
        with anyio.move_on_after(HANG_S):
            while True:
                with suppress(BusError):
                    if not (await bus.call("ZCARD", bus.keys.upcoming(0)) or await bus.call("XLEN", bus.keys.inbox(0))):
                        return
                await anyio.sleep(0.1)

    async def report(self) -> list[float]:
        """Check that each fired once, and none early; by how many seconds each was late that fired before a step."""
        answered, fired = Counter[str](), dict[str, float]()
        for session in self.sessions:
            for _, entry in await self.process.transcripts.committed(session, limit=100_000):
                answered.update(name for name in entry.answers if name.startswith("reminder-"))
                assert not entry.dead, entry
                if entry.id.startswith("reminder-"):
                    fired[entry.id] = dt.datetime.fromisoformat(entry.time).timestamp()
        lost = self.set.keys() - answered.keys()
        doubled = {name: count for name, count in answered.items() if count > 1 or name not in self.set}
        early = {name for name, reminder in self.set.items() if fired.get(name, 1e12) * 1000 < reminder.due_ms - 1}
        assert (lost, doubled, early) == (set(), {}, set())
        before = [name for name, reminder in self.set.items() if reminder.due_ms < (self.stepped_ms or 1e15)]
        return sorted(self._late_s(self.set[name].due_ms, fired[name] * 1000) for name in before)

    def _late_s(self, due_ms: int, fired_ms: float) -> float:
        """How long the server was up between the time of a reminder and its turn."""
        downs_ms = sum(max(0.0, min(ended, fired_ms) - max(began, due_ms)) for began, ended in self.downs)
        return (fired_ms - due_ms - downs_ms) / 1000


def forget_clock(pid: int) -> None:
    """Remove what libfaketime leaves behind of a killed process: it would be in the way of a later one's."""
    for left in Path("/dev/shm").glob(f"*faketime_*_{pid}"):
        left.unlink()


@asynccontextmanager
async def trial(folder: Path, *, sessions: int, clock: WallClock | None = None) -> AsyncIterator[Trial]:
    program = Path(find_program("").path)
    if clock is not None:
        words = " ".join(f"{name}={value}" for name, value in clock.environment.items())
        real, program = program, folder / "server"
        program.write_text(f'#!/bin/sh\nexport {words}\nexec "{real}" "$@"\n')
        program.chmod(0o700)
    file = folder / "millpond.toml"
    file.write_text(CONFIG.format(folder=folder, server=program, lease_s=LEASE_S))
    file.chmod(0o600)
    names = [f"web:s{number:02}" for number in range(sessions)]
    async with open_process(load(file, environ={}).config, folder / "data") as process:
        made = Trial(folder=folder, process=process, clock=clock, sessions=names)
        try:
            yield made
        finally:
            for daemon in made.workers:
                with suppress(ProcessLookupError):
                    os.kill(daemon.process.pid, signal.SIGCONT)
                daemon.kill()
    await to_thread.run_sync(shut_down, folder / "data")


async def test_reminders_survive_the_deaths_of_workers_and_of_the_server(tmp_path: Path) -> None:
    async with trial(tmp_path, sessions=4) as found:
        await found.begin(workers=2)
        await found.remind(60, after_s=1.0, within_s=6.0)
        for number in range(6):
            await (found.kill_server() if number == 3 else found.kill_worker())
            if number % 3 == 1:
                await found.pause()
        await found.all_fired()

        assert len(await found.report()) == 60


@pytest.mark.slow
@pytest.mark.faketime
@pytest.mark.timeout(1_200)
async def test_two_thousand_reminders_fire_once_through_kills_pauses_and_steps_of_the_clock(tmp_path: Path) -> None:
    async with trial(tmp_path, sessions=50, clock=WallClock(tmp_path / "server.clock")) as found:
        await found.begin(workers=3)
        # Some fire now, some after a step of an hour, and some after one of a day.
        await found.remind(600, after_s=HOUR_S + DAY_S, within_s=60)
        await found.remind(600, after_s=HOUR_S, within_s=60)
        await found.remind(800, after_s=10, within_s=20)
        for to_s in (
            0,
            0,
            -HOUR_S,
            0,
            HOUR_S,
            0,
            HOUR_S,
            HOUR_S - DAY_S,
            HOUR_S,
            HOUR_S + DAY_S,
            HOUR_S,
            HOUR_S + DAY_S,
        ):
            if to_s or found.stepped_ms:
                await found.step(to_s)
            for number in range(6):
                await found.kill()
                if number in (1, 4):
                    await found.pause()
                await anyio.sleep(0.5)
        # A message at whose turn workers died is tried alone after a pause, which this step ends.
        await found.step(2 * HOUR_S + DAY_S)
        await found.all_fired()

        late_s = await found.report()

    # What a busy machine does to these times is no verdict; `-s` shows them.
    print(f"late by {late_s[len(late_s) // 2]:.2f} s (half of {len(late_s)}), {late_s[-1]:.2f} s (at most)")
    assert len(found.set) == 2_000
