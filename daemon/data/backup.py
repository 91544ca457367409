"""Making a backup: a folder with all that a database and its workspaces hold, taken while everything runs.

``backup.json`` is written last: whoever is killed before leaves a folder that is no backup, and nothing else.
"""

import gzip
import hashlib
import os
import secrets
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, TypeVar

import msgspec
from anyio import to_thread

from daemon.archive import Archive, Shelf, Storage
from daemon.archive.local_storage import LocalStorage
from daemon.archive.marker import MARKER
from daemon.archive.shelf import ScopeKind
from daemon.archive.storage import FILE_MAX_BYTES
from daemon.bus import Bus, pairs
from daemon.bus.migrations import SCHEMA
from daemon.clock import Clock, stamp
from daemon.config import ArchiveConfig
from daemon.data.backup_records import (
    FileTaken,
    KeyTaken,
    Loss,
    Manifest,
    ScopeTaken,
    SessionTaken,
    encode,
    number,
    text_of,
)
from daemon.data.file_copy import Unreadable, copy_tree, sha256_of
from daemon.data.scope_rules import covered
from daemon.data.snapshot import Snapshot
from daemon.durable import FOLDER_MODE, folder_below, sync_all, whole_file, write_whole
from daemon.errors import ArchiveError, ArchiveMissing, OutputError
from daemon.memory.memory_files import FOLDER as MEMORY_FOLDER
from daemon.version import __version__

# Records that a backup should contain, but does not: neither Redis nor the copied archive has them.

KINDS: tuple[ScopeKind, ...] = ("history", "versions", "notes")


class Archived:
    """The archived ranges of all sessions and memories of a backup, without their contents."""

    def __init__(self) -> None:
        """Nothing was noted yet."""
        self._ranges: dict[tuple[str, str], tuple[Shelf, int, int]] = {}
        """By owner and kind: the archived records from the first index to the second (exclusive)."""
        self._short: dict[str, int] = {}
        """Messages that the log of a session should hold, but does not."""

    def note(self, taken: object) -> None:
        """Note a record of the backup; of a session that was read twice, the last one counts."""
        match taken:
            case SessionTaken():
                begins = number(taken.fields.get("begins"))
                self._ranges[taken.name, "messages"] = (Shelf.log(taken.name), begins, taken.base)
                self._short[taken.name] = number(taken.fields.get("head")) - taken.base - taken.count
            case ScopeTaken():
                for kind in KINDS:
                    base = number(taken.fields.get(f"{kind}_base"))
                    self._ranges[taken.name, kind] = (Shelf.of(kind, taken.name), 0, base)
            case _:
                return

    async def losses(self, bus: Bus, folder: Path, inside: str, *, deep: bool) -> list[Loss]:
        """The records that were not found in the archive's copy in ``folder``.

        Args:
            bus: the database that lists the archive's files: the original one, or the restored one.
            folder: of the backup.
            inside: the folder of the archive's copy below it.
            deep: whether each file is read; otherwise a file is good if it exists.

        Raises:
            BusUnavailable: Redis cannot be reached.
        """
        storage = LocalStorage(folder, inside)
        archive = Archive(bus, folder, config=ArchiveConfig(), storage=storage)
        found = list(self._of_logs())
        for (owner, kind), (shelf, first, base) in sorted(self._ranges.items()):
            if first >= base:
                continue
            missing = await _missing(archive, shelf, first, base, deep=deep)
            if missing and kind == "messages":
                # Messages that were deleted meanwhile, because their retention period ended, are not lost.
                begins = number(await bus.call("HGET", bus.keys.session(owner), "begins"))
                missing = [(max(begin, begins), upto) for begin, upto in missing if upto > begins]
            if count := sum(upto - begin for begin, upto in missing):
                found.append(Loss(owner=owner, kind=kind, count=count))
        return found

    def _of_logs(self) -> Iterator[Loss]:
        for owner, count in sorted(self._short.items()):
            if count > 0:
                yield Loss(owner=owner, kind="messages", count=count)


async def _missing(archive: Archive, shelf: Shelf, first: int, base: int, *, deep: bool) -> list[tuple[int, int]]:
    """The ranges from ``first`` to ``base`` that no readable file of the archive covers."""
    try:
        segments = [each for each in await archive.segments(shelf) if each.first < base]
        names = {stored.name for stored in await archive.storage.list(shelf.folder)}
    except ArchiveError:
        return [(first, base)]
    good = list[tuple[int, int]]()
    for segment in segments:
        try:
            if deep or segment.place not in names:
                # Reading also finds a file that took the place of the listed one.
                await archive.read(segment)
        except ArchiveError:
            continue
        good.append((segment.first, segment.upto))
    return covered(good, first, base)


