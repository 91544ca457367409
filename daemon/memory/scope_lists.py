"""The lists of a scope (history, versions, notes): the parts in Redis and in the archive as one list.

Whoever reads sees one list whose indexes never change, whatever moves to the archive meanwhile.

Any process may do it at any time: what is archived is compared with what Redis holds before anything leaves, and an
index stays what it was. Readers (``daemon.memory.scope_lists``) see no difference.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Literal, NamedTuple

import msgspec

from daemon.archive import Archive, Shelf
from daemon.bus import Bus, load_script
from daemon.errors import ArchiveError
from daemon.memory.memory_records import HistoryEntry

READ = load_script(__file__, "read.lua")

PIECE = 1_000
"""Records of a list that are read at once."""

Kind = Literal["history", "versions", "notes"]


class Piece(NamedTuple):
    """The part of a list in Redis, at one moment."""

    base: int
    """How many records are in the archive."""
    upto: int
    """One past the last index of the whole list."""
    lost: frozenset[int]
    """Indexes of history entries whose messages were lost, maybe after they had been archived."""
    records: list[bytes]


class ScopeLists:
    """Reads the lists of all scopes of a database."""

    def __init__(self, bus: Bus, archive: Archive | None) -> None:
        """``archive`` holds the older records; without it they cannot be read."""
        self._bus = bus
        self._archive = archive

    async def all(self, kind: Kind, scope: str, first: int) -> list[bytes]:
        """The records from index ``first`` on, piece by piece: other tasks go on between.

        Raises:
            ArchiveError: some of them are in the archive, and that cannot be read.
            BusUnavailable: Redis is away.
        """
        found: list[bytes] = []
        while True:
            at = first + len(found)
            piece = await self.piece(kind, scope, at, PIECE)
            if at < piece.base:
                # What is here is asked for again behind it: more of it may be in the archive by then.
                found += await self._archived(kind, scope, at, min(at + PIECE, piece.base), piece.lost)
                continue
            found += piece.records
            if len(piece.records) < PIECE:
                return found

    async def pieces(
        self, kind: Kind, scope: str, *, each: int = PIECE, missing: list[str] | None = None
    ) -> AsyncGenerator[list[bytes]]:
        """All records, at most ``each`` in memory at a time. Errors as for ``all``.

        With ``missing`` what cannot be read is left out instead, and noted there in a sentence each.
        """
        at = 0
        while True:
            piece = await self.piece(kind, scope, at, each)
            upto = min(at + each, piece.base) if at < piece.base else at + len(piece.records)
            if upto == at:
                return
            try:
                yield await self._archived(kind, scope, at, upto, piece.lost) if at < piece.base else piece.records
            except ArchiveError as error:
                if missing is None:
                    raise
                missing.append(str(error))
            at = upto

    async def some(self, kind: Kind, scope: str, first: int, most: int) -> list[bytes]:
        """Up to ``most`` records from index ``first`` on, possibly fewer; empty if the index does not exist.

        Errors as for ``all``.
        """
        piece = await self.piece(kind, scope, first, most)
        if first < piece.base:
            return await self._archived(kind, scope, first, min(first + most, piece.base), piece.lost)
        return piece.records

    async def newest(self, kind: Kind, scope: str, limit: int, *, after: int = 0) -> list[bytes]:
        """The last ``limit`` records with indexes from ``after`` on, in the list's order. Errors as for ``all``."""
        piece = await self.piece(kind, scope, None, limit)
        first = max(0, after, piece.upto - limit)
        if first >= piece.base:
            return piece.records[max(0, first - (piece.upto - len(piece.records))) :]
        return [*await self._archived(kind, scope, first, piece.base, piece.lost), *piece.records]

    async def stretch(self, kind: Kind, scope: str, first: int, upto: int) -> list[bytes]:
        """The existing records from ``first`` to ``upto`` (exclusive). Errors as for ``all``."""
        piece = await self.piece(kind, scope, first, max(0, upto - first))
        begin = max(first, piece.base)
        here = piece.records[: max(0, upto - begin)]
        if first >= piece.base:
            return here
        return [*await self._archived(kind, scope, first, min(upto, piece.base), piece.lost), *here]

    async def one(self, kind: Kind, scope: str, index: int) -> bytes | None:
        """One record; None if the index does not exist. Errors as for ``all``."""
        piece = await self.piece(kind, scope, index, 1)
        if index >= piece.base:
            return piece.records[0] if piece.records else None
        (record,) = await self._archived(kind, scope, index, index + 1, piece.lost)
        return record

    async def piece(self, kind: Kind, scope: str, first: int | None, most: int) -> Piece:
        """Up to ``most`` records that Redis holds, from index ``first`` on; None: the newest."""
        keys = self._bus.keys
        key = {"history": keys.history, "versions": keys.versions, "notes": keys.notes}[kind](scope)
        base, upto, lost, records = await self._bus.run(
            READ, [keys.memory(scope), key], [f"{kind}_base", "" if first is None else first, most]
        )
        return Piece(int(base), int(upto), frozenset(map(int, lost.split())), records)

    async def archived(self, kind: Kind, scope: str, first: int, upto: int) -> list[bytes]:
        """The records ``first`` to ``upto`` (exclusive), all of which are in the archive. Errors as for ``all``."""
        return await self._archived(kind, scope, first, upto, (await self.piece(kind, scope, None, 0)).lost)

    async def _archived(self, kind: Kind, scope: str, first: int, upto: int, lost: frozenset[int]) -> list[bytes]:
        if self._archive is None:
            raise ArchiveError(
                f"{kind} of {scope}: entries {first} to {upto - 1} are in the archive, which this process cannot read"
            )
        records = await self._archive.read_range(Shelf.of(kind, scope), first, upto)
        return marked(records, first, lost) if kind == "history" else records


