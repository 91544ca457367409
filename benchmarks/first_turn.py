"""CPU of an agent worker's first turn after it is ready, beside that of its tenth."""

import statistics
from pathlib import Path

import anyio
import httpx2

from benchmarks.costs import Costs, counting
from benchmarks.folder import data_dir
from benchmarks.model_server import model_server
from benchmarks.people import ANSWER_LIMIT_S, People, people
from benchmarks.result import Result
from tests.ports import free_port

WORKERS = 5
"""Workers that are started one after the other."""
WORDS = 50
TURNS = 10
LATE = slice(4, TURNS)
"""The turns around the tenth, whose median stands for it: a single one is short beside the clock of the CPU."""
REST_S = 0.2
"""After an answer, until the worker has noted what it used."""
LOOK_S = 0.01
QUESTION = "Tell me something about ponds."
LIMIT = 2.0
"""A first turn opens the connection to the model; reading a vocabulary as well would be 60 times the floor."""


def measure() -> list[Result]:
    """Each worker gets ten messages in ten chats, the first as soon as ``/readyz`` says 200."""
    with data_dir() as folder, model_server(words=WORDS) as model:
        rounds: list[list[float]] = []
        for number in range(WORKERS):
            port = free_port()
            with counting(folder, **model, MILLPOND_HEALTH__PORT=str(port)) as costs:
                rounds.append(anyio.run(_turns, folder, costs, port, number))
    late = [statistics.median(turns[LATE]) for turns in rounds]
    return [
        Result(
            name="CPU of a worker's first turn",
            unit="ms",
            values=tuple(turns[0] for turns in rounds),
            floor=statistics.median(late),
            floor_is="its tenth turn (median of the fifth to the tenth)",
            limit=LIMIT,
            limit_is="ratio, at most",
        )
    ]


async def _turns(folder: Path, costs: Costs, port: int, number: int) -> list[float]:
    """CPU milliseconds of each turn."""
    async with people(folder) as everybody:
        await _ready(port)
        spent: list[float] = []
        for turn in range(TURNS):
            before = await costs.spent()
            await _answered(everybody, f"worker-{number}-{turn}")
            spent.append(1000 * (await costs.spent() - before))
        return spent


async def _answered(everybody: People, chat: str) -> None:
    async with everybody.watching(chat) as watch:
        await everybody.say(chat, QUESTION)
        await watch.answered()
    await anyio.sleep(REST_S)


async def _ready(port: int) -> None:
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        with anyio.fail_after(ANSWER_LIMIT_S):
            while not await _says_ready(client):  # noqa: ASYNC110 - it tells nobody else
                await anyio.sleep(LOOK_S)


async def _says_ready(client: httpx2.AsyncClient) -> bool:
    try:
        return (await client.get("/readyz")).status_code == httpx2.codes.OK
    except httpx2.TransportError:
        return False
