"""Wall clocks that step by an hour, the server's or the workers': nothing freezes, is lost, doubled or reordered.

Real processes run under libfaketime, which shows them a wall clock moved by what a file says; their monotonic clock
goes on as it does. A frozen wait would last the hour, so every limit here is far below it.
"""

import datetime as dt
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from anyio import to_thread

from channels.inbound import accept, make_inbound
from channels.text import split
from daemon.config import load
from daemon.heartbeat import EVERY_S, workers
from daemon.overview import read_unknown
from daemon.process import Process
from daemon.run import open_process
from daemon.server.redis_program import find_program
from tests.chaos.tally import Record, answered, tally
from tests.conftest import server_ms
from tests.fakes.openai_server import Failure, FakeOpenAI, Hang, Reply, Say, fake_openai
from tests.fakes.said import said
from tests.fakes.sink import Sink, Slow, sink
from tests.limits import HANG_S
from tests.processes import Daemon, shut_down, start
from tests.wall_clock import WallClock, library

pytestmark = [
    pytest.mark.faketime,
    pytest.mark.timeout(900),
    pytest.mark.skipif(library() is None, reason="needs libfaketime: apt-get install faketime"),
]

HOUR_S = 3_600
STEPS = [
    pytest.param(whose, by_s, id=f"{whose}{by_s:+d}s") for whose in ("server", "workers") for by_s in (HOUR_S, -HOUR_S)
]

LEASE_S, GRACE_S, REST_S = 1.5, 8.0, 3.0

PART_MAX_CHARS = 60
CONFIG = """
data_dir = "{folder}/data"
[redis]
server = "{server}"
[queue]
lease_s = {lease_s}
renew_s = 0.4
wakeup_s = 1.0
backoff_min_s = 0.5
backoff_max_s = {rest_s}
[run]
grace_s = {grace_s}
[bots.pond.model]
base_url = "{model}"
name = "fake"
api_key = "none"
[channels.support]
type = "testing"
url = "{platform}"
debounce_s = 1.0
send_timeout_s = 0.5
part_max_chars = {part_max_chars}
parts_max = 1000
streaming = false
typing = false
"""


@dataclass(kw_only=True)
class Bench:
    """Everything that a test has to do with; the test's own process keeps the true time."""

    folder: Path
    process: Process
    model: FakeOpenAI
    replies: "Replies"
    platform: Sink
    clocks: dict[str, WallClock]
    daemons: list[Daemon] = field(default_factory=list)
    accepted: dict[str, list[str]] = field(default_factory=dict)
    accepted_ids: set[tuple[str, str]] = field(default_factory=set)
    answered_ids: set[tuple[str, str]] = field(default_factory=set)

    # Processes.

    async def begin(self, *roles: str, **environment: str) -> list[Daemon]:
        """Start a process for each role, and wait for their first heartbeats."""
        before = len(await workers(self.process.bus))
        config = str(self.folder / "millpond.toml")
        more = {**self.clocks["workers"].environment, **environment, "MILLPOND_CONFIG": config}
        begun = [start(self.folder / "data", "--role", role, web=False, **more) for role in roles]
        self.daemons += begun

        async def seen() -> bool:
            return len(await workers(self.process.bus)) == before + len(begun)

        await until(seen)
        return begun

    async def step(self, whose: str, by_s: int) -> None:
        """Step a clock."""
        self.clocks[whose].step(by_s)
        if whose == "server":
            await until(lambda: self._server_shows(by_s))

    async def _server_shows(self, by_s: int) -> bool:
        return abs(await server_ms(self.process.bus) / 1000 - time.time() - by_s) < 10

    # Messages.

    async def say(self, session: str, text: str) -> None:
        channel, _, chat = session.partition(":")
        ids = self.accepted.setdefault(session, [])
        inbound = make_inbound(
            self.process, channel=channel, chat=chat, text=text, sender_id="ann", message_id=f"m{len(ids):03}"
        )
        with anyio.CancelScope(shield=True):  # cut short, nobody would know whether it was accepted
            await accept(self.process, inbound)
        ids.append(inbound.id)
        self.accepted_ids.add((session, inbound.id))

    async def chatter(self, session: str, *, every_s: float, text: str = "hello there") -> None:
        """Messages without end."""
        while True:
            await self.say(session, text)
            await anyio.sleep(every_s)

    async def watch(self) -> None:
        """Note which messages are answered, without end."""
        reader = self.process.transcripts
        while True:
            for session in list(self.accepted):
                log = [entry for _, entry in await reader.committed(session, limit=10_000)]
                self.answered_ids |= {(session, message_id) for message_id in answered(log)}
            await anyio.sleep(0.05)

    async def all_answered(self) -> None:
        bus = self.process.bus

        async def nothing_left() -> bool:
            return not (await bus.call("XLEN", bus.keys.inbox(0)) or await bus.call("XLEN", bus.keys.out(0, "support")))

        async def all_noted() -> bool:
            return self.answered_ids == self.accepted_ids

        # A failure is told by the missing answers.
        await until(nothing_left, quietly=True)
        await until(all_noted, quietly=True)
        assert self.accepted_ids - self.answered_ids == set()
        assert await nothing_left(), "replies were not sent"

    async def nothing_wrong(self) -> None:
        """Count everything: nothing lost, doubled or out of order, in the logs and at the platform."""
        reader = self.process.transcripts
        logs = {name: [entry for _, entry in await reader.committed(name, limit=10_000)] for name in self.accepted}
        found = tally(Record(accepted=self.accepted, logs=logs))
        assert found.ok, found.report()

        sent = Counter((post["session"], post["reply"], post["part"]) for post in self.platform.delivered)
        owed = [
            (session, f"{session}#{entry.turn}", part)
            for session in sorted(logs)
            if session.startswith("support:")
            for entry in logs[session]
            if entry.answers
            for part in range(len(split(msgspec.json.decode(entry.wire)["content"], PART_MAX_CHARS)))
        ]
        # Counter keeps the order of first arrival; sorting is stable, so each session's parts stay in theirs.
        assert sorted(sent, key=lambda key: key[0]) == owed
        listed = Counter((each.reply, each.part) for each in await read_unknown(self.process.bus, limit=10_000))
        doubled = {key: times for key, times in sent.items() if times > 1 + listed[key[1:]]}
        assert not doubled, "sent more often than queue unknown tells"

    async def rests(self, session: str) -> None:
        bus = self.process.bus
        await until(lambda: bus.call("HEXISTS", bus.keys.session(session), "retry_at"))

    async def thinks(self, *texts: str) -> None:
        async def asked() -> bool:
            said = [last_said(request.body) for request in self.model.requests]
            return all(any(text in each for each in said) for text in texts)

        await until(asked)


