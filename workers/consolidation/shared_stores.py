"""The objects that all consolidations of a process share."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from daemon.archive import Archive
from daemon.bus import Bus
from daemon.clock import Clock
from daemon.config import Config
from daemon.errors import ArchiveError, brief
from daemon.memory import Memories
from daemon.memory.memory_files import MemoryFiles
from daemon.session import Locks
from daemon.usage import Ledger
from workers.limit_warnings import LimitWarnings

_log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Stores:
    """Where the sessions lie, where their memory lies, and what writes both; the two may be different servers."""

    config: Config
    bus: Bus
    """Of the sessions."""
    locks: Locks
    memories: Memories
    archive: Archive
    files: MemoryFiles
    ledger: Ledger
    warnings: LimitWarnings
    clock: Clock
    recalls: Callable[[str, str], Awaitable[list[str]]]
    """Gives the passages that a search in a memory finds for words; the memory is named by its scope, a home."""
    wrote: Callable[[str], None] = lambda _scope: None
    """Called when a memory was written, with its scope, a home."""

    async def show(self, scope: str) -> None:
        """A memory was written: bring in step what is copied from there."""
        await self.files.sync(scope, at_once=True)
        self.wrote(scope)

    async def trim(self, session: str, upto: int) -> None:
        """Let what is archived of a session's log before ``upto`` leave Redis; that it stays is no failure.

        Raises:
            BusUnavailable: Redis is away.
        """
        try:
            await self.archive.trim(session, upto)
        except ArchiveError as error:
            _log.warning("archive.failed", session=session, reason=brief(error))
