"""Telegram: 1,000 chats and 30 messages a second in, two replicas that send, and what a flood in one chat costs others.

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

import anyio
import httpx2

from benchmarks.disk import synced_ms
from benchmarks.folder import data_dir, notes_dir
from benchmarks.model_server import model_server
from benchmarks.replicas import agent, cpu_percent, fake, p95, p99, published_ms, replica
from benchmarks.result import Result
from tests.processes import Daemon

CHATS = 1_000
PER_S = 30.0
LOAD_S = 2 * CHATS / PER_S
"""Two messages of each chat."""

WINDOWS = 6
"""Parts of that time, each a value of the CPU time."""

QUIET, EVERY_S, MESSAGES, ROUNDS, FLOOD = 20, 1.0, 5, 4, 1_000
"""Beside a flood so many others say so many things each, one every so often: less than the platform lets through."""

FIRST_CHAT, FIRST_QUIET, FIRST_FLOOD = 10_000_000, 20_000_000, 30_000_000
SHOWING = {"sendMessage", "sendRichMessage", "editMessageText"}
ANSWER_LIMIT_S = 90.0
LOOK_S = 0.5
QUIET_S = 5.0
"""After a flood was stopped, until the next round."""

PUBLISH_MS, CPU_PERCENT, DELAY_MS = 5.0, 25.0, 100.0

CONFIG = """
data_dir = "{data}"
[channels.lake]
type = "telegram"
token = "{token}"
base_url = "{base_url}"
[channels.lake.access]
policy = "open"
"""


@dataclass
class Platform:
    """The fake Bot API, its people, and what it noted."""

    base_url: str
    token: str
    notes: Path
    http: httpx2.AsyncClient
    said: dict[tuple[int, int], float] = field(default_factory=dict[tuple[int, int], float])
    """When what was said, by chat and number."""
    places: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    """The platform's number of each message: two that were said at once come in the platform's order."""

    async def say(self, chat: int, number: int) -> None:
        """Somebody says a number."""
        self.said[chat, number] = time.time()
        asked = {"do": "say", "chat": chat, "text": f"number {number}"}
        answer = (await self.http.post(f"{self.base_url}/control", json=asked)).json()
        self.places[chat, number] = answer["message_id"]

    async def stop(self, chat: int) -> None:
        """Somebody has enough."""
        asked = {"do": "say", "chat": chat, "text": "/stop"}
        (await self.http.post(f"{self.base_url}/control", json=asked)).raise_for_status()

    def shown(self) -> dict[int, list[tuple[int, float]]]:
        """What numbers were answered in each chat, and when, in order."""
        found: dict[int, dict[int, float]] = defaultdict(dict)
        for line in self.notes.read_text().splitlines():
            note = json.loads(line)
            if note["acted"] and note["method"] in SHOWING:
                for number in re.findall(r"number (\d+)", note["text"]):
                    found[note["chat"]].setdefault(int(number), note["at"])
        return {chat: list(numbers.items()) for chat, numbers in found.items()}

    async def until_answered(self, keys: set[tuple[int, int]]) -> None:
        """Wait until all of that is answered."""
        with anyio.fail_after(ANSWER_LIMIT_S):
            while keys - {(chat, number) for chat, found in self.shown().items() for number, _ in found}:  # noqa: ASYNC110 - a file is read
                await anyio.sleep(LOOK_S)

    def waits_ms(self, keys: set[tuple[int, int]]) -> list[float]:
        """From said to answered, of all that."""
        shown = self.shown()
        return [
            (at - self.said[chat, number]) * 1000
            for chat in {chat for chat, _ in keys}
            for number, at in shown[chat]
            if (chat, number) in keys
        ]


@dataclass
class Measured:
    """What came out."""

    cpu: list[float] = field(default_factory=list[float])
    """Per cent of a core, of each replica in each window."""
    bare: float = 0.0
    """The same without anybody saying anything."""
    pairs: int = 0
    turned: int = 0
    """Pairs of answers of a chat that came in the wrong order."""
    calm: list[float] = field(default_factory=list[float])
    flooded: list[float] = field(default_factory=list[float])


def measure() -> list[Result]:
    """Publishing, order, CPU time and a flood."""
    with notes_dir() as notes, ExitStack() as processes:
        folder = processes.enter_context(data_dir())
        model = processes.enter_context(model_server(words=0))
        base_url, token = processes.enter_context(fake("tests.fakes.telegram", notes / "calls"))
        file = folder / "millpond.toml"
        file.write_text(CONFIG.format(data=folder, token=token, base_url=base_url))
        file.chmod(0o600)
        processes.enter_context(agent(folder, model))
        takes = [notes / f"takes-{number}" for number in range(2)]
        with ExitStack() as replicas:
            daemons = [replicas.enter_context(replica(folder, each)) for each in takes]
            synced = replicas.enter_context(synced_ms(folder))
            found = anyio.run(_drive, base_url, token, notes / "calls", daemons)
        # A flood is measured by what it costs others.
        published = published_ms(takes, lambda chat: int(chat) < FIRST_QUIET)
    return _results(published, synced, found)


def _results(published: list[float], synced: list[float], found: Measured) -> list[Result]:
    pairs = f"{found.pairs:,} pairs of answers in {CHATS:,} chats, two replicas"
    none = {"floor": 0.0, "floor_is": "nothing"}
    return [
        Result(
            name=f"99th percentile of publishing an update, {PER_S:.0f}/s in {CHATS:,} chats",
            unit="ms",
            values=(p99(published),),
            floor=p99(synced),
            floor_is="the same of a write and fsync of half a kilobyte beside it",
            limit=PUBLISH_MS,
        ),
        Result(name=f"in the wrong order, of {pairs}", unit="pairs", values=(float(found.turned),), limit=0.0, **none),
        Result(
            name=f"CPU of one replica, {PER_S:.0f} messages/s in and out",
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


async def _drive(base_url: str, token: str, notes: Path, replicas: list[Daemon]) -> Measured:
    found = Measured()
    async with httpx2.AsyncClient(trust_env=False, timeout=10.0) as http:
        platform = Platform(base_url, token, notes, http)
        await platform.say(FIRST_QUIET, 0)
        await platform.until_answered({(FIRST_QUIET, 0)})
        found.bare = statistics.fmean(await cpu_percent(replicas, LOAD_S / WINDOWS))
        await _load(platform, replicas, found)
        for number in range(ROUNDS):
            found.calm.append(await _p95(platform, 2 * number))
            found.flooded.append(await _beside_a_flood(platform, number))
    return found


async def _load(platform: Platform, replicas: list[Daemon], found: Measured) -> None:
    async with anyio.create_task_group() as tg:
        tg.start_soon(_say_all, platform)
        for _ in range(WINDOWS):
            found.cpu += await cpu_percent(replicas, LOAD_S / WINDOWS)
    await platform.until_answered({key for key in platform.said if key[0] < FIRST_QUIET})
    for chat, numbers in platform.shown().items():
        pairs = list(itertools.pairwise(platform.places[chat, number] for number, _ in numbers))
        found.pairs += len(pairs)
        found.turned += sum(later < earlier for earlier, later in pairs)


async def _say_all(platform: Platform) -> None:
    began = time.monotonic()
    async with anyio.create_task_group() as tg:
        for number in range(int(PER_S * LOAD_S)):
            await anyio.sleep(max(0.0, began + number / PER_S - time.monotonic()))
            # The second time around after half a minute: what a chat says comes in order all the same.
            tg.start_soon(platform.say, FIRST_CHAT + number // 2 % CHATS, number)


async def _beside_a_flood(platform: Platform, number: int) -> float:
    flood = FIRST_FLOOD + number
    async with anyio.create_task_group() as tg:
        tg.start_soon(_flood, platform, flood)
        waits = await _p95(platform, 2 * number + 1)
    # What is left of it would be a part of the next round, which is to be calm.
    await platform.stop(flood)
    await anyio.sleep(QUIET_S)
    return waits


async def _flood(platform: Platform, chat: int) -> None:
    for number in range(FLOOD):
        await platform.say(chat, number)


async def _p95(platform: Platform, number: int) -> float:
    """Of what the quiet ones wait in one round."""
    said = {(FIRST_QUIET + chat, MESSAGES * number + at + 1) for chat in range(QUIET) for at in range(MESSAGES)}
    async with anyio.create_task_group() as tg:
        for chat in range(QUIET):
            tg.start_soon(_talk, platform, chat, number)
    await platform.until_answered(said)
    return p95(platform.waits_ms(said))


async def _talk(platform: Platform, chat: int, number: int) -> None:
    at_s = time.monotonic() + EVERY_S * chat / QUIET
    for each in range(MESSAGES):
        await anyio.sleep(max(0.0, at_s - time.monotonic()))
        await platform.say(FIRST_QUIET + chat, MESSAGES * number + each + 1)
        at_s += EVERY_S