REDIS, FILES, MANIFEST = "redis.jsonl.gz", "files.jsonl", "backup.json"
ARCHIVE, BOTS, CONFIG = "archive", "bots", "config"
"""Folders of a backup."""

LEVEL = 6
"""Of the compression."""

_T = TypeVar("_T")


class BackupContents(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a backup besides the data in Redis."""

    workspaces: Mapping[str, Path]
    """Folders of the bots' files, by bot."""
    archive: Storage
    config: tuple[Path, ...] = ()
    """Configuration and files with its secrets; none unless asked for."""
    secret: frozenset[Path] = frozenset()
    """Files with secrets, which are not copied where they lie in a workspace."""
    without: frozenset[str] = frozenset()
    """Sessions and memories that are left out, and damaged keys and files that the operator knows."""


class BackupResult(msgspec.Struct, frozen=True, kw_only=True):
    """A backup that was written."""

    folder: Path
    manifest: Manifest


async def back_up(
    bus: Bus, wanted: BackupContents, folder: Path, *, clock: Clock, tell: Callable[[str], None] = lambda _line: None
) -> BackupResult:
    """Write a backup into ``folder``, which is made, or is empty.

    ``tell`` is given a line now and then, for people.

    Raises:
        OutputError: it cannot be written, or something is there already.
        ArchiveError: the archive cannot be read.
        BusUnavailable: Redis cannot be reached.
    """
    began = stamp(clock.now())
    await _in_thread(lambda: _made(folder), folder)
    copies = _Copies(folder)
    # Files of a memory that are older than Redis are brought in step; newer ones would pass for Redis having lost some.
    for bot, workspace in sorted(wanted.workspaces.items()):
        tell(f"memory files of {bot}")
        await copies.tree(workspace, BOTS, bot, only=MEMORY_FOLDER, secret=wanted.secret)
    tell("data in Redis")
    taking, archived = Snapshot(bus, without=wanted.without), Archived()
    records = await _redis(bus, taking, folder, archived)
    copies.note_missing({bot: wanted.workspaces[bot] for bot in taking.bots & wanted.workspaces.keys()})
    # Files come after what names them: a message its attachment, a list its segments.
    for bot, workspace in sorted(wanted.workspaces.items()):
        tell(f"files of {bot}")
        await copies.tree(workspace, BOTS, bot, without=MEMORY_FOLDER, secret=wanted.secret)
    tell("the archive")
    await copies.archive(wanted.archive)
    for path in wanted.config:
        await copies.file(path, CONFIG)
    await copies.end()
    tell("checking for missing messages")
    losses = await archived.losses(bus, folder, ARCHIVE, deep=False)
    damaged = taking.damaged | copies.unreadable
    manifest = Manifest(
        id=secrets.token_hex(8),
        millpond=__version__,
        schema=max(SCHEMA, bus.schema),
        partitions=bus.keys.partitions,
        prefix=bus.keys.prefix,
        began=began,
        ended=stamp(clock.now()),
        sessions=taking.sessions,
        scopes=taking.scopes,
        records=records,
        messages=taking.messages,
        files=copies.count,
        file_bytes=copies.size,
        retaken=taking.retaken,
        bots=sorted(wanted.workspaces),
        archive=wanted.archive.where,
        with_config=bool(wanted.config),
        losses=losses,
        damaged={name: why for name, why in sorted(damaged.items()) if name not in wanted.without},
        left_out=sorted(wanted.without),
        sha256={name: await _in_thread(partial(sha256_of, folder / name), folder) for name in (REDIS, FILES)},
    )
    # Once for all files: each by itself takes 8 ms.
    await _in_thread(partial(sync_all, folder), folder)
    await _in_thread(lambda: _write(folder, MANIFEST, msgspec.json.format(encode(manifest), indent=1) + b"\n"), folder)
    return BackupResult(folder=folder, manifest=manifest)


async def _redis(bus: Bus, taking: Snapshot, folder: Path, archived: Archived) -> int:
    """Write the data in Redis; returns the number of records."""
    count = 0
    with (
        _written(folder, REDIS) as file,
        # Without name and time: the same records always give the same file.
        gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=LEVEL, mtime=0) as packer,
    ):
        meta = pairs(await bus.call("HGETALL", bus.keys.meta))
        value = {name.decode(): text_of(each) for name, each in sorted(meta)}
        packer.write(encode(KeyTaken(kind="meta", form="hash", value=value)) + b"\n")
        async for record in taking.records():
            archived.note(record)
            line = encode(record)
            # Packing half a megabyte takes some milliseconds: beside the event loop.
            await to_thread.run_sync(packer.write, line) if len(line) > 65_536 else packer.write(line)
            packer.write(b"\n")
            count += 1
    return count + 1


