"""Writing records into an empty database. Writing a record twice changes nothing.

A session's keys go where its name says. Streams of several partitions may become one, in which two entries could have
the same id: later ones get the next free number, in the order of their ids, and what names them is told.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from daemon.bus import Bus, Part, load_script
from daemon.data.backup_records import (
    Entries,
    Fields,
    KeyTaken,
    LogTaken,
    ScopeTaken,
    SessionTaken,
    StreamTaken,
    Taken,
    bytes_of,
    name_bytes,
    number,
)
from daemon.data.key_names import KeyName, key_of
from daemon.data.snapshot import Position, position, session_of
from daemon.errors import DataError

# Where what was taken belongs in a database of any number of partitions. Pure.


@dataclass
class Repartition:
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

    def streams(self) -> Iterator[tuple[KeyName, Entries]]:
        """Each stream with its entries, oldest first, no id twice."""
        for (kind, rest, partition), found in sorted(self._entries.items(), key=lambda each: each[0]):
            yield (
                KeyName(kind=kind, partition=partition, rest=rest),
                [(new, words) for _, _, new, words in _apart(found)],
            )

    def new_ids(self) -> dict[tuple[str, str], str]:
        """Which entries of ``in`` are called otherwise now, by session and old id."""
        changed: dict[tuple[str, str], str] = {}
        for (kind, _, _), found in self._entries.items():
            if kind == "in":
                changed |= {(session, old): new for session, old, new, _ in _apart(found) if old != new}
        return changed

    def names(self, key: KeyTaken) -> list[KeyName]:
        """Where any other key belongs: in one place, but for what is one a partition."""
        name = KeyName(kind=key.kind, partition=key.partition, rest=key.rest)
        if name.partition is None:
            return [name]
        if name.kind == "leader":
            if self.before == self.partitions:
                return [name]
            return [KeyName(kind=name.kind, partition=number, rest=name.rest) for number in range(self.partitions)]
        return [KeyName(kind=name.kind, partition=self.partition(name.owner), rest=name.rest)]


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


PUT = load_script(__file__, "put.lua")

WORDS = 1_000
"""Of a key, written by one script."""

PIECE_BYTES = 1024 * 1024
"""The same, unless one alone is longer."""


class RecordWriter:
    """Writes the keys of a backup."""

    def __init__(self, bus: Bus, spread: Repartition, bases: Mapping[str, int], *, now_ms: int) -> None:
        """Nothing is written yet.

        Args:
            bus: of the database.
            spread: the streams of the backup.
            bases: by session with a long log, the index of its first message.
            now_ms: the server's clock; expired data is left out.
        """
        self._bases = bases
        self._bus = bus
        self._spread = spread
        self._now_ms = now_ms
        self._changed: dict[tuple[str, str], str] = {}
        self._leaders: dict[KeyName, KeyTaken] = {}

    async def begin(self) -> None:
        """Write the streams; sessions can follow once it is known how their entries are called."""
        self._changed = self._spread.new_ids()
        for name, entries in self._spread.streams():
            await self._put("stream", name, entry_words(entries))
            if name.kind == "unknown":
                await self._bus.call("PEXPIRE", self._key(name), 7 * 86_400_000)

    async def put(self, record: Taken) -> None:
        """Write the data of a record; streams, and the older messages of a long log, were written before.

        Raises:
            DataError: somebody else writes the same keys.
            BusUnavailable: Redis is away.
        """
        match record:
            case SessionTaken():
                await self._session(renamed(record, self._changed))
            case LogTaken() if record.name in self._bases:
                base, name = self._bases[record.name], self._log_of(record.name)
                words = ([bytes_of(raw)] for raw in record.since(base))
                await self._put("list", name, words, at=max(0, record.first - base))
            case ScopeTaken():
                await self._scope(record)
            case KeyTaken():
                await self._any(record)
            case _:
                return

    async def end(self) -> None:
        """Write the keys of a partition, once all records were seen."""
        for name, key in self._leaders.items():
            await self._put("hash", name, hash_words(key.value))

    async def _session(self, taken: SessionTaken) -> None:
        partition = self._spread.partition(taken.name)

        def named(kind: str) -> KeyName:
            return KeyName(kind=kind, partition=partition, rest=taken.name)

        await self._put("hash", named("session"), hash_words(taken.fields))
        words = ([bytes_of(raw)] for raw in taken.log)
        await self._put("list", self._log_of(taken.name), words, at=taken.count - len(taken.log))
        await self._put("list", named("waiting"), [[each] for each in taken.waiting])
        await self._put("hash", named("lock"), hash_words(taken.lock))
        await self._put("list", named("segments"), [[bytes_of(raw)] for raw in taken.segments])
        for kind, score in taken.scores.items():
            await self._put("zset", KeyName(kind=kind, partition=partition, rest=""), [[repr(score), taken.name]])
        asides: list[Sequence[Part]] = [["0", f"{taken.name} {each}"] for each in taken.asides]
        await self._put("zset", KeyName(kind="asides", partition=partition, rest=""), asides)

        await self._put("hash", named("reminders"), hash_words(taken.reminders))
        fires: list[Sequence[Part]] = [[repr(score), f"{taken.name} {each}"] for each, score in taken.upcoming.items()]
        await self._put("zset", KeyName(kind="upcoming", partition=partition, rest=""), fires)

    async def _scope(self, taken: ScopeTaken) -> None:
        partition = self._spread.partition(taken.name)
        await self._put("hash", KeyName(kind="memory", partition=partition, rest=taken.name), hash_words(taken.fields))
        for kind in ("history", "versions", "notes", "undigested", "shelved"):
            raws: list[Any] = getattr(taken, kind)
            name = KeyName(kind=kind, partition=partition, rest=taken.name)
            await self._put("list", name, [[bytes_of(raw)] for raw in raws])

    async def _any(self, key: KeyTaken) -> None:
        if key.kind == "meta" or (key.expires_ms and key.expires_ms <= self._now_ms):
            return
        for name in self._spread.names(key):
            if key.kind == "leader":
                # Of several that become one the highest fence counts: it only rises.
                if number(key.value.get("fence")) >= number(_fence(self._leaders.get(name))):
                    self._leaders[name] = key
                continue
            await self._put(key.form, name, words_of(key), ends_ms=key.expires_ms)

    def _log_of(self, session: str) -> KeyName:
        return KeyName(kind="log", partition=self._spread.partition(session), rest=session)

    async def _put(
        self, kind: str, name: KeyName, words: Iterable[Sequence[Part]], *, ends_ms: int = 0, at: int = 0
    ) -> None:
        for piece in pieces(words):
            flat = [word for each in piece for word in each]
            status = await self._bus.run(PUT, [self._key(name)], [kind, at, ends_ms or "", *flat])
            if status != b"done":
                raise DataError(
                    f"{self._key(name)} is being written by another process. Stop all processes and restore again."
                )
            at += len(piece)

    def _key(self, name: KeyName) -> str:
        return key_of(self._bus.keys.prefix, name)


def _fence(key: KeyTaken | None) -> Any:
    return key.value.get("fence") if key else None


def pieces(words: Iterable[Sequence[Part]]) -> Iterator[Sequence[Sequence[Part]]]:
    """``words`` in pieces that one script takes."""
    piece, count, size = list[Sequence[Part]](), 0, 0
    for each in words:
        length = sum(len(word) if isinstance(word, str | bytes) else 8 for word in each)
        if piece and (count + len(each) > WORDS or size + length > PIECE_BYTES):
            yield piece
            piece, count, size = [], 0, 0
        piece.append(each)
        count, size = count + len(each), size + length
    if piece:
        yield piece


def words_of(key: KeyTaken) -> list[Sequence[Part]]:
    """The arguments of ``put.lua`` for a key's value."""
    value = key.value
    match key.form:
        case "string":
            return [[bytes_of(value)]]
        case "hash":
            return hash_words(value)
        case "list":
            return [[bytes_of(each)] for each in value]
        case "zset":
            return [[repr(float(score)), name_bytes(member)] for member, score in value.items()]
        case _:
            return entry_words(value)


def hash_words(fields: Fields) -> list[Sequence[Part]]:
    """The same of a hash."""
    return [[name_bytes(name), bytes_of(value)] for name, value in fields.items()]


def entry_words(entries: Entries) -> list[Sequence[Part]]:
    """The same of entries of a stream."""
    return [[stream_id, len(words), *map(bytes_of, words)] for stream_id, words in entries]
