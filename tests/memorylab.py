"""What tests of consolidation do over and over: fill a session's log, consolidate it, look at what became of it."""

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from daemon.bus import Bus
from daemon.config import BotConfig, Config, ConsolidationConfig, ModelConfig
from daemon.events import LogEntry
from daemon.memory import HistoryEntry, Memories
from daemon.model import Answer, Model, Request, ToolCall
from daemon.process import Process
from daemon.session import Commit, SessionState
from daemon.tokens import load
from daemon.transcripts import Transcripts
from tests.conftest import Lab
from workers.consolidation import Consolidator, Kits, stores_of

SCOPE = "pond:workspace"
WINDOW_TOKENS = 4_096  # A small window: its budget is 2,048 tokens, its target 1,024


def small_window(config: Config, **consolidation: Any) -> Config:
    """``config`` with a model of a small window, and one worker's settings."""
    model = ModelConfig(context_window_tokens=WINDOW_TOKENS)
    return msgspec.structs.replace(
        config,
        bots={"pond": BotConfig(model=model, tools=("time",))},
        consolidation=msgspec.structs.replace(ConsolidationConfig(), **consolidation),
    )


class Summaries:
    """A model that answers, and sums up: what it is asked is remembered, what it answers can be scripted."""

    name = "summaries"

    def __init__(self, *summaries: Any, answers: Sequence[Any] = (), flushes: Sequence[Any] = ()) -> None:
        """Nothing is asked yet.

        Args:
            summaries: an ``Answer``, an error, or what gives an answer to a request; then summaries that tell their
                number.
            answers: the same, to people; then ``ok``.
            flushes: the same, to silent turns; then there is nothing to store.
        """
        self._scripted = {"summary": list(summaries), "answer": list(answers), "flush": list(flushes)}
        self.requests: list[Request] = []
        """Those for summaries."""
        self.prompts: list[Request] = []
        """Those of people's turns."""
        self.flushes: list[Request] = []

    async def stream(self, request: Request) -> Any:
        kind = _kind(request)
        asked = {"summary": self.requests, "answer": self.prompts, "flush": self.flushes}[kind]
        asked.append(request)
        usual = {
            "summary": saves(f"summary {len(asked)}", memory=f"fact {len(asked)}"),
            "answer": Answer(text="ok", model=self.name),
            "flush": Answer(text="NO_REPLY", model=self.name),
        }[kind]
        scripted = self._scripted[kind]
        said = scripted.pop(0) if scripted else usual
        if callable(said):
            said = await said(request)
        if isinstance(said, BaseException):
            raise said
        yield said

    async def aclose(self) -> None:
        """Nothing to close."""


def _kind(request: Request) -> str:
    if request.force_tool == "save_memory":
        return "summary"
    return "flush" if b"Session nearing compaction" in request.messages[0] else "answer"


def messages_of(request: Request) -> list[tuple[str, str]]:
    found = [msgspec.json.decode(wire) for wire in request.messages]
    return [(message["role"], message.get("content") or "") for message in found]


def saves(entry: str, *, memory: str, **more: str) -> Answer:
    fields = {"history_entry": entry, "memory_update": memory, **more}
    call = ToolCall(id="call-1", name="save_memory", arguments=msgspec.json.encode(fields).decode())
    return Answer(text="", tool_calls=(call,), model="summaries")


