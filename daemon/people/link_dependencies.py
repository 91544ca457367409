"""What the jobs of people stand on."""

from dataclasses import dataclass
from pathlib import Path

from anyio import CapacityLimiter

from daemon.archive import Archive
from daemon.config import BotConfig
from daemon.errors import JobRefused
from daemon.jobs import Host
from daemon.memory import Memories, MemoryFiles
from daemon.memory.memory_files import bot_of, memory_folder
from daemon.memory.scope_lists import ScopeLists
from daemon.people.link_index import People
from daemon.session import Locks

THREADS = 2
"""Folders that a process moves at a time."""

KIND = "person"
"""Scopes of this kind alone can be linked."""


@dataclass(frozen=True, kw_only=True)
class Ground:
    """Stores of one process, and where the files of bots lie."""

    host: Host
    memories: Memories
    lists: ScopeLists
    files: MemoryFiles
    locks: Locks
    people: People
    threads: CapacityLimiter

    def workspace(self, scope: str) -> Path:
        """The folder of the scope's bot; raises ConfigError when it is not configured here."""
        return self.host.workspace(bot_of(scope))

    def projection(self, scope: str) -> Path:
        """The folder that shows the scope's memory; errors as for ``workspace``."""
        return self.workspace(scope).joinpath(*memory_folder(scope))

    def bot(self, scope: str) -> BotConfig:
        """The scope's bot; errors as for ``workspace``."""
        return self.host.bot(bot_of(scope))


def ground_of(host: Host) -> Ground:
    """What the jobs of people stand on, in a process."""
    archive = Archive(host.bus, host.data_dir, config=host.config.archive, clock=host.clock)
    memories = Memories(host.bus, archive)
    return Ground(
        host=host,
        memories=memories,
        lists=ScopeLists(host.bus, archive),
        files=MemoryFiles(memories, workspace_of=host.workspace, clock=host.clock),
        locks=Locks(host.bus, host.config.queue, worker=host.name),
        people=People(host.bus),
        threads=CapacityLimiter(THREADS),
    )


def check_linkable(into: str, member: str) -> None:
    """Make sure that two scopes may ever share a memory.

    Raises:
        JobRefused: they are not two persons of one bot.
    """
    for scope in (into, member):
        if not is_person(scope):
            raise JobRefused(f"{scope} is not a person's memory. Only memories of persons can be linked.")
    if bot_of(into) != bot_of(member):
        raise JobRefused(f"{into} and {member} belong to different bots. Both identities must belong to the same bot.")


def is_person(scope: str) -> bool:
    """Whether it is a person's memory."""
    parts = scope.split(":")
    return len(parts) == 4 and parts[1] == KIND


def name_of(scope: str) -> str:
    """A person's scope as people write it: ``<channel instance>:<sender>``."""
    return ":".join(scope.split(":")[2:])
