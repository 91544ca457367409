"""The memories of one database: MEMORY.md with its versions, the history and the notes of each scope.

What is written for a session is written by whoever holds its consolidation lock, who opens the memory first. The lock
may lie on another server: what keeps an earlier holder out is the fence that opening records, and what keeps a command
out that comes twice or late is the position that it names. A person's edits need no lock: they name the version.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Any

import msgspec

from daemon.archive import Archive
from daemon.bus import Bus, Script, load_script
from daemon.errors import FenceBehind, LockLost, Misplaced, NoSuchVersion
from daemon.memory.current_memory import CurrentMemory, PinnedMemory
from daemon.memory.locked_memory import Applied, Opened, Recall, SetBack, appended_since, decode_version, opened_from
from daemon.memory.memory_import import ForeignMemory, ImportResult, MemoryImport
from daemon.memory.memory_merge import MemoryLocation, home_for_turn, home_of, moving
from daemon.memory.memory_records import HistoryEntry, Note, Version, version_parts
from daemon.memory.requested_edits import RequestedEdits
from daemon.memory.scope_lists import PIECE, FailoverCut, Kind, MemoryArchiving, ScopeLists, cut_of

_PART = ("memory.part.lua",)
OPEN = load_script(__file__, "open.lua", with_parts=_PART)
APPLY = load_script(__file__, "apply.lua", with_parts=_PART)
SET_BACK = load_script(__file__, "set_back.lua", with_parts=_PART)
APPEND = load_script(__file__, "append.lua", with_parts=_PART)
DIGEST = load_script(__file__, "digest.lua", with_parts=_PART)
FOLLOWED = load_script(__file__, "followed.lua", with_parts=_PART)

RECORDS = 100
"""Records that are handed out at once: versions hold the whole of MEMORY.md each."""

_encode = msgspec.json.Encoder().encode
_decode_entry = msgspec.json.Decoder(HistoryEntry).decode
_decode_note = msgspec.json.Decoder(Note).decode


class Memories:
    """Reads and writes the memories of all scopes. All methods raise BusUnavailable if Redis is unavailable."""

    def __init__(self, bus: Bus, archive: Archive | None = None) -> None:
        """Nothing is asked yet.

        Args:
            bus: of the memories.
            archive: of the same database; without one, whoever asks for what is in it gets ArchiveError.
        """
        self._bus = bus
        self._lists = ScopeLists(bus, archive)
        self._shelving = MemoryArchiving(bus, self._lists, archive) if archive else None
        self._current = CurrentMemory(bus)
        self._by_hand = RequestedEdits(bus, self._current)
        self._take_over = MemoryImport(bus, self._current, self._lists)

    async def home(self, scope: str) -> str:
        """The scope that holds the memory of ``scope``: itself, unless it was joined with another scope.

        What is asked by scope below is that very one's, but for ``current`` and ``open``, which go to its home.
        """
        return await home_of(self._bus, scope)

    # For a prompt

    async def home_for_turn(self, scope: str) -> MemoryLocation:
        """As ``home``, and whether the memory has any content."""
        return await home_for_turn(self._bus, scope)

    async def current(self, scope: str) -> Recall:
        """The current MEMORY.md; its text is fetched only if it changed since the last call."""
        return await self._current.recall(scope)

    async def pinned(self, scope: str, session: str) -> PinnedMemory:
        """As ``current``, with the version that the prompts of ``session`` show."""
        return await self._current.pinned(scope, session)

    async def pin(self, scope: str, session: str, version: int) -> None:
        """Have the prompts of ``session`` show this version from now on; ``scope`` is that of ``PinnedMemory``."""
        await self._current.pin(scope, session, version)

    async def read(self, scope: str) -> tuple[Recall, str]:
        """MEMORY.md of exactly this scope, and its checksum, which a change must name."""
        return await self._current.read(scope)

    # For the holder of a session's consolidation lock

    async def open(self, scope: str, session: str, *, fence: int, nonce: str) -> Opened:
        """The memory, for the holder of the session's lock. Earlier holders can no longer write.

        Of a scope that was joined with another it is that one's: ``Opened.scope`` tells.

        Raises:
            FenceBehind: it was opened under a later lock, or under another one that was given the same fence.
            MemoryMoving: it is being joined with another one just now.
        """
        asked = Opened(
            scope=scope,
            session=session,
            fence=fence,
            nonce=nonce,
            text="",
            version=0,
            checksum="",
            upto=0,
            mark="",
            flushed=-1,
            set_backs=0,
            rejected="",
            undigested=0,
        )
        keys = self._bus.keys
        status, found = await self._bus.run(
            OPEN, [keys.memory(scope), keys.versions(scope), keys.undigested(scope)], [session, fence, nonce]
        )
        if status == b"joined":
            return await self.open(found.decode(), session, fence=fence, nonce=nonce)
        if status == b"joining":
            raise moving(scope)
        if status == b"behind":
            raise FenceBehind(
                f"another worker has locked session {session} since this worker locked it (lock number {int(found)} "
                f"instead of {fence}), so this worker can no longer change the memory. Lock the session again.",
                highest=int(found),
            )
        return opened_from(found, asked)

    async def begin_at(self, scope: str, session: str, upto: int) -> None:
        """Record that a new session starts at index ``upto``, so that earlier messages are not added to the memory."""
        await self._bus.call("HSETNX", self._bus.keys.memory(await self.home(scope)), f"upto:{session}", upto)

    async def apply(
        self,
        opened: Opened,
        entry: HistoryEntry,
        *,
        mark: str,
        update: Version | None = None,
        rejected: Version | None = None,
        is_owed: bool = False,
    ) -> Applied:
        """Add a consolidated range: ``entry`` to the history, ``update`` as MEMORY.md, and the position.

        Args:
            opened: the memory as it was opened, or as the last write gave it.
            entry: begins where the memory ends.
            mark: identity of the range's last message.
            update: the new MEMORY.md, made from ``opened.text``; None leaves it as it is. Only a new MEMORY.md can end
                in the status ``version``.
            rejected: what is only kept, for the next request.
            is_owed: MEMORY.md is still to learn what the entry says (``digest``), as of every raw entry.

        Raises:
            LockLost: the session's lock is somebody else's now; nothing was written.
            Misplaced: the range does not begin where the memory ends; nothing was written.
            ValueError: the entry is of another session than was opened, or of no message at all.
        """
        if entry.session != opened.session or entry.upto <= entry.first:
            raise ValueError(
                f"messages {entry.first} to {entry.upto} of session {entry.session} cannot be added to the memory that "
                f"was opened for session {opened.session}"
            )
        scope, keys = opened.scope, self._bus.keys
        is_owed = is_owed or entry.kind == "raw"
        return await self._write_locked(
            opened,
            APPLY,
            [keys.memory(scope), keys.history(scope), keys.versions(scope), keys.undigested(scope)],
            [
                *(opened.set_backs, entry.first, entry.upto, mark, _encode(entry), entry.kind),
                *(
                    opened.version,
                    opened.checksum,
                    *version_parts(update),
                    *version_parts(rejected),
                    "1" if is_owed else "",
                ),
            ],
        )

    async def followed(self, opened: Opened, *, upto: int, mark: str) -> None:
        """Record that the session's cursor reached ``upto``, the end of its memory. ``mark`` replaces the longer mark.

        Nothing is done when the memory is elsewhere, or the lock somebody else's by now.
        """
        keys = self._bus.keys
        await self._bus.run(
            FOLLOWED,
            [keys.memory(opened.scope)],
            [opened.session, opened.fence, opened.nonce, opened.set_backs, upto, mark],
        )

    async def append(
        self, opened: Opened, update: Version | None, *, cycle: int, notes: Sequence[Note] = ()
    ) -> Applied:
        """Append the results of the flush of ``cycle``: ``update.added`` to MEMORY.md, and the notes. Once per cycle.

        The status is ``over`` when this cycle was flushed before. Errors as for ``apply``.
        """
        scope, keys = opened.scope, self._bus.keys
        record, _ = version_parts(update)
        return await self._write_locked(
            opened,
            APPEND,
            [keys.memory(scope), keys.versions(scope), keys.notes(scope), keys.undigested(scope)],
            [opened.set_backs, cycle, record, update.added if update else "", *(_encode(note) for note in notes)],
        )

    async def digest(self, opened: Opened, *, index: int, update: Version | None) -> Applied:
        """Merge the history entry with this index into MEMORY.md; None: it contained no new facts.

        Raises:
            LockLost: as for ``apply``.
        """
        scope, keys = opened.scope, self._bus.keys
        return await self._write_locked(
            opened,
            DIGEST,
            [keys.memory(scope), keys.versions(scope), keys.undigested(scope)],
            [index, opened.version, opened.checksum, *version_parts(update)],
        )

    async def set_back(self, opened: Opened, *, head: int) -> SetBack:
        """Mark entries as lost if the session no longer has their messages, from ``head`` on.

        Every entry that holds any of them is marked, and ``upto`` goes back to where the first of these began.
        Errors as for ``apply``.

        Raises:
            ArchiveError: how far back to go only archived entries tell, and they cannot be read.
        """
        scope, keys, archived = opened.scope, self._bus.keys, FailoverCut()
        while True:
            status, *rest = await self._bus.run(
                SET_BACK,
                [keys.memory(scope), keys.history(scope), keys.versions(scope), keys.undigested(scope)],
                [*(opened.session, opened.fence, opened.nonce, opened.set_backs, opened.upto, head), *archived.told()],
            )
            if status != b"shelved":
                break
            archived = await cut_of(self._lists, scope, opened.session, head=head, base=int(rest[0]))
        now = _checked(opened, status, rest)
        return SetBack(opened=now, lost=(*(_decode_entry(entry) for entry in rest[1]), *archived.entries))

    async def _write_locked(
        self, opened: Opened, script: Script, keys: Sequence[str], args: Sequence[str | int | bytes]
    ) -> Applied:
        status, *rest = await self._bus.run(script, keys, [opened.session, opened.fence, opened.nonce, *args])
        now = _checked(opened, status, rest)
        if status == b"version":
            since = [decode_version(version) for version in rest[1]]
            return Applied(status="version", opened=now, appended=appended_since(opened, since))
        return Applied(status="over" if status == b"over" else "done", opened=now)

    async def last_entry(self, opened: Opened) -> HistoryEntry | None:
        """The history entry at the end of the memory's part of the session; None if unknown."""
        newest = map(_decode_entry, reversed((await self._lists.piece("history", opened.scope, None, PIECE)).records))
        of_session = (entry for entry in newest if entry.session == opened.session and not entry.lost)
        return next((entry for entry in of_session if entry.upto == opened.upto), None)

    async def undigested(self, scope: str, *, limit: int = 1) -> list[tuple[int, HistoryEntry]]:
        """The oldest entries that are missing from MEMORY.md, mostly raw ones, each with its index in the history."""
        keys = self._bus.keys
        indexes = [int(index) for index in await self._bus.call("LRANGE", keys.undigested(scope), 0, limit - 1)]
        found = [await self._lists.one("history", scope, index) for index in indexes]
        return [(index, _decode_entry(entry)) for index, entry in zip(indexes, found, strict=True) if entry]

    async def shelve(self, scope: str) -> None:
        """Move old records of the scope's lists to the archive, if there is an archive.

        Raises:
            ArchiveError: it cannot be used; nothing is lost.
        """
        if self._shelving:
            await self._shelving.shelve(scope)

    # For people

    async def edit(self, scope: str, *, of: int, text: str, by: str, time: str) -> int:
        """Make ``text``, a user's edit of version ``of``, the newest version. Returns the new current number.

        When there are newer versions than ``of``, the lines that came since are appended below ``text``.

        Raises:
            VersionMoved: others changed the memory all the time.
        """
        now = await self.current(scope)
        if of == now.version:
            seen = now.text
        else:
            found = await self._find(scope, of)
            seen = found.text if found else ""
        return await self._by_hand.edit(scope, seen=seen, of=of, text=text, by=by, time=time)

    async def restore(self, scope: str, *, version: int, by: str, time: str) -> int:
        """Make an older or rejected version the newest version. Returns the new current number.

        Raises:
            NoSuchVersion: there is none of that number.
            VersionMoved: others changed the memory all the time.
        """
        return await self._by_hand.restore(scope, await self.version(scope, version), by=by, time=time)

    async def take_over(self, scope: str, found: ForeignMemory, *, by: str, time: str, reason: str) -> ImportResult:
        """Add another program's memory: below MEMORY.md, as a version, and to history and notes.

        What was taken over before is not taken over again. ``reason`` says where it is from.

        Raises:
            VersionMoved: others changed the memory all the time.
            MemoryMoving: it is being joined with another one just now.
            ArchiveError: what there is already cannot be read.
        """
        return await self._take_over.take(await self.home(scope), found, by=by, time=time, reason=reason)

    # Reading

    async def forgets(self, scope: str) -> int:
        """Number of deletions in history or notes. After each deletion, the files that show them must be rewritten."""
        return int(await self._bus.call("HGET", self._bus.keys.memory(scope), "forgets") or 0)

    async def version(self, scope: str, number: int) -> Version:
        """One version with its text.

        Raises:
            NoSuchVersion: there is none of that number.
        """
        found = await self._find(scope, number)
        if found is None:
            there = (await self._lists.piece("versions", scope, None, 0)).upto
            known = f"Choose from 1 to {there}." if there else "This memory has no versions yet."
            raise NoSuchVersion(f"MEMORY.md of {scope} has no version {number}. {known}")
        return found

    async def _find(self, scope: str, number: int) -> Version | None:
        found = await self._lists.one("versions", scope, number - 1) if number > 0 else None
        return decode_version(found) if found else None

    async def versions(self, scope: str, *, limit: int = 100, after: int = 0) -> list[Version]:
        """The newest versions with their texts, newest first, rejected ones among them.

        Args:
            scope: whose.
            limit: at most so many.
            after: only those with a higher number than this.
        """
        found = await self._lists.newest("versions", scope, limit, after=after)
        return [decode_version(version) for version in reversed(found)]

    async def history(self, scope: str, *, first: int = 0) -> list[HistoryEntry]:
        """The entries of HISTORY.md from the ``first`` one on, in the order in which they were written."""
        return [_decode_entry(record) for record in await self._lists.all("history", scope, first)]

    async def history_before(self, scope: str, before: int | None, *, limit: int) -> list[tuple[int, HistoryEntry]]:
        """The last ``limit`` entries of the history before an index, or of all, oldest first, each with its index."""
        there = (await self._lists.piece("history", scope, None, 0)).upto
        upto = there if before is None else min(before, there)
        first = max(0, upto - limit)
        records = await self._lists.stretch("history", scope, first, upto)
        return list(enumerate(map(_decode_entry, records), first))

    async def notes(self, scope: str, *, first: int = 0) -> list[Note]:
        """The daily notes from the ``first`` one on, in the order in which they were written."""
        return [_decode_note(record) for record in await self._lists.all("notes", scope, first)]

    async def some(self, kind: Kind, scope: str, *, first: int, most: int) -> list[bytes]:
        """A part of a list as stored JSON; see ``ScopeLists.some``."""
        return await self._lists.some(kind, scope, first, most)

    def records(self, kind: Kind, scope: str, *, missing: list[str] | None = None) -> AsyncGenerator[list[bytes]]:
        """A whole list as stored JSON, some records at a time; see ``ScopeLists.pieces``."""
        return self._lists.pieces(kind, scope, each=RECORDS, missing=missing)


def _checked(opened: Opened, status: bytes, rest: Sequence[Any]) -> Opened:
    """The memory after a script of the lock's holder; raises the script's refusal."""
    if status in (b"joined", b"joining"):
        # That is done under the locks of all its sessions.
        status = b"lost"
    if status == b"lost":
        raise LockLost(
            f"session {opened.session} is now being consolidated by another worker, so this worker did not "
            "write its memory."
        )
    now = opened_from(rest[0], opened)
    if status == b"misplaced":
        raise Misplaced(
            f"the memory of session {opened.session} was expected to contain all messages before message "
            f"{opened.upto}, but it contains all messages before message {now.upto}. Open the memory again and start "
            f"with message {now.upto}.",
            upto=now.upto,
        )
    return now
