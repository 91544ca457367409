"""What Redis keeps of sessions and memories that are old: no more than their window, whatever was said before.

Conversations are seeded in bulk and consolidated by the worker's own code, scripts and archive; only the model is made
up. A few are consolidated in so many small parts that their memory has hundreds of entries and versions.
"""

from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import msgspec

from benchmarks.folder import data_dir
from benchmarks.people import CHANNEL
from benchmarks.result import Result
from daemon import log
from daemon.bus import Bus, pairs
from daemon.config import BotConfig, Config, ModelConfig
from daemon.events import LogEntry
from daemon.memory.scope_lists import KEPT, SHELVED
from daemon.model import Answer, Chunk, Request, ToolCall
from daemon.process import Process
from daemon.run import open_process
from daemon.session.artificial_session import fill
from daemon.sessionkey import SessionKey
from workers.consolidation import Consolidator, Kits, stores_of

SESSIONS, TURNS = 1_000, 1_000
ANCIENT = 4
"""Sessions more, which come to some hundred entries and versions."""

SESSION_LIMIT_KB = 2.0
"""Beside the window: a list of its messages alone, and where the conversation stood before them."""
SCOPE_LIMIT_KB = 4.0
"""Beside what is kept: MEMORY.md, and lists of the newest versions, entries and notes alone."""
KB = 1_000

TIME_LIMIT_S = 420.0
AT_ONCE = 4
"""Sessions that are consolidated side by side."""
READ_AT_ONCE = 500
"""Keys that are looked at in one go."""


@dataclass(frozen=True, kw_only=True)
class Life:
    """How sessions come to be old."""

    name: str
    bot: str
    window_tokens: int
    turns_at_once: int
    """So many are said between two consolidations."""
    turn_tokens: int
    """Of each turn, as the log says: so that each time about as much goes as has come."""


OLD = Life(name="old", bot="pond", window_tokens=16_384, turns_at_once=250, turn_tokens=44)
OLDEST = Life(name="ancient", bot="puddle", window_tokens=4_096, turns_at_once=3, turn_tokens=600)

TEXT = "The reeds at the north bank have grown over the outlet; the water stands a hand above mark {number}."
FACT = "- The outlet at the north bank was cleared, and the water stood a hand above mark {number} that day.\n"
FACTS = 12
"""Lines of MEMORY.md."""

_encode = msgspec.json.Encoder().encode


def measure() -> list[Result]:
    """Four lines, each of so many sessions or scopes."""
    log.configure("error")
    with data_dir() as folder:
        return anyio.run(_measured, folder)


async def _measured(folder: Path) -> list[Result]:
    bots = {life.bot: BotConfig(model=ModelConfig(context_window_tokens=life.window_tokens)) for life in (OLD, OLDEST)}
    lives = {OLD: _sessions(OLD, SESSIONS), OLDEST: _sessions(OLDEST, ANCIENT)}
    with anyio.fail_after(TIME_LIMIT_S):
        async with open_process(Config(bots=bots), folder) as opened:
            process = replace(opened, connect_model=_connect)
            await _lived(process, lives)
            kept = await _kept(process.bus)
            return [
                result
                for life, sessions in lives.items()
                for result in await _results(process.bus, kept, life, sessions)
            ]


def _sessions(life: Life, count: int) -> list[str]:
    return [str(SessionKey(channel=CHANNEL, chat=f"{life.name}-{number}")) for number in range(count)]


def _scope(session: str, life: Life) -> str:
    return f"{life.bot}:person:{session}"


# What they lived through


class Summing:
    """Sums up at once: there is something new in every summary, and in every silent turn."""

    name = "summing"

    def __init__(self) -> None:
        self._number = 0

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """As ``Model.stream``."""
        self._number += 1
        facts = "".join(FACT.format(number=self._number + line) for line in range(FACTS))
        if not request.force_tool:
            yield Answer(text=f"# 2026-11-20.md\n{FACT.format(number=self._number)}", model=self.name)
            return
        saved = {
            "history_entry": f"[2026-11-20 09:00] {facts[:300]}",
            "memory_update": facts,
            "continuity": facts[:400],
        }
        call = ToolCall(id="1", name="save_memory", arguments=msgspec.json.encode(saved).decode())
        yield Answer(text="", tool_calls=(call,), model=self.name)

    async def aclose(self) -> None:
        """Nothing to close."""


async def _connect(_config: object, *, language: str) -> Summing:
    return Summing()


async def _lived(process: Process, lives: Mapping[Life, Sequence[str]]) -> None:
    consolidator = Consolidator(stores_of(process), Kits(process))
    logs = {life: _log(life) for life in lives}
    waiting = [(session, life) for life, sessions in lives.items() for session in sessions]

    async def live() -> None:
        while waiting:
            session, life = waiting.pop()
            log, at_once = logs[life], 2 * life.turns_at_once
            await fill(process.bus, session, log[:at_once], scope=_scope(session, life))
            for at in range(at_once, len(log), at_once):
                await consolidator.consolidate(session)
                await said(process.bus, session, log[at : at + at_once])
            await consolidator.consolidate(session)

    async with anyio.create_task_group() as tg:
        for _ in range(AT_ONCE):
            tg.start_soon(live)


