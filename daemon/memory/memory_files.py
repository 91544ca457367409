"""The files of a memory in the bot's workspace, for users and tools. Users may edit MEMORY.md there."""

import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

import anyio
import msgspec
import structlog
from anyio import from_thread

from daemon.clock import Clock, SystemClock, stamp
from daemon.concurrency import Threads
from daemon.durable import folder_below
from daemon.errors import UNREADABLE, MemoryMoving, MillpondError, VersionMoved, brief
from daemon.memory.file_sync import FileSync, FolderState
from daemon.memory.locked_memory import Recall
from daemon.memory.memories import Memories
from daemon.memory.memory_file import MEMORY, refusal
from daemon.memory.memory_records import Note
from daemon.scope import folder_of

FOLDER = "memory"
"""Below a bot's workspace."""

LOOK_S = 1.0
"""Time for which the last look at a scope's MEMORY.md stays valid."""

ALL_S = 30.0
"""The same for its other files, which nobody should edit."""

LIMIT_S = 5.0
"""Time that a turn waits for a slow disk before it continues without the files."""

THREADS = 8
"""Simultaneous looks at the files of one bot: a hanging disk delays only the bots that use it."""

SCOPES_MAX = 1_024
"""Scopes of which a process remembers how their files looked."""

VERSIONS_MAX = 50
"""Newest versions among which a text on the disk is looked for."""

BY_FILE = "file"
"""The author of versions made by editing MEMORY.md itself."""

_log = structlog.get_logger()


def memory_folder(scope: str) -> tuple[str, ...]:
    """Folders that contain the memory, below the workspace of the scope's bot."""
    # The workspace's own lies beside the folders of all other scopes.
    flat = scope.endswith(":workspace") and scope.count(":") == 1
    return (FOLDER,) if flat else (FOLDER, folder_of(scope))


def bot_of(scope: str) -> str:
    """Name of the bot that owns the memory."""
    return unquote(scope.partition(":")[0])


class MemoryFiles:
    """The files of all scopes, as synchronized by one process."""

    def __init__(self, memories: Memories, *, workspace_of: Callable[[str], Path], clock: Clock | None = None) -> None:
        """Nothing is looked at yet.

        Args:
            memories: what the files show.
            workspace_of: gives the folder of a bot by its name, or raises ConfigError.
            clock: for the versions that a person's edits become.
        """
        self._memories = memories
        self._workspace_of = workspace_of
        self._clock = clock or SystemClock()
        self._looked: OrderedDict[str, FolderState] = OrderedDict()
        self._threads: dict[str, Threads] = {}
        """By bot: their workspaces may lie on different disks."""

    async def sync(self, scope: str, *, at_once: bool = False) -> None:
        """Import a person's edit and write new versions. Never raises, so that no turn fails because of files.

        ``scope`` is a home: one that was joined with another has no files of its own.

        Within ``LOOK_S`` of the last look nothing is done, unless ``at_once`` says that something has just changed.
        """
        looked = self._looked_at(scope)
        if anyio.current_time() < looked.next_at and not at_once:
            return
        looked.next_at = anyio.current_time() + LOOK_S
        try:
            projection = FileSync(self._workspace_of(bot_of(scope)), memory_folder(scope), looked)
        except MillpondError as error:  # another process may know the bot
            _log.debug("memory.unwritten", reason=brief(error))
            return
        reason = await self._failure(scope, projection, at_once=at_once, within_s=LIMIT_S)
        if reason and looked.is_new(reason):
            _log.warning("memory.unwritten", path=str(projection.path), reason=reason)

    def complaints(self) -> list[tuple[str, str]]:
        """Problems of the examined files: scope and reason."""
        return [(scope, why) for scope, looked in self._looked.items() for why in sorted(looked.said | looked.saying)]

    async def failure(self, scope: str, *, within_s: float) -> str:
        """Synchronize the files now; returns the reason if that failed, otherwise an empty text."""
        looked = self._looked_at(scope)
        lock_wait_s = within_s / 2  # the rest is for the writing
        try:
            projection = FileSync(
                self._workspace_of(bot_of(scope)), memory_folder(scope), looked, lock_wait_s=lock_wait_s
            )
        except MillpondError as error:
            return str(error)
        return await self._failure(scope, projection, at_once=True, within_s=within_s)

    async def _failure(self, scope: str, projection: FileSync, *, at_once: bool, within_s: float) -> str:
        """Why the files could not be brought in step; empty when they could."""
        try:
            with anyio.fail_after(within_s):
                await self._bring_in_step(scope, projection, at_once=at_once)
        except OSError as error:
            name = f" ({error.filename})" if error.filename else ""
            return f"{error.strerror or 'the disk is too slow'}{name}"
        except (MillpondError, *UNREADABLE) as error:
            return str(error)
        return ""

    async def _bring_in_step(self, scope: str, projection: FileSync, *, at_once: bool) -> None:
        looked, threads = projection.looked, self._threads.setdefault(bot_of(scope), Threads(THREADS))
        if not at_once and anyio.current_time() < looked.all_at:
            current = await self._memories.current(scope)
            if current == looked.seen and await threads.run(projection.untouched):
                return
        looked.begin()
        looked.all_at = 0.0  # unless it ends well, again the next time
        await threads.run(lambda: projection.sync(_Asked(self._memories, scope, self._clock)))
        looked.all_at = anyio.current_time() + ALL_S

    def _looked_at(self, scope: str) -> FolderState:
        if scope not in self._looked:
            # There is nothing to be missed of a scope that has neither a memory nor a file.
            self._looked[scope] = FolderState(all_at=anyio.current_time() + ALL_S)
        self._looked.move_to_end(scope)
        if len(self._looked) > SCOPES_MAX:
            self._looked.popitem(last=False)
        return self._looked[scope]


