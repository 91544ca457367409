"""Importing another program's memory of a person. A repeated import adds nothing."""

import hashlib
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from daemon.bus import Bus, load_script
from daemon.errors import VersionMoved
from daemon.memory.current_memory import CurrentMemory
from daemon.memory.locked_memory import decode_version, joined
from daemon.memory.memory_merge import moving
from daemon.memory.memory_records import HistoryEntry, Note, Version, version_parts
from daemon.memory.scope_lists import ScopeLists

TAKE_OVER = load_script(__file__, "take_over.lua", with_parts=("memory.part.lua",))

TRIES = 10
"""How often it is tried while others change the same memory."""
VERSIONS_MAX = 1_000
"""Newest versions among which an earlier take-over is looked for."""

_encode = msgspec.json.Encoder().encode
_decode_entry = msgspec.json.Decoder(HistoryEntry).decode
_decode_note = msgspec.json.Decoder(Note).decode


class ForeignMemory(msgspec.Struct, frozen=True, kw_only=True):
    """The memory found in another program."""

    memory: str = ""
    """The new MEMORY.md, or the text to append to an existing one."""
    history: tuple[str, ...] = ()
    """Entries, oldest first, as they stand in HISTORY.md."""
    notes: tuple[tuple[str, str], ...] = ()
    """Days (``YYYY-MM-DD``) and their notes, oldest first."""


class ImportResult(msgspec.Struct, frozen=True, kw_only=True):
    """The parts that were new."""

    version: int
    """Of MEMORY.md, now."""
    memory: bool
    """Whether MEMORY.md is another than before."""
    history: int
    """New entries."""
    notes: int
    """New notes."""


class MemoryImport:
    """Imports foreign memories into scopes."""

    def __init__(self, bus: Bus, current: CurrentMemory, lists: ScopeLists) -> None:
        self._bus = bus
        self._current = current
        self._lists = lists

    async def take(self, scope: str, found: ForeignMemory, *, by: str, time: str, reason: str) -> ImportResult:
        """Add the parts that ``scope``, a home, does not have yet. Errors as for ``Memories.take_over``."""
        keys = self._bus.keys
        tried: ImportResult | None = None
        for _ in range(TRIES):
            current, checksum = await self._current.read(scope)
            # The lengths first: what comes while the rest is read is noticed by them.
            lengths = [(await self._lists.piece(kind, scope, None, 0)).upto for kind in ("history", "notes")]
            version = await self._version(scope, found.memory, by=by, time=time, reason=reason)
            if version is not None:
                version = msgspec.structs.replace(version, text=joined(current.text, found.memory))
            entries = await self._entries(scope, found.history, time)
            notes = await self._notes(scope, found.notes, time)
            done = ImportResult(
                version=current.version, memory=version is not None, history=len(entries), notes=len(notes)
            )
            if version is None and not entries and not notes:
                # When the reply to the first of two copies was lost, the second one found it done.
                return replace(tried or done, version=current.version)
            place: list[str | int | bytes] = [current.version, checksum, *lengths]
            status, *rest = await self._bus.run(
                TAKE_OVER,
                [keys.memory(scope), keys.versions(scope), keys.history(scope), keys.notes(scope)],
                [*place, *version_parts(version), len(entries), *map(_encode, entries), *map(_encode, notes)],
            )
            if status == b"done":
                return replace(done, version=int(rest[0]))
            if status in (b"joined", b"joining"):
                raise moving(scope)
            tried = done
        raise VersionMoved(
            f"the memory of {scope} was changed {TRIES} times during the import, so nothing was imported. Try again."
        )

    async def _version(self, scope: str, text: str, *, by: str, time: str, reason: str) -> Version | None:
        """The version without its text; None if it was imported before or is empty."""
        if not text.strip():
            return None
        name = hashlib.sha256(text.encode()).hexdigest()[:16]
        before = map(decode_version, await self._lists.newest("versions", scope, VERSIONS_MAX))
        if any(version.id == name for version in before):
            return None
        return Version(kind="import", time=time, id=name, by=by, reason=reason)

    async def _entries(self, scope: str, texts: Sequence[str], time: str) -> list[HistoryEntry]:
        stored = map(_decode_entry, await self._lists.all("history", scope, 0)) if texts else ()
        before = {entry.text for entry in stored}
        return [
            HistoryEntry(time=time, session="", first=0, upto=0, kind="summary", text=text)
            for text in dict.fromkeys(texts)
            if text not in before
        ]

    async def _notes(self, scope: str, notes: Sequence[tuple[str, str]], time: str) -> list[Note]:
        stored = map(_decode_note, await self._lists.all("notes", scope, 0)) if notes else ()
        before = {(note.date, note.text) for note in stored}
        return [
            Note(time=time, date=date, session="", cycle=0, text=text)
            for date, text in dict.fromkeys(notes)
            if (date, text) not in before
        ]
