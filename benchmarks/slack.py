"""Slack: 30 events a second in, a reply a second in each of 10 channels, two replicas, and what a flood costs others.

Platform, model and people are processes of their own, as is the worker that answers.
"""

import itertools
import json
import re
import statistics
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2

from benchmarks.disk import synced_ms
from benchmarks.folder import data_dir, notes_dir
from benchmarks.model_server import model_server
from benchmarks.replicas import agent, cpu_percent, fake, p95, p99, published_ms, replica
from benchmarks.result import Result
from tests.processes import Daemon

CHANNELS, THREADS = 10, 2
"""In each channel so many threads, in which the bot is asked in turn."""

EVENTS_PER_S = 30.0
"""In each channel each second one question, which Slack tells twice, and one thing that is said to others."""

BETWEEN_S = 0.5 + 0.5 / CHANNELS
"""From a question to what is said to others: half a second, and never when another channel's question is asked."""

LOAD_S = 60.0
WINDOWS = 6
"""Parts of that time, each a value of the CPU time."""

QUIET, EVERY_S, MESSAGES, ROUNDS, FLOOD = 20, 1.0, 5, 4, 1_000
"""Beside a flood so many others say so many things each, one every so often: less than the platform lets through."""

SHOWING = {"chat.postMessage", "chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update"}
ANSWER_LIMIT_S = 90.0
LOOK_S = 0.5
QUIET_S = 5.0
"""After a flood was stopped, until the next round."""

PUBLISH_MS, ACKNOWLEDGE_MS, CPU_PERCENT, DELAY_MS = 5.0, 100.0, 25.0, 100.0

CONFIG = """
data_dir = "{data}"
[channels.lake]
type = "slack"
bot_token = "{bot}"
app_token = "{app}"
base_url = "{base_url}"
[channels.lake.access]
policy = "open"
"""


@dataclass
class Platform:
    """The fake Slack, its people, and what it noted."""

    base_url: str
    notes: Path
    http: httpx2.AsyncClient
    said: dict[int, float] = field(default_factory=dict[int, float])
    """When each number was said."""
    places: dict[int, tuple[str, float]] = field(default_factory=dict[int, tuple[str, float]])
    """Its conversation and place there: two that were said at once come in the platform's order."""
    _numbers: Any = field(default_factory=itertools.count)

    async def ask(self, **asked: Any) -> dict[str, Any]:
        """Have something done, see ``tests.fakes.slack.control``."""
        answer = await self.http.post(f"{self.base_url.removesuffix('/api')}/control", json=asked)
        answer.raise_for_status()
        done: dict[str, Any] = answer.json()
        return done

    async def say(self, **where: Any) -> int:
        """Somebody asks the bot a number; the number."""
        number = next(self._numbers)
        self.said[number] = time.time()
        said = await self.ask(do="say", text=f"number {number}", **where)
        self.places[number] = (f"{said['channel']} {where.get('thread', '')}", float(said["ts"]))
        return number

    def shown(self) -> dict[int, float]:
        """When each number was answered first, in order."""
        found: dict[int, float] = {}
        for line in self.notes.read_text().splitlines():
            note = json.loads(line)
            if note["acted"] and note["method"] in SHOWING:
                for number in re.findall(r"number (\d+)", note["text"]):
                    found.setdefault(int(number), note["at"])
        return found

    async def until_answered(self, numbers: set[int]) -> None:
        """Wait until all of that is answered."""
        with anyio.fail_after(ANSWER_LIMIT_S):
            while not numbers <= self.shown().keys():  # noqa: ASYNC110 - a file is read
                await anyio.sleep(LOOK_S)

    def waits_ms(self, numbers: set[int]) -> list[float]:
        """From said to answered, of all that."""
        return [(at - self.said[number]) * 1000 for number, at in self.shown().items() if number in numbers]


@dataclass
class Measured:
    """What came out."""

    channels: list[str] = field(default_factory=list[str])
    """Ids of those in which it is asked."""
    cpu: list[float] = field(default_factory=list[float])
    """Per cent of a core, of each replica in each window."""
    bare: float = 0.0
    """The same without anybody saying anything."""
    acknowledged: list[float] = field(default_factory=list[float])
    """From the envelope to its acknowledgement, ms."""
    pairs: int = 0
    turned: int = 0
    """Pairs of answers of a thread that came in the wrong order."""
    calm: list[float] = field(default_factory=list[float])
    flooded: list[float] = field(default_factory=list[float])


def measure() -> list[Result]:
    """Publishing, acknowledging, order, CPU time and a flood."""
    with notes_dir() as notes, ExitStack() as processes:
        folder = processes.enter_context(data_dir())
        model = processes.enter_context(model_server(words=0))
        calls = notes / "calls"
        base_url, bot, app, _secret = processes.enter_context(fake("tests.fakes.slack", calls))
        file = folder / "millpond.toml"
        file.write_text(CONFIG.format(data=folder, bot=bot, app=app, base_url=base_url))
        file.chmod(0o600)
        processes.enter_context(agent(folder, model))
        takes = [notes / f"takes-{number}" for number in range(2)]
        with ExitStack() as replicas:
            daemons = [replicas.enter_context(replica(folder, each)) for each in takes]
            synced = replicas.enter_context(synced_ms(folder))
            found = anyio.run(_drive, base_url, calls, daemons)
        # A flood is measured by what it costs others.
        published = published_ms(takes, found.channels.__contains__)
    return _results(published, synced, found)


