"""What tests of recall do over and over: an engine that finds what it is told to, and a process that asks it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from daemon.config import BotConfig, Config, MemorySearchConfig
from daemon.process import Process
from daemon.recall import Engines, Hit, InPrompt, Mode, Recaller, ResultPlace, SearchResults, Sources
from daemon.testing import ManualClock
from tests.limits import HANG_S


class ScriptedEngine:
    """Finds what it was told to, whatever is asked, and remembers what that was."""

    def __init__(self, *hits: Hit, note: str = "", places: Sequence[tuple[str, ResultPlace]] = ()) -> None:
        self.found = SearchResults(hits=hits, note=note)
        self.at = dict(places)
        self.asked: list[tuple[str, str, Mode, int]] = []
        """Scope, query, mode, limit."""
        self.prompts: list[InPrompt | None] = []
        """The prompts of the turns that asked."""
        self.before: Callable[[], Awaitable[None]] | None = None
        """Called before each answer: may wait or raise."""
        self.closed = 0

    async def search(
        self, scope: str, query: str, *, mode: Mode, limit: int, prompt: InPrompt | None = None
    ) -> SearchResults:
        self.asked.append((scope, query, mode, limit))
        self.prompts.append(prompt)
        if self.before is not None:
            await self.before()
        return msgspec.structs.replace(self.found, hits=self.found.hits[:limit])

    async def places(self, scope: str, docids: Sequence[str]) -> dict[str, ResultPlace]:
        return {docid: self.at[docid] for docid in docids if docid in self.at}

    async def aclose(self) -> None:
        self.closed += 1


def a_hit(snippet: str, *, docid: str = "0a1b2c3d", file: str = "memory/HISTORY.md", **more: Any) -> Hit:
    fields: dict[str, Any] = {"score": 1.0, **more}
    return Hit(docid=docid, file=file, snippet=snippet, **fields)


def recalling(process: Process, engine: ScriptedEngine, bot: BotConfig | None = None, **settings: Any) -> Process:
    """The same process with an engine, with another bot maybe, and with settings of ``[memory_search]``."""
    search = msgspec.structs.replace(process.config.memory_search, **{"turn_deadline_s": HANG_S, **settings})
    bots = {"pond": bot} if bot else process.config.bots
    config: Config = msgspec.structs.replace(process.config, memory_search=search, bots=bots)

    def connect(_sources: Sources) -> Engines:
        return engines(engine)

    return replace(process, config=config, connect_recall=connect)


def engines(engine: ScriptedEngine) -> Engines:
    return Engines(engine=engine, messages=engine, places=engine, aclose=engine.aclose)


def settings_of(**settings: Any) -> MemorySearchConfig:
    return msgspec.structs.replace(MemorySearchConfig(), **settings)


class NoReader:
    """Reads nothing: nothing that was found is looked up."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name}: nothing is read here")


def recaller_of(engine: ScriptedEngine, **settings: Any) -> Recaller:
    reader: Any = NoReader()
    nobody: Any = NoReader()
    return Recaller(settings_of(**settings), lambda: engines(engine), reader, ManualClock(), sessions=nobody)


NO_RECALL = recaller_of(ScriptedEngine())  # finds nothing
