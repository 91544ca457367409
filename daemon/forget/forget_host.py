"""What forgetting needs of a process."""

from collections.abc import Awaitable, Callable

from daemon import tokens
from daemon.archive import Archive
from daemon.bus import Bus
from daemon.errors import ConfigError
from daemon.forget.forget_context import Stores
from daemon.forget.tombstone import Count
from daemon.jobs import Host
from daemon.memory import Memories, MemoryFiles
from daemon.memory.memory_files import bot_of
from daemon.session import Locks


def stores_for(host: Host) -> Stores:
    """The stores of a process."""
    archive = Archive(host.bus, host.data_dir, config=host.config.archive, clock=host.clock)
    memories = Memories(host.bus, archive)
    return Stores(
        bus=host.bus,
        config=host.config,
        data_dir=host.data_dir,
        workspace_of=host.workspace,
        locks=Locks(host.bus, host.config.queue, worker=host.name),
        memories=memories,
        archive=archive,
        files=MemoryFiles(memories, workspace_of=host.workspace, clock=host.clock),
        clock=host.clock,
        count_of=_counting(host),
    )


def _counting(host: Host) -> Callable[[str], Awaitable[Count]]:
    async def count_of(scope: str) -> Count:
        try:
            name = host.bot(bot_of(scope)).model.name
        except ConfigError:
            name = ""  # counted as for most models
        return (await tokens.load(name)).count_message

    return count_of


async def scopes_with(bus: Bus, scope: str) -> tuple[str, ...]:
    """The scope that the memory of ``scope`` is, and then those that were joined with it, whose own lists are kept.

    Raises:
        BusUnavailable: Redis is away.
    """
    home = ((await bus.call("HGET", bus.keys.memory(scope), "joined")) or b"").decode() or scope
    fields: list[bytes] = await bus.call("HKEYS", bus.keys.memory(home))
    named = sorted(field.decode().removeprefix("links:") for field in fields if field.startswith(b"links:"))
    # One that was separated again is another person's.
    joined = [each for each in named if await bus.call("HGET", bus.keys.memory(each), "joined") == home.encode()]
    return (home, *joined)
