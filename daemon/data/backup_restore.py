"""Making a database and its files of a backup.

While it goes on, ``mp:meta`` says so, and no process can use the database; whoever is killed in it restores again.
"""

import gzip
import hashlib
import zlib
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path

import msgspec
from anyio import to_thread

from daemon.archive import Storage
from daemon.bus import Bus, Keys, pairs, scan_keys
from daemon.bus.migrations import SCHEMA
from daemon.clock import Clock, SystemClock, age_s
from daemon.concurrency import AT_ONCE, at_once
from daemon.data.backup import ARCHIVE, BOTS, FILES, MANIFEST, REDIS
from daemon.data.backup_records import (
    FORMAT,
    FileTaken,
    KeyTaken,
    LogTaken,
    Manifest,
    SessionTaken,
    StreamTaken,
    Taken,
    bytes_of,
    decode,
    decode_file,
    decode_manifest,
)
from daemon.data.file_copy import put_file, sha256_of
from daemon.data.record_writer import RecordWriter, Repartition
from daemon.errors import UNREADABLE, ArchiveMissing, ConfigError, DatabaseNotEmpty, DataError

ALIVE_S = 30.0
"""A process whose last heartbeat is newer may still write (see ``daemon/heartbeat.py``)."""

FIXED = (b"schema", b"needs", b"partitions")
"""Fields that a process writes into ``mp:meta`` of an empty database when it connects."""


class RestoreTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Where a backup is to be restored to, beside Redis."""

    workspace_of: Callable[[str], Path]
    """Folder of a bot's files, by its name."""
    archive: Storage | None
    """None: files are left alone."""
    partitions: int | None = None
    """None: as in the backup."""
    replaces: bool = False
    """Whether existing data is deleted."""


class RestoreResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a restore."""

    manifest: Manifest
    partitions: int
    files: int
    """Number of written files of the backup; the others existed already."""


class _Beat(msgspec.Struct):
    seen: str = ""


async def restore(
    bus: Bus,
    folder: Path,
    target: RestoreTarget,
    *,
    clock: Clock | None = None,
    tell: Callable[[str], None] = lambda _line: None,
) -> RestoreResult:
    """Restore the database of ``bus``, and the files of ``target``, from a backup.

    Raises:
        DataError: it is no backup, or is spoilt.
        DatabaseNotEmpty: something is there already, and is not to go; nothing was changed.
        ConfigError: processes of this database run, or another number of partitions is configured.
        ArchiveError: the archive cannot be written.
        BusUnavailable: Redis is away; restore it again.
    """
    manifest = await to_thread.run_sync(manifest_of, folder)
    partitions = target.partitions or manifest.partitions
    await _check_alone(bus, clock or SystemClock())
    await _check_empty(bus, replaces=target.replaces)
    changes = await _files(folder, target) if target.archive else []
    bus.keys = Keys(prefix=bus.keys.prefix, partitions=partitions)
    await bus.call("HSET", bus.keys.meta, "restoring", manifest.id)
    tell("removing the existing data")
    await _emptied(bus)
    tell("files")
    for taken in changes:
        await _put(folder, taken, target)
    tell("data in Redis")
    await _redis(bus, folder, manifest, partitions)
    return RestoreResult(manifest=manifest, partitions=partitions, files=len(changes))


async def _check_alone(bus: Bus, clock: Clock) -> None:
    found: list[str] = []
    for name, raw in pairs(await bus.call("HGETALL", bus.keys.workers)):
        with suppress(msgspec.DecodeError):
            if age_s(msgspec.json.decode(raw, type=_Beat).seen, clock) < ALIVE_S:
                found.append(name.decode())
    if found:
        raise ConfigError(
            f"processes that use this database are running ({', '.join(sorted(found))}). Stop the running processes "
            f"and restore again. A killed process remains listed for {ALIVE_S:.0f} s."
        )


async def _check_empty(bus: Bus, *, replaces: bool) -> None:
    meta = dict(pairs(await bus.call("HGETALL", bus.keys.meta)))
    if replaces or b"restoring" in meta:
        return
    others = meta.keys() - set(FIXED)
    async for keys in scan_keys(bus, f"{bus.keys.prefix}:*"):
        others |= {key for key in keys if key != bus.keys.meta.encode()}
        if others:
            break
    if others:
        raise DatabaseNotEmpty(
            f"this database is not empty: it has keys that start with `{bus.keys.prefix}:`. Restore "
            "into an empty database, or add --replace, which deletes the existing data first."
        )


async def _emptied(bus: Bus) -> None:
    """Remove every key except ``mp:meta``, which records the restore in progress."""
    meta = bus.keys.meta.encode()
    async for keys in scan_keys(bus, f"{bus.keys.prefix}:*"):
        for key in keys:
            if key != meta:
                await bus.call("UNLINK", key)


# Files


async def _files(folder: Path, target: RestoreTarget) -> list[FileTaken]:
    """The files of a backup that have to be written, because they do not exist yet.

    Raises:
        DataError: one is not what was backed up.
        DatabaseNotEmpty: others are in their place.
    """
    wanted, others = list[FileTaken](), list[str]()
    for taken in await to_thread.run_sync(lambda: list(files_of(folder))):
        if await to_thread.run_sync(sha256_of, folder / taken.path) != taken.sha256:
            raise DataError(
                f"The backup is damaged: {folder / taken.path} does not match the original file. Use another backup."
            )
        there = await _there(taken, target)
        if there is not None and there != taken.sha256:
            wanted.append(taken)
        if there:
            others += [taken.path] if there != taken.sha256 else []
    if others and not target.replaces:
        raise DatabaseNotEmpty(
            f"{len(others)} files already exist and differ from the backup's files, for example {others[0]}. Move "
            "these files away, or add --replace, which overwrites them."
        )
    return wanted


async def _there(taken: FileTaken, target: RestoreTarget) -> str | None:
    """The checksum of the existing file at a backup file's place; empty: none; None: no place."""
    kind, _, rest = taken.path.partition("/")
    if kind == ARCHIVE and target.archive is not None:
        return await _archived(target.archive, rest, taken)
    if kind == BOTS:
        bot, _, path = taken.restored_path.removeprefix(f"{BOTS}/").partition("/")
        return await to_thread.run_sync(sha256_of, target.workspace_of(bot) / path)
    return None  # the configuration is put back by hand


async def _archived(archive: Storage, name: str, taken: FileTaken) -> str:
    try:
        return hashlib.sha256(await archive.get(name)).hexdigest()
    except ArchiveMissing:
        return ""


async def _put(folder: Path, taken: FileTaken, target: RestoreTarget) -> None:
    kind, _, rest = taken.path.partition("/")
    if kind == ARCHIVE and target.archive is not None:
        await target.archive.put(rest, await to_thread.run_sync((folder / taken.path).read_bytes))
        return
    bot, _, path = taken.restored_path.removeprefix(f"{BOTS}/").partition("/")
    await to_thread.run_sync(put_file, folder / taken.path, target.workspace_of(bot) / path)


# Redis


async def _redis(bus: Bus, folder: Path, manifest: Manifest, partitions: int) -> None:
    bases = dict[str, int]()
    spread = Repartition(partition=bus.keys.partition, partitions=partitions, before=manifest.partitions)
    meta: Mapping[str, object] = {}
    # Twice over: where streams become one, sessions are written once it is known how their entries are called.
    async for records in _pieces(folder, manifest):
        for record in records:
            match record:
                case SessionTaken():
                    spread.add_session(record)
                    if record.log_first:
                        bases[record.name] = record.base
                case StreamTaken():
                    spread.add_stream(record)
                case KeyTaken(kind="meta"):
                    meta = record.value
                case _:
                    pass
    seconds, _ = await bus.call("TIME")
    placing = RecordWriter(bus, spread, bases, now_ms=int(seconds) * 1000)
    await placing.begin()
    async for records in _pieces(folder, manifest):
        await at_once(records, placing.put)
    await placing.end()
    words = [word for name, value in meta.items() if name != "restoring" for word in (name, bytes_of(value))]
    await bus.call("HSET", bus.keys.meta, *words, "partitions", partitions)
    await bus.call("HDEL", bus.keys.meta, "restoring")


