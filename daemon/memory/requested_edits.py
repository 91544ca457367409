"""Changes of a memory by users: edits and restored versions. They hold no lock, but name the version they change."""

import secrets
from collections.abc import Callable

import msgspec
from anyio import to_thread

from daemon.bus import Bus, load_script
from daemon.errors import VersionMoved
from daemon.memory.current_memory import CurrentMemory
from daemon.memory.locked_memory import Recall, decode_version
from daemon.memory.memory_merge import moving
from daemon.memory.memory_records import Version, version_parts
from daemon.memory.text_diff import edited

WRITE = load_script(__file__, "write.lua", with_parts=("memory.part.lua",))

TRIES = 10
"""How often a person's change is tried while others change the same memory."""


class RequestedEdits:
    """Changes memories for users."""

    def __init__(self, bus: Bus, current: CurrentMemory) -> None:
        self._bus = bus
        self._current = current

    async def edit(self, scope: str, *, seen: str, of: int, text: str, by: str, time: str) -> int:
        """Make ``text``, an edit of ``seen`` (version ``of``), the newest version, followed by later additions.

        Returns the number of the then current version. Errors as for ``restore``.
        """

        def change(current: Recall) -> Version:
            whole = current.text if text == seen else edited(text, of=seen, current=current.text)
            return Version(kind="edit", time=time, by=by, of=of, text=whole)

        return await self._change(scope, change)

    async def restore(self, scope: str, old: Version, *, by: str, time: str) -> int:
        """Make ``old`` the newest version. Returns the number of the new current version.

        Raises:
            VersionMoved: other changes of the memory kept interfering.
        """
        restored = Version(kind="restore", time=time, by=by, of=old.version, text=old.text)
        return await self._change(scope, lambda _: restored)

    async def _change(self, scope: str, change: Callable[[Recall], Version]) -> int:
        keys, name = self._bus.keys, secrets.token_hex(8)
        for _ in range(TRIES):
            current, checksum = await self._current.read(scope)
            # In a thread: a text may be as long as a person likes.
            changed = await to_thread.run_sync(change, current)
            version = msgspec.structs.replace(changed, id=name)
            if version.text == current.text:
                return current.version
            status, found = await self._bus.run(
                WRITE,
                [keys.memory(scope), keys.versions(scope)],
                [current.version, checksum, *version_parts(version)],
            )
            if status == b"done":
                return int(found)
            if status in (b"joined", b"joining"):
                raise moving(scope)
            # The reply to the first of two copies may have been lost: then this change is one of those that came since.
            own = [since.version for since in map(decode_version, found) if since.id == name]
            if own:
                return own[0]
        raise VersionMoved(
            f"MEMORY.md of {scope} was changed {TRIES} times during this edit, so nothing was written. Try again."
        )
