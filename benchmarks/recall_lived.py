"""Puts what people told where searches look for it: sessions' logs, and entries of the history."""

from collections.abc import Iterator, Sequence

import msgspec

from benchmarks.recall_corpus import Life
from benchmarks.recall_measure import session_of
from daemon.clock import Clock, stamp
from daemon.config import Config
from daemon.events import LogEntry
from daemon.memory import ForeignMemory, Memories
from daemon.process import Process
from daemon.recall.index import BuiltinEngine
from daemon.recall.session_book import SessionBook
from daemon.recall.vectors import Embedders, VectorEngine
from daemon.session.artificial_session import fill

FILLED_AT_ONCE = 5_000
"""Messages of a session: a script takes only so many arguments."""

_encode = msgspec.json.Encoder().encode


def scope_of(life: Life) -> str:
    """Whose memory it is."""
    return f"pond:person:{session_of(life)}"


async def lived(process: Process, life: Life) -> str:
    """Make somebody have lived through it all; the scope, in which nothing may be yet."""
    scope = scope_of(life)
    if len(life.messages) > FILLED_AT_ONCE:
        raise ValueError(f"{len(life.messages)} messages are too many for one session")
    await fill(process.bus, session_of(life), [*_entries(life)], scope=scope)
    told = ForeignMemory(history=tuple(life.history))
    await Memories(process.bus, process.archive).take_over(
        scope, told, by="benchmark", time=stamp(life.now), reason="lived"
    )
    return scope


def _entries(life: Life) -> Iterator[LogEntry]:
    turn, name = 0, ""
    for index, message in enumerate(life.messages):
        is_said = message.role == "user"
        if is_said:
            turn, name = index, f"{life.name}-{index}"
        yield LogEntry(
            time=stamp(message.time),
            turn=turn,
            tokens=len(message.text) // 4 + 4,
            id=name if is_said else "",
            sender=life.name if is_said else "",
            answers=() if is_said else (name,),
            wire=msgspec.Raw(_encode({"role": message.role, "content": message.text})),
        )


async def lived_by_one(process: Process, scope: str, lives: Sequence[Life]) -> None:
    """Make ``scope``, in which nothing may be yet, remember the messages of all of them, each a session of its own."""
    for life in lives:
        await fill(process.bus, session_of(life), [*_entries(life)], scope=scope)


def engine_of(process: Process, clock: Clock) -> BuiltinEngine:
    """The built-in engine of a process, which has its own idea of the time; whoever asked for it closes it."""
    memories = Memories(process.bus, process.archive)
    return BuiltinEngine(SessionBook(process.bus), memories, process.transcripts, process.data_dir, clock)


async def vectors_of(process: Process, words: BuiltinEngine, scope: str, clock: Clock) -> VectorEngine | None:
    """What searches ``scope`` by words and vectors, all of which there are; None: wordllama is not installed."""
    embedders = Embedders(Config(), clock)
    if await embedders.of(scope) is None:
        return None
    engine = VectorEngine(words, embedder_of=embedders.of, data_dir=process.data_dir, clock=clock)
    engine.rest = 0  # each search looks what is missing
    while (await engine.search(scope, "what", mode="vsearch", limit=1)).note:
        """There is more."""
    return engine
