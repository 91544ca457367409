"""Reminders with real processes and real signals: each fires exactly once as a turn, and none before its time.

Workers and the server are killed, workers are paused for longer than a lease, and in the long form the server's clock
steps by an hour and by a day, forwards and back.

A reminder is late while the server is up and its clock shows the time of the reminder or a later one. Being late is
judged by the engine's own events: plain messages are sent one after another, each when the one before is answered. A
run is broken if a reminder waits while as many of them are answered as the engine answers in ``LATE_S`` at its fastest.
If a reminder is late and fewer are answered, then workers were starting or the machine was busy: inconclusive.
"""

import datetime as dt
import math
import os
import random
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
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
from daemon.session import SessionReader
from tests.chaos.ends import BROKEN, HELD, INCONCLUSIVE, End, end_of
from tests.conftest import server_ms
from tests.limits import HANG_S
from tests.processes import Daemon, server_pid, shut_down, start
from tests.wall_clock import WallClock, library

HOUR_S, DAY_S = 3_600, 86_400
LEASE_S = 1.0

LATE_S = 2.0
"""How late a reminder may fire while the engine is up."""

PLAIN_PAUSE_S = 0.05
"""Between two looks for the answer to a plain message."""

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


Span = tuple[float, float]
"""Begin and end, in seconds of the true time."""


@dataclass(kw_only=True)
class Timeline:
    """The true times of a run, from which is told how late a reminder was."""

    rounds: list[Span]
    """Begin of each round, and the seconds by which the server's clock is ahead of the true time in it."""
    downs: list[Span] = field(default_factory=list[Span])
    """When the server was down."""
    plain: list[Span] = field(default_factory=list[Span])
    """When plain messages were sent and answered."""

    def due_in(self, due_s: float, fired_s: float) -> list[Span]:
        """When a reminder was due and had not fired; both times are the server's."""
        rounds = [(*this, end) for this, (end, _) in pairwise([*self.rounds, (math.inf, 0.0)])]
        fired = next(fired_s - ahead for began, ahead, end in rounds if began <= fired_s - ahead + 0.001 < end)
        spans = [(max(began, due_s - ahead), min(end, fired)) for began, ahead, end in rounds]
        return [(began, ended) for began, ended in spans if began < ended]

    def late_s(self, due_s: float, fired_s: float) -> float:
        """How long a reminder was due while the server was up."""
        spans = self.due_in(due_s, fired_s)
        downs = [min(ended, down[1]) - max(began, down[0]) for began, ended in spans for down in self.downs]
        return sum(ended - began for began, ended in spans) - sum(length for length in downs if length > 0)

    def answered(self, due_s: float, fired_s: float) -> int:
        """Plain messages that were sent and answered while a reminder was due."""
        spans = self.due_in(due_s, fired_s)
        return sum(began <= sent and answered <= ended for began, ended in spans for sent, answered in self.plain)

    def end(self, fired: dict[str, Span]) -> End:
        """Judge a run; ``fired``: when each reminder was due and when it fired, by the server's clock."""
        fastest_s = min((answered - sent for sent, answered in self.plain), default=LATE_S)
        found: dict[str, list[str]] = {"overlooked": [], "tardy": []}
        for name, times in fired.items():
            late_s, answered = self.late_s(*times), self.answered(*times)
            text = f"{name} was {late_s:.1f} s late, while {answered} plain messages were answered"
            if late_s > LATE_S:
                found["overlooked" if answered >= LATE_S / fastest_s else "tardy"].append(text)
        return end_of(found, "")


def test_a_late_reminder_breaks_a_run_only_if_the_engine_worked_in_the_meantime() -> None:
    plain = [(at / 2, at / 2 + 0.5) for at in range(40)]
    rows = {
        "in time": (HELD, [(0.0, 0.0)], [], plain, (5.0, 6.9)),
        "overlooked": (BROKEN, [(0.0, 0.0)], [], plain, (5.0, 7.5)),
        "nothing else was answered": (INCONCLUSIVE, [(0.0, 0.0)], [], plain[:10], (5.0, 17.5)),
        "the server was down": (HELD, [(0.0, 0.0)], [(5.5, 9.0)], plain, (5.0, 10.0)),
        "the clock was set back": (HELD, [(0.0, 0.0), (5.5, -3_600.0), (15.0, 0.0)], [], plain, (5.0, 16.0)),
        "the clock was set forward": (HELD, [(0.0, 0.0), (5.0, 3_600.0)], [], plain, (3_000.0, 3_606.0)),
        "overlooked after a step": (BROKEN, [(0.0, 0.0), (5.0, 3_600.0)], [], plain, (3_000.0, 3_609.0)),
    }
    for name, (code, rounds, downs, answered, times) in rows.items():
        assert Timeline(rounds=rounds, downs=downs, plain=answered).end({"tea": times}).code == code, name


