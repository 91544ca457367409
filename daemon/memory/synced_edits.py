"""Changes of a memory by users, with its files synchronized before and after."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from daemon.errors import VersionMoved
from daemon.memory.memories import Memories
from daemon.memory.memory_files import MemoryFiles


@dataclass(frozen=True, kw_only=True)
class Written:
    """The result of a change."""

    version: int
    """The current version afterwards."""
    changed: bool
    """False: it read like that before."""


async def written(
    memories: Memories,
    files: MemoryFiles,
    scope: str,
    change: Callable[[], Awaitable[int]],
    *,
    expect: int | None = None,
) -> Written:
    """Perform ``change``, which returns the number of the new current version; ``scope`` is a home.

    Raises:
        VersionMoved: the current version is not the one that is expected; nothing was changed.
    """
    await files.sync(scope, at_once=True)  # a file that was edited is a version before this one
    before = (await memories.current(scope)).version
    if expect is not None and expect != before:
        raise VersionMoved(
            f"MEMORY.md of {scope} is now at version {before}, not {expect}. Read the memory again before you change "
            "it."
        )
    version = await change()
    await files.sync(scope, at_once=True)
    return Written(version=version, changed=version != before)
