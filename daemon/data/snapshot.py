"""Taking what lies in Redis for a backup, while everything goes on.

Each session is read in one step, with what waits in it, and each scope in one. In between messages are answered and
delivered, so the order matters, as it does for what heals a failover (see docs/decisions/016-backups.md):

1. what says that something was begun: jobs, and what is one a database
2. sessions, then the memories: one that has taken in more than its session holds has that session read again
3. replies and dead letters, of which those count that were there when their session was read
4. what says that something is over: marks of what was sent, ids that were seen. Those of a later moment are left out
"""

from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import aclosing
from typing import Any, TypeVar

import msgspec

from daemon.bus import Bus
from daemon.concurrent_calls import AT_ONCE, at_once
from daemon.data.backup_records import KeyTaken, LogTaken, ScopeTaken, SessionTaken, StreamTaken, Taken, number
from daemon.data.key_names import PASSING, SCOPE, STREAMS, TYPES, ZSETS, Name, key_of
from daemon.data.redis_reader import (
    all_names,
    read_key,
    read_scope,
    read_short_session,
    read_stream,
    session_pieces,
    wrong_type,
)
from daemon.data.snapshot_filter import Moment
from daemon.errors import DamagedData
from daemon.memory.memory_files import bot_of

ALONE = frozenset({"session", "log", "waiting", "lock", "segments", "reminders"})
"""Kinds that tell that there is a session; notices are kept beside it, by their TTL."""

RETAKES = 3

_T = TypeVar("_T")
_R = TypeVar("_R")


class Taking:
    """One pass over a database."""

    def __init__(self, bus: Bus, *, without: Collection[str] = ()) -> None:
        """Nothing is read yet. ``without``: sessions and memories that are left out."""
        self._bus = bus
        self._without = frozenset(without)
        self.moment = Moment(bus.keys.partition)
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

    async def _names(self) -> tuple[list[Name], set[str], set[str]]:
        """What is one a database, and the sessions and scopes there are."""
        database, sessions, scopes = set[Name](), set[str](), set[str]()
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

    async def _late(self) -> AsyncGenerator[list[Name]]:
        """What ends by itself, and who leads; the index of sessions too, which may name those that came later."""
        yield [Name(kind="sessions", partition=None, rest="")]
        seen = set[Name]()
        async for names in all_names(self._bus):
            found = {name for name in names if name.partition is not None and not _is_taken(name)} - seen
            seen |= found
            yield sorted(found, key=lambda name: (name.kind, name.rest, name.partition))

    async def _keys(self, names: Iterable[Name]) -> AsyncGenerator[KeyTaken]:
        async def read(name: Name) -> KeyTaken | None:
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
        names = {Name(kind=kind, partition=partition, rest="") for partition in partitions if kind != "out"}
        if kind == "out":  # one a channel, and channels come and go
            async for found in all_names(self._bus):
                names |= {name for name in found if name.kind == kind and name.partition is not None}
        for name in sorted(names, key=lambda name: (name.partition, name.rest)):
            key = key_of(self._bus.keys.prefix, name)
            if key in self.damaged:
                continue
            async for piece in read_stream(self._bus, key, name):
                yield piece


def _is_taken(name: Name) -> bool:
    """Whether it is in the backup by then, or is to be in none."""
    return name.kind in ALONE | SCOPE | ZSETS | STREAMS | PASSING
