"""Taking what lies in Redis for a backup, while everything goes on.

Each session is read in one step, with what waits in it, and each scope in one. In between messages are answered and
delivered, so the order matters, as it does for what heals a failover (see docs/decisions/016-backups.md):

1. what says that something was begun: jobs, and what is one a database
2. sessions, then the memories: one that has taken in more than its session holds has that session read again
3. replies and dead letters, of which those count that were there when their session was read
4. what says that something is over: marks of what was sent, ids that were seen. Those of a later moment are left out
"""

from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from daemon.bus import Bus
from daemon.data.batch import AT_ONCE, at_once
from daemon.data.moment import Moment
from daemon.data.names import PASSING, SCOPE, STREAMS, ZSETS, Name, key_of
from daemon.data.reading import all_names, read_key, read_scope, read_session, read_stream
from daemon.data.records import KeyTaken, ScopeTaken, SessionTaken, StreamTaken, Taken

ALONE = frozenset({"session", "log", "waiting", "lock", "segments"})
"""Kinds that tell that there is a session; notices are kept beside it, by their TTL."""

RETAKES = 3

_T = TypeVar("_T")
_R = TypeVar("_R")


class Taking:
    """One pass over a database."""

    def __init__(self, bus: Bus) -> None:
        """Nothing is read yet."""
        self._bus = bus
        self.moment = Moment(bus.keys.partition)
        self.sessions = 0
        self.scopes = 0
        self.messages = 0
        self.retaken: dict[str, int] = {}

    async def records(self) -> AsyncGenerator[Taken]:
        """All that belongs into a backup.

        Raises:
            BusError: a key is of another type than it should be; ``millpond data check`` names it.
            BusUnavailable: Redis is away.
        """
        database, sessions, scopes = await self._names()
        async for key in self._keys(name for name in database if name.kind != "sessions"):
            yield key
        async for piece in self._streams("dead"):
            self.moment.note_dead(piece)
        async for session in self._each(sorted(sessions), self._session):
            yield session
        async for scope in self._each(sorted(scopes), self._scope):
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
            return await read_key(self._bus, key_of(self._bus.keys.prefix, name), name)

        async for key in self._each(list(names), read):
            if key is not None:
                yield key

    async def _each(self, names: Sequence[_T], read: Callable[[_T], Coroutine[Any, Any, _R]]) -> AsyncGenerator[_R]:
        """What ``read`` gives of each, in order."""
        for at in range(0, len(names), AT_ONCE):
            for found in await at_once(names[at : at + AT_ONCE], read):
                yield found

    async def _session(self, name: str) -> SessionTaken:
        taken = await read_session(self._bus, name)
        self.moment.note_session(taken)
        self.sessions += 1
        self.messages += len(taken.log) + len(taken.waiting)
        return taken

    async def _scope(self, name: str) -> ScopeTaken:
        taken = await read_scope(self._bus, name)
        self.moment.note_scope(taken)
        self.scopes += 1
        return taken

    async def _again(self) -> AsyncGenerator[SessionTaken]:
        """Sessions of which a memory has taken in messages that they had not yet when they were read."""
        for session in self.moment.behind():
            for _ in range(RETAKES):
                taken = msgspec.structs.replace(
                    await read_session(self._bus, session), taken=self.retaken.get(session, 0) + 1
                )
                self.moment.note_session(taken)
                self.retaken[session] = taken.taken
                yield taken
                if not self.moment.is_behind(session):
                    break

    async def _streams(self, kind: str) -> AsyncGenerator[StreamTaken]:
        """The pieces of a kind of stream of all partitions."""
        partitions = range(self._bus.keys.partitions)
        names = {Name(kind=kind, partition=partition, rest="") for partition in partitions if kind != "out"}
        if kind == "out":  # one a channel, and channels come and go
            async for found in all_names(self._bus):
                names |= {name for name in found if name.kind == kind and name.partition is not None}
        for name in sorted(names, key=lambda name: (name.partition, name.rest)):
            async for piece in read_stream(self._bus, key_of(self._bus.keys.prefix, name), name):
                yield piece


def _is_taken(name: Name) -> bool:
    """Whether it is in the backup by then, or is to be in none."""
    return name.kind in ALONE | SCOPE | ZSETS | STREAMS | PASSING
