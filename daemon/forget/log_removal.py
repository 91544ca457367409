"""Conversations: their messages in log and archive, what was left of them, and what waits or is on its way in them."""

import datetime as dt
import gzip
import hashlib
import zlib
from collections.abc import Callable, Collection
from io import BytesIO
from typing import Any

import msgspec
from anyio import to_thread

from daemon.archive import Shelf
from daemon.bus import Part, load_script, pairs
from daemon.clock import stamp
from daemon.errors import UNREADABLE, ArchiveError, ArchiveUnavailable, LockLost
from daemon.events import Continuity, Inbound, LogEntry
from daemon.forget.archive_removal import Bury, ReplacedRecord, forget_on
from daemon.forget.forget_context import ForgetContext, Tier
from daemon.forget.side_data_removal import forget_brought, is_said_by
from daemon.forget.text_matcher import TextMatcher
from daemon.forget.tombstone import Count, Wanted, continued, hits_in, payload_texts, tombstone
from daemon.inbox import mark_of
from daemon.session import ConsolidationLock, SessionLabels, SessionReader
from daemon.sessionkey import SessionKey

SWAP = load_script(__file__, "swap.lua")
STRIKE = load_script(__file__, "strike.lua")

ANEW_MAX = 10_000
"""Entries of a stream that are put together anew at once: some 50 ms in which the server does nothing else."""

PAGE = 500

UNPACKED_MAX_BYTES = 256 * 1024 * 1024
"""Read of a file that no list names: more than any segment holds."""

_decode_entry = msgspec.json.Decoder(LogEntry).decode
_decode_continuity = msgspec.json.Decoder(Continuity).decode
_decode_inbound = msgspec.json.Decoder(Inbound).decode


def messages_of(wanted_of: Callable[[LogEntry], Wanted | None], count: Count) -> Bury:
    """Buries messages; ``wanted_of`` says what of one is to be forgotten, None: nothing."""

    def bury(raw: bytes) -> ReplacedRecord | None:
        entry = _decode_entry(raw)
        wanted = wanted_of(entry)
        new = tombstone(entry, wanted, count) if wanted else None
        if wanted is None or new is None:
            return None
        hits = tuple(hits_in(entry, wanted))
        return ReplacedRecord(raw=_encode(new), hits=hits, less=entry.tokens - new.tokens, time=entry.time)

    return bury


def where_it_may_stand(wanted: Wanted, bury: Bury) -> Bury:
    """``bury``, but for records in which ``wanted`` cannot stand: to decode those is most of what a look costs."""
    if not isinstance(wanted, TextMatcher):
        return bury
    return lambda raw: bury(raw) if wanted.may_stand_in(raw) else None


async def forget_in_log(work: ForgetContext, session: str, bury: Bury) -> None:
    """The messages of a session, the journal of a turn that nobody holds among them.

    Raises:
        BusUnavailable: Redis is away.
    """
    shelf = Shelf.log(session)
    try:
        await forget_on(work, shelf, "messages", bury, archived="archive")
    except msgspec.MsgspecError as error:
        work.fail(f"session {session}: a message cannot be read ({error})")
    await forget_unlisted(work, shelf, bury)


async def forget_unlisted(work: ForgetContext, shelf: Shelf, bury: Bury) -> None:
    """Files of a worker that died before it could list them: nobody reads them, and they hold what they hold."""
    archive = work.stores.archive
    try:
        files = await archive.storage.list(shelf.folder)
        listed = {segment.place for segment in await archive.segments(shelf)}
        for file in files:
            is_ours = file.name.rpartition("/")[2].startswith(f"{shelf.word}_")
            if not is_ours or file.name in listed:
                continue
            lines = await to_thread.run_sync(_lines_in, await archive.storage.get(file.name))
            hits = [hit for raw in lines if (new := bury(raw)) is not None for hit in new.hits]
            if hits:
                work.found("archive", hits)
                if not work.looks:
                    await archive.storage.delete(file.name)
    except ArchiveUnavailable as error:
        work.wait_for_archive(error)
    except (ArchiveError, msgspec.MsgspecError) as error:
        work.fail(f"{shelf.label}: {error}")


def _lines_in(content: bytes) -> list[bytes]:
    try:
        with gzip.open(BytesIO(content)) as file:
            return file.read(UNPACKED_MAX_BYTES).splitlines()
    except (OSError, EOFError, zlib.error) as error:
        raise ArchiveError(
            "an unused archive file cannot be decompressed. Examine the file, and then delete it."
        ) from error