@contextmanager
def _written(folder: Path, name: str) -> Generator[IO[bytes]]:
    """A file of the backup, which has its name once the block has ended well."""
    try:
        with folder_below(folder, make=False) as opened, whole_file(opened, name, replace=True) as file:
            yield file
    except OSError as error:
        raise _unwritten(folder, error) from error


class _Copies:
    """The files of a backup, and the list of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._taken: list[FileTaken] = []
        self.unreadable: dict[str, str] = {}
        """Files that cannot be read, and why."""

    @property
    def count(self) -> int:
        return len(self._taken)

    @property
    def size(self) -> int:
        return sum(each.bytes for each in self._taken)

    async def tree(
        self, source: Path, *inside: str, only: str = "", without: str = "", secret: Collection[Path] = ()
    ) -> None:
        """The files in a folder."""
        copied = await _in_thread(
            lambda: list(copy_tree(source, self._folder, *inside, only=only, without=without, secret=secret)),
            self._folder,
        )
        self._taken += [each for each in copied if isinstance(each, FileTaken)]
        self.unreadable |= {each.path: each.reason for each in copied if isinstance(each, Unreadable)}

    def note_missing(self, workspaces: Mapping[str, Path]) -> None:
        """Note the folders that must exist, but do not: the mount of a workspace may be lost."""
        for bot, workspace in workspaces.items():
            if not workspace.is_dir():
                self.unreadable[f"{BOTS}/{bot}"] = f"the folder {workspace} was not found, but the bot has a memory"

    async def archive(self, storage: Storage) -> None:
        """All files of an archive; a file that is deleted meanwhile is in none of the lists read before."""
        names = [MARKER] + [stored.name for folder in await storage.folders() for stored in await storage.list(folder)]
        for name in names:
            with suppress(ArchiveMissing):
                await self._put(ARCHIVE, name, await storage.get(name, max_bytes=FILE_MAX_BYTES))

    async def file(self, path: Path, into: str) -> None:
        """A single file, under its own name."""
        content = await _in_thread(path.read_bytes, self._folder)
        await self._put(into, path.name, content)

    async def _put(self, into: str, name: str, content: bytes) -> None:
        *folders, file = name.split("/")

        def write() -> None:
            with (
                folder_below(self._folder, into, *folders, make=True, syncs=False) as opened,
                whole_file(opened, file, replace=True, syncs=False) as written,
            ):
                written.write(content)

        await _in_thread(write, self._folder)
        digest = hashlib.sha256(content).hexdigest()
        self._taken.append(FileTaken(path=f"{into}/{name}", bytes=len(content), sha256=digest))

    async def end(self) -> None:
        """Write the list of them."""
        lines = b"".join(encode(each) + b"\n" for each in sorted(self._taken, key=lambda each: each.path))
        await _in_thread(lambda: _write(self._folder, FILES, lines), self._folder)


def _made(folder: Path) -> None:
    with suppress(FileExistsError):
        folder.mkdir(mode=FOLDER_MODE, parents=True)
    if os.listdir(folder):  # noqa: PTH208 - a name is enough
        raise OutputError(
            f"{folder} is not empty, and it is not a complete backup because it does not contain {MANIFEST}. Choose "
            "another folder, or delete this folder."
        )


def _write(folder: Path, name: str, content: bytes) -> None:
    with folder_below(folder, make=False) as opened:
        write_whole(opened, name, content)


async def _in_thread(work: Callable[[], _T], folder: Path) -> _T:
    try:
        return await to_thread.run_sync(work)
    except OSError as error:
        raise _unwritten(folder, error) from error


def _unwritten(folder: Path, error: OSError) -> OutputError:
    name = f" ({error.filename})" if error.filename else ""
    return OutputError(
        f"the backup in {folder} was not written: {error.strerror or type(error).__name__}{name}. Fix the problem, "
        "and create the backup again."
    )
