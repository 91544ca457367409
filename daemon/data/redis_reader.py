"""Reading what lies in Redis, piece by piece: a session or a scope in one step each, and any other key."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import msgspec

from daemon.bus import Bus, load_script, scan_keys
from daemon.data.backup_records import (
    Entries,
    KeyTaken,
    LogTaken,
    ScopeTaken,
    SessionTaken,
    StreamTaken,
    Text,
    entries_of,
    fields_of,
    name_text,
    number,
    text_of,
    texts_of,
)
from daemon.data.key_names import TYPES, KeyName, name_of
from daemon.errors import BusError, BusUnavailable, DamagedData

SESSION = load_script(__file__, "session.lua")
SCOPE = load_script(__file__, "scope.lua")
KEY = load_script(__file__, "key.lua")

LOG_PIECE = 2_000
"""Messages of a log that one script reads: about a millisecond of the server's time (FACTS: 2,000 in 0.3 ms of CPU)."""

ENTRIES_PIECE = 500
"""Of a stream, read at once."""


async def all_names(bus: Bus) -> AsyncGenerator[list[KeyName]]:
    """The names of all keys of the database, in pieces and no order; one may come twice.

    Raises:
        BusUnavailable: Redis is away, or a node of its cluster.
    """
    async for keys in scan_keys(bus, f"{bus.keys.prefix}:*"):
        names = [name_of(bus.keys.prefix, key) for key in keys]
        yield [name for name in names if name is not None]


async def read_session(bus: Bus, session: str, *, first: int = 0) -> SessionTaken:
    """All data of a session, with the messages from index ``first`` on; empty if the session does not exist.

    Raises:
        DamagedData: a key of the session has the wrong type, or holds bytes that are not text where text must be.
        BusUnavailable: Redis cannot be reached.
    """
    pieces, taken = list[LogTaken](), SessionTaken(name=session)
    async with aclosing(session_pieces(bus, session, first=first)) as found:
        async for piece in found:
            if isinstance(piece, LogTaken):
                pieces.append(piece)
            else:
                taken = piece
    log = [raw for piece in pieces for raw in piece.since(taken.base)] + taken.log
    return msgspec.structs.replace(taken, log=log, log_first=first if first > taken.base else 0)


async def read_short_session(bus: Bus, session: str) -> SessionTaken | None:
    """As ``read_session``; None if the log has more than ``LOG_PIECE`` messages."""
    async with aclosing(session_pieces(bus, session, keep=0)) as found:
        piece = await anext(found)
        return piece if isinstance(piece, SessionTaken) else None


async def session_pieces(
    bus: Bus, session: str, *, first: int = 0, keep: int = LOG_PIECE
) -> AsyncGenerator[LogTaken | SessionTaken]:
    """A session as ``read_session``, its log in pieces: at last the ``SessionTaken``, with the newest messages.

    ``keep``: so many messages at least the last record holds, if there are so many.
    """
    keys, at = bus.keys, bus.keys.partition(session)
    channel = session.partition(":")[0]
    own = keys.of(session)
    named = [own.session, own.log, own.waiting, own.lock, keys.segments(session), own.inbox, own.ready, own.due]
    named += [own.unsettled, own.asides, _out(bus, at, channel), own.dead, keys.reminders(session), keys.upcoming(at)]
    try:
        async with aclosing(_pieces(bus, session, named, first, keep)) as pieces:
            async for piece in pieces:
                yield piece
    except (BusError, UnicodeDecodeError) as error:
        raise await _explained(bus, f"session {session}", named, error) from error


async def _pieces(
    bus: Bus, session: str, named: list[str], have: int, keep: int
) -> AsyncGenerator[LogTaken | SessionTaken]:
    log = list[Text]()
    while True:
        status, first, raws, *rest = await bus.run(SESSION, named, [session, have, LOG_PIECE])
        # What left for the archive meanwhile is not needed any more.
        log = (log[len(log) - (have - int(first)) :] if int(first) < have else log) if int(first) <= have else []
        log += texts_of(raws)
        have = int(first) + len(raws)
        if status == b"whole":
            yield _session(session, log, have, rest)
            return
        older = log[: len(log) - keep] if len(log) > keep else []
        if older:
            yield LogTaken(name=session, first=have - len(log), log=older)
            log = log[len(older) :]


def _out(bus: Bus, partition: int, channel: str) -> str:
    # The channel's name is encoded in a session's key already.
    return f"{bus.keys.prefix}:{{{partition}}}:out:{channel}"


