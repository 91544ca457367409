"""Consolidation: whether anybody waits for it, and what it costs the worker beside the model call."""

import random
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import anyio
import anyio.abc
import msgspec
from prometheus_client import REGISTRY

from benchmarks.folder import data_dir
from benchmarks.people import CHANNEL, People, people
from benchmarks.result import Result
from daemon import log
from daemon.config import BotConfig, Config
from daemon.events import LogEntry
from daemon.model import Answer, Chunk, Request, ToolCall
from daemon.process import Process
from daemon.run import open_process
from daemon.session.artificial_session import SENTENCES, fill
from daemon.sessionkey import SessionKey
from daemon.tokens import Tokenizer, load
from workers.agent.service import serve as serve_agent
from workers.consolidation import Consolidator, Kits, stores_of
from workers.consolidation.service import serve as serve_consolidation

CONSOLIDATIONS = 10
SUMMARY_S = 2.0
"""How long the model takes to sum up, and for the silent turn before it."""
TURN_TOKENS, TURN_S = 500, 0.25
"""How much is said how often: forty times as fast as people write."""
TALK_LIMIT_S = 300.0

MESSAGES, OFF = 500, 15
"""Of the range that is consolidated; texts of random sentences make it a few more or fewer."""
SENTENCES_EACH = 3
"""Of a message: some fifty tokens."""
ROUNDS = 9
LIMIT_MS = 30.0

WORD = "pond "
"""One token."""
SAVED = {
    "history_entry": "[2026-11-20 09:00] They talked about ponds.",
    "memory_update": "# Ponds\n\n- They are deep.",
    "continuity": "They talk about ponds.",
}


class NullModel:
    """Answers with what was made beforehand, and sums up after so many seconds."""

    name = "null"

    def __init__(self, *, summary_s: float = 0.0) -> None:
        self._summary_s = summary_s
        self._said = Answer(text=WORD * (TURN_TOKENS // 2), model=self.name)
        self._saved = Answer(
            text="",
            tool_calls=(ToolCall(id="1", name="save_memory", arguments=msgspec.json.encode(SAVED).decode()),),
            model=self.name,
        )

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """As ``Model.stream``."""
        if request.force_tool:
            await anyio.sleep(self._summary_s)
            yield self._saved
        elif b"Reply with NO_REPLY" in request.messages[-1]:
            await anyio.sleep(self._summary_s)
            yield Answer(text="NO_REPLY", model=self.name)
        else:
            yield self._said

    async def aclose(self) -> None:
        """Nothing to close."""


def measure() -> list[Result]:
    """Turns of a steady conversation that wait; CPU time of a consolidation."""
    log.configure("error")
    with data_dir() as folder:
        return [anyio.run(_waits, folder), anyio.run(_cost, folder)]


async def _waits(folder: Path) -> Result:
    """Talk at a steady pace until there were enough consolidations."""
    async with open_process(Config(), folder) as opened, people(folder) as everybody:
        process = _with(opened, NullModel(summary_s=SUMMARY_S))
        async with anyio.create_task_group() as tg:
            for serve in (serve_agent, serve_consolidation):
                await tg.start(_serving, serve, process)
            before = _waited()
            turns = await _talk(everybody)
            process.stopping.set()
    return Result(
        name=f"turns that waited, of {turns} through {CONSOLIDATIONS} consolidations of {SUMMARY_S:g} s each",
        unit="turns",
        values=(_waited() - before,),
        floor=0.0,
        floor_is="nobody",
        limit=0.0,
        limit_is="worst, at most",
    )


def _with(process: Process, model: NullModel) -> Process:
    async def connect(_config: object, *, language: str) -> NullModel:
        return model

    return replace(process, connect_model=connect)


async def _serving(serve: object, process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    await serve(process, task_status=task_status)


async def _talk(everybody: People) -> int:
    """How many turns it took."""
    turns, done = 0, _consolidations()
    with anyio.fail_after(TALK_LIMIT_S):
        while _consolidations() - done < CONSOLIDATIONS:
            began = anyio.current_time()
            await everybody.say("steady", WORD * (TURN_TOKENS // 2))
            await everybody.all_answered()
            turns += 1
            await anyio.sleep(max(0.0, began + TURN_S - anyio.current_time()))
    return turns


def _waited() -> float:
    return REGISTRY.get_sample_value("millpond_consolidation_wait_seconds_count") or 0.0


def _consolidations() -> float:
    return REGISTRY.get_sample_value("millpond_consolidations_total", {"outcome": "settled"}) or 0.0


async def _cost(folder: Path) -> Result:
    """Consolidate one session after the other, all alike."""
    async with open_process(Config(), folder) as opened:
        process = _with(opened, NullModel())
        await load("offline")
        consolidator = Consolidator(stores_of(process), Kits(process))
        spent = [await _spent(process, consolidator, f"cost-{number}") for number in range(ROUNDS + 1)]
    return Result(
        name=f"CPU of a consolidation of {MESSAGES} messages, beside the calls",
        unit="ms",
        values=tuple(spent[1:]),  # the first one loads modules
        floor=0.0,
        floor_is="the calls themselves, which a model in this process answers at once",
        limit=LIMIT_MS,
    )


async def _spent(process: Process, consolidator: Consolidator, chat: str) -> float:
    """CPU milliseconds of all threads."""
    session = str(SessionKey(channel=CHANNEL, chat=chat))
    entries = _log(await load("offline"), chat)
    await fill(process.bus, session, entries, scope=f"pond:session:{session}")
    began = time.process_time()
    report = await consolidator.consolidate(session)
    took_ms = 1000 * (time.process_time() - began)
    if abs(report.upto - report.first - MESSAGES) > OFF:
        raise RuntimeError(f"{report} is no consolidation of {MESSAGES} messages")
    return took_ms


def _log(tokenizer: Tokenizer, seed: str) -> list[LogEntry]:
    """As many messages as may stay, and those before them that have to go."""
    chance, entries, stays = random.Random(seed), list[LogEntry](), BotConfig().model.budget_tokens // 2
    while stays > 0 or len(entries) % 2:
        entries.append(_entry(len(entries), tokenizer, chance))
        stays -= entries[-1].tokens
    return [*entries, *(_entry(len(entries) + number, tokenizer, chance) for number in range(MESSAGES))]


def _entry(number: int, tokenizer: Tokenizer, chance: random.Random) -> LogEntry:
    text = " ".join(chance.choices(SENTENCES["en"], k=SENTENCES_EACH)).format(number=number, clock="10:30")
    wire = msgspec.json.encode({"role": "assistant" if number % 2 else "user", "content": text})
    return LogEntry(
        time=f"2026-11-20T09:{number // 60 % 60:02}:{number % 60:02}.000Z",
        turn=number - number % 2,
        tokens=tokenizer.count_message(wire),
        id="" if number % 2 else f"c{number}",
        sender="" if number % 2 else "ann",
        wire=msgspec.Raw(wire),
    )
