"""The identity of a storage's archive, and the other processes that write to one: the rule for trimming.

A storage has a file ``millpond.json`` at its root: an id of its own, and the id of the database whose files it holds.
Every process notes the archive that it uses in Redis. Messages may leave Redis only when all processes use the same
one: another could not read them back.
"""

import secrets
import socket

import msgspec

from daemon.archive.storage import Storage
from daemon.bus import Bus, pairs
from daemon.clock import Clock, stamp
from daemon.errors import UNREADABLE, ArchiveError, ArchiveMissing, ArchiveUnavailable

MARKER = "millpond.json"

MARKER_MAX_BYTES = 4_096

ID_BYTES = 6
"""Random bytes of an ID; one database never has many archives."""


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """Contents of ``millpond.json``."""

    archive: str
    """Id of the archive; it goes with its files to another place."""
    database: str = ""
    """ID of the database that writes here; empty: several do, so the owner of a file is unknown."""


class KnownArchive(msgspec.Struct, frozen=True, kw_only=True):
    """An archive that some process writes to, as ``mp:archives`` holds it."""

    kind: str
    """``local`` or ``object``."""
    where: str
    host: str
    """On which machine it was used last."""
    time: str
    """When it was noted there: ISO 8601, UTC."""

    @property
    def told(self) -> str:
        """It for people."""
        return f"{self.where} on {self.host}" if self.kind == "local" else self.where

    def is_at(self, storage: Storage) -> bool:
        """Whether this process would use it there."""
        is_reachable = self.kind != "local" or self.host == socket.gethostname()
        return (self.kind, self.where) == (storage.kind, storage.where) and is_reachable


class Permission(msgspec.Struct, frozen=True, kw_only=True):
    """Whether messages may leave Redis once they are archived."""

    is_granted: bool
    why: str
    """The reason for people, with the remedy if trimming is not allowed."""


_decode = msgspec.json.Decoder(Marker).decode
_decode_noted = msgspec.json.Decoder(KnownArchive).decode
_encode = msgspec.json.Encoder().encode


async def database_id(bus: Bus) -> str:
    """The id of the database, made at first use, and once more when a failover has lost it."""
    while (found := await bus.call("HGET", bus.keys.meta, "database")) is None:
        await bus.call("HSETNX", bus.keys.meta, "database", secrets.token_hex(ID_BYTES))
    return str(found, "utf-8")


async def marker_in(storage: Storage) -> Marker | None:
    """The marker of a storage; None for an unused one.

    Raises:
        ArchiveError: it cannot be read.
    """
    try:
        return _decode(await storage.get(MARKER, max_bytes=MARKER_MAX_BYTES))
    except ArchiveMissing:
        return None
    except UNREADABLE as error:
        raise ArchiveError(
            f"{storage.where}/{MARKER} does not contain the archive's ID: {error}. Restore the file from a backup."
        ) from error


def unmounted(storage: Storage) -> str:
    """A sentence about an archive whose marker has disappeared."""
    where = storage.where
    return (
        f"the archive in {where} was not found, although it existed before. Check whether the archive's storage is "
        "mounted."
    )


def lost(storage: Storage, known: dict[str, KnownArchive], *, key: str) -> str:
    """A sentence, with the remedy, if a storage without a marker had one before; else empty. Pure.

    ``known`` is in ``mp:archives`` (``key``).
    """
    before = sorted(name for name, each in known.items() if each.is_at(storage))
    command = f"millpond redis-cli HDEL {key} {' '.join(before)}"
    return f"{unmounted(storage)} If the archive was deleted on purpose, run `{command}`." if before else ""


async def marked(storage: Storage, bus: Bus) -> Marker:
    """The storage's marker, created if missing. A second database is recorded in it.

    Raises:
        ArchiveUnavailable: the storage had a marker when it was last used here.
        ArchiveError: the marker cannot be read or written.
    """
    database = await database_id(bus)
    found = await marker_in(storage)
    if found is None:
        why = lost(storage, await noted(bus), key=bus.keys.archives)
        if not why:
            await storage.create(MARKER, _encode(Marker(archive=secrets.token_hex(ID_BYTES), database=database)))
        found = await marker_in(storage)  # another process may have created it since the first look
        if found is None and why:
            raise ArchiveUnavailable(why)
    if found is None:
        raise ArchiveError(
            f"{storage.where}/{MARKER} was written, but disappeared afterwards. Find out which program deletes files "
            "in this folder."
        )
    if found.database and found.database != database:
        # Also one database that began anew: what lies here may be all that is left of the old one.
        found = Marker(archive=found.archive)
        await storage.put(MARKER, _encode(found))
    return found


async def note(storage: Storage, bus: Bus, clock: Clock, archive: str) -> None:
    """Put down in Redis that ``archive`` is used; doing so again changes nothing."""
    known = (await noted(bus)).get(archive)
    mine = KnownArchive(kind=storage.kind, where=storage.where, host=socket.gethostname(), time=stamp(clock.now()))
    if known is None or (known.kind, known.where, known.host) != (mine.kind, mine.where, mine.host):
        await bus.call("HSET", bus.keys.archives, archive, _encode(mine))


async def noted(bus: Bus) -> dict[str, KnownArchive]:
    """Every archive that a process of this database writes to, by its ID; damaged entries are left out."""
    found: dict[str, KnownArchive] = {}
    for archive, raw in pairs(await bus.call("HGETALL", bus.keys.archives)):
        try:
            found[archive.decode()] = _decode_noted(raw)
        except UNREADABLE:
            found[archive.decode()] = KnownArchive(
                kind="local", where="an unknown place", host="an unknown machine", time=""
            )
    return found


def permission(archive: str, known: dict[str, KnownArchive], *, key: str) -> Permission:
    """Whether a process that uses ``archive`` may trim, with ``known`` in ``mp:archives`` (``key``). Pure."""
    others = {name: each for name, each in known.items() if name != archive}
    if not others:
        return Permission(is_granted=True, why="archived messages are removed from Redis")
    places = "; ".join(f"{each.told} ({name})" for name, each in sorted(others.items()))
    return Permission(
        is_granted=False,
        why=(
            "messages stay in Redis and are not archived because other processes that use this database have a "
            f"different archive: {places}. Set the same archive.url in all processes. If an archive is no longer used "
            f"by any process, remove the archive's entry with `millpond redis-cli HDEL {key} ID`."
        ),
    )
