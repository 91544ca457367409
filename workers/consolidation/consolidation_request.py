"""Requests for a consolidation, their outcomes, the attempts, and the objects that all consolidations share."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Literal

import anyio
import msgspec
import structlog

from daemon.archive import Archive
from daemon.bus import Bus
from daemon.clock import Clock
from daemon.config import Config
from daemon.errors import ArchiveError, BusError, CallSkipped, LockLost, MemoryMoving, Misplaced, brief
from daemon.memory import Memories
from daemon.memory.memory_files import MemoryFiles
from daemon.session import ConsolidationLock, ConsolidationLocks
from daemon.usage import UnsentUsage, User
from workers.admin_messages import LimitWarnings

# Requests for a consolidation, and their outcomes.

Outcome = Literal["settled", "nothing", "busy", "failed", "skipped", "unpaid"]
"""``settled``: the cursor moved; ``nothing``: there was nothing to do; ``busy``: somebody else is at it; ``failed``: no
summary came; ``skipped``: the model was not even asked; ``unpaid``: neither, since a limit is used up."""


class ConsolidationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks for a consolidation, and for how much."""

    at: Literal["start", "budget", "now"] = "start"
    """From which size on: the background's, that at which a turn waits, or any (a person or the model asked)."""
    focus: str = ""
    """What the summary is to preserve, in the words of whoever asked."""
    fixed_tokens: int | None = None
    """What stands in the prompt beside memory and history; None: what the session's last turn left word of."""
    current_tokens: int = 0
    """Of the turn that waits for it."""
    user: User | None = None
    """Who asks, and pays for it; None: the person whose memory it goes to, or nobody in particular."""
    correlation: str = ""
    """Of the message that it is done for; empty in the background."""

    @property
    def awaited(self) -> bool:
        """Whether somebody waits for it: what can be done later is."""
        return self.at != "start"


BACKGROUND = ConsolidationRequest()


@dataclass(kw_only=True)
class ConsolidationReport:
    """What became of it."""

    outcome: Outcome = "nothing"
    first: int = 0
    """Where the cursor stood."""
    upto: int = 0
    """Where it stands now."""
    tokens_before: int = 0
    """Of the prompt, estimated."""
    tokens_after: int = 0
    rounds: int = 0


# The objects that all consolidations of a process share.

_log = structlog.get_logger()


class SharedStores(msgspec.Struct, frozen=True, kw_only=True):
    """Where the sessions lie, where their memory lies, and what writes both; the two may be different servers."""

    config: Config
    bus: Bus
    """Of the sessions."""
    locks: ConsolidationLocks
    memories: Memories
    archive: Archive
    files: MemoryFiles
    ledger: UnsentUsage
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


# Attempts to summarize messages. An attempt is counted before it begins, because it may kill its worker.

UNDO_S = 5.0
"""Longest that taking a failure back may take."""

NOBODY_FAILED = (CallSkipped, ArchiveError, BusError, MemoryMoving, Misplaced)
"""The model was not asked, or did its part."""


@asynccontextmanager
async def attempt(
    stores: SharedStores, lock: ConsolidationLock, what: Literal["failures", "digests"] = "failures"
) -> AsyncGenerator[None]:
    """Count one more failure in a row of the locked session; whoever succeeds sets the count anew.

    It is taken back when the model has not failed, somebody could not wait, or this process is to stop. There are never
    more failures than it takes to do without a model.

    Raises:
        LockLost: somebody else has the session's lock.
    """
    before = lock.failures if what == "failures" else lock.digests
    most = stores.config.consolidation.failures_max
    try:
        await stores.locks.note(lock, what, min(before + 1, most))
        yield
    except (*NOBODY_FAILED, anyio.get_cancelled_exc_class()):
        with anyio.move_on_after(UNDO_S, shield=True), suppress(BusError, LockLost):
            await stores.locks.note(lock, what, before)
        raise