async def forget_beside_log(work: ForgetContext, session: str) -> None:
    """What a session holds beside its messages: title, continuity, parts of a summary, text being written, notices."""
    bus = work.stores.bus
    labels = SessionLabels(bus)
    title = (await labels.of(session)).title
    if title and (hits := work.wanted.hits(title)):
        work.found("titles", hits)
        if not work.looks:
            await labels.remove(session, ("title",))
    keys = bus.keys.of(session)
    continuity = await bus.call("HGET", keys.session, "continuity")
    if continuity:
        await swap_continuity(work, keys.session, "continuity", continuity)
    parts = await bus.call("HGET", keys.session, "parts")
    if parts and (hits := _hits(parts, work.loosely)):
        work.found("continuity", hits)
        if not work.looks:
            await bus.call("HDEL", keys.session, "parts")
    live = await bus.call("GET", keys.live)
    if live and (hits := _hits(live, work.loosely)):
        work.found("live", hits)
        if not work.looks:
            await bus.call("DEL", keys.live)
    await _strike(work, "notices", keys.notices, lambda fields: fields.get(b"notice", b""))


async def swap_continuity(work: ForgetContext, key: str, field: str, raw: bytes) -> None:
    """A continuity in a field of a hash."""
    try:
        before = _decode_continuity(raw)
    except msgspec.MsgspecError:
        return  # counts as none, and is overwritten with the next one
    after = continued(before, work.wanted)
    if after is None:
        return
    work.found("continuity", work.wanted.hits(before.text))
    if not work.looks:
        sha = hashlib.sha1(raw, usedforsecurity=False).hexdigest()
        await work.stores.bus.run(SWAP, [key], [field, sha, _encode(after)])


# Streams of a partition


async def forget_in_queues(work: ForgetContext, sessions: Collection[str], *, people: Collection[str] = ()) -> set[str]:
    """What waits, what is to be delivered, and what could be neither answered nor delivered, of these sessions.

    With ``people`` only what these said themselves, and nothing else of it. Gives what the files are called by that
    came with the messages that were removed.

    Raises:
        BusUnavailable: Redis is away.
    """
    keys = work.stores.bus.keys
    by_partition: dict[int, set[str]] = {}
    marks = set[str]()
    for session in sessions:
        by_partition.setdefault(keys.partition(session), set()).add(session)
    for partition, own in by_partition.items():
        if people:
            for session in own:
                await forget_brought(work, session, people)
        asides = keys.asides(partition)
        marks |= await _strike(work, "waiting", keys.inbox(partition), _waiting_of(own, people), asides=asides)
        marks |= await _strike(work, "dead", keys.dead(partition), _dead_of(own, people))
        if people:
            continue
        for channel in {SessionKey.parse(session).channel for session in own}:
            await _strike(work, "replies", keys.out(partition, channel), _reply_of(own))
    return marks


def _is_by(raw: bytes, people: Collection[str]) -> bool:
    """Whether a message is one of these people's, ``<channel>:<sender>``; everybody's when none are named."""
    if not people:
        return True
    try:
        inbound = _decode_inbound(raw)
    except UNREADABLE:
        return False
    return str(SessionKey(channel=inbound.channel, chat=inbound.sender_id)) in people


def _brings(raw: bytes, people: Collection[str]) -> bool:
    """Whether a letter brings along what one of these people said before it; it goes as a whole then."""
    try:
        inbound = _decode_inbound(raw)
    except UNREADABLE:
        return False
    return any(is_said_by(words, inbound.channel, people) for words in inbound.overheard)


_Fields = dict[bytes, bytes]
_Payload = Callable[[_Fields], bytes]
"""What of an entry is to be looked at; empty: it is nobody's here."""


def _waiting_of(sessions: Collection[str], people: Collection[str]) -> _Payload:
    def payload(fields: _Fields) -> bytes:
        raw = fields.get(b"message", b"")
        # A command that asks to forget is gone with its answer; nothing of it is stored.
        is_ours = fields.get(b"session", b"").decode() in sessions and b'"command":"forget"' not in raw
        return raw if is_ours and _is_by(raw, people) else b""

    return payload


def _dead_of(sessions: Collection[str], people: Collection[str]) -> _Payload:
    def payload(fields: _Fields) -> bytes:
        raw = fields.get(b"message") or fields.get(b"reply", b"")
        is_ours = fields.get(b"session", b"").decode() in sessions
        return raw if is_ours and (_is_by(raw, people) or _brings(raw, people)) else b""

    return payload


class _OfSession(msgspec.Struct):
    session: str = ""


_decode_of = msgspec.json.Decoder(_OfSession).decode


def _reply_of(sessions: Collection[str]) -> _Payload:
    def payload(fields: _Fields) -> bytes:
        raw = fields.get(b"reply", b"")
        try:
            return raw if _decode_of(raw).session in sessions else b""
        except UNREADABLE:
            return b""

    return payload


def _is_aside(fields: _Fields) -> bool:
    """Whether it is a reply that no model made: what a command was answered, or a job said."""
    return b"#aside-" in fields.get(b"reply", b"") or b"#job-" in fields.get(b"reply", b"")


def _hits(raw: bytes, wanted: Wanted) -> list[str]:
    return [hit for text in payload_texts(raw) for hit in wanted.hits(text)]


