"""How long the event loop of an agent worker stands still while 200 sessions are answered at once."""

import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from benchmarks.folder import data_dir
from benchmarks.history import ENTRIES, Past, lived
from benchmarks.lags import AGENT, BARE, Lags, Stall, noting
from benchmarks.model_server import model_server
from benchmarks.people import People, people
from benchmarks.result import Result

SESSIONS = 200
CHATS = [f"crowd-{number}" for number in range(SESSIONS)]
WORDS = 50
ROUNDS = 4
LIMIT_MS = 25.0
PAUSE_S = 0.5
"""Between two rounds, so that one does not fall into the other's time."""

HALF = Past(entries=ENTRIES // 2, settled=ENTRIES // 2)

LATE, WORK = "longest stall", "longest work of the loop without a pause"
FIGURES: dict[str, Callable[[Stall], float]] = {
    LATE: lambda stall: stall.late_ms,
    WORK: lambda stall: stall.worked_ms,
}
"""With all cores busy a stall is mostly other processes' turn; what is ours to mend is the work."""

Round = tuple[float, float]
"""When it began and ended, by the machine's monotonic clock."""


def measure() -> list[Result]:
    """With the default number of slots, with a slot for every session, and that with long conversations.

    Where a part of them has settled each turn searches for what it no longer sees, and at first there is no index.
    """
    slots = {"MILLPOND_AGENT__SLOTS": str(SESSIONS)}
    return [
        *_measured("default slots", {}),
        *_measured("a slot each", slots),
        *_measured(f"a slot each, {ENTRIES} messages old", slots, Past()),
        *_measured("a slot each, half of the messages settled", slots, HALF),
    ]


def _measured(how: str, environment: Mapping[str, str], past: Past | None = None) -> list[Result]:
    with TemporaryDirectory() as notes:
        ours, floor = Path(notes) / "agent", Path(notes) / "bare"
        with data_dir() as folder, model_server(words=WORDS) as model, ExitStack() as processes:
            if past is not None:
                anyio.run(_live, folder, past)
            processes.enter_context(noting(floor, *BARE, folder=folder))
            processes.enter_context(noting(ours, *AGENT, folder=folder, **model, **environment))
            rounds = anyio.run(_rounds, folder)
        agent, bare = Lags(ours), Lags(floor)
        what = f"{SESSIONS} sessions at once, {how}"
        return [stalls_of(figure, what, agent, bare, rounds) for figure in FIGURES]


def stalls_of(figure: str, what: str, agent: Lags, bare: Lags, rounds: list[Round]) -> Result:
    """The longest stall of each round in the agent worker, beside that of a loop with nothing to do."""
    measured = FIGURES[figure]
    ours, floor = (tuple(max(map(measured, lags.between(*one))) for one in rounds) for lags in (agent, bare))
    return Result(
        name=f"{figure}, {what}",
        unit="ms",
        values=ours,
        floor=statistics.median(floor),
        floor_is="a loop with nothing to do, at the same time on the same machine",
        limit=LIMIT_MS,
        limit_is="worst, at most",
    )


async def _live(folder: Path, past: Past) -> None:
    async with people(folder) as everybody:
        await lived(everybody, CHATS, past)


async def _rounds(folder: Path) -> list[Round]:
    async with people(folder) as everybody:
        # The first answer waits for the vocabulary to be read and the connection to the model.
        await everybody.say("first", "hello")
        await everybody.all_answered()
        return [await _round(everybody) for _ in range(ROUNDS)]


async def _round(everybody: People) -> Round:
    await anyio.sleep(PAUSE_S)
    began = time.monotonic()
    async with anyio.create_task_group() as tg:
        for chat in CHATS:
            tg.start_soon(everybody.say, chat, "Tell me something about ponds.")
    await everybody.all_answered()
    return began, time.monotonic()
