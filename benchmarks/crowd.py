"""Two hundred conversations of five turns each, at once: how fast one process is, how long its loop stands still.

Also how fast several processes are together, and what a turn costs them.
"""

import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from benchmarks.costs import Costs, counting
from benchmarks.folder import data_dir
from benchmarks.lags import AGENT, BARE, Lags, noting
from benchmarks.model_server import model_server
from benchmarks.people import People, people
from benchmarks.result import Result
from benchmarks.stalls import PAUSE_S, WORK, Round, stalls_of
from daemon.config import AgentConfig
from tests.processes import Daemon, start

SESSIONS = 200
TURNS = 5
CHUNKS = 50
ROUNDS = 5
SEVERAL = (2, 4)
"""Processes that share the sessions."""
SLOTS = AgentConfig().slots
LIMIT = 0.25
QUESTION = "Tell me something about ponds."


def measure() -> list[Result]:
    """With the default number of slots; model, server and people are processes of their own on the same machine."""
    with TemporaryDirectory() as notes:
        ours, floor = Path(notes) / "agent", Path(notes) / "bare"
        with data_dir() as folder, model_server(words=CHUNKS) as model:
            with ExitStack() as processes:
                processes.enter_context(noting(floor, *BARE, folder=folder))
                processes.enter_context(noting(ours, *AGENT, folder=folder, **model))
                rounds = anyio.run(_rounds, folder)
            with counting(folder, **model) as costs:
                calls_s = anyio.run(_calls, folder, costs)
        agent, bare = Lags(ours), Lags(floor)
        speed = Result(
            name=f"turns of {SESSIONS} sessions, {TURNS} each",
            unit="turns/s",
            values=tuple(SESSIONS * TURNS / (end - began) for began, end in rounds),
            floor=SESSIONS * TURNS / statistics.median(calls_s),
            floor_is=f"the same calls through the SDK's HTTP layer, {SLOTS} at a time, without Redis and people",
            limit=LIMIT,
            limit_is="ratio, at least",
        )
        # Only what is the loop's own work: people, server and model keep all cores busy as well, and the loop waits.
        return [speed, stalls_of(WORK, f"{SESSIONS} sessions with {TURNS} turns each", agent, bare, rounds), *_shared()]


async def _rounds(folder: Path) -> list[Round]:
    async with people(folder) as everybody:
        # The first answer waits for the vocabulary to be read and the connection to the model.
        await everybody.say("first", "hello")
        await everybody.all_answered()
        return [await _round(everybody, number) for number in range(ROUNDS)]


def _shared() -> list[Result]:
    """Two and four processes beside one, with a server and a model of their own on the same machine."""
    rates, costs = dict[int, list[float]](), dict[int, list[float]]()
    with model_server(words=CHUNKS) as model:
        for count in (1, *SEVERAL):
            with data_dir() as folder, ExitStack() as stack:
                workers = [start(folder, "--role", "agent", web=False, **model) for _ in range(count)]
                for each in workers:
                    stack.callback(each.stop)
                rates[count], costs[count] = anyio.run(_by, folder, workers)
    floors = statistics.median(rates[1]), statistics.median(costs[1])
    results: list[Result] = []
    for count in SEVERAL:
        several = f"{SESSIONS} sessions, {TURNS} each, with {count} processes"
        for name, unit, values, floor, limit, limit_is in (
            (f"turns of {several}", "turns/s", rates[count], floors[0], 1.0, "ratio, at least"),
            (f"CPU of a turn of {several}", "ms", costs[count], floors[1], 1.1, "ratio, at most"),
        ):
            results.append(
                Result(
                    name=name,
                    unit=unit,
                    values=tuple(values),
                    floor=floor,
                    floor_is="the same with one process",
                    limit=limit,
                    limit_is=limit_is,
                )
            )
    return results


async def _by(folder: Path, workers: Sequence[Daemon]) -> tuple[list[float], list[float]]:
    """Turns a second, and CPU milliseconds of a turn in all workers, of each round but the first, which warms them."""
    rates, costs = list[float](), list[float]()
    async with people(folder) as everybody:
        for number in range(ROUNDS):
            spent = sum(each.cpu_s() for each in workers)
            began, end = await _round(everybody, number)
            rates.append(SESSIONS * TURNS / (end - began))
            costs.append(1_000 * (sum(each.cpu_s() for each in workers) - spent) / (SESSIONS * TURNS))
    return rates[1:], costs[1:]


async def _calls(folder: Path, costs: Costs) -> list[float]:
    """Seconds that the model calls of a round take alone."""
    async with people(folder) as everybody:
        await everybody.say("floor", QUESTION)
        await everybody.all_answered()
    return [await costs.crowd(SESSIONS * TURNS, at_once=SLOTS) for _ in range(ROUNDS)]


async def _round(everybody: People, number: int) -> Round:
    await anyio.sleep(PAUSE_S)
    began = time.monotonic()
    async with anyio.create_task_group() as tg:
        for chat in range(SESSIONS):
            tg.start_soon(partial(_talk, everybody, f"crowd-{number}-{chat}"))
    return began, time.monotonic()


async def _talk(everybody: People, chat: str) -> None:
    async with everybody.watching(chat) as watch:
        for _ in range(TURNS):
            await everybody.say(chat, QUESTION)
            await watch.answered()