async def _pieces(folder: Path, manifest: Manifest) -> AsyncGenerator[list[Taken]]:
    """The records of a backup, some at a time, read in a thread."""
    records: Iterator[Taken] = records_of(folder, manifest)
    while piece := await to_thread.run_sync(together, records):
        yield piece


# A backup on disk: its manifest, records and files, checked before they are used. All functions block.


def manifest_of(folder: Path) -> Manifest:
    """The manifest of a backup; its lists describe the written files.

    Raises:
        DataError: it is no backup, is not whole, or a newer Millpond wrote it.
    """
    try:
        manifest = decode_manifest((folder / MANIFEST).read_bytes())
        spoilt = [name for name, digest in manifest.sha256.items() if sha256_of(folder / name) != digest]
    except FileNotFoundError:
        raise DataError(
            f"{folder} is not a complete backup: {MANIFEST}, which is written last, was not found. Specify another "
            "folder, or create a new backup with `millpond data backup`."
        ) from None
    except (OSError, *UNREADABLE) as error:
        raise DataError(f"{folder / MANIFEST} cannot be read: {error}. Use another backup.") from error
    if manifest.format > FORMAT or manifest.schema > SCHEMA:
        raise DataError(
            f"{folder} was written by a newer version of Millpond ({manifest.millpond}: format "
            f"{manifest.format}, schema "
            f"{manifest.schema}; this version supports format {FORMAT} and schema {SCHEMA}). Restore the backup with "
            f"Millpond {manifest.millpond} or newer."
        )
    if spoilt:
        raise DataError(f"{folder}: the checksum of {', '.join(spoilt)} does not match. Use another backup.")
    return manifest


def records_of(folder: Path, manifest: Manifest) -> Iterator[Taken]:
    """All records that count: of a session that was read again the last one.

    Raises:
        DataError: they are not what was written.
    """
    try:
        with gzip.open(folder / REDIS) as lines:
            # No line outlives its record: that of a long log is large.
            for record in map(decode, lines):
                if isinstance(record, SessionTaken | LogTaken) and record.taken != manifest.retaken.get(record.name, 0):
                    continue
                yield record
    except (OSError, EOFError, zlib.error, *UNREADABLE) as error:
        raise DataError(f"{folder / REDIS} cannot be read: {error}. Use another backup.") from error


def together(records: Iterator[Taken]) -> list[Taken]:
    """The next records, which may be handled at the same time; none at the end. A part of a long log ends them.

    Errors as for ``records_of``.
    """
    found = list[Taken]()
    for record in islice(records, AT_ONCE):
        found.append(record)
        if isinstance(record, LogTaken):
            break
    return found


def files_of(folder: Path) -> Iterator[FileTaken]:
    """The files of a backup, by path. Errors as for ``records_of``."""
    try:
        with (folder / FILES).open("rb") as lines:
            for line in lines:
                taken = decode_file(line)
                parts = [*taken.path.split("/"), *taken.restored_path.split("/")]
                if any(part in ("", ".", "..") for part in parts) or "\0" in taken.restored_path:
                    raise DataError(
                        f"{folder / FILES} contains the file name {taken.path!r}, which is not valid in a backup"
                    )
                yield taken
    except (OSError, *UNREADABLE) as error:
        raise DataError(f"{folder / FILES} cannot be read: {error}. Use another backup.") from error