@dataclass(kw_only=True)
class Trial:
    folder: Path
    process: Process
    reader: SessionReader
    clock: WallClock | None
    sessions: list[str]
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    workers: list[Daemon] = field(default_factory=list)
    set: dict[str, Reminder] = field(default_factory=dict)
    """By the id of the message that each is to become."""
    times: Timeline = field(default_factory=lambda: Timeline(rounds=[(time.time(), 0.0)]))

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
        began, pid = time.time(), server_pid(self.folder / "data")
        os.kill(pid, signal.SIGKILL)
        forget_clock(pid)
        await self.answers()
        self.times.downs.append((began, time.time()))

    async def pause(self) -> None:
        """A worker, for longer than its lease."""
        process = self.chance.choice(self.workers).process
        os.kill(process.pid, signal.SIGSTOP)
        await anyio.sleep(2 * LEASE_S)
        os.kill(process.pid, signal.SIGCONT)

    async def step(self, to_s: int) -> None:
        """Step the server's clock to so many seconds beside the true time."""
        assert self.clock is not None
        self.clock.step(to_s)
        self.times.rounds.append((time.time(), float(to_s)))
        await anyio.sleep(1.0)

    async def answers(self) -> None:
        """Wait for the server."""
        with anyio.fail_after(HANG_S):
            while True:
                with suppress(BusError):
                    await server_ms(self.process.bus)
                    return
                await anyio.sleep(0.05)

    async def talk(self) -> None:
        """Send plain messages for ever, each when the one before is answered."""
        head = 0
        while True:
            inbound = make_inbound(self.process, channel="web", chat="plain", text="hi", sender_id="plain")
            sent, accepted, state = time.time(), False, None
            while state is None or state.waiting or state.head <= head:
                with suppress(BusError):
                    if not accepted:
                        await accept(self.process, inbound)
                    accepted, state = True, await self.reader.state("web:plain")
                await anyio.sleep(PLAIN_PAUSE_S)
            head = state.head
            self.times.plain.append((sent, time.time()))

    # Counting

    async def all_fired(self) -> None:
        """Wait until nothing is left, or until nothing changes any more; what is missing is told by the count."""
        bus, before = self.process.bus, (0, 0)
        with anyio.move_on_after(HANG_S) as limit:
            while True:
                with suppress(BusError):
                    left = (await bus.call("ZCARD", bus.keys.upcoming(0)), await bus.call("XLEN", bus.keys.inbox(0)))
                    if left == (0, 0):
                        return
                    if left != before:
                        before, limit.deadline = left, anyio.current_time() + HANG_S
                await anyio.sleep(0.1)

    async def report(self) -> End:
        """Check that each fired once, and none early, and judge how late they were."""
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
        fires = {name: (reminder.due_ms / 1000, fired[name]) for name, reminder in self.set.items()}
        late_s = sorted(self.times.late_s(*times) for times in fires.values())
        print(f"late by {late_s[len(late_s) // 2]:.2f} s (half of {len(late_s)}), {late_s[-1]:.2f} s (at most)")
        return self.times.end(fires)


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
        made = Trial(folder=folder, process=process, reader=SessionReader(process.bus), clock=clock, sessions=names)
        try:
            async with anyio.create_task_group() as tg:
                tg.start_soon(made.talk)
                yield made
                tg.cancel_scope.cancel()
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

        end = await found.report()

    assert len(found.set) == 60
    assert end.code != BROKEN, end.text


@pytest.mark.slow
@pytest.mark.faketime
@pytest.mark.skipif(library() is None, reason="needs libfaketime: apt-get install faketime")
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
            if to_s or len(found.times.rounds) > 1:
                await found.step(to_s)
            for number in range(6):
                await found.kill()
                if number in (1, 4):
                    await found.pause()
                await anyio.sleep(0.5)
        # A message at whose turn workers died is tried alone after a pause, which this step ends.
        await found.step(2 * HOUR_S + DAY_S)
        await found.all_fired()

        end = await found.report()

    print(end.text)
    assert len(found.set) == 2_000
    assert end.code != BROKEN, end.text
