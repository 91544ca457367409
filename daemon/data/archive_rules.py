"""Rules for the archive, compared with Redis."""

from collections.abc import Sequence

from daemon.archive import Archive, Segment, Shelf, Storage
from daemon.archive.marker import MARKER, marker_in, noted
from daemon.archive.segment import lines_of, raws_of
from daemon.archive.shelf import ScopeKind
from daemon.bus import Bus
from daemon.data.backup_records import ScopeTaken, SessionTaken, bytes_of, number
from daemon.data.flaw import Flaw
from daemon.data.scope_rules import covered
from daemon.errors import ArchiveError, BusUnavailable

KINDS: tuple[ScopeKind, ...] = ("history", "versions", "notes")


async def flaws_of_archive(archive: Archive, taken: SessionTaken | ScopeTaken, *, deep: bool) -> list[Flaw]:
    """Records that are neither in Redis nor in a file, and missing files; with ``deep``, files with other contents.

    Raises:
        BusUnavailable: Redis is away.
    """
    if isinstance(taken, SessionTaken):
        if not taken.segments and not number(taken.fields.get("base")) > number(taken.fields.get("begins")):
            return []
        ranges = [(Shelf.log(taken.name), number(taken.fields.get("begins")), number(taken.fields.get("base")))]
    else:
        ranges = [(Shelf.of(kind, taken.name), 0, number(taken.fields.get(f"{kind}_base"))) for kind in KINDS]
        if not taken.shelved and not any(base for _, _, base in ranges):
            return []
    try:
        names = {stored.name for stored in await archive.storage.list(ranges[0][0].folder)}
        found = [await _of_shelf(archive, shelf, first, base, names) for shelf, first, base in ranges]
        if deep:
            found += [await _read_all(archive, shelf, taken) for shelf, _, _ in ranges]
    except BusUnavailable:
        raise
    except ArchiveError as error:
        return [Flaw(rule="archive.list", where=taken.name, text=str(error))]
    return [flaw for flaws in found for flaw in flaws]


async def flaws_of_marker(bus: Bus, storage: Storage) -> list[Flaw]:
    """The archive's ID is missing, cannot be read, or differs from the ID with which this place was used before.

    Raises:
        BusUnavailable: Redis is away.
    """
    where = f"{storage.where}/{MARKER}"
    try:
        marker = await marker_in(storage)
    except ArchiveError as error:
        return [Flaw(rule="archive.marker", where=where, text=str(error))]
    here = {name for name, each in (await noted(bus)).items() if each.is_at(storage)}
    if not here or here == {marker.archive if marker else ""}:
        return []
    contains = f"contains the archive's ID {marker.archive}" if marker else "was not found"
    others = ", ".join(sorted(here - {marker.archive if marker else ""}))
    text = (
        f"the file {contains}, but this archive was used with the ID {others}. If the storage is not mounted, mount "
        f"it. Otherwise restore the file from a backup, and remove any other ID of this archive with "
        f"`millpond redis-cli HDEL {bus.keys.archives} ID`."
    )
    return [Flaw(rule="archive.marker", where=where, text=text)]


async def _of_shelf(archive: Archive, shelf: Shelf, first: int, base: int, names: set[str]) -> list[Flaw]:
    segments = await archive.segments(shelf)
    there = [segment for segment in segments if segment.place in names or _rewritten(segment, names)]
    found = [
        Flaw(
            rule="archive.missing",
            where=segment.place,
            text=f"the file is in the list of archive files, but was not found in {archive.storage.where}. Restore the "
            "file from a "
            "backup.",
        )
        for segment in segments
        if segment not in there
    ]
    for begin, end in covered([(segment.first, segment.upto) for segment in segments], first, base):
        text = f"entries {begin} to {end - 1} of the {shelf.kind} are neither in Redis nor in the archive"
        found.append(Flaw(rule="archive.gap", where=shelf.owner, text=f"{text}. Restore the entries from a backup."))
    return found


def _rewritten(segment: Segment, names: set[str]) -> bool:
    """Whether another file has taken its place, whose listing a failover has set back (see ``ArchiveFiles``)."""
    stem = segment.place.removesuffix(".jsonl.gz").rpartition("~")[0] or segment.place.removesuffix(".jsonl.gz")
    return any(name.startswith(f"{stem}~") for name in names)


async def _read_all(archive: Archive, shelf: Shelf, taken: SessionTaken | ScopeTaken) -> list[Flaw]:
    """Each file contains the archived records, and matches those that are still in Redis."""
    found: list[Flaw] = []
    base = number(taken.fields.get(shelf.base_field))
    held = taken.log if isinstance(taken, SessionTaken) else list(getattr(taken, shelf.kind))
    for segment in await archive.segments(shelf):
        try:
            raws: Sequence[bytes] = await archive.read(segment)
        except ArchiveError as error:
            found.append(Flaw(rule="archive.file", where=segment.place, text=str(error)))
            continue
        for index in range(max(segment.first, base), min(segment.upto, base + len(held))):
            # In a file a line feed is a space.
            if raws_of(lines_of([bytes_of(held[index - base])]))[0] != raws[index - segment.first]:
                text = (
                    f"message {index} in this file differs from the same message in Redis. Millpond uses the newest "
                    "archive file that contains the message."
                )
                found.append(Flaw(rule="archive.differs", where=segment.place, text=text))
                break
    return found


# Files of a memory
