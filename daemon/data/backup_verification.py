"""Being sure of a backup: it is restored into a server of its own, read back, compared, and every rule is looked at."""

import os
import tempfile
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import msgspec
from anyio import to_thread

from daemon.archive import Archive
from daemon.archive.local_storage import LocalStorage
from daemon.bus import Bus, open_bus
from daemon.concurrency import at_once
from daemon.config import ArchiveConfig, RedisConfig
from daemon.data.backup import ARCHIVE, Archived
from daemon.data.backup_records import (
    KeyTaken,
    LogTaken,
    Loss,
    Manifest,
    ScopeTaken,
    SessionTaken,
    StreamTaken,
    Taken,
    encode,
    entries_of,
    number,
    texts_of,
)
from daemon.data.backup_restore import RestoreTarget, files_of, manifest_of, records_of, restore, together
from daemon.data.data_check import DataCheck
from daemon.data.file_copy import sha256_of
from daemon.data.flaw import Flaw
from daemon.data.key_names import KeyName, key_of
from daemon.data.redis_reader import read_key, read_scope, read_session
from daemon.errors import DataError
from daemon.server.blocking_client import BlockingClient
from daemon.server.server_files import ServerFiles, read_state, try_lock

STOP_S = 10.0
"""How long a server may take to stop."""

LOOK_S = 0.02

SOON_MS = 60_000
"""Keys that expire within this time may be missing."""


class VerificationResult(msgspec.Struct, frozen=True, kw_only=True):
    """Findings in a restored backup."""

    manifest: Manifest
    records: int
    """Number of records that were compared."""
    flaws: tuple[Flaw, ...]
    """Rules that the data broke before it was backed up."""
    losses: tuple[Loss, ...]
    """Records that neither Redis nor the archive contained when they were backed up."""


async def verify(
    folder: Path, *, server: str = "", tell: Callable[[str], None] = lambda _line: None
) -> VerificationResult:
    """Restore a backup into a temporary server.

    ``server`` is the program, if not the one that came with Millpond.

    Raises:
        DataError: what was restored is not what was backed up.
        BusError, ConfigError: no server can be started here.
    """
    manifest = await to_thread.run_sync(manifest_of, folder)
    for taken in await to_thread.run_sync(lambda: list(files_of(folder))):
        if await to_thread.run_sync(sha256_of, folder / taken.path) != taken.sha256:
            raise DataError(
                f"The backup is damaged: {folder / taken.path} does not match the original file. Back up again."
            )
    async with _thrown_away(manifest, server) as bus:
        await restore(bus, folder, RestoreTarget(workspace_of=Path, archive=None), tell=tell)
        tell("comparing")
        archived = Archived()
        compared = await _compared(bus, folder, manifest, archived)
        tell("reading the archive")
        losses = await archived.losses(bus, folder, ARCHIVE, deep=True)
        tell("checking every rule")
        storage = LocalStorage(folder, ARCHIVE)
        archive = Archive(bus, folder, config=ArchiveConfig(), storage=storage)
        checked = await DataCheck(bus, archive, waits_s=0.0).run()
    return VerificationResult(manifest=manifest, records=compared, flaws=checked.flaws, losses=tuple(losses))


@asynccontextmanager
async def _thrown_away(manifest: Manifest, server: str) -> AsyncGenerator[Bus]:
    # In no folder of a person's: what the server writes is as large as the database.
    with tempfile.TemporaryDirectory(prefix="millpond-verify-") as name:
        data = Path(name) / "data"
        config = RedisConfig(prefix=manifest.prefix, server=server, partitions=manifest.partitions)
        try:
            async with open_bus(config, data, restoring=True) as bus:
                # What dies with it need not survive anything.
                await bus.call("CONFIG", "SET", "appendonly", "no")
                yield bus
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(STOP_S):
                await to_thread.run_sync(_stop, ServerFiles(data.resolve()))


def _stop(layout: ServerFiles) -> None:
    """Stop the server of a folder that is about to be deleted, and wait for its end."""
    state = read_state(layout)
    if state is not None:
        with suppress(OSError), BlockingClient.unix(state.socket, timeout_s=STOP_S) as link:
            link.call("AUTH", state.password)
            link.call("SHUTDOWN", "NOSAVE")  # it hangs up: that is its answer
    while (descriptor := try_lock(layout.alive_lock)) is None:
        anyio.from_thread.check_cancelled()
        time.sleep(LOOK_S)
    os.close(descriptor)


async def _compared(bus: Bus, folder: Path, manifest: Manifest, archived: Archived) -> int:
    """How many records were read back as they were backed up; ``DataError`` when one was not."""
    records, count = records_of(folder, manifest), 0
    while piece := await to_thread.run_sync(together, records):
        await at_once(piece, lambda record: _compare(bus, record))
        for record in piece:
            archived.note(record)
        count += len(piece)
    return count


async def _compare(bus: Bus, record: Taken) -> None:
    found: Taken | None
    wanted: Taken | None
    match record:
        case SessionTaken():
            session = await read_session(bus, record.name, first=record.log_first)
            found, wanted = _alone(session), _alone(record)
        case LogTaken():
            if not await bus.call("EXISTS", bus.keys.session(record.name)):
                return  # it became unreadable while it was backed up, or its own record is missed
            base = number(await bus.call("HGET", bus.keys.session(record.name), "base"))
            key, log = bus.keys.log(record.name), record.since(base)
            at = max(record.first, base) - base
            held = texts_of(await bus.call("LRANGE", key, at, at + len(log) - 1)) if log else []
            found, wanted = msgspec.structs.replace(record, log=held), msgspec.structs.replace(record, log=log)
        case ScopeTaken():
            found, wanted = await read_scope(bus, record.name), record
        case KeyTaken() if record.kind != "meta":
            name = KeyName(kind=record.kind, partition=record.partition, rest=record.rest)
            found, wanted = _lasting(await read_key(bus, key_of(bus.keys.prefix, name), name)), _lasting(record)
            if found is None and 0 < record.expires_ms < await _server_ms(bus) + SOON_MS:
                return
        case StreamTaken():
            key = key_of(bus.keys.prefix, KeyName(kind=record.kind, partition=record.partition, rest=record.rest))
            there = entries_of(await bus.call("XRANGE", key, record.entries[0][0], record.entries[-1][0]))
            wanted_ids = {stream_id for stream_id, _ in record.entries}
            # Dead letters that were removed meanwhile are a piece of their own.
            entries = [entry for entry in there if entry[0] in wanted_ids]
            found, wanted = msgspec.structs.replace(record, entries=entries), record
        case _:
            return
    # A value that is no text may be decoded in two ways. As JSON a long log would stand in memory twice more.
    if found != wanted and encode(found) != encode(wanted):
        what = getattr(record, "name", "") or f"{getattr(record, 'kind', '')} {getattr(record, 'rest', '')}"
        raise DataError(
            f"the backup was restored for verification, but {what} differs from the original. Back up again."
        )


def _alone(session: SessionTaken) -> SessionTaken:
    """A session without the fields of the backup itself: newest entries of other streams, and the number of reads."""
    return msgspec.structs.replace(session, out_upto="", dead_upto="", taken=0)


def _lasting(key: KeyTaken | None) -> KeyTaken | None:
    """A key without its end, which is told in milliseconds of a moment that passes."""
    return None if key is None else msgspec.structs.replace(key, expires_ms=0)


async def _server_ms(bus: Bus) -> int:
    seconds, _ = await bus.call("TIME")
    return int(seconds) * 1000
