"""How the time of three tools grows with the data: four times as much may take little more than four times as long.

Half of the messages of each conversation are archived. The smaller size runs in the same process, right before the
larger.
"""

import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import anyio
import msgspec

from benchmarks.folder import data_dir
from benchmarks.result import Result
from daemon import log
from daemon.clock import SystemClock
from daemon.config import BotConfig, Config
from daemon.data import BackupContents, back_up, verify
from daemon.events import LogEntry
from daemon.forget import ForgetOrder, ForgetRequests, ForgetSearch
from daemon.job_handlers import job_runner
from daemon.process import Process
from daemon.run import open_process
from daemon.session.artificial_session import fill
from daemon.transcripts import SearchWords, search

FORGOTTEN, SEARCHED, VERIFIED = 4_000, 200, 5_000
"""Of the smaller size: messages of a conversation in which a text is forgotten, conversations that are searched, and
messages of a conversation whose backup is verified."""
TIMES = 4
RUNS = 3
SEGMENT, SHORT = 20, 40
"""Messages of an archived segment, and of a conversation that is searched."""
WORD = "Kanarienvogel"
EVERY = 10
"""One message of so many contains ``WORD``, so that every segment is rewritten."""
TEXT = "The reeds at the north bank have grown over the outlet. " * 4
FORGET_S = 600.0

_encode = msgspec.json.Encoder().encode
Timed = Callable[[Process, int, str], Awaitable[float]]
"""The seconds for so much data, which is made before, under names that begin so."""


def measure() -> list[Result]:
    """Three lines: the larger size beside ``TIMES`` times the smaller one."""
    log.configure("error")
    return [
        _result(f"forgetting a text in {TIMES * FORGOTTEN:,} messages", FORGOTTEN, _forgotten),
        _result(f"a search for a missing word in {TIMES * SEARCHED:,} conversations", SEARCHED, _searched),
        _result(f"verifying a backup of {TIMES * VERIFIED:,} messages", VERIFIED, _verified),
    ]


def _result(name: str, size: int, timed: Timed) -> Result:
    small, large = zip(*(_both(size, timed) for _ in range(RUNS)), strict=True)
    return Result(
        name=name,
        unit="s",
        values=large,
        floor=TIMES * statistics.median(small),
        floor_is=f"{TIMES} times the time for {size:,}",
        limit=1.5,
        limit_is="ratio, at most",
    )


def _both(size: int, timed: Timed) -> tuple[float, float]:
    async def run(folder: Path) -> tuple[float, float]:
        config = Config(bots={"pond": BotConfig(workspace=str(folder / "pond"))})
        async with open_process(config, folder / "data") as process:
            return await timed(process, size, "small"), await timed(process, TIMES * size, "large")

    with data_dir() as folder:
        return anyio.run(run, folder)


async def _conversation(process: Process, session: str, count: int) -> None:
    """A conversation whose older half is archived."""
    bus, entries = process.bus, [_entry(number) for number in range(count)]
    await fill(bus, session, entries, scope=f"pond:person:{session}")
    await bus.call("HSET", bus.keys.session(session), "cursor", count // 2, "start", count // 2)
    for first in range(0, count // 2, SEGMENT):
        part = entries[first : min(first + SEGMENT, count // 2)]
        await process.archive.write(session, first, list(map(_encode, part)))
    await process.archive.trim(session, count // 2)


def _entry(number: int) -> LogEntry:
    text = TEXT if number % EVERY else f"{TEXT} A {WORD} sings."
    wire = msgspec.json.encode({"role": "assistant" if number % 2 else "user", "content": text})
    return LogEntry(time="2026-11-20T09:00:00.000Z", turn=number - number % 2, tokens=60, wire=msgspec.Raw(wire))


async def _forgotten(process: Process, count: int, name: str) -> float:
    session = f"web:{name}"
    await _conversation(process, session, count)
    runner, scope = job_runner(process), f"pond:person:{session}"
    began = time.perf_counter()
    job = await ForgetRequests(process.bus, runner.jobs).order(
        ForgetOrder(name=scope, scopes=(scope,)), ForgetSearch(text=WORD), name=name
    )
    record = await runner.until_ended(job, within_s=FORGET_S)
    took = time.perf_counter() - began
    if sum(record.report["removed"].values()) != count // EVERY:
        raise RuntimeError(f"not everything was forgotten: {record}")
    return took


async def _searched(process: Process, count: int, name: str) -> float:
    sessions = [f"web:{name}-{number}" for number in range(count)]
    for session in sessions:
        await _conversation(process, session, SHORT)
    began = time.perf_counter()
    async with aclosing(search(process.transcripts, sessions, SearchWords("nowhere"), limit=1)) as found:
        async for hit in found:
            raise RuntimeError(f"found what was never said: {hit}")
    return time.perf_counter() - began


async def _verified(process: Process, count: int, name: str) -> float:
    await _conversation(process, f"web:{name}", count)
    backup = process.data_dir.parent / name
    wanted = BackupContents(workspaces={}, archive=process.archive.storage)
    await back_up(process.bus, wanted, backup, clock=SystemClock())
    began = time.perf_counter()
    found = await verify(backup)
    if found.losses:
        raise RuntimeError(f"the backup is not complete: {found}")
    return time.perf_counter() - began
