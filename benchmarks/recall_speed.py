"""How fast it is found again, and in how much memory: in a small scope and a large one, cold, and a hundred of them.

All of it goes through the built-in engine of a process with a server: what a turn waits for.
"""

import shutil
import time
from collections.abc import Iterator
from itertools import chain, count, islice
from pathlib import Path

import anyio

from benchmarks.folder import data_dir
from benchmarks.recall_corpus import Life, lives
from benchmarks.recall_elsewhere import searched
from benchmarks.recall_lived import engine_of, lived, lived_by_one
from benchmarks.recall_measure import Ground
from benchmarks.result import LimitIs, Result
from daemon import log
from daemon.config import BotConfig, Config
from daemon.recall.index.index_files import FOLDER
from daemon.run import open_process
from daemon.testing import ManualClock

SIZES = {10_000: 3.0, 200_000: 15.0}
"""Chunks of a scope, and how many milliseconds half of its searches may take at most."""
LARGE = "pond:person:web:large"
SEARCHES = 300
LIMIT = 10
"""Hits."""
INDEXED_WITHIN_S = 300.0
INDEXED_LIMIT = 5_000.0
"""Chunks a second."""
COLD_LIMIT_S = 1.0
COLD_RUNS = 3
SCOPES = 100
SCOPES_LIMIT_MB = 300.0

CONFIG = Config(bots={"pond": BotConfig()})


def measure() -> list[Result]:
    """Each line a number with its limit."""
    log.configure("error")
    results = list[Result]()
    for size, limit_ms in SIZES.items():
        with data_dir() as folder:
            results += anyio.run(_large, folder, size, limit_ms)
            if size == min(SIZES):
                cold = [searched(folder, [LARGE]).first_s for _ in range(COLD_RUNS)]
                results.append(_result(f"first search of a process, {size:,} chunks", "s", *cold, limit=COLD_LIMIT_S))
                shutil.rmtree(folder / FOLDER)
                cold = [searched(folder, [LARGE]).first_s]
                results.append(_result("the same, and nothing is indexed yet", "s", *cold, limit=COLD_LIMIT_S))
    with data_dir() as folder:
        scopes = anyio.run(_many, folder)
        most = searched(folder, scopes).mb
        results.append(_result(f"a process that has searched {SCOPES} scopes", "MB", most, limit=SCOPES_LIMIT_MB))
    return results


async def _large(folder: Path, size: int, limit_ms: float) -> list[Result]:
    """A scope of so many chunks: how fast it is indexed and searched."""
    everybody, chunks = list[Life](), 0
    for life in _endless():
        everybody.append(life)
        chunks += len(Ground(life).chunks)
        if chunks >= size:
            break
    questions = [question.text for life in everybody for question in life.questions]
    async with open_process(CONFIG, folder) as process:
        await lived_by_one(process, LARGE, everybody)
        engine = engine_of(process, ManualClock(everybody[0].now))
        try:
            watch = _Watch()
            if not await engine.catch_up(LARGE, within_s=INDEXED_WITHIN_S):
                raise RuntimeError(f"{chunks} chunks are not indexed after {INDEXED_WITHIN_S} s")
            rates = [chunks / spent for spent in watch.spent()]
            took = list[tuple[float, float]]()
            for question in questions[:: max(1, len(questions) // SEARCHES)]:
                watch = _Watch()
                await engine.search(LARGE, question, mode="search", limit=LIMIT)
                took.append(watch.spent())
        finally:
            await engine.aclose()
    results = list[Result]()
    for at, clock in enumerate(("", ", of the processor alone")):
        times = [1_000 * spent[at] for spent in took]
        rate = rates[at]
        results += [
            _result(f"indexed{clock}, {size:,} chunks", "chunks/s", rate, limit=INDEXED_LIMIT, limit_is="at least"),
            _result(f"a search{clock}, {size:,} chunks", "ms", *times, limit=limit_ms),
        ]
    return results


class _Watch:
    """Measures from now on: on a busy machine only what the processor did says something."""

    def __init__(self) -> None:
        self._began = time.perf_counter(), time.process_time()

    def spent(self) -> tuple[float, float]:
        """Seconds, and those of the processor in this process."""
        began, worked = self._began
        return time.perf_counter() - began, time.process_time() - worked


def _endless() -> Iterator[Life]:
    """People of both languages in turns."""
    for seed in count(1):
        everybody = lives(seed)
        half = len(everybody) // 2
        yield from chain.from_iterable(zip(everybody[:half], everybody[half:], strict=True))


async def _many(folder: Path) -> list[str]:
    """Scopes of people who have lived."""
    async with open_process(CONFIG, folder) as process:
        return [await lived(process, life) for life in islice(_endless(), SCOPES)]


def _result(
    name: str, unit: str, *values: float, limit: float, limit_is: LimitIs = "at most", floor: float = 0.0
) -> Result:
    return Result(name=name, unit=unit, values=values, floor=floor, floor_is="", limit=limit, limit_is=limit_is)
