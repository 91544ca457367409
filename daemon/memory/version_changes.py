"""The versions of a MEMORY.md with the changes that each made."""

import msgspec

from daemon.memory.locked_memory import Recall
from daemon.memory.memories import Memories
from daemon.memory.memory_records import Version
from daemon.memory.text_diff import characters


class VersionChanges(msgspec.Struct, frozen=True, kw_only=True):
    """A version with its changes to the previous one; for a rejected version, the changes that it would have made."""

    version: Version
    came: int
    """Characters of lines that came."""
    went: int
    """Characters of lines that went."""
    is_current: bool


async def changes_of(memories: Memories, scope: str, *, limit: int) -> list[VersionChanges]:
    """The newest versions, newest first. Errors as for ``Memories.versions``."""
    current = (await memories.current(scope)).version
    versions = await memories.versions(scope, limit=limit)
    before = await _text_before(memories, scope, versions[-1].version) if versions else ""
    found: list[VersionChanges] = []
    for version in reversed(versions):
        came, went = characters(before, version.text)
        found.insert(0, VersionChanges(version=version, came=came, went=went, is_current=version.version == current))
        before = before if version.kind == "rejected" else version.text
    return found


async def seen(memories: Memories, scope: str, number: int | None) -> Recall:
    """The text of a version; 0: the text before the first version, None: the current text. Errors as for
    ``Memories.version``."""
    if number is None:
        return await memories.current(scope)
    text = (await memories.version(scope, number)).text if number else ""
    return Recall(text=text, version=number)


async def _text_before(memories: Memories, scope: str, number: int) -> str:
    """What MEMORY.md read before a version was written: rejected ones were never in it."""
    while number := number - 1:
        version = await memories.version(scope, number)
        if version.kind != "rejected":
            return version.text
    return ""
