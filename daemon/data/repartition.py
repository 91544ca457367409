"""Where what was taken belongs in a database of any number of partitions. Pure.

A session's keys go where its name says. Streams of several partitions may become one, in which two entries could have
the same id: later ones get the next free number, in the order of their ids, and what names them is told.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from daemon.data.backup_records import Entries, KeyTaken, SessionTaken, StreamTaken
from daemon.data.key_names import Name
from daemon.data.snapshot_filter import Position, position, session_of


@dataclass
class Spread:
    """The streams of a database that is being restored, and new ids where old ones would meet."""

    partition: Callable[[str], int]
    """Of a session or scope, in the database that is made."""
    partitions: int
    before: int
    """How many partitions the database had that was backed up."""
    _entries: dict[tuple[str, str, int], list[tuple[Position, str, str, list[Any]]]] = field(
        default_factory=dict[tuple[str, str, int], list[tuple[Position, str, str, list[Any]]]]
    )

    def add_session(self, taken: SessionTaken) -> None:
        """What waits in a session; once for each."""
        for stream_id, words in dict(taken.inbox).items():
            self._add("in", "", self.partition(taken.name), taken.name, stream_id, words)

    def add_stream(self, piece: StreamTaken) -> None:
        """A piece of a stream."""
        for stream_id, words in piece.entries:
            session = session_of(words)
            # What nobody can tell of whom it is stays where it was, as far as there is such a partition.
            partition = self.partition(session) if session else piece.partition % self.partitions
            self._add(piece.kind, piece.rest, partition, session, stream_id, words)

    def _add(self, kind: str, rest: str, partition: int, session: str, stream_id: str, words: list[Any]) -> None:
        self._entries.setdefault((kind, rest, partition), []).append((position(stream_id), session, stream_id, words))

    def streams(self) -> Iterator[tuple[Name, Entries]]:
        """Each stream with its entries, oldest first, no id twice."""
        for (kind, rest, partition), found in sorted(self._entries.items(), key=lambda each: each[0]):
            yield Name(kind=kind, partition=partition, rest=rest), [(new, words) for _, _, new, words in _apart(found)]

    def new_ids(self) -> dict[tuple[str, str], str]:
        """Which entries of ``in`` are called otherwise now, by session and old id."""
        changed: dict[tuple[str, str], str] = {}
        for (kind, _, _), found in self._entries.items():
            if kind == "in":
                changed |= {(session, old): new for session, old, new, _ in _apart(found) if old != new}
        return changed

    def names(self, key: KeyTaken) -> list[Name]:
        """Where any other key belongs: in one place, but for what is one a partition."""
        name = Name(kind=key.kind, partition=key.partition, rest=key.rest)
        if name.partition is None:
            return [name]
        if name.kind == "leader":
            if self.before == self.partitions:
                return [name]
            return [Name(kind=name.kind, partition=number, rest=name.rest) for number in range(self.partitions)]
        return [Name(kind=name.kind, partition=self.partition(name.owner), rest=name.rest)]


def _apart(found: list[tuple[Position, str, str, list[Any]]]) -> list[tuple[str, str, str, list[Any]]]:
    """Entries with no id twice: session, old id, new id, words. Those of one session keep their order."""
    last: Position = (0, 0)
    apart: list[tuple[str, str, str, list[Any]]] = []
    for at, session, old, words in sorted(found, key=lambda each: (each[0], each[1])):
        last = at if at > last else (last[0], last[1] + 1)
        apart.append((session, old, f"{last[0]}-{last[1]}", words))
    return apart


def renamed(taken: SessionTaken, changed: dict[tuple[str, str], str]) -> SessionTaken:
    """A session that names its entries as they are called now."""
    if not changed:
        return taken

    def new(stream_id: str) -> str:
        return changed.get((taken.name, stream_id), stream_id)

    fields = dict(taken.fields)
    if isinstance(stop := fields.get("stop_upto"), str):
        fields["stop_upto"] = new(stop)
    return msgspec.structs.replace(
        taken, fields=fields, waiting=[new(each) for each in taken.waiting], asides=[new(each) for each in taken.asides]
    )
