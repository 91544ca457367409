"""Taking what lies in Redis for a backup, while everything goes on.

Each session is read in one step, with what waits in it, and each scope in one. In between messages are answered and
delivered, so the order matters, as it does for what heals a failover (see docs/decisions/016-backups.md):

1. what says that something was begun: jobs, and what is one a database
2. sessions, then the memories: one that has taken in more than its session holds has that session read again
3. replies and dead letters, of which those count that were there when their session was read
4. what says that something is over: marks of what was sent, ids that were seen. Those of a later moment are left out
"""

from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from typing import Any, TypeVar

import msgspec

from daemon.bus import Bus
from daemon.concurrency import AT_ONCE, at_once
from daemon.data.backup_records import (
    Entries,
    KeyTaken,
    LogTaken,
    ScopeTaken,
    SessionTaken,
    StreamTaken,
    Taken,
    bytes_of,
    number,
)
from daemon.data.key_names import PASSING, SCOPE, STREAMS, TYPES, ZSETS, KeyName, key_of
from daemon.data.redis_reader import (
    all_names,
    read_key,
    read_scope,
    read_short_session,
    read_stream,
    session_pieces,
    wrong_type,
)
from daemon.errors import UNREADABLE, DamagedData
from daemon.memory.memory_files import bot_of

# What belongs to the moment at which each session was read, of that which is read before or after it. Pure.

Position = tuple[int, int]

NEWEST = 2_000
"""Messages at the end of a log of which the ids are kept: what came in while the sessions were read."""


class _Whose(msgspec.Struct):
    session: str = ""
    turn: int = -1


class _Named(msgspec.Struct):
    id: str = ""


_decode_whose = msgspec.json.Decoder(_Whose).decode
_decode_id = msgspec.json.Decoder(_Named).decode


def position(stream_id: str) -> Position:
    """A stream id, so that two can be compared; what is none comes before all."""
    ms, _, number = stream_id.partition("-")
    return (int(ms), int(number)) if ms.isdecimal() and number.isdecimal() else (-1, -1)


def pairs_of(words: list[Any]) -> dict[str, bytes]:
    """The fields of a stream's entry."""
    return {bytes_of(name).decode("utf-8", "replace"): bytes_of(value) for name, value in zip(words[::2], words[1::2])}  # noqa: B905 - a hand may have left one out


def session_of(words: list[Any]) -> str:
    """The session that a stream's entry is of; empty when nobody can tell."""
    fields = pairs_of(words)
    if "session" in fields:
        return fields["session"].decode("utf-8", "replace")
    for name in ("reply", "event"):
        if name in fields:
            try:
                return _decode_whose(fields[name]).session
            except UNREADABLE:
                return ""
    return ""


