"""Archived history entries of a session that lost its newest messages in a failover."""

from dataclasses import dataclass

import msgspec

from daemon.memory.memory_records import HistoryEntry
from daemon.memory.scope_lists import PIECE, ScopeLists

_decode = msgspec.json.Decoder(HistoryEntry).decode


@dataclass(frozen=True, kw_only=True)
class Cut:
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


async def cut_of(lists: ScopeLists, scope: str, session: str, *, head: int, base: int) -> Cut:
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
                return Cut(base=base, indexes=tuple(indexes), entries=tuple(entries))
            indexes.append(index)
            entries.append(msgspec.structs.replace(entry, lost=True))
        upto = first
    return Cut(base=base, indexes=tuple(indexes), entries=tuple(entries))
