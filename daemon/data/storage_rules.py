"""Rules for the archive and the files of memories, compared with Redis."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from anyio import to_thread

from daemon.archive import Archive, Segment, Shelf, Storage
from daemon.archive.marker import MARKER, marker_in, noted
from daemon.archive.segment import lines_of, raws_of
from daemon.archive.shelf import ScopeKind
from daemon.bus import Bus
from daemon.data.backup_records import ScopeTaken, SessionTaken, bytes_of, number
from daemon.data.flaw import Flaw
from daemon.data.scope_rules import covered
from daemon.durable import folder_below, names_in, plain_file
from daemon.errors import UNREADABLE, ArchiveError, BusUnavailable, MillpondError
from daemon.memory.file_sync import HISTORY, is_shown
from daemon.memory.memory_file import MEMORY, SideCar, checksum, read_side_car, refusal
from daemon.memory.memory_files import bot_of, memory_folder
from daemon.memory.memory_records import HistoryEntry

# Rules for the archive, compared with Redis.

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
    problem = f"the file contains the archive ID {marker.archive}" if marker else "the file was not found"
    others = ", ".join(sorted(here - {marker.archive if marker else ""}))
    text = (
        f"this archive was used with the ID {others}, but {problem}. If the storage is not mounted, mount it. "
        "If the storage is mounted, restore the file from a backup, and remove any other ID of this "
        f"archive with `millpond redis-cli HDEL {bus.keys.archives} ID`."
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


# Rules for the files of a memory, compared with Redis.

ANEW = "Delete the file. Millpond will write the file again after the next message."

_decode_entry = msgspec.json.Decoder(HistoryEntry).decode


@dataclass
class _Folder:
    """The state of a memory's folder."""

    side: SideCar = field(default_factory=SideCar)
    history: bytes | None = None
    """The content of HISTORY.md; None if the file is missing or cannot be read."""
    problems: dict[str, str] = field(default_factory=dict[str, str])
    """By name of a file: why the file cannot be read, and the remedy."""


async def flaws_of_files(taken: ScopeTaken, workspace_of: Callable[[str], Path]) -> list[Flaw]:
    """Files that cannot be read, entries that HISTORY.md lacks, and versions that Redis has lost."""
    if taken.fields.get("joined"):
        return []
    try:
        workspace = workspace_of(bot_of(taken.name))
    except MillpondError:
        return []  # another process knows the bot
    where = workspace.joinpath(*memory_folder(taken.name))
    try:
        found = await to_thread.run_sync(_look, workspace, taken.name)
    except OSError as error:
        text = (
            f"the folder cannot be read: {error.strerror}. Until the problem is corrected, Millpond cannot write files."
        )
        return [Flaw(rule="files.readable", where=str(where), text=text)]
    flaws = [
        Flaw(
            rule="files.readable",
            where=str(where / name),
            text=f"{why}. Until the problem is corrected, Millpond does not use the file.",
        )
        for name, why in sorted(found.problems.items())
    ]
    return [*flaws, *_memory(taken, found.side, where), *_history(taken, found, where)]


def _look(workspace: Path, scope: str) -> _Folder:
    found = _Folder()
    try:
        with folder_below(workspace, *memory_folder(scope), make=False) as folder:
            for name in filter(is_shown, names_in(folder)):
                if why := refusal(folder) if name == MEMORY else _read(folder, name, found):
                    found.problems[name] = why
    except FileNotFoundError:
        return found
    return found


def _read(folder: int, name: str, found: _Folder) -> str:
    """The reason why a file cannot be read, with the remedy; empty if it can."""
    try:
        if name.startswith("."):
            found.side = read_side_car(folder)
            return ""
        with plain_file(folder, name) as descriptor, open(descriptor, "rb", closefd=False) as file:
            content = file.read()
        content.decode()
    except UnicodeDecodeError:
        return "the file is not UTF-8. Delete the file"
    except FileNotFoundError:
        return ""
    except PermissionError as error:
        return f"{error.strerror}. Correct the file's permissions"
    except OSError as error:
        return f"{error.strerror}. Remove this entry"
    if name == HISTORY:
        found.history = content
    return ""


def _memory(taken: ScopeTaken, side: SideCar, where: Path) -> Iterator[Flaw]:
    version = number(taken.fields.get("version"))
    text = bytes_of(taken.fields.get("text", "")).decode("utf-8", "replace")
    if side.version > version:
        why = (
            f"the MEMORY.md file has version {side.version}, but the newest version in Redis is {version}: Redis lost "
            "the newest versions"
        )
    elif side.version and side.version == version and side.text and side.text != checksum(text.encode()):
        why = f"the MEMORY.md file and Redis both have version {version}, but their contents differ"
    else:
        return
    hint = "Run `millpond memory edit` and save the file again."
    yield Flaw(rule="files.memory", where=str(where), text=f"{why}. {hint}")


def _history(taken: ScopeTaken, found: _Folder, where: Path) -> Iterator[Flaw]:
    """A file that is shorter than Millpond wrote it is completed after the next message, so it breaks no rule."""
    size = found.side.sizes.get(HISTORY, 0)
    if found.history is None or len(found.history) < size or number(taken.fields.get("forgets")) != found.side.forgets:
        return
    base, lines, missing = number(taken.fields.get("history_base")), b"\n" + found.history + b"\n", 0
    for raw in taken.history[: max(0, found.side.history.count - base)]:
        try:
            text = _decode_entry(bytes_of(raw)).text
        except UNREADABLE:
            continue  # `memory.history` reports the entry
        missing += b"\n" + text.strip("\n").encode() + b"\n" not in lines
    if missing:
        text = f"{missing} history entries are missing from the file because the file was changed. {ANEW}"
        yield Flaw(rule="files.history", where=str(where / HISTORY), text=text)
