"""How long the event loop of an agent worker stands still while 200 sessions are answered at once."""

import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from benchmarks.folder import data_dir
from benchmarks.history import ENTRIES, lived
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

FIGURES: dict[str, Callable[[Stall], float]] = {
    "longest stall": lambda stall: stall.late_ms,
    "of it the loop's own work": lambda stall: stall.worked_ms,
}
"""With all cores busy a stall is mostly other processes' turn; what is ours to mend is the work."""

Round = tuple[float, float]
"""When it began and ended, by the machine's monotonic clock."""


def measure() -> list[Result]:
    """With the default number of slots, with a slot for every session, and that with long conversations."""
    slots = {"MILLPOND_AGENT__SLOTS": str(SESSIONS)}
    return [
        *_measured("default slots"),
        *_measured("a slot each", **slots),
        *_measured(f"a slot each, {ENTRIES} messages old", old=True, **slots),
    ]


def _measured(how: str, *, old: bool = False, **environment: str) -> list[Result]:
    with TemporaryDirectory() as notes:
        ours, floor = Path(notes) / "agent", Path(notes) / "bare"
        with data_dir() as folder, model_server(words=WORDS) as model, ExitStack() as processes:
            if old:
                anyio.run(_live, folder)
            processes.enter_context(noting(floor, *BARE, folder=folder))
            processes.enter_context(noting(ours, *AGENT, folder=folder, **model, **environment))
            rounds = anyio.run(_rounds, folder)
        agents, bares = ([Lags(path).between(*one) for one in rounds] for path in (ours, floor))
    return [
        Result(
            name=f"{what}, {SESSIONS} sessions at once, {how}",
            unit="ms",
            values=tuple(max(map(measured, stalls)) for stalls in agents),
            floor=statistics.median(max(map(measured, stalls)) for stalls in bares),
            floor_is="a loop with nothing to do, at the same time on the same machine",
            limit=LIMIT_MS,
            limit_is="worst, at most",
        )
        for what, measured in FIGURES.items()
    ]


async def _live(folder: Path) -> None:
    async with people(folder) as everybody:
        await lived(everybody, CHATS)


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
