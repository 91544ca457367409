"""What searches for a process: the engine that the configuration names, above the one that is always there."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from daemon.bus import Bus
from daemon.clock import Clock
from daemon.config import Config
from daemon.memory import Memories
from daemon.recall.found import Engine, Found, Mode
from daemon.recall.place import Place, Places
from daemon.recall.qmd import PROGRAM, MemorySource, QmdEngine
from daemon.transcripts import Transcripts


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Where all that is remembered lies, for one process."""

    config: Config
    data_dir: Path
    bus: Bus
    memories: Memories
    transcripts: Transcripts
    workspace_of: Callable[[str], Path]
    """The folder of a bot's files; raises ConfigError when it is not configured here."""
    clock: Clock


async def nothing_to_do() -> None:
    """Do nothing."""


@dataclass(frozen=True, kw_only=True)
class Engines:
    """What searches, and what knows where things stand."""

    engine: Engine
    """The one that the configuration names."""
    messages: Engine
    """The one that looks through messages too."""
    places: Places
    run: Callable[[], Awaitable[None]] = nothing_to_do
    """What they do in the background of a process that lasts, until it is cancelled."""
    wrote: Callable[[str], None] = lambda _scope: None
    """Tells them that something was written into the memory of a scope, a home."""
    aclose: Callable[[], Awaitable[None]] = nothing_to_do
    """Lets go of what they hold."""


def engines_of(sources: Sources) -> Engines:
    """Those that ``[memory_search]`` asks for; nothing is looked at yet."""
    return _with_qmd(sources, Engines(engine=_NOTHING, messages=_NOTHING, places=_NOTHING))


def _with_qmd(sources: Sources, builtin: Engines) -> Engines:
    """QMD above what is always there, when the configuration names it."""
    section = sources.config.memory_search
    if section.backend != "qmd":
        return builtin
    qmd = QmdEngine(
        builtin.engine,
        MemorySource(sources.memories),
        sources.data_dir,
        mode=section.mode_used,
        timeout_s=section.timeout_s,
        program=section.qmd or PROGRAM,
    )

    async def run() -> None:
        async with anyio.create_task_group() as tg:
            tg.start_soon(qmd.run)
            await builtin.run()

    def wrote(scope: str) -> None:
        builtin.wrote(scope)
        qmd.wrote(scope)

    return replace(builtin, engine=qmd, run=run, wrote=wrote)


class _Nothing:
    """Remembers nothing."""

    async def search(self, scope: str, query: str, *, mode: Mode, limit: int) -> Found:
        return Found()

    async def places(self, scope: str, docids: Sequence[str]) -> dict[str, Place]:
        return {}


_NOTHING = _Nothing()