def _results(published: list[float], synced: list[float], found: Measured) -> list[Result]:
    load = f"{EVENTS_PER_S:.0f}/s in {CHANNELS} channels"
    pairs = f"{found.pairs:,} pairs of answers in {CHANNELS * THREADS} threads, two replicas"
    none = {"floor": 0.0, "floor_is": "nothing"}
    return [
        Result(
            name=f"99th percentile of publishing an event, {load}",
            unit="ms",
            values=(p99(published),),
            floor=p99(synced),
            floor_is="the same of a write and fsync of half a kilobyte beside it",
            limit=PUBLISH_MS,
        ),
        Result(
            name=f"99th percentile of acknowledging an envelope, {load}",
            unit="ms",
            values=(p99(found.acknowledged),),
            floor=statistics.median(found.acknowledged),
            floor_is="the median of the same",
            limit=ACKNOWLEDGE_MS,
        ),
        Result(name=f"in the wrong order, of {pairs}", unit="pairs", values=(float(found.turned),), limit=0.0, **none),
        Result(
            name=f"CPU of one replica, {EVENTS_PER_S:.0f} events/s in and {CHANNELS} replies/s out",
            unit="% of a core",
            values=tuple(found.cpu),
            floor=found.bare,
            floor_is="the same two replicas while nobody says anything",
            limit=CPU_PERCENT,
            limit_is="worst, at most",
        ),
        Result(
            name=f"95th percentile of the wait of {QUIET} chats: more of it beside a flood of {FLOOD:,} messages",
            unit="ms",
            values=tuple(with_it - without for without, with_it in zip(found.calm, found.flooded, strict=True)),
            floor=statistics.median(found.calm),
            floor_is="the wait without the flood",
            limit=DELAY_MS,
        ),
    ]


async def _drive(base_url: str, notes: Path, replicas: list[Daemon]) -> Measured:
    found = Measured()
    async with httpx2.AsyncClient(trust_env=False, timeout=10.0) as http:
        platform = Platform(base_url, notes, http)
        await platform.until_answered({await platform.say(person="U2000")})
        found.bare = statistics.fmean(await cpu_percent(replicas, LOAD_S / WINDOWS))
        await _load(platform, replicas, found)
        for number in range(ROUNDS):
            found.calm.append(await _p95(platform))
            found.flooded.append(await _beside_a_flood(platform, f"U3{number:03}"))
    return found


async def _load(platform: Platform, replicas: list[Daemon], found: Measured) -> None:
    for number in range(CHANNELS):
        found.channels.append((await platform.ask(do="channel", name=f"lake-{number}"))["channel"])
    await platform.ask(do="acknowledged")  # those before do not count
    async with anyio.create_task_group() as tg:
        for number, channel in enumerate(found.channels):
            tg.start_soon(_talk_in, platform, channel, number / CHANNELS)
        for _ in range(WINDOWS):
            found.cpu += await cpu_percent(replicas, LOAD_S / WINDOWS)
    asked = {number for number, (place, _) in platform.places.items() if place.split()[0] in found.channels}
    await platform.until_answered(asked)
    found.acknowledged = [1000 * took for took in (await platform.ask(do="acknowledged"))["seconds"]]
    answered: dict[str, list[float]] = defaultdict(list)
    for number in platform.shown():
        place, order = platform.places[number]
        if number in asked:
            answered[place].append(order)
    for orders in answered.values():
        pairs = list(itertools.pairwise(orders))
        found.pairs += len(pairs)
        found.turned += sum(later < earlier for earlier, later in pairs)


async def _talk_in(platform: Platform, channel: str, after_s: float) -> None:
    """One question a second, and half a second later something that is not meant for the bot.

    At a time of its own: what is said in all channels is spread evenly.
    """
    roots = [(await platform.ask(do="say", channel=channel, text="a thread"))["ts"] for _ in range(THREADS)]
    began = time.monotonic() + after_s
    for second in range(int(LOAD_S)):
        thread = roots[second % THREADS]
        await anyio.sleep(max(0.0, began + second - time.monotonic()))
        await platform.say(channel=channel, thread=thread, mention=True)
        await anyio.sleep(max(0.0, began + second + BETWEEN_S - time.monotonic()))
        await platform.ask(do="say", channel=channel, thread=thread, text="said to others")


async def _beside_a_flood(platform: Platform, person: str) -> float:
    async with anyio.create_task_group() as tg:
        tg.start_soon(_flood, platform, person)
        waits = await _p95(platform)
    # What is left of it would be a part of the next round, which is to be calm.
    await platform.ask(do="command", text="stop", person=person)
    await anyio.sleep(QUIET_S)
    return waits


async def _flood(platform: Platform, person: str) -> None:
    for _ in range(FLOOD):
        await platform.say(person=person)


async def _p95(platform: Platform) -> float:
    """Of what the quiet ones wait in one round."""
    said: set[int] = set()
    async with anyio.create_task_group() as tg:
        for chat in range(QUIET):
            tg.start_soon(_talk, platform, chat, said)
    await platform.until_answered(said)
    return p95(platform.waits_ms(said))


async def _talk(platform: Platform, chat: int, said: set[int]) -> None:
    at_s = time.monotonic() + EVERY_S * chat / QUIET
    for _ in range(MESSAGES):
        await anyio.sleep(max(0.0, at_s - time.monotonic()))
        said.add(await platform.say(person=f"U{2_000 + chat}"))
        at_s += EVERY_S