def _session(session: str, log: Sequence[Text], upto: int, rest: Sequence[Any]) -> SessionTaken:
    found, waiting, entries, lock, segments, scores, asides, out_upto, dead_upto, reminders, upcoming = rest
    fields = fields_of(found)
    base, log_first = number(fields.get("base")), upto - len(log)
    return SessionTaken(
        name=session,
        fields=fields,
        log=list(log[max(0, base - log_first) :]),
        log_first=log_first if log_first > base else 0,
        waiting=[each.decode() for each in waiting],
        inbox=entries_of(entries),
        asides=[each.decode() for each in asides],
        lock=fields_of(lock),
        segments=texts_of(segments),
        scores={kind: float(score) for kind, score in zip(("ready", "due", "unsettled"), scores, strict=True) if score},
        out_upto=out_upto.decode(),
        dead_upto=dead_upto.decode(),
        reminders=fields_of(reminders),
        upcoming={name_text(name): float(score) for name, score in zip(upcoming[::2], upcoming[1::2], strict=True)},
    )


async def read_scope(bus: Bus, scope: str) -> ScopeTaken:
    """All data of a memory. Errors as for ``read_session``."""
    keys = bus.keys
    named = [keys.memory(scope), keys.history(scope), keys.versions(scope), keys.notes(scope), keys.undigested(scope)]
    named.append(keys.shelved(scope))
    try:
        fields, *lists = await bus.run(SCOPE, named, [])
    except BusError as error:
        raise await _explained(bus, f"memory {scope}", named, error) from error
    history, versions, notes, undigested, shelved = map(texts_of, lists)
    return ScopeTaken(
        name=scope,
        fields=fields_of(fields),
        history=history,
        versions=versions,
        notes=notes,
        undigested=undigested,
        shelved=shelved,
    )


async def _explained(bus: Bus, owner: str, keys: Sequence[str], error: Exception) -> Exception:
    """Why data cannot be read: the keys of the wrong type, or the error itself if their types are right."""
    if isinstance(error, BusUnavailable):
        return error
    odd = [text for key in keys if (text := await wrong_type(bus, key))]
    if not odd and isinstance(error, BusError):
        return error
    return DamagedData(f"{owner} cannot be read: {'; '.join(odd) or 'an entry is not text'}")


async def wrong_type(bus: Bus, key: str) -> str:
    """A sentence about the type of a key, if the type is not the one that Millpond gives this kind of key; else empty.

    Raises:
        BusUnavailable: Redis cannot be reached.
    """
    name = name_of(bus.keys.prefix, key.encode())
    wanted = TYPES.get(name.kind, "") if name else ""
    found = (await bus.call("TYPE", key)).decode() if wanted else ""
    return f"the key {key} has type {found} but must have type {wanted}" if found not in (wanted, "none") else ""


async def read_key(bus: Bus, key: str, name: KeyName) -> KeyTaken | None:
    """Any other key; None if the key no longer exists.

    Raises:
        DamagedData: the key has a type that Millpond never uses.
        BusUnavailable: Redis cannot be reached.
    """
    kind, *rest = await bus.run(KEY, [key], [])
    if kind == b"none":
        return None
    if not rest or rest[1] is None:
        raise DamagedData(f"the key {key} has type {kind.decode()}, which Millpond never uses")
    ends, value = rest
    return KeyTaken(
        kind=name.kind,
        rest=name.rest,
        partition=name.partition,
        form=kind.decode(),
        value=_value(kind, value),
        expires_ms=int(ends),
    )


def _value(kind: bytes, value: Any) -> Any:
    if kind == b"string":
        return text_of(value)
    if kind == b"hash":
        return fields_of(value)
    if kind == b"list":
        return texts_of(value)
    if kind == b"zset":
        return {name_text(member): float(score) for member, score in zip(value[::2], value[1::2], strict=True)}
    return entries_of(value)


async def read_stream(bus: Bus, key: str, name: KeyName) -> AsyncGenerator[StreamTaken]:
    """The pieces of a stream of a partition, oldest first."""
    after = "-"
    while True:
        found: Entries = entries_of(await bus.call("XRANGE", key, after, "+", "COUNT", ENTRIES_PIECE))
        if found:
            yield StreamTaken(kind=name.kind, rest=name.rest, partition=name.partition or 0, entries=found)
        if len(found) < ENTRIES_PIECE:
            return
        after = f"({found[-1][0]}"