class SnapshotFilter:
    """What is known of each session: how far it had come when it was read."""

    def __init__(self, partition: Callable[[str], int]) -> None:
        """``partition``: of a session, in the database that is read."""
        self._partition = partition
        self._heads: dict[str, int] = {}
        self._ids: dict[str, set[str]] = {}
        """Ids of the messages that wait, or stand in the log."""
        self._waiting: dict[str, set[str]] = {}
        self._upto: dict[str, tuple[str, str]] = {}
        """Newest ids in ``out`` and in ``dead``."""
        self._memories: dict[str, int] = {}
        self._seen: set[str] = set()
        self._dead: dict[tuple[int, str], tuple[str, list[Any]]] = {}

    def note_seen(self, rest: str) -> None:
        """That an id was seen before any session was read."""
        self._seen.add(rest)

    def note_dead(self, piece: StreamTaken) -> None:
        """Dead letters that were there before any session was read."""
        for stream_id, words in piece.entries:
            self._dead[piece.partition, stream_id] = (stream_id, words)

    def note_session(self, taken: SessionTaken) -> None:
        """A session, as it was read."""
        waiting = {pairs_of(words).get("id", b"").decode("utf-8", "replace") for _, words in taken.inbox}
        self._waiting[taken.name] = waiting
        self._ids[taken.name] = waiting | set(_ids_in(taken))
        self._heads[taken.name] = _number(taken.fields.get("head"))
        self._upto[taken.name] = (taken.out_upto, taken.dead_upto)

    def note_scope(self, taken: ScopeTaken) -> None:
        """A memory, as it was read."""
        for field, value in taken.fields.items():
            if field.startswith("upto:"):
                session = field.removeprefix("upto:")
                self._memories[session] = max(self._memories.get(session, 0), _number(value))

    def behind(self) -> list[str]:
        """The sessions that hold less than a memory has taken in of them."""
        return sorted(session for session in self._memories if self.is_behind(session))

    def is_behind(self, session: str) -> bool:
        """Whether a session is one of these."""
        return session in self._heads and self._heads[session] < self._memories.get(session, 0)

    def of_stream(self, piece: StreamTaken) -> StreamTaken | None:
        """What of a piece, read after the sessions, was there when its sessions were."""
        kept: Entries = [entry for entry in piece.entries if self._was_there(piece.kind, *entry)]
        if piece.kind == "dead":
            for stream_id, _ in piece.entries:
                self._dead.pop((piece.partition, stream_id), None)
        return msgspec.structs.replace(piece, entries=kept) if kept else None

    def _was_there(self, kind: str, stream_id: str, words: list[Any]) -> bool:
        if kind not in ("out", "dead"):
            return True
        session = session_of(words)
        if session not in self._upto:
            # Nobody can tell whose it is, or of a session that came later: its message comes again with it.
            return not session
        if kind == "dead" and "reply" in pairs_of(words):
            # It stood in `out` until then, and stands there no more. One of a later turn is one too many.
            return True
        return position(stream_id) <= position(self._upto[session][kind == "dead"])

    def dead_before(self) -> Iterator[StreamTaken]:
        """Dead letters that were removed meanwhile, but for those that wait again in their session as it was read."""
        for (partition, _), (stream_id, words) in sorted(self._dead.items(), key=lambda each: each[0]):
            fields = pairs_of(words)
            if fields.get("id", b"").decode("utf-8", "replace") not in self._waiting.get(session_of(words), set()):
                yield StreamTaken(kind="dead", rest="", partition=partition, entries=[(stream_id, words)])

    def of_key(self, key: KeyTaken) -> KeyTaken | None:
        """A key that ends by itself, if it tells of nothing that came later."""
        if key.kind == "seen" and key.rest not in self._seen:
            return key if self._is_accepted(key) else None
        if key.kind in ("sent", "said"):
            session, _, rest = key.rest.partition("#")
            return key if session in self._heads and not self._comes_later(key.kind, session, rest) else None
        if key.kind == "sessions":
            members = {name: score for name, score in key.value.items() if name in self._heads}
            return msgspec.structs.replace(key, value=members) if members else None
        return key

    def _is_accepted(self, key: KeyTaken) -> bool:
        """Whether the message of an id that was seen meanwhile is in its session as that was read."""
        length, _, rest = bytes_of(key.value).decode("utf-8", "replace").partition(" ")
        message_id = rest[int(length) + 1 :] if length.isdecimal() else ""
        return message_id in self._ids.get(key.rest.rpartition(":")[0], set())

    def _comes_later(self, kind: str, session: str, rest: str) -> bool:
        """Whether a reply is of a turn that had not been committed yet; what that said under way counts as said."""
        head = self._heads[session]
        if kind == "sent":
            return rest.isdecimal() and int(rest) >= head
        if ":" in rest:
            return False  # another session's turn said it
        word, _, turn = rest.partition("-")
        turn = turn.partition("-")[0]
        return word == "message" and turn.isdecimal() and int(turn) > head


def _ids_in(taken: SessionTaken) -> Iterator[str]:
    for raw in taken.log[-NEWEST:]:
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            yield _decode_id(bytes_of(raw)).id


def _number(value: Any) -> int:
    return int(value) if isinstance(value, str) and value.lstrip("-").isdecimal() else 0


ALONE = frozenset({"session", "log", "waiting", "lock", "segments", "reminders"})
"""Kinds that tell that there is a session; notices are kept beside it, by their TTL."""

RETAKES = 3

_T = TypeVar("_T")
_R = TypeVar("_R")


