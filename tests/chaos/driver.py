"""The run: producers publish, the dice kill and pause, the proxy loses and delays; then all is counted.

The bot's model is a server beside the run, and its tool notes outside of Redis what it does: four of ten messages
ask for it, up to three times, at once or one after the other.
"""

import os
import random
import signal
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from channels.inbound import accept, make_inbound
from channels.outbox.lease import LEAD
from channels.outbox.ledger import MARKS
from daemon.cli.queue import Unknown, read_unknown
from daemon.config import Config, load
from daemon.errors import BusUnavailable, SessionFull
from daemon.events import Inbound
from daemon.process import Process
from daemon.run import open_process
from daemon.server import EmbeddedServer
from daemon.session import SessionReader
from daemon.session.sessions import CLAIM, COMMIT, JOURNAL
from tests.chaos import runs
from tests.chaos.fleet import NOTES_FILE, Fleet, fleet
from tests.chaos.outcomes import Attempt, Book, Outcome, Place, doubled, listed_doubled
from tests.chaos.proxy import Faults, Proxy
from tests.chaos.talker import NOTE, Talker
from tests.chaos.tally import Record, Tally, tally
from tests.chaos.witness import Witness
from tests.fakes.openai_server import fake_openai
from tests.fakes.sink import Attempt as SeenAttempt
from tests.fakes.sink import Sink, every, sink

ROLES = ("agent", "agent", "agent", "channels", "channels")
LEASE_S = 1.5
PUSH, PULL = "support", "web"
DEBOUNCE_S = 0.2
PART_MAX_CHARS = 60
SEND_TIMEOUT_S = 0.5
SINK_FAULT_EVERY = 15
"""Each so-many-th request to the platform goes wrong in some way."""

UNKNOWN_ALL = 10_000
AGAIN_CHANCE = 0.1
"""A platform delivers the same update twice."""

BURST_CHANCE = 0.6
"""The next message of a session follows at once."""

LOOK_S = 0.2
IDLE_S = 600.0
LOG_ALL = 100_000

CONFIG_FILE = "millpond.toml"
CONFIG = """
data_dir = "{data_dir}"
[redis]
url = "{url}"
[queue]
lease_s = {lease_s}
renew_s = 0.4
wakeup_s = 1.0
backoff_min_s = 0.1
backoff_max_s = 2.0
attempts_max = 1000
[run]
grace_s = 5.0
[bots.pond]
tools = ["{tool}"]
[bots.pond.model]
name = "talker"
base_url = "{model}"
[channels.support]
type = "testing"
url = "{sink}"
debounce_s = {debounce_s}
send_timeout_s = {send_timeout_s}
part_max_chars = {part_max_chars}
"""
"""Short times. Attempts are not what is tested: a message that meets many kills is no poison."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How large a run is, and how bad."""

    messages: int = 400
    sessions: int = 20
    seconds: float = 30.0
    """How long messages flow, and the dice fall."""
    kills: int = 10
    server_kills: int = 3
    pauses: int = 6
    drop: float = 0.01
    late: float = 0.1
    late_max_s: float = 20.0
    drain_s: float = 60.0
    """How long the rest of the answers is awaited."""
    seed: int = 1
    sabotage: str = ""


@dataclass(kw_only=True)
class Counts:
    """What was done to it."""

    kills: int = 0
    server_kills: int = 0
    pauses: int = 0
    dropped: int = 0
    late: int = 0
    bursts: int = 0
    """Turns that answered several messages."""
    doubled: int = 0
    """Parts that arrived twice."""
    listed_doubled: int = 0
    """Lines of ``queue unknown`` of which the platform knows that both attempts arrived: as many."""
    listed_cut: int = 0
    """Lines of an attempt that arrived and whose answer was not taken in."""
    listed_answered: int = 0
    """Lines of an attempt that was answered, and whose sender died or lost its lease before it said so."""
    listed_unseen: int = 0
    """Lines of an attempt that was marked and never arrived."""
    tools: int = 0
    """Runs of tools."""
    interrupted: int = 0
    """Calls of which the model was told that nobody knows."""
    left: int = 0
    """Messages and replies still queued at the end."""


