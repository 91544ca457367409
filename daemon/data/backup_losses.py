"""Records that a backup should contain, but does not, because neither Redis nor the copied archive has them."""

from collections.abc import Iterator
from pathlib import Path

from daemon.archive import Archive, Shelf
from daemon.archive.local_storage import LocalStorage
from daemon.archive.shelf import ScopeKind
from daemon.bus import Bus
from daemon.config import ArchiveConfig
from daemon.data.backup_records import Loss, ScopeTaken, SessionTaken, number
from daemon.data.scope_rules import covered
from daemon.errors import ArchiveError

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
