"""What one process gives to each of its services."""

import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import anyio

from daemon.archive import Archive
from daemon.bus import Bus, DeadLetters, Listener
from daemon.clock import Clock, SystemClock
from daemon.config import BotConfig, Config, LoadedConfig
from daemon.errors import ConfigError
from daemon.export import Sources
from daemon.memory import Memories
from daemon.model import Model, connect
from daemon.recall import Engines, HitReader, Recaller, SessionBook, engines_of
from daemon.recall import Sources as RecallSources
from daemon.session import SessionReader
from daemon.transcripts import Transcripts
from daemon.usage import UnsentUsage, UsageJournal

_T = TypeVar("_T")


def worker_name() -> str:
    """A name for this process that no other has: host, process id, a random part."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"


def workspace_of(name: str, bot: BotConfig, data_dir: Path) -> Path:
    """The folder of a bot's files; it need not be there."""
    return Path(bot.workspace).expanduser() if bot.workspace else data_dir / "bots" / name


@dataclass(kw_only=True)
class Launch:
    """How ``millpond run`` started a process, which can start its services again with a changed configuration."""

    file: Path | None
    """The configuration file that the command line names."""
    roles: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    again: LoadedConfig | None = None
    """The configuration with which the services start again after they have ended; None: the process ends."""


@dataclass(frozen=True, kw_only=True)
class Process:
    """The connections, the configuration and the end of a process; made by ``run``."""

    config: Config
    data_dir: Path
    bus: Bus
    listener: Listener
    clock: Clock = field(default_factory=SystemClock)
    name: str = field(default_factory=worker_name)
    stopping: anyio.Event = field(default_factory=anyio.Event)
    """Set when the process is to end: take nothing new, finish what runs within ``run.grace_s``."""
    started: anyio.Event = field(default_factory=anyio.Event)
    """Set when all services have started: they have loaded what their work needs."""
    connect_model: Callable[..., Awaitable[Model]] = connect
    """Gives the model of a ``ModelConfig``, ``language`` by name; tests put their own in."""
    connect_recall: Callable[[RecallSources], Engines] = engines_of
    """Gives what searches memories; tests put their own in."""
    announce: Callable[[str], None] = field(default=lambda _line: None)
    """Says a line to the person who started the process."""
    invite: Callable[[str], None] | None = None
    """Shows that person a link to log in with, which is written nowhere else; None: others could read it too, or
    nobody."""
    launch: Launch | None = None
    """None: nobody can start this process's services again."""
    _shared: dict[type[Any], Any] = field(default_factory=dict[type[Any], Any], init=False, repr=False, compare=False)

    def shared(self, kind: type[_T]) -> _T:
        """The one ``kind`` of this process, which its services share; made, without arguments, when first asked for."""
        if kind not in self._shared:
            self._shared[kind] = kind()
        return cast("_T", self._shared[kind])

    async def unless_stopping(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do ``work``, or give it up as soon as the process is to end."""
        async with anyio.create_task_group() as tg:

            async def give_up() -> None:
                await self.stopping.wait()
                tg.cancel_scope.cancel()

            tg.start_soon(give_up)
            await work()
            tg.cancel_scope.cancel()

    @cached_property
    def ledger(self) -> UnsentUsage:
        """Writes what model calls used, also after an outage."""
        return UnsentUsage(self.bus, UsageJournal(self.data_dir / "usage", self.name))

    @cached_property
    def archive(self) -> Archive:
        """Where what is old is written to, and read back from."""
        return Archive(self.bus, self.data_dir, config=self.config.archive, clock=self.clock)

    @property
    def transcripts(self) -> Transcripts:
        """Reads sessions from their first message on, whatever has left Redis."""
        return Transcripts(self.bus, self.archive)

    @cached_property
    def recaller(self) -> Recaller:
        """Searches what is remembered."""
        memories, transcripts, sessions = Memories(self.bus, self.archive), self.transcripts, SessionBook(self.bus)
        sources = RecallSources(
            config=self.config,
            data_dir=self.data_dir,
            memories=memories,
            transcripts=transcripts,
            sessions=sessions,
            workspace_of=self.workspace,
            clock=self.clock,
            ledger=self.ledger,
        )
        reader = HitReader(memories, transcripts, SessionReader(self.bus))
        return Recaller(
            self.config.memory_search,
            lambda: self.connect_recall(sources),
            reader,
            self.clock,
            sessions=sessions,
        )

    def export_sources(self, memories: Memories) -> Sources:
        """Where all that is kept of people lies, for exports."""
        models = [model for bot in self.config.bots.values() for model in bot.model.chain]
        return Sources(
            bus=self.bus,
            memories=memories,
            transcripts=self.transcripts,
            dead=DeadLetters(self.bus, self.config.queue),
            workspace_of=self.workspace,
            clock=self.clock,
            currencies=sorted({model.prices.currency for model in models}),
        )

    def bot(self, name: str) -> BotConfig:
        """The configuration of a bot.

        Raises:
            ConfigError: no such bot here.
        """
        bot = self.config.bots.get(name)
        if bot is None:
            raise ConfigError(
                f"A message is addressed to bot {name}, but this process's configuration has no bots.{name} "
                f"section. Add this section."
            )
        return bot

    def workspace(self, name: str) -> Path:
        """The folder of a bot's files; it need not be there. Errors as for ``bot``."""
        return workspace_of(name, self.bot(name), self.data_dir)
