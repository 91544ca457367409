"""Restoring what was said as a new session, ``<key>~N``: the same messages, under the same indexes."""

import secrets
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing

import msgspec
from msgspec.structs import replace

from daemon.bus import Bus, Part, load_script
from daemon.errors import ArchiveError, InboundError
from daemon.memory import Memories
from daemon.session.sessions import GREW_MAX
from daemon.sessionkey import SessionKey

KEEP = load_script(__file__, "keep.lua")
RESTORE = load_script(__file__, "restore.lua")

KEPT_S = 3_600.0
"""How long messages wait for the rest of them: what a killed process leaves behind is gone after so long."""

PART = 500
PART_BYTES = 1_000_000
"""Messages that one script takes: about a millisecond during which the server does nothing else."""

COPIES_MAX = 10_000
"""Sessions restored from one and the same."""


class _Counted(msgspec.Struct):
    tokens: int = 0


_decode = msgspec.json.Decoder(_Counted).decode


class RestoredSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that was made."""

    session: str
    first: int
    """Index of its first message, as it was."""
    upto: int
    """One past the last."""
    tokens: int


class RestoreSource(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be restored."""

    session: str
    """Key of the session in which it was said."""
    scope: str
    """Whose memory it has."""
    first: int
    cursor: int = 0
    """Index of the first message that is not in the memory yet; ``first`` if it is lower."""
    start: int = 0
    """Index of the first message that a model sees; the cursor if it is lower."""
    fields: Mapping[str, Part] = msgspec.field(default_factory=dict[str, Part])
    """Fields of the session's hash that the new session has as well, as they are stored."""


async def restore(
    bus: Bus, memories: Memories, source: RestoreSource, read: Callable[[], AsyncGenerator[Sequence[bytes]]]
) -> RestoredSession:
    """Make a new session of the messages that ``read`` gives: those of ``source`` from its ``first`` on.

    Raises:
        BadSessionKey: the session's name is too long for one more.
        InboundError: there are no messages, or there are too many such sessions.
        ArchiveError: ``read`` raised it, or reading took so long that what was read first is gone.
        BusUnavailable: Redis is away.
    """
    cursor = max(source.first, source.cursor)
    source = replace(source, cursor=cursor, start=max(cursor, source.start))
    while True:
        key = await _free_key(bus, source.session)
        if source.scope and cursor:
            # Before there is such a session: nobody is to add what lies before its cursor to the memory.
            await memories.begin_at(source.scope, key, cursor)
        async with aclosing(read()) as parts:
            made = await _made(bus, key, source, parts)
        if made is not None:
            await bus.activity.noted(key)
            return made


async def _free_key(bus: Bus, session: str) -> str:
    """The first of ``<session>~1``, ``<session>~2`` … that is no session yet."""
    for number in range(1, COPIES_MAX):
        key = str(SessionKey.parse(f"{session}~{number}"))
        if not await bus.call("EXISTS", bus.keys.session(key)):
            return key
    raise InboundError(
        f"session {session} was restored {COPIES_MAX:,} times already. Delete some of the restored copies."
    )


async def _made(
    bus: Bus, key: str, source: RestoreSource, parts: AsyncIterable[Sequence[bytes]]
) -> RestoredSession | None:
    """The session, made under ``key``; None: somebody else was faster to take the name."""
    nonce, keys = secrets.token_hex(8), bus.keys
    waiting, count, tokens, tokens_start = keys.restoring(key, nonce), 0, 0, 0
    async for part in _cut(parts):
        status = await bus.run(KEEP, [waiting], [count, round(KEPT_S * 1000), *part])
        if status != b"done":
            raise _late(key)
        for index, raw in enumerate(part, source.first + count):
            size = _decode(raw).tokens
            tokens += size if index >= source.cursor else 0
            tokens_start += size if index >= source.start else 0
        count += len(part)
    if not count:
        raise InboundError(f"session {source.session} has no messages to restore")
    own = keys.of(key)
    status = await bus.run(
        RESTORE,
        [own.session, own.log, waiting, own.unsettled, own.grew],
        [
            *(key, nonce, source.scope, source.first, count, tokens, GREW_MAX, keys.events(key)),
            *(source.cursor, source.start, tokens_start),
            *(part for name, value in source.fields.items() for part in (name, value)),
        ],
    )
    if status == b"gone":
        raise _late(key)
    if status != b"done":
        await bus.call("DEL", waiting)
        return None
    return RestoredSession(session=key, first=source.first, upto=source.first + count, tokens=tokens)


def _late(key: str) -> ArchiveError:
    return ArchiveError(
        f"session {key} was not created, because messages were deleted while they were being read. Try again."
    )


async def _cut(parts: AsyncIterable[Sequence[bytes]]) -> AsyncIterator[list[bytes]]:
    """The same messages in parts that one script can take."""
    async for whole in parts:
        part: list[bytes] = []
        size = 0
        for raw in whole:
            if part and (len(part) >= PART or size + len(raw) > PART_BYTES):
                yield part
                part, size = [], 0
            part.append(raw)
            size += len(raw)
        if part:
            yield part
