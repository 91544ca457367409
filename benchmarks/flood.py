"""What a flood in one session costs the others: how long 50 people wait for their answers, with it and without."""

import statistics
import time
from functools import partial
from pathlib import Path

import anyio

from benchmarks.folder import data_dir
from benchmarks.model_server import model_server
from benchmarks.people import People, people
from benchmarks.result import Result
from tests.processes import running

FLOOD = 1_000
QUIET = 50
EVERY_S = 1.0
"""How often each of the quiet ones says something."""

MESSAGES = 4
"""What each of them says in one round."""

ROUNDS = 5
WORDS = 10
LATENCY_S = 0.05
"""What the model takes for its first word."""

LIMIT = 1.2


def measure() -> list[Result]:
    """From accepted to answered, 95th percentile: each round with the flood beside the one just before it without."""
    with (
        data_dir() as folder,
        model_server(words=WORDS, latency_s=LATENCY_S) as model,
        running(folder, "--role", "agent", web=False, **model),
    ):
        calm, flooded = anyio.run(_rounds, folder)
    return [
        Result(
            name=f"95th percentile of the wait of {QUIET} sessions beside a flood of {FLOOD:,} messages",
            unit="x calm",
            # Pair by pair: what else the machine does changes from one minute to the next.
            values=tuple(with_it / without for without, with_it in zip(calm, flooded, strict=True)),
            floor=1.0,
            floor_is=f"the round before, without the flood: {statistics.median(calm):.0f} ms, of which the model's "
            f"{LATENCY_S * 1000:.0f}",
            limit=LIMIT,
        )
    ]


async def _rounds(folder: Path) -> tuple[list[float], list[float]]:
    calm: list[float] = []
    flooded: list[float] = []
    async with people(folder) as everybody:
        await _waits(everybody)  # connections are opened, the vocabulary is read
        for number in range(ROUNDS):
            calm.append(_p95(await _waits(everybody)))
            flooded.append(_p95(await _waits_beside(everybody, f"flood-{number}")))
    return calm, flooded


async def _waits_beside(everybody: People, flood: str) -> list[float]:
    async with anyio.create_task_group() as tg:
        for _ in range(FLOOD):
            tg.start_soon(everybody.say, flood, "And another thing!")
        waits = await _waits(everybody)
    if not await everybody.waiting():
        raise RuntimeError("the flood was over before the measurement was")
    await everybody.say(flood, "/stop")
    await everybody.all_answered()
    return waits


async def _waits(everybody: People) -> list[float]:
    """Milliseconds from accepted to answered, of all that the quiet ones say in one round."""
    waits: list[float] = []
    async with anyio.create_task_group() as tg:
        for number in range(QUIET):
            tg.start_soon(partial(_talk, everybody, number, waits))
    return waits


async def _talk(everybody: People, number: int, waits: list[float]) -> None:
    chat = f"quiet-{number}"
    async with everybody.watching(chat) as watch:
        # One after the other, as people who know nothing of each other do.
        at_s = time.monotonic() + EVERY_S * number / QUIET
        for _ in range(MESSAGES):
            await anyio.sleep(max(0.0, at_s - time.monotonic()))
            accepted_s = await everybody.say(chat, "How deep is the pond?")
            waits.append((await watch.answered() - accepted_s) * 1000)
            at_s += EVERY_S


def _p95(waits: list[float]) -> float:
    return statistics.quantiles(waits, n=20)[-1]
