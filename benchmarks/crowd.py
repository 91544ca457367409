"""Two hundred conversations of five turns each, at once: how fast one process is, how long its loop stands still."""

import statistics
import time
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

SESSIONS = 200
TURNS = 5
CHUNKS = 50
ROUNDS = 5
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
        return [speed, stalls_of(WORK, f"{SESSIONS} sessions with {TURNS} turns each", agent, bare, rounds)]


async def _rounds(folder: Path) -> list[Round]:
    async with people(folder) as everybody:
        # The first answer waits for the vocabulary to be read and the connection to the model.
        await everybody.say("first", "hello")
        await everybody.all_answered()
        return [await _round(everybody, number) for number in range(ROUNDS)]


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
