"""What the jobs of people stand on.

What counts is the field ``joined`` of a memory; this is written by the jobs that change it.
"""

from pathlib import Path

import msgspec
from anyio import CapacityLimiter

from daemon.access import Access, Speaker, is_listed, verdict
from daemon.archive import Archive
from daemon.bus import Bus, pairs
from daemon.config import BotConfig, PushConfig
from daemon.errors import JobRefused
from daemon.jobs import JobHost
from daemon.memory import Memories, MemoryFiles
from daemon.memory.memory_files import bot_of, memory_folder
from daemon.memory.memory_merge import home_of
from daemon.memory.scope_lists import ScopeLists
from daemon.session import ConsolidationLocks
from daemon.sessionkey import SessionKey

# Who was linked with whom: an index for people, and for whoever has to find all parts of one memory.


class Link(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One scope that is part of another's memory."""

    home: str
    """Whose."""
    by: str
    """``code``, ``config``, or who linked them by hand."""
    time: str
    """When: ISO 8601, UTC."""


_decode = msgspec.json.Decoder(Link).decode
_encode = msgspec.json.Encoder().encode


class LinkIndex:
    """The links of one database. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def links(self) -> dict[str, Link]:
        """Every link, by the scope that is a part of another's memory."""
        found = pairs(await self._bus.call("HGETALL", self._bus.keys.people))
        return {scope.decode(): _decode(link) for scope, link in sorted(found)}

    async def link_of(self, scope: str) -> Link | None:
        """How the scope is linked; None when it is not, or is a home itself."""
        found = await self._bus.call("HGET", self._bus.keys.people, scope)
        return _decode(found) if found else None

    async def family(self, scope: str) -> list[str]:
        """All scopes that share a memory with this one, their home first; alone, the scope itself."""
        home = await home_of(self._bus, scope)
        return [home, *await self.parts(home)]

    async def parts(self, home: str) -> list[str]:
        """The scopes that are part of the memory of ``home``."""
        return [scope for scope, link in (await self.links()).items() if link.home == home]

    async def note(self, scope: str, link: Link) -> None:
        """Put a link into the index."""
        await self._bus.call("HSET", self._bus.keys.people, scope, _encode(link))

    async def remove(self, scope: str) -> None:
        """Take a link out of the index."""
        await self._bus.call("HDEL", self._bus.keys.people, scope)


THREADS = 2
"""Folders that a process moves at a time."""

KIND = "person"
"""Scopes of this kind alone can be linked."""


class LinkDependencies(msgspec.Struct, frozen=True, kw_only=True):
    """Stores of one process, and where the files of bots lie."""

    host: JobHost
    memories: Memories
    lists: ScopeLists
    files: MemoryFiles
    locks: ConsolidationLocks
    people: LinkIndex
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


def ground_of(host: JobHost) -> LinkDependencies:
    """What the jobs of people stand on, in a process."""
    archive = Archive(host.bus, host.data_dir, config=host.config.archive, clock=host.clock)
    memories = Memories(host.bus, archive)
    return LinkDependencies(
        host=host,
        memories=memories,
        lists=ScopeLists(host.bus, archive),
        files=MemoryFiles(memories, workspace_of=host.workspace, clock=host.clock),
        locks=ConsolidationLocks(host.bus, host.config.queue, worker=host.name),
        people=LinkIndex(host.bus),
        threads=CapacityLimiter(THREADS),
    )


def check_linkable(into: str, member: str) -> None:
    """Make sure that two scopes may ever share a memory.

    Raises:
        JobRefused: they are not two persons of one bot.
    """
    for scope in (into, member):
        if not is_person(scope):
            raise JobRefused(f"{scope} is not a person's memory. Only people's memories can be linked.")
    if bot_of(into) != bot_of(member):
        raise JobRefused(f"{into} and {member} belong to different bots. Both identities must belong to the same bot.")


def is_person(scope: str) -> bool:
    """Whether it is a person's memory."""
    parts = scope.split(":")
    return len(parts) == 4 and parts[1] == KIND


def name_of(scope: str) -> str:
    """A person's scope as people write it: ``<channel instance>:<sender>``."""
    return ":".join(scope.split(":")[2:])


# Whether a bot still accepts messages from a person.


async def is_admitted(host: JobHost, scope: str) -> bool:
    """Whether the bot accepts messages of the person of ``scope``.

    Raises:
        ConfigError: the bot is not configured here.
        BusUnavailable: Redis is away.
    """
    person = SessionKey.parse(name_of(scope))
    config = host.config.channels.get(person.channel)
    if not isinstance(config, PushConfig):
        return config is not None  # pull channels have no access rules
    is_admin = is_listed(host.bot(bot_of(scope)), channel=person.channel, sender=person.chat)
    speaker = Speaker(sender=person.chat, chat="", in_group=False, is_admin=is_admin)
    return verdict(config.access, await Access(host.bus, person.channel).read(), speaker) == "heard"