@dataclass(kw_only=True)
class Run:
    """One run under way."""

    plan: Plan
    folder: Path
    process: Process
    fleet: Fleet
    server: EmbeddedServer
    proxy: Proxy
    dice: random.Random
    counts: Counts = field(default_factory=Counts)
    accepted: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    async def storm(self) -> None:
        """Publish everything while processes die, then wait until the rest is answered."""
        async with anyio.create_task_group() as tg:
            tg.start_soon(self._let_fall)
            for number in range(self.plan.sessions):
                tg.start_soon(self._produce, number)
        self.proxy.faults.drop = self.proxy.faults.late = 0.0
        with anyio.move_on_after(self.plan.drain_s):
            while self.proxy.pending or await self._left():  # noqa: ASYNC110 - nobody tells when all is quiet
                await anyio.sleep(LOOK_S)
        self.counts.left = await self._left()
        self.counts.dropped, self.counts.late = self.proxy.dropped, self.proxy.late

    async def _left(self) -> int:
        keys, bus = self.process.bus.keys, self.process.bus
        try:
            return int(await bus.call("XLEN", keys.inbox(0))) + int(await bus.call("XLEN", keys.out(0, PUSH)))
        except BusUnavailable:
            return -1

    # What is published.

    async def _produce(self, number: int) -> None:
        channel, chat = (PUSH, PULL)[number % 2], f"s{number:02}"
        ids = self.accepted[f"{channel}:{chat}"] = []
        count = self.plan.messages // self.plan.sessions
        pause_s = self.plan.seconds / count / (1 - BURST_CHANCE)
        for _ in range(count):
            name = f"m{len(ids):04}"
            inbound = make_inbound(
                self.process,
                channel=channel,
                chat=chat,
                text=self._text(name),
                sender_id="ann",
                message_id=name,
            )
            await self._publish(inbound)
            ids.append(inbound.id)
            if self.dice.random() > BURST_CHANCE:
                await anyio.sleep(pause_s * self.dice.uniform(0.0, 2.0))

    def _text(self, name: str) -> str:
        short = ["hello", "what time is it?", f"count to {self.dice.randint(1, 4)}", "我叫小明"]
        long = ["count to 20", "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"]
        rounds = ["1", "1", "2", "3", "1 2", "2 1", "1 1 1"]
        return self.dice.choice([*short, *short, *long, *(f"note {each} for {name}" for each in rounds)])

    async def _publish(self, inbound: Inbound) -> None:
        """Until it is accepted; and sometimes once more, as a platform does that missed our answer."""
        while True:
            try:
                await accept(self.process, inbound)
                if self.dice.random() > AGAIN_CHANCE:
                    return
            except (BusUnavailable, SessionFull):
                await anyio.sleep(LOOK_S)

    # What goes wrong.

    async def _let_fall(self) -> None:
        plan = self.plan
        falls = [self._kill] * plan.kills + [self._kill_server] * plan.server_kills + [self._pause] * plan.pauses
        self.dice.shuffle(falls)
        async with anyio.create_task_group() as tg:
            for fall in falls:
                await anyio.sleep(plan.seconds / len(falls) * self.dice.uniform(0.5, 1.5))
                tg.start_soon(fall)

    async def _kill(self) -> None:
        self.fleet.any(self.dice).replace()
        self.counts.kills += 1

    async def _pause(self) -> None:
        member = self.fleet.any(self.dice)
        pid = member.pause()
        await anyio.sleep(LEASE_S * self.dice.uniform(1.3, 2.0))
        self.counts.pauses += member.go_on(pid)

    async def _kill_server(self) -> None:
        address = await self.server.ensure()
        os.kill(address.pid, signal.SIGKILL)
        await anyio.sleep(self.dice.uniform(0.0, 0.5))
        await self.server.ensure()
        self.counts.server_kills += 1