async def said(bus: Bus, session: str, entries: Sequence[LogEntry]) -> None:
    """More turns, as commits would leave them."""
    key, tokens = bus.keys.session(session), sum(entry.tokens for entry in entries)
    await bus.each(
        [
            ("RPUSH", bus.keys.log(session), *map(_encode, entries)),
            ("HINCRBY", key, "head", len(entries)),
            ("HINCRBY", key, "tokens", tokens),
            ("HINCRBY", key, "tokens_start", tokens),
        ]
    )


def _log(life: Life) -> list[LogEntry]:
    return [_entry(number, life.turn_tokens // 2) for number in range(2 * TURNS)]


def _entry(number: int, tokens: int) -> LogEntry:
    wire = msgspec.json.encode({"role": "assistant" if number % 2 else "user", "content": TEXT.format(number=number)})
    return LogEntry(
        time=f"2026-11-20T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
        turn=number - number % 2,
        tokens=tokens,
        id="" if number % 2 else f"c{number}",
        sender="" if number % 2 else "ann",
        wire=msgspec.Raw(wire),
    )


# What is left of it


async def _kept(bus: Bus) -> dict[str, int]:
    """Bytes that Redis keeps of each session and each scope, by name, in all their keys."""
    keys = [key async for key in bus.client.scan_iter(match=f"{bus.keys.prefix}:*", count=READ_AT_ONCE)]
    kept = defaultdict[str, int](int)
    for at in range(0, len(keys), READ_AT_ONCE):
        some = keys[at : at + READ_AT_ONCE]
        sizes = await bus.each([("MEMORY", "USAGE", key, "SAMPLES", 0) for key in some])
        for key, size in zip(some, sizes, strict=True):
            # prefix, partition and kind stand before the name
            kept[key.decode().split(":", 3)[-1]] += size or 0
    return kept


async def _results(bus: Bus, kept: Mapping[str, int], life: Life, sessions: Sequence[str]) -> Sequence[Result]:
    beside, beside_scope, parts = list[float](), list[float](), list[int]()
    for session in sessions:
        scope = _scope(session, life)
        beside.append((kept[session] - await _window(bus, session)) / KB)
        beside_scope.append((kept[scope] - await _remembered(bus, scope)) / KB)
        parts.append(await _entries(bus, scope))
    lived = f"{len(sessions):,} {life.name} sessions of {TURNS:,} turns in {min(parts):,} parts"
    return (
        _result(f"Redis of {lived}, beside the window", beside, SESSION_LIMIT_KB),
        _result("and of their memories, beside what is kept", beside_scope, SCOPE_LIMIT_KB),
    )


def _result(name: str, values: list[float], limit: float) -> Result:
    return Result(
        name=name,
        unit="kB",
        values=tuple(values),
        floor=0.0,
        floor_is="what is kept, alone",
        limit=limit,
        limit_is="worst, at most",
    )


async def _window(bus: Bus, session: str) -> int:
    """Bytes of what is not consolidated, or not flushed, and of what stands before it in a prompt."""
    key = bus.keys.log(session)
    fields = await _fields(bus, bus.keys.session(session))
    first = min(int(fields[b"cursor"]), int(fields.get(b"unflushed", fields[b"cursor"]).split()[0]))
    messages: list[bytes] = await bus.call("LRANGE", key, first - int(fields.get(b"base", 0)), -1)
    return await _alone(bus, key, messages) + len(fields.get(b"continuity", b""))


async def _remembered(bus: Bus, scope: str) -> int:
    """Bytes of MEMORY.md, and of the versions, entries and notes that are kept."""
    keys = bus.keys
    text: bytes | None = await bus.call("HGET", keys.memory(scope), "text")
    found = len(text or b"")
    for kind, key in (("versions", keys.versions), ("history", keys.history), ("notes", keys.notes)):
        records: list[bytes] = await bus.call("LRANGE", key(scope), 0, -1)
        found += await _alone(bus, key(scope), records[-(KEPT[kind] + SHELVED[kind]) :])
    return found


async def _alone(bus: Bus, key: str, values: Sequence[bytes]) -> int:
    """Bytes of a list that holds these values, and nothing else."""
    if not values:
        return 0
    _, size, _ = await bus.each(
        [("RPUSH", f"{key}~", *values), ("MEMORY", "USAGE", f"{key}~", "SAMPLES", 0), ("UNLINK", f"{key}~")]
    )
    return int(size)


async def _entries(bus: Bus, scope: str) -> int:
    """How many history entries there ever were."""
    base = await bus.call("HGET", bus.keys.memory(scope), "history_base")
    return int(base or 0) + int(await bus.call("LLEN", bus.keys.history(scope)))


async def _fields(bus: Bus, key: str) -> dict[bytes, Any]:
    return dict(pairs(await bus.call("HGETALL", key)))