def marked(records: Sequence[bytes], first: int, lost: frozenset[int]) -> list[bytes]:
    """Archived history entries, of which ``first`` is the first one's index, as ``set_back.lua`` would mark them."""
    return [
        record[:-1] + _LOST if index in lost and not record.endswith(_LOST) else record
        for index, record in enumerate(records, first)
    ]


_LOST = b',"lost":true}'


# Moves the beginning of a scope's lists to the archive, so that Redis holds a bounded part of each memory.

KEPT: dict[Kind, int] = {"versions": 20, "history": 200, "notes": 200}
"""How many records of each list stay in Redis at least: what people look at, and what a file lags behind by."""

SHELVED: dict[Kind, int] = {"versions": 10, "history": 50, "notes": 50}
"""How many leave at once, when there are so many more: one file of the archive each."""

AT_ONCE = 20
"""Files that are written one after the other at most: a memory from before there was this goes bit by bit."""


class MemoryArchiving:
    """Moves old records of all scopes to the archive."""

    def __init__(self, bus: Bus, lists: ScopeLists, archive: Archive) -> None:
        self._bus = bus
        self._lists = lists
        self._archive = archive

    async def shelve(self, scope: str) -> None:
        """Archive the records beyond the number that is kept.

        Raises:
            ArchiveError: the archive cannot be used; what was not moved is still in Redis.
            BusUnavailable: Redis is away; what is left is moved the next time.
        """
        for kind in KEPT:
            for _ in range(AT_ONCE):
                if not await self._one(kind, scope):
                    break

    async def _one(self, kind: Kind, scope: str) -> bool:
        """Whether a file's worth of records left Redis."""
        there = await self._lists.piece(kind, scope, None, 0)
        upto = there.base + SHELVED[kind]
        if there.upto - there.base < KEPT[kind] + SHELVED[kind] or await self._needed(kind, scope) < upto:
            return False
        try:
            return await self._archive.trim(Shelf.of(kind, scope), upto) >= upto
        except ArchiveError:
            if (await self._lists.piece(kind, scope, None, 0)).base == there.base:
                raise
            return True  # somebody else did it at the same time

    async def _needed(self, kind: Kind, scope: str) -> float:
        """The first index that scripts still ask for in Redis; ``trim.lua`` keeps it anyway."""
        keys, found = self._bus.keys, list[bytes]()
        if kind == "history":
            found = await self._bus.call("LRANGE", keys.undigested(scope), 0, -1)
        elif kind == "versions":
            numbers = await self._bus.call("HMGET", keys.memory(scope), "version", "rejected")
            return min((int(number) - 1 for number in numbers if number), default=float("inf"))
        return min(map(int, found), default=float("inf"))


# Archived history entries of a session that lost its newest messages in a failover.

_decode = msgspec.json.Decoder(HistoryEntry).decode


class FailoverCut(msgspec.Struct, frozen=True, kw_only=True):
    """The entries found in the archive. By default, no search was made."""

    base: int | None = None
    """So many entries were in the archive then."""
    indexes: tuple[int, ...] = ()
    """Of those that hold lost messages, newest first."""
    entries: tuple[HistoryEntry, ...] = ()

    def told(self) -> tuple[str, str, str]:
        """The arguments for ``set_back.lua``."""
        first = min((entry.first for entry in self.entries), default="")
        return "" if self.base is None else str(self.base), str(first), " ".join(map(str, self.indexes))


async def cut_of(lists: ScopeLists, scope: str, session: str, *, head: int, base: int) -> FailoverCut:
    """The entries with messages from ``head`` on, down to the newest entry without such messages.

    Raises:
        ArchiveError: they cannot be read.
        BusUnavailable: Redis is away.
    """
    indexes, entries = list[int](), list[HistoryEntry]()
    upto = base
    while upto:
        first = max(0, upto - PIECE)
        records = await lists.archived("history", scope, first, upto)
        for index in reversed(range(first, upto)):
            entry = _decode(records[index - first])
            if entry.session != session or entry.lost:
                continue
            if entry.upto <= head:
                return FailoverCut(base=base, indexes=tuple(indexes), entries=tuple(entries))
            indexes.append(index)
            entries.append(msgspec.structs.replace(entry, lost=True))
        upto = first
    return FailoverCut(base=base, indexes=tuple(indexes), entries=tuple(entries))