async def _strike(work: ForgetContext, tier: Tier, key: str, payload: _Payload, *, asides: str = "") -> set[str]:
    """Take those entries of a stream out in which it stands; and always what the server keeps of earlier ones.

    Gives what the files of the messages are called by that were taken out.
    """
    bus, last = work.stores.bus, b"-"
    marks = set[str]()
    gone: list[tuple[bytes, bytes]] = []
    while True:
        entries: Any = await bus.call("XRANGE", key, last, "+", "COUNT", PAGE)
        for stream_id, pairs_of in entries:
            fields: _Fields = dict(pairs(pairs_of))
            raw = payload(fields)
            wanted = work.loosely if tier == "notices" or _is_aside(fields) else work.wanted
            if raw and (hits := _hits(raw, wanted)):
                work.found(tier, hits, time=_time_of(stream_id))
                gone.append((stream_id, fields.get(b"session", b"")))
                marks.add(mark_of(*(fields.get(name, b"").decode(errors="replace") for name in (b"session", b"id"))))
        if len(entries) < PAGE:
            break
        last = b"(" + entries[-1][0]
    if not work.looks:
        await _take_out(work, key, gone, asides=asides)
    return marks


async def _take_out(work: ForgetContext, key: str, gone: list[tuple[bytes, bytes]], *, asides: str) -> None:
    bus = work.stores.bus
    by_session: dict[str, list[bytes]] = {}
    for stream_id, session in gone:
        by_session.setdefault(session.decode() if asides else "", []).append(stream_id)
    # Without any entry too: what was answered and deleted is in the server's memory still.
    for own, ids in (by_session or {"": []}).items():
        waiting = bus.keys.waiting(own) if own else key
        found = await bus.run(STRIKE, [key, waiting, asides or key], [ANEW_MAX, own, *ids])
        if not found[1]:
            work.fail(
                f"{key} has more than {ANEW_MAX:,} entries, so deleted entries may still be in the Redis server's "
                "memory. Repeat the deletion when the key has fewer entries."
            )


def _time_of(stream_id: bytes) -> str:
    return stamp(dt.datetime.fromtimestamp(int(stream_id.split(b"-")[0]) / 1000, dt.UTC))


# A whole conversation: everything of it goes, and its indexes go on where they are.

SKIP = load_script(__file__, "skip.lua", with_parts=("../../memory/lua/memory.part.lua",))
LEAVE = load_script(__file__, "leave.lua")

_decode = msgspec.json.Decoder(LogEntry).decode
_encode = msgspec.json.Encoder().encode


async def leave_session(work: ForgetContext, lock: ConsolidationLock | None, session: str, *, home: str) -> None:
    """Forget a session; with its consolidation lock, or, to look what there is, without.

    Raises:
        LockLost: somebody else has the lock.
        BusUnavailable: Redis is away.
    """
    bus, shelf = work.stores.bus, Shelf.log(session)
    state = await SessionReader(bus).state(session)
    begins = int(await bus.call("HGET", bus.keys.session(session), "begins") or 0)
    if state.head > begins:
        work.found("messages", [session], count=state.head - begins)
    await forget_beside_log(work, session)
    try:
        segments = await work.stores.archive.segments(shelf)
        if segments:
            work.found("archive", [session], count=len(segments))
        if work.looks or lock is None:
            return
        if state.head > state.base:
            last = await bus.call("LINDEX", bus.keys.log(session), state.head - 1 - state.base)
            await _skip(work, lock, home=home, upto=state.head, last=last)
        await _leave(work, lock, upto=state.head)
        await work.stores.archive.drop(shelf)
    except ArchiveUnavailable as error:
        work.wait_for_archive(error)
        return
    except ArchiveError as error:
        work.fail(str(error))
    # No text is in them; but when somebody talked to whom, and about how much, is his, too.
    await bus.call("DEL", bus.keys.traces(session))
    await bus.call("ZREM", bus.keys.sessions, session)
    await SessionLabels(bus).remove(session)


async def _skip(work: ForgetContext, lock: ConsolidationLock, *, home: str, upto: int, last: bytes | None) -> None:
    entry = _decode(last) if last else None
    # As consolidation marks the last message that it took in.
    mark = {"last": f"{entry.turn} {entry.time} {entry.id}".rstrip()} if entry else {}
    keys = work.stores.bus.keys
    args: list[Part] = [lock.session, lock.fence, lock.nonce, upto, _encode(mark)]
    if await work.stores.bus.run(SKIP, [keys.memory(home)], args) != b"done":
        raise _lost(lock)


async def _leave(work: ForgetContext, lock: ConsolidationLock, *, upto: int) -> None:
    keys = work.stores.bus.keys.of(lock.session)
    status = await work.stores.bus.run(
        LEAVE,
        [keys.session, keys.log, keys.live, keys.notices, keys.lock],
        [lock.session, lock.nonce, upto, work.stores.bus.keys.events(lock.session)],
    )
    if status != b"done":
        raise _lost(lock)


def _lost(lock: ConsolidationLock) -> LockLost:
    return LockLost(
        f"session {lock.session} is now being consolidated by another worker. The rest of the session's data "
        "will be deleted later."
    )
