"""What all consolidations of a process share."""

from dataclasses import dataclass

from daemon.archive import Archive
from daemon.bus import Bus
from daemon.clock import Clock
from daemon.config import Config
from daemon.memory import Memories
from daemon.memory.files import MemoryFiles
from daemon.session import Locks
from daemon.usage import UsageBook


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
    book: UsageBook
    clock: Clock