async def run(plan: Plan, folder: Path) -> tuple[Tally, Counts]:
    """Run the plan in a folder of its own."""
    dice = random.Random(plan.seed)
    server = EmbeddedServer(folder / "data", idle_s=IDLE_S)
    address = await server.ensure()
    witness = Witness({script.sha: script.name for script in (CLAIM, COMMIT, JOURNAL, LEAD, MARKS)})
    faults = Faults(drop=plan.drop, late=plan.late, late_max_s=plan.late_max_s)
    proxy = Proxy(address.port, address.password.reveal(), dice=dice, faults=faults, observer=witness)
    talker = Talker()
    async with (
        sink(every(SINK_FAULT_EVERY)) as platform,
        fake_openai(talker) as model,
        anyio.create_task_group() as tg,
    ):
        port = await tg.start(proxy.serve)
        url = f"redis://:{address.password.reveal()}@127.0.0.1:{port}"
        config = configured(folder, url, platform=platform.url, model=model.base_url)
        async with open_process(config, folder / "data") as process:
            with fleet(folder, ROLES, folder / CONFIG_FILE, sabotage=plan.sabotage) as members:
                one = Run(
                    plan=plan,
                    folder=folder,
                    process=process,
                    fleet=members,
                    server=server,
                    proxy=proxy,
                    dice=dice,
                )
                await one.storm()
            record = await recorded(one, platform, witness, talker)
        tg.cancel_scope.cancel()
    found = tally(record)
    one.counts.bursts = sum(len(entry.answers) > 1 for log in record.logs.values() for entry in log)
    _count(record, one.counts)
    return found, one.counts


def _count(record: Record, counts: Counts) -> None:
    answered = {attempt.place: attempt.answered for attempt in record.attempts}
    kinds = Counter(answered.get(outcome.place) for outcome in record.unknown)
    counts.doubled = doubled(record.attempts)
    counts.listed_doubled = listed_doubled(record.attempts, record.unknown)
    counts.tools, counts.interrupted = len(record.runs.began), runs.interrupted(record.logs)
    counts.listed_cut, counts.listed_answered, counts.listed_unseen = kinds[False], kinds[True], kinds[None]


def configured(folder: Path, url: str, *, platform: str, model: str) -> Config:
    """The configuration of the run, also written to its folder for its processes."""
    text = CONFIG.format(
        data_dir=folder / "data",
        url=url,
        lease_s=LEASE_S,
        tool=NOTE,
        model=model,
        sink=platform,
        debounce_s=DEBOUNCE_S,
        part_max_chars=PART_MAX_CHARS,
        send_timeout_s=SEND_TIMEOUT_S,
    )
    file = folder / CONFIG_FILE
    file.write_text(text)
    file.chmod(0o600)
    return load(file, environ={}).config


async def recorded(one: Run, platform: Sink, witness: Witness, talker: Talker) -> Record:
    """What the run left, read from the logs, the platform, the model and the tools."""
    reader = SessionReader(one.process.bus)
    logs = {name: [entry for _, entry in await reader.committed(name, limit=LOG_ALL)] for name in one.accepted}
    unknown, book = await read_unknown(one.process.bus, limit=UNKNOWN_ALL), witness.book
    return Record(
        accepted=one.accepted,
        logs=logs,
        attempts=[_attempt(each, book) for each in platform.attempts if each.post["attempt"] in book.asked],
        unmarked=[each.post["reply"] for each in platform.attempts if each.post["attempt"] not in book.asked],
        unknown=[_outcome(each) for each in unknown],
        book=book,
        push=frozenset(name for name in one.accepted if name.startswith(f"{PUSH}:")),
        part_max_chars=PART_MAX_CHARS,
        stale=witness.stale,
        runs=runs.read(one.folder / NOTES_FILE),
        told=talker.told,
    )


def _attempt(seen: SeenAttempt, book: Book) -> Attempt:
    mark: str = seen.post["attempt"]
    return Attempt(
        place=book.asked[mark],
        leader=mark.rpartition("-")[0],
        taken=seen.delivered,
        answered=seen.answered,
        in_time=seen.took_s < SEND_TIMEOUT_S / 2,
    )


def _outcome(listed: Unknown) -> Outcome:
    return Outcome(place=Place(reply=listed.reply, part=listed.part, number=listed.attempt), action=listed.action)