class _Asked:
    """``Stored``, asked from a thread in the event loop that waits for it."""

    def __init__(self, memories: Memories, scope: str, clock: Clock) -> None:
        self._memories = memories
        self._scope = scope
        self._clock = clock

    def current(self) -> Recall:
        return from_thread.run(self._current)

    async def _current(self) -> Recall:
        if await self._memories.home(self._scope) != self._scope:
            # What is another's by now must not lie in this folder on the day on which they part.
            raise MemoryMoving(
                f"the memory of {self._scope} was merged into another memory, which now contains its files"
            )
        return await self._memories.current(self._scope)

    def history(self, first: int) -> Sequence[str]:
        return [entry.text for entry in from_thread.run(lambda: self._memories.history(self._scope, first=first))]

    def notes(self, first: int) -> Sequence[Note]:
        return from_thread.run(lambda: self._memories.notes(self._scope, first=first))

    def forgets(self) -> int:
        return from_thread.run(self._memories.forgets, self._scope)

    def version_that_reads(self, text: str, *, after: int) -> int:
        newest_first = from_thread.run(lambda: self._memories.versions(self._scope, limit=VERSIONS_MAX, after=after))
        return next((v.version for v in newest_first if v.kind != "rejected" and v.text == text), 0)

    def edit(self, text: str, *, of: int) -> Recall:
        time = stamp(self._clock.now())
        from_thread.run(lambda: self._memories.edit(self._scope, of=of, text=text, by=BY_FILE, time=time))
        return self.current()


# Changes of a memory by users, with its files synchronized before and after.


class EditResult(msgspec.Struct, frozen=True, kw_only=True):
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
) -> EditResult:
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
    return EditResult(version=version, changed=version != before)


# The memories of a workspace whose MEMORY.md cannot be read. All functions block.

FOLDERS_MAX = 10_000
"""Folders of scopes that are looked at."""


def refused_memories(workspace: Path) -> Iterator[tuple[str, str]]:
    """Each such file, as a path from the workspace, with the reason and the remedy."""
    for names in ((FOLDER,), *((FOLDER, scope) for scope in _scopes(workspace))):
        try:
            with folder_below(workspace, *names, make=False) as folder:
                why = refusal(folder)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            why = f"the file's folder cannot be read: {error.strerror}"
        if why:
            yield "/".join((*names, MEMORY)), why


def _scopes(workspace: Path) -> list[str]:
    try:
        with os.scandir(workspace / FOLDER) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))[:FOLDERS_MAX]
    except OSError:
        return []