class Snapshot:
    """One pass over a database."""

    def __init__(self, bus: Bus, *, without: Collection[str] = ()) -> None:
        """Nothing is read yet. ``without``: sessions and memories that are left out."""
        self._bus = bus
        self._without = frozenset(without)
        self.moment = SnapshotFilter(bus.keys.partition)
        self.sessions = 0
        self.scopes = 0
        self.messages = 0
        self.bots = set[str]()
        """Bots that remember something: their workspaces contain the files of their memories."""
        self.retaken: dict[str, int] = {}
        self._long: list[str] = []
        """Sessions with a long log."""
        self.damaged: dict[str, str] = {}
        """Sessions, memories and keys that cannot be read, and why: the backup does not contain them."""

    async def records(self) -> AsyncGenerator[Taken]:
        """All that belongs into a backup.

        Raises:
            BusUnavailable: Redis cannot be reached.
        """
        database, sessions, scopes = await self._names()
        async for key in self._keys(name for name in database if name.kind != "sessions"):
            yield key
        async for piece in self._streams("dead"):
            self.moment.note_dead(piece)
        async for session in self._sessions(sorted(sessions - self._without)):
            yield session
        async for scope in self._each(sorted(scopes - self._without), self._scope):
            yield scope
        async for session in self._again():
            yield session
        for kind in ("out", "dead", "unknown", "grew"):
            async for piece in self._streams(kind):
                if there := self.moment.of_stream(piece):
                    yield there
        for piece in self.moment.dead_before():
            yield piece
        async for names in self._late():
            async for key in self._keys(names):
                if kept := self.moment.of_key(key):
                    yield kept

    async def _names(self) -> tuple[list[KeyName], set[str], set[str]]:
        """What is one a database, and the sessions and scopes there are."""
        database, sessions, scopes = set[KeyName](), set[str](), set[str]()
        async for names in all_names(self._bus):
            for name in names:
                if name.place == "database" and name.kind not in PASSING | {"meta"}:
                    database.add(name)
                elif name.kind in ALONE:
                    sessions.add(name.owner)
                elif name.kind in SCOPE:
                    scopes.add(name.owner)
                elif name.place == "queue":
                    key = key_of(self._bus.keys.prefix, name)
                    if wrong := await wrong_type(self._bus, key):
                        self.damaged[key] = wrong
                elif name.kind == "seen":
                    self.moment.note_seen(name.rest)
        return sorted(database, key=lambda name: (name.kind, name.rest)), sessions, scopes

    async def _late(self) -> AsyncGenerator[list[KeyName]]:
        """What ends by itself, and who leads; the session index too, which may name those that came later."""
        yield [KeyName(kind="sessions", partition=None, rest="")]
        seen = set[KeyName]()
        async for names in all_names(self._bus):
            found = {name for name in names if name.partition is not None and not _is_taken(name)} - seen
            seen |= found
            yield sorted(found, key=lambda name: (name.kind, name.rest, name.partition))

    async def _keys(self, names: Iterable[KeyName]) -> AsyncGenerator[KeyTaken]:
        async def read(name: KeyName) -> KeyTaken | None:
            key = key_of(self._bus.keys.prefix, name)
            found = await self._read(key, read_key(self._bus, key, name))
            if found is not None and found.form != TYPES.get(name.kind, found.form):
                self.damaged[key] = await wrong_type(self._bus, key)
                return None
            return found

        async for key in self._each(list(names), read):
            yield key

    async def _each(
        self, names: Sequence[_T], read: Callable[[_T], Coroutine[Any, Any, _R | None]]
    ) -> AsyncGenerator[_R]:
        """The records that ``read`` returns, in order."""
        for at in range(0, len(names), AT_ONCE):
            for found in await at_once(names[at : at + AT_ONCE], read):
                if found is not None:
                    yield found

    async def _read(self, name: str, reading: Coroutine[Any, Any, _R]) -> _R | None:
        """A record; None if it is damaged, which is noted."""
        try:
            return await reading
        except DamagedData as error:
            self.damaged[name] = str(error)
            return None

    async def _sessions(self, names: Sequence[str]) -> AsyncGenerator[LogTaken | SessionTaken]:
        async for session in self._each(names, self._session):
            yield session
        for name in self._long:
            async for piece in self._pieces(name):
                if isinstance(piece, SessionTaken):
                    self._note(piece)
                yield piece

    async def _session(self, name: str) -> SessionTaken | None:
        """A session; None if it is damaged, or is read later, because its log is long."""
        taken = await self._read(name, read_short_session(self._bus, name))
        if taken is not None:
            self._note(taken)
        elif name not in self.damaged:
            self._long.append(name)
        return taken

    def _note(self, taken: SessionTaken) -> None:
        self.moment.note_session(taken)
        self.sessions += 1
        self.messages += taken.count + len(taken.waiting)

    async def _pieces(self, name: str) -> AsyncGenerator[LogTaken | SessionTaken]:
        """A session, one piece at a time in memory; of a damaged one, which is noted, a part."""
        try:
            async with aclosing(session_pieces(self._bus, name)) as pieces:
                async for piece in pieces:
                    yield piece
        except DamagedData as error:
            self.damaged[name] = str(error)

    async def _scope(self, name: str) -> ScopeTaken | None:
        taken = await self._read(name, read_scope(self._bus, name))
        if taken is None:
            return None
        self.moment.note_scope(taken)
        self.scopes += 1
        if not taken.fields.get("joined") and (number(taken.fields.get("version")) or taken.history):
            self.bots.add(bot_of(name))
        return taken

    async def _again(self) -> AsyncGenerator[LogTaken | SessionTaken]:
        """Sessions of which a memory has taken in messages that they had not yet when they were read."""
        for session in self.moment.behind():
            for taken in range(1, RETAKES + 1):
                async for piece in self._pieces(session):
                    if isinstance(piece, SessionTaken):
                        self.moment.note_session(piece)
                        self.retaken[session] = taken
                    yield msgspec.structs.replace(piece, taken=taken)
                if session in self.damaged or not self.moment.is_behind(session):
                    break

    async def _streams(self, kind: str) -> AsyncGenerator[StreamTaken]:
        """The pieces of a kind of stream of all partitions."""
        partitions = range(self._bus.keys.partitions)
        names = {KeyName(kind=kind, partition=partition, rest="") for partition in partitions if kind != "out"}
        if kind == "out":  # one a channel, and channels come and go
            async for found in all_names(self._bus):
                names |= {name for name in found if name.kind == kind and name.partition is not None}
        for name in sorted(names, key=lambda name: (name.partition, name.rest)):
            key = key_of(self._bus.keys.prefix, name)
            if key in self.damaged:
                continue
            async for piece in read_stream(self._bus, key, name):
                yield piece


def _is_taken(name: KeyName) -> bool:
    """Whether it is in the backup by then, or is to be in none."""
    return name.kind in ALONE | SCOPE | ZSETS | STREAMS | PASSING
