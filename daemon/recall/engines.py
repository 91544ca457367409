"""The search engines of a process: the configured engine, and the built-in engine below it."""

import datetime as dt
from collections.abc import Awaitable, Callable
from pathlib import Path
from zoneinfo import ZoneInfo

import anyio
import msgspec
import structlog
from msgspec.structs import replace

from daemon.clock import Clock
from daemon.config import Config
from daemon.errors import BusError, brief
from daemon.memory import Memories
from daemon.memory.memory_files import bot_of
from daemon.recall.search_results import Engine, ResultPlaces
from daemon.recall.session_book import SessionBook
from daemon.transcripts import Transcripts
from daemon.usage import UnsentUsage

AGAIN_S = 5.0
"""After something went wrong in the background, how long it rests."""

_log = structlog.get_logger()


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """The places where a process finds all stored memories."""

    config: Config
    data_dir: Path
    memories: Memories
    transcripts: Transcripts
    sessions: SessionBook
    workspace_of: Callable[[str], Path]
    """The folder of a bot's files; raises ConfigError when it is not configured here."""
    clock: Clock
    ledger: UnsentUsage | None = None
    """Where it is noted what vectors cost."""


async def nothing_to_do() -> None:
    """Do nothing."""


class Engines(msgspec.Struct, frozen=True, kw_only=True):
    """The search engine, and the reader of stored places."""

    engine: Engine
    """The one that the configuration names."""
    messages: Engine
    """The one that looks through messages too."""
    places: ResultPlaces
    warm: Callable[[], Awaitable[None]] = nothing_to_do
    """Does what else the first search would wait for."""
    run: Callable[[], Awaitable[None]] = nothing_to_do
    """What they do in the background of a process that lasts, until it is cancelled."""
    wrote: Callable[[str], None] = lambda _scope: None
    """Tells them that something was written into the memory of a scope, a home."""
    grew: Callable[[str], None] = lambda _scope: None
    """Tells them that something was said in a session of a scope, a home."""
    aclose: Callable[[], Awaitable[None]] = nothing_to_do
    """Lets go of what they hold."""


def engines_of(sources: Sources) -> Engines:
    """The engines that ``[memory_search]`` configures. Nothing is opened yet."""
    # Most processes never search: what an index is made with is imported by those that do.
    from daemon.recall.index import BuiltinEngine  # noqa: PLC0415
    from daemon.recall.reranking import RerankingEngine  # noqa: PLC0415
    from daemon.recall.vectors import Embedders, VectorEngine  # noqa: PLC0415

    builtin = BuiltinEngine(
        sources.sessions,
        sources.memories,
        sources.transcripts,
        sources.data_dir,
        sources.clock,
        zone_of=lambda scope: zone_of(sources.config, scope),
    )
    embedders = Embedders(sources.config, sources.clock, sources.ledger)
    vectors = VectorEngine(builtin, embedder_of=embedders.of, data_dir=sources.data_dir, clock=sources.clock)

    section = sources.config.memory_search
    reranking = RerankingEngine(vectors, sources.config, sources.clock, ledger=sources.ledger)

    async def warm() -> None:
        if section.mode_used != "search":
            await embedders.open_all()

    async def run() -> None:
        async with anyio.create_task_group() as tg:
            tg.start_soon(kept_going, builtin.run)
            tg.start_soon(kept_going, vectors.keep_up)

    async def aclose() -> None:
        await reranking.aclose()
        await embedders.aclose()
        await builtin.aclose()

    always = Engines(
        engine=reranking if section.reranker.model else vectors,
        messages=builtin,
        places=builtin,
        warm=warm,
        run=run,
        wrote=builtin.behind,
        grew=builtin.grew,
        aclose=aclose,
    )
    return _with_qmd(sources, always) if section.backend == "qmd" else always


def _with_qmd(sources: Sources, always: Engines) -> Engines:
    """QMD above what is always there."""
    from daemon.recall.qmd import PROGRAM, MemorySource, QmdEngine  # noqa: PLC0415 - as above

    section = sources.config.memory_search
    qmd = QmdEngine(
        always.engine,
        MemorySource(sources.memories, zone_of=lambda scope: zone_of(sources.config, scope)),
        sources.data_dir,
        mode=section.mode_used,
        timeout_s=section.timeout_s,
        program=section.qmd or PROGRAM,
    )

    async def run() -> None:
        async with anyio.create_task_group() as tg:
            tg.start_soon(kept_going, qmd.run)
            await always.run()

    def wrote(scope: str) -> None:
        always.wrote(scope)
        qmd.wrote(scope)

    return replace(always, engine=qmd, run=run, wrote=wrote)


async def kept_going(work: Callable[[], Awaitable[None]]) -> None:
    """Run the background work of an engine. Its failures delay only that engine."""
    while True:
        try:
            return await work()
        except BusError as error:
            _log.debug("recall.away", reason=brief(error))
        except Exception as error:  # noqa: BLE001 - the top of what runs in the background: a bug in it ends no process
            _log.exception("recall.failed", reason=type(error).__name__)
        await anyio.sleep(AGAIN_S)


def zone_of(config: Config, scope: str) -> dt.tzinfo:
    """The time zone of a scope's bot; UTC if the bot is not configured in this process."""
    bot = config.bots.get(bot_of(scope))
    return dt.UTC if bot is None or bot.time_zone == "UTC" else ZoneInfo(bot.time_zone)