class MemoryLab:
    """A session that grows, and the consolidator of one process."""

    def __init__(self, process: Process, lab: Lab, model: Model | None = None, *, session: str = "web:ann") -> None:
        """Nothing was said yet; ``model`` is every bot's, None leaves them theirs."""

        async def connect(_config: object, *, language: str) -> Model:
            assert model is not None
            return model

        self.process = replace(process, connect_model=connect) if model else process
        self.lab = lab
        self.session = session
        self.stores = stores_of(self.process)
        self.consolidator = Consolidator(self.stores, Kits(self.process))
        self.memories: Memories = self.stores.memories
        self._numbers = itertools.count()

    async def talk(self, turns: int, *, words: int = 50, fixed_tokens: int = 300, settle_tokens: int = 0) -> None:
        for _ in range(turns):
            number = next(self._numbers)
            await self.lab.publish(f"m{number}", session=self.session)
            claim = await self.lab.claim(self.session)
            entries = await self.entries(number, turn=claim.begun.head, words=words)
            commit = Commit(
                entries=entries, tokens=sum(entry.tokens for entry in entries),
                answered=tuple(entry.stream_id for entry in claim.begun.waiting), fixed_tokens=fixed_tokens,
                settle_tokens=settle_tokens,
            )  # fmt: skip
            await self.lab.sessions.commit(claim, commit, step=0)

    async def bulk(self, turns: int, *, words: int = 50, fixed_tokens: int = 300, time: str = "") -> None:
        """As ``talk``, in one commit: turns of a session that were all there at once."""
        await self.lab.publish("bulk", session=self.session)
        claim = await self.lab.claim(self.session)
        found = [await self.entries(number, turn=2 * number, words=words) for number in range(turns)]
        entries = tuple(replace_time(entry, time) for turn in found for entry in turn)
        commit = Commit(
            entries=entries, tokens=sum(entry.tokens for entry in entries),
            answered=tuple(entry.stream_id for entry in claim.begun.waiting), fixed_tokens=fixed_tokens,
            settle_tokens=0,
        )  # fmt: skip
        await self.lab.sessions.commit(claim, commit, step=0)

    async def long_turn(self, messages: int, *, words: int = 50) -> None:
        """A turn of many messages."""
        await self.lab.publish(f"long {next(self._numbers)}", session=self.session)
        claim = await self.lab.claim(self.session)
        found = [await self.entries(number, turn=claim.begun.head, words=words) for number in range(messages // 2)]
        entries = tuple(entry for pair in found for entry in pair)
        commit = Commit(
            entries=entries, tokens=sum(entry.tokens for entry in entries),
            answered=tuple(entry.stream_id for entry in claim.begun.waiting), fixed_tokens=300, settle_tokens=0,
        )  # fmt: skip
        await self.lab.sessions.commit(claim, commit, step=0)

    async def entries(self, number: int, *, turn: int, words: int) -> tuple[LogEntry, LogEntry]:
        tokenizer = await load("offline")
        texts = (f"question {number} " + "why " * words, f"answer {number} " + "because " * words)
        wires = [
            msgspec.json.encode({"role": role, "content": text})
            for role, text in zip(("user", "assistant"), texts, strict=True)
        ]
        question, answer = (
            LogEntry(
                time=f"2026-11-20T09:{number // 60 % 60:02}:{number % 60:02}.000Z", turn=turn,
                tokens=tokenizer.count_message(wire), id=f"m{number}" if at == 0 else "",
                sender="ann" if at == 0 else "", answers=(f"m{number}",) if at else (), wire=msgspec.Raw(wire),
            )
            for at, wire in enumerate(wires)
        )  # fmt: skip
        return question, answer

    async def state(self) -> SessionState:
        return await self.lab.state(self.session)

    async def log(self) -> list[LogEntry]:
        joined = Transcripts(self.lab.bus, self.stores.archive)
        return [entry for _, entry in await joined.committed(self.session, limit=10_000)]

    async def untrim(self) -> None:
        """Put back into the log what has left it, as a failover does to the moment before."""
        bus, session = self.lab.bus, self.session
        state = await self.state()
        raws = await Transcripts(bus, self.stores.archive).read(session, 0, state.base)
        if raws:
            await bus.call("LPUSH", bus.keys.log(session), *raws[::-1])
            await bus.call("HSET", bus.keys.session(session), "base", 0)

    async def history(self) -> list[HistoryEntry]:
        return [entry for entry in await self.memories.history(SCOPE) if not entry.lost]

    async def unsettled(self, bus: Bus) -> dict[str, float]:
        keys = bus.keys
        found = await bus.call("ZRANGE", keys.unsettled(keys.partition(self.session)), 0, -1, "WITHSCORES")
        return {name.decode(): float(score) for name, score in _pairs(found)}

    async def whole(self) -> tuple[SessionState, list[LogEntry], list[HistoryEntry]]:
        """Each message before the cursor stands in exactly one entry, and the entries follow each other.

        Returns what it read: positions, log, and entries in order.
        """
        state, log, history = await asyncio.gather(self.state(), self.log(), self.history())
        history.sort(key=lambda entry: entry.first)
        at = 0
        for entry in history:
            assert entry.first == at, (entry.first, at)
            at = entry.upto
        assert at == state.cursor
        assert state.tokens == sum(entry.tokens for entry in log[state.cursor :])
        return state, log, history


def replace_time(entry: LogEntry, time: str) -> LogEntry:
    """The entry with another time; the same without one."""
    return msgspec.structs.replace(entry, time=time) if time else entry


def _pairs(found: Sequence[Any]) -> list[tuple[bytes, Any]]:
    if found and isinstance(found[0], list | tuple):
        return [(name, score) for name, score in found]
    return list(zip(found[::2], found[1::2], strict=True))
