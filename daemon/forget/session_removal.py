"""A whole conversation: everything of it goes, and its indexes go on where they are."""

import msgspec

from daemon.archive import Shelf
from daemon.bus import Part, load_script
from daemon.errors import ArchiveError, ArchiveUnavailable, LockLost
from daemon.events import LogEntry
from daemon.forget.forget_context import Work
from daemon.forget.log_removal import forget_beside_log
from daemon.session import Labels, Lock, SessionReader

SKIP = load_script(__file__, "skip.lua", with_parts=("../memory/memory.part.lua",))
LEAVE = load_script(__file__, "leave.lua")

_decode = msgspec.json.Decoder(LogEntry).decode
_encode = msgspec.json.Encoder().encode


async def leave_session(work: Work, lock: Lock | None, session: str, *, home: str) -> None:
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
    await Labels(bus).remove(session)


async def _skip(work: Work, lock: Lock, *, home: str, upto: int, last: bytes | None) -> None:
    entry = _decode(last) if last else None
    # As consolidation marks the last message that it took in.
    mark = {"last": f"{entry.turn} {entry.time} {entry.id}".rstrip()} if entry else {}
    keys = work.stores.bus.keys
    args: list[Part] = [lock.session, lock.fence, lock.nonce, upto, _encode(mark)]
    if await work.stores.bus.run(SKIP, [keys.memory(home)], args) != b"done":
        raise _lost(lock)


async def _leave(work: Work, lock: Lock, *, upto: int) -> None:
    keys = work.stores.bus.keys.of(lock.session)
    status = await work.stores.bus.run(
        LEAVE,
        [keys.session, keys.log, keys.live, keys.notices, keys.lock],
        [lock.session, lock.nonce, upto, work.stores.bus.keys.events(lock.session)],
    )
    if status != b"done":
        raise _lost(lock)


def _lost(lock: Lock) -> LockLost:
    return LockLost(
        f"session {lock.session} is now being consolidated by another worker. The rest of the session's data is "
        "deleted later."
    )