class Replies:
    def __init__(self) -> None:
        self.away = True
        """Whether it turns away those who say that it shall."""

    def __call__(self, body: dict[str, object]) -> Reply:
        """By the newest message."""
        said = last_said(body)
        if "think" in said:
            return Say("one two three four five six seven eight nine ten eleven twelve", delay_s=0.12)
        if "ponder" in said:
            return Say("so be it", delay_s=0.03)
        if "hang" in said:
            return Hang()
        if "rest" in said and self.away:
            return Failure(503)
        return Say("an answer that is longer than the platform takes in one part, so that it is sent in two parts")


def last_said(body: dict[str, Any]) -> str:
    """The newest message of a person in a request to the model."""
    return said([message for message in body["messages"] if message["role"] == "user"][-1]["content"])


async def until(true: Callable[[], Any], *, quietly: bool = False) -> None:
    with anyio.move_on_after(HANG_S):
        while not await true():  # noqa: ASYNC110 - what other processes do sets no event here
            await anyio.sleep(0.02)
        return
    assert quietly, "it did not come about"


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A server of its own, whose clock can be stepped, and no process yet."""
    clocks = {whose: WallClock(tmp_path / f"{whose}.clock") for whose in ("server", "workers")}
    replies = Replies()
    async with fake_openai(replies) as model, sink(lambda _post: Slow(0.15)) as platform:
        config = configured(tmp_path, clocks["server"], model, platform)
        async with open_process(load(config, environ={}).config, tmp_path / "data") as process:
            made = Bench(
                folder=tmp_path, process=process, model=model, replies=replies, platform=platform, clocks=clocks
            )
            try:
                yield made
            finally:
                for daemon in made.daemons:
                    daemon.kill()
    await to_thread.run_sync(shut_down, tmp_path / "data")


def configured(folder: Path, clock: WallClock, model: FakeOpenAI, platform: Sink) -> Path:
    """The configuration file; the server in it is a script that gives the real one its clock."""
    server = folder / "server"
    words = " ".join(f"{name}={value}" for name, value in clock.environment.items())
    server.write_text(f'#!/bin/sh\nexport {words}\nexec "{find_program("").path}" "$@"\n')
    server.chmod(0o700)
    text = CONFIG.format(
        folder=folder,
        server=server,
        model=model.base_url,
        platform=platform.url,
        lease_s=LEASE_S,
        grace_s=GRACE_S,
        rest_s=REST_S,
        part_max_chars=PART_MAX_CHARS,
    )
    file = folder / "millpond.toml"
    file.write_text(text)
    file.chmod(0o600)
    return file


@asynccontextmanager
async def flowing(bench: Bench) -> AsyncIterator[None]:
    """Messages in four sessions for the length of the block, and a look-out for their answers."""
    async with anyio.create_task_group() as flow:
        flow.start_soon(bench.watch)
        async with anyio.create_task_group() as people:
            for number in range(2):
                people.start_soon(partial(bench.chatter, f"web:c{number}", every_s=0.3))
                people.start_soon(partial(bench.chatter, f"support:c{number}", every_s=0.5))
            yield
            people.cancel_scope.cancel()
        await bench.all_answered()
        flow.cancel_scope.cancel()


async def everything_under_way(bench: Bench) -> None:
    """Turns in progress, a session in back-off, an open window, replies half sent."""
    for number in range(4):
        await bench.say(f"web:slow{number}", f"think about {number}")
    await bench.say("web:rest", "rest for a while")
    await bench.thinks(*(f"think about {number}" for number in range(4)))
    await bench.rests("web:rest")
    for word in ("one", "two", "three"):
        await bench.say("support:burst", word)
    # The next request to the platform: something is being sent when the clock steps.
    await bench.platform.asked(len(bench.platform.posts) + 1)
    bench.replies.away = False


@pytest.mark.parametrize(("whose", "by_s"), STEPS)
async def test_what_is_under_way_when_a_clock_steps_goes_on(bench: Bench, whose: str, by_s: int) -> None:
    await bench.begin("agent", "channels", "agent", "channels")
    async with flowing(bench):
        await everything_under_way(bench)
        await bench.step(whose, by_s)
        await anyio.sleep(2.0)

    await bench.nothing_wrong()
    if whose == "workers":
        [(_, last)] = (await bench.process.transcripts.committed("web:c0", limit=10_000))[-1:]
        apart_s = dt.datetime.fromisoformat(last.time).timestamp() - time.time()
        assert abs(apart_s - by_s) < 60, f"the workers' clocks were not stepped: they are {apart_s:.0f} s off"


@pytest.mark.parametrize(("whose", "by_s"), STEPS)
async def test_what_is_held_by_those_who_die_at_the_step_is_taken_over(bench: Bench, whose: str, by_s: int) -> None:
    # Alone at first, so that they lead and hold what there is.
    dying = await bench.begin("agent", "channels")
    async with flowing(bench):
        await everything_under_way(bench)
        await bench.begin("agent", "channels")
        for number in range(4):
            await bench.say(f"web:late{number}", f"think of {number}")
        await bench.thinks(*(f"think of {number}" for number in range(4)))
        for daemon in dying:
            daemon.kill()
        await bench.step(whose, by_s)
        await anyio.sleep(2.0)

    await bench.nothing_wrong()


@pytest.mark.parametrize(("whose", "by_s"), STEPS)
async def test_a_stop_after_the_step_ends_a_turn_and_a_back_off(bench: Bench, whose: str, by_s: int) -> None:
    await bench.begin("agent", "agent")
    await bench.say("web:hang", "hang for ever")
    await bench.say("web:rest", "rest for a while")
    await bench.thinks("hang")
    await bench.rests("web:rest")
    await bench.step(whose, by_s)
    async with anyio.create_task_group() as look_out:
        look_out.start_soon(bench.watch)
        for session in ("web:hang", "web:rest"):
            await bench.say(session, "/stop")
        await bench.all_answered()
        look_out.cancel_scope.cancel()


@pytest.mark.parametrize(("whose", "by_s"), STEPS)
async def test_idle_processes_stop_soon_after_the_step(bench: Bench, whose: str, by_s: int) -> None:
    daemons = await bench.begin("agent", "channels")
    await bench.step(whose, by_s)

    codes = [await to_thread.run_sync(daemon.stop) for daemon in daemons]

    bench.daemons.clear()
    assert codes == [0, 0]


async def test_a_session_that_was_ready_before_a_step_back_is_not_overtaken_for_an_hour(bench: Bench) -> None:
    await bench.begin("agent", MILLPOND_AGENT__SLOTS="1")
    await bench.say("web:slow", "think about it")
    await bench.thinks("think about it")
    await bench.say("web:early", "hello")
    await bench.step("server", -HOUR_S)

    async def early_is_answered() -> bool:
        return ("web:early", "m000") in bench.answered_ids

    async with anyio.create_task_group() as people:
        people.start_soon(bench.watch)
        for number in range(3):  # more than the one slot can ever answer: ready is not empty again
            people.start_soon(partial(bench.chatter, f"web:c{number}", every_s=0.05, text="ponder"))
        await until(early_is_answered)
        people.cancel_scope.cancel()


@pytest.mark.parametrize("by_s", [HOUR_S, -HOUR_S])
async def test_a_process_whose_clock_steps_takes_no_other_for_dead_nor_is_taken_for_it(bench: Bench, by_s: int) -> None:
    await bench.begin("agent")
    await bench.begin("agent", LD_PRELOAD="")  # this one keeps the true time
    alive = [name for name, _ in await workers(bench.process.bus)]
    await bench.step("workers", by_s)

    until_s = time.monotonic() + 1.5 * EVERY_S
    while time.monotonic() < until_s:
        assert [name for name, _ in await workers(bench.process.bus)] == alive
        await anyio.sleep(0.02)
