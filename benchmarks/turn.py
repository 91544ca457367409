"""What a turn costs the worker that answers it, beside the model call that it cannot do without."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import anyio

from benchmarks.costs import Costs, counting
from benchmarks.folder import data_dir
from benchmarks.history import Past, lived
from benchmarks.indexed import indexed
from benchmarks.model_server import model_server
from benchmarks.people import People, people
from benchmarks.result import Result

CHUNKS = 50
QUESTION = "Tell me something about ponds."
ANSWER = "".join(f" word{number}" for number in range(CHUNKS))
"""What the model's server says."""
TEXT_BYTES = len(QUESTION) + len(ANSWER)

WINDOW = {
    "MILLPOND_BOTS__POND__MODEL__CONTEXT_WINDOW_TOKENS": "200000",
    # As without the extras for vectors, whatever is installed here.
    "MILLPOND_MEMORY_SEARCH__MODE": "search",
}
CHARS = 150
SHORT, LONG, FULL = 10, 2_000, 4_000
"""Messages that a model sees: few, 300 kB of text, and most of what a window holds."""
SETTLED = (100, 100_000)
"""Older messages of two conversations that must cost the same."""

ROUNDS, LONG_ROUNDS = 9, 8
TURNS = 20
"""Of one round: the worker's other work, such as renewing leases, is spread over them."""
REST_S = 0.05
"""After the answers, until the worker has noted what they used."""

LIMITS = {SHORT: 2.5, LONG: 1.0}
"""Times the bare call, on top of it; less on a machine that does nothing else."""
SAME = 1.1
KEPT_BYTES = 2 * TEXT_BYTES + 4_096
FLOOR_IS = "a bare call through the SDK's HTTP layer: same body, same stream, read to the end"


@dataclass(frozen=True)
class Round:
    """One round, CPU milliseconds each turn."""

    turn: float
    bare: float

    @property
    def more(self) -> float:
        """What the turn took on top of the bare call."""
        return self.turn - self.bare


def measure() -> list[Result]:
    """Turns with short and long pasts; what they leave behind; and pasts of which a model sees only the end."""
    with data_dir() as folder, model_server(words=CHUNKS) as model:
        anyio.run(_live, folder)
        with counting(folder, **model, **WINDOW) as costs:
            return anyio.run(_measure, folder, costs)


def whole_turns() -> dict[int, list[float]]:
    """CPU milliseconds of turns with ``SHORT`` and ``LONG`` pasts, the model call included."""
    with data_dir() as folder, model_server(words=CHUNKS) as model:
        anyio.run(_live_short_and_long, folder)
        with counting(folder, **model, **WINDOW) as costs:
            return anyio.run(_whole_turns, folder, costs)


async def _whole_turns(folder: Path, costs: Costs) -> dict[int, list[float]]:
    async with people(folder) as everybody:
        await _answered(everybody, ["first"])
        chats = map(_short, count())
        short = [await _round(everybody, costs, [next(chats) for _ in range(TURNS)]) for _ in range(ROUNDS)]
        long = [await _round(everybody, costs, ["long"] * TURNS) for _ in range(LONG_ROUNDS)]
        return {SHORT: [one.turn for one in short], LONG: [one.turn for one in long]}


async def _live_short_and_long(folder: Path) -> None:
    async with people(folder) as everybody:
        await lived(everybody, [_short(number) for number in range(ROUNDS * TURNS)], Past(entries=SHORT, chars=CHARS))
        await lived(everybody, ["long"], Past(entries=LONG, chars=CHARS))


async def _live(folder: Path) -> None:
    await _live_short_and_long(folder)
    async with people(folder) as everybody:
        for settled in SETTLED:
            past = Past(entries=LONG, chars=CHARS, settled=settled)
            await lived(everybody, [f"settled-{settled}"], past)
            await lived(everybody, [f"full-{settled}"], Past(entries=FULL, chars=CHARS, settled=settled))
    # What is settled is taken into the index once, beside turns: 100,000 messages in about a minute.
    await indexed(folder, [everybody.scope(f"{kind}-{settled}") for kind in ("settled", "full") for settled in SETTLED])


def _short(number: int) -> str:
    return f"short-{number}"


async def _measure(folder: Path, costs: Costs) -> list[Result]:
    async with people(folder) as everybody:
        await _answered(everybody, ["first"])  # the vocabulary is read, the connection to the model made
        chats = map(_short, count())
        bytes_before = await _kept_bytes(everybody)
        short = [await _round(everybody, costs, [next(chats) for _ in range(TURNS)]) for _ in range(ROUNDS)]
        bytes_after = await _kept_bytes(everybody)
        long = [await _round(everybody, costs, ["long"] * TURNS) for _ in range(LONG_ROUNDS)]
        turns = ROUNDS * TURNS
        return [
            _cost(SHORT, short),
            _cost(LONG, long),
            *(
                _kept(name, (after - before) / turns)
                for (name, before), after in zip(bytes_before.items(), bytes_after.values(), strict=True)
            ),
            await _same(everybody, costs, "settled", "of which a model sees 2,000 messages"),
            await _same(everybody, costs, "full", "of which a model sees 4,000 messages"),
        ]


async def _round(everybody: People, costs: Costs, chats: Sequence[str]) -> Round:
    before = await costs.spent()
    await _answered(everybody, chats)
    spent = await costs.spent() - before
    return Round(1000 * spent / len(chats), 1000 * await costs.bare(len(chats)))


async def _answered(everybody: People, chats: Sequence[str]) -> None:
    for chat in chats:
        async with everybody.watching(chat) as watch:
            await everybody.say(chat, QUESTION)
            await watch.answered()
    await anyio.sleep(REST_S)


def _cost(messages: int, rounds: Sequence[Round]) -> Result:
    return Result(
        name=f"CPU of a turn at {messages:,} messages, on top of the bare call",
        unit="ms",
        values=tuple(one.more for one in rounds),
        floor=statistics.median(one.bare for one in rounds),
        floor_is=FLOOR_IS,
        limit=LIMITS[messages],
        limit_is="ratio, at most",
    )


async def _kept_bytes(everybody: People) -> dict[str, int]:
    """What Redis holds in memory and has written to its append-only file, in bytes."""
    call = everybody.bus.call
    memory, file = await call("INFO", "memory"), await call("INFO", "persistence")
    return {"memory": int(memory["used_memory_dataset"]), "append-only file": int(file["aof_current_size"])}


def _kept(where: str, each: float) -> Result:
    return Result(
        name=f"bytes that a turn leaves in Redis's {where}",
        unit="B",
        values=(each,),
        floor=TEXT_BYTES,
        floor_is="the text of message and answer; at most twice that and 4 kB",
        limit=KEPT_BYTES,
    )


async def _same(everybody: People, costs: Costs, kind: str, seen: str) -> Result:
    few, many = SETTLED
    pairs: list[tuple[Round, Round]] = []
    for number in range(LONG_ROUNDS):
        # Each is first as often as the other: whatever the machine does to the second one.
        order = SETTLED if number % 2 else SETTLED[::-1]
        rounds = {settled: await _round(everybody, costs, [f"{kind}-{settled}"] * TURNS) for settled in order}
        pairs.append((rounds[few], rounds[many]))
    return Result(
        name=f"CPU of a turn with {many:,} older messages beside one with {few}, {seen}",
        unit="x",
        values=tuple(much.more / little.more for little, much in pairs),
        floor=1.0,
        floor_is=f"{statistics.median(little.more for little, _ in pairs):.2f} ms, the same with {few} older messages",
        limit=SAME,
    )
