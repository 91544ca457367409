"""What searches for a process: the engine that the configuration names, above the one that is always there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from daemon.bus import Bus
from daemon.clock import Clock
from daemon.config import Config
from daemon.memory import Memories
from daemon.recall.found import Engine, Found, Kept, Mode
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


@dataclass(frozen=True, kw_only=True)
class Engines:
    """What searches, and what knows where things stand."""

    engine: Engine
    """The one that the configuration names."""
    messages: Engine
    """The one that looks through messages too."""
    places: Places
    kept: Kept | None = None
    """What is to be kept in step in the background; None: nothing."""


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
    return replace(builtin, engine=qmd, kept=qmd)


class _Nothing:
    """Remembers nothing."""

    async def search(self, scope: str, query: str, *, mode: Mode, limit: int) -> Found:
        return Found()

    async def places(self, scope: str, docids: Sequence[str]) -> dict[str, Place]:
        return {}


_NOTHING = _Nothing()
