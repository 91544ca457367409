"""The consolidation lock of a session, and all operations that only its holder may perform."""

import hashlib
import secrets
from typing import Any, Literal

import msgspec

from daemon.bus import Bus, load_script, longest_deadline_s
from daemon.config import QueueConfig
from daemon.errors import LockLost
from daemon.events import NO_OPTIONS, Continuity, Options
from daemon.session.claim import continuity_from, options_from
from daemon.session.session_reader import SessionState
from daemon.session.sessions import GREW_MAX

# The state of the consolidation of a session, read without its lock.


class ConsolidationState(msgspec.Struct, frozen=True, kw_only=True):
    """The consolidation state of a session, besides its positions. Times are those of the server, ms since 1970."""

    journal: int = 0
    """Messages of the turn in progress: those beyond the head."""
    look_at_ms: int | None = None
    """When somebody is to look whether there is something to consolidate; None: nothing is."""
    flushed: int = -1
    """The cursor of the cycle that was flushed last; -1: none was."""
    unflushed: tuple[int, int] | None = None
    """Messages that were consolidated before they were flushed: first, and one past the last."""
    failures: int = 0
    """Tries in a row that brought no summary, the one under way counted."""
    worker: str = ""
    """Who holds the consolidation lock, maybe until ``lease_ms`` only; empty when nobody does."""
    fence: int = 0
    """Number of the newest lock."""
    since_ms: int = 0
    lease_ms: int = 0


async def settlement_of(bus: Bus, state: SessionState) -> ConsolidationState:
    """The consolidation state of the session of ``state``.

    Raises:
        BusUnavailable: Redis is away.
    """
    keys = bus.keys.of(state.session)
    noted = await bus.call("HMGET", keys.session, "flushed", "unflushed", "failures")
    held = await bus.call("HMGET", keys.lock, "worker", "fence", "since", "lease")
    length = await bus.call("LLEN", keys.log)
    look_at = await bus.call("ZSCORE", keys.unsettled, state.session)
    flushed, unflushed, failures = (value or b"" for value in noted)
    worker, fence, since, lease = (value or b"" for value in held)
    first, _, upto = unflushed.decode().partition(" ")
    return ConsolidationState(
        journal=max(0, state.base + length - state.head),
        look_at_ms=None if look_at is None else int(float(look_at)),
        flushed=int(flushed or -1),
        unflushed=(int(first), int(upto)) if upto else None,
        failures=int(failures or 0),
        worker=worker.decode(),
        fence=int(fence or 0),
        since_ms=int(since or 0),
        lease_ms=int(lease or 0),
    )


LOCK = load_script(__file__, "lock.lua")
NOTE = load_script(__file__, "note.lua")
RELOCK = load_script(__file__, "relock.lua")
SETTLE = load_script(__file__, "settle.lua")
SWEEP = load_script(__file__, "sweep.lua")
UNLOCK = load_script(__file__, "unlock.lua")

SWEPT_MOST = 100
"""Sessions of one partition that a sweep gives at once; the next one follows soon."""

_encode = msgspec.json.Encoder().encode


class ConsolidationLock(msgspec.Struct, frozen=True, kw_only=True):
    """A session under its consolidation lock, with its positions at that moment."""

    session: str
    nonce: str
    """Random, one a lock: what every script of the holder is checked by."""
    fence: int
    """Rises with every lock: what the memory of its scope is written under."""
    base: int
    cursor: int
    start: int
    head: int
    tokens: int
    """Of the messages from the cursor on."""
    tokens_start: int
    """Of the messages from the start on."""
    scope: str
    options: Options = NO_OPTIONS
    continuity: Continuity | None = None
    fixed_tokens: int = 0
    """What stands in every prompt beside memory and history; 0: not known yet."""
    flushed: int = -1
    """The cursor of the cycle that was flushed last; -1: none was."""
    flush_failed: int = -1
    """The cursor of the cycle whose flush failed last; -1: none did."""
    unflushed: tuple[int, int] | None = None
    """Messages that were consolidated before they were flushed: first, and one past the last."""
    failures: int = 0
    """Attempts in a row that brought no summary."""
    digests: int = 0
    """Attempts in a row to work in an entry that MEMORY.md does not hold yet, of which nobody came back."""
    digest_at: float = 0.0
    """When such an entry may be worked in although nothing was summarized, s since 1970; 0: nobody has tried."""
    parts: bytes = b""
    """The finished parts of a turn that takes several requests (``workers.consolidation.summary.summary_calls``)."""


class ConsolidationLocks:
    """The scripts for the consolidation locks of a process."""

    def __init__(self, bus: Bus, config: QueueConfig, *, worker: str) -> None:
        self._bus = bus
        self._worker = worker
        self.lease_s = config.lease_s
        self._lease_ms = round(config.lease_s * 1000)
        self._longest_ms = round(longest_deadline_s(config) * 1000)
        self._put_off_ms = round((config.lease_s + config.wakeup_s) * 1000)

    async def take(self, session: str, *, above: int = 0, waits: bool = False) -> ConsolidationLock | None:
        """The lock, with a fence above ``above``; None if another worker holds it, or the session does not exist.

        With ``waits`` its holder is told that somebody waits for it, see ``is_wanted``.

        Raises:
            BusUnavailable: Redis is away; the lock may be held under a nonce nobody knows until its lease ends.
        """
        nonce, keys = secrets.token_hex(8), self._bus.keys.of(session)
        status, *found = await self._bus.run(
            LOCK,
            [keys.session, keys.lock, keys.unsettled],
            [session, nonce, self._worker, self._lease_ms, self._longest_ms, above, "", "1" if waits else ""],
        )
        return _lock(session, nonce, found) if status == b"locked" else None

    async def again(self, lock: ConsolidationLock, *, above: int = 0) -> ConsolidationLock:
        """The same lock with the current positions and a fence above ``above``.

        Raises:
            LockLost: it is not.
        """
        keys = self._bus.keys.of(lock.session)
        status, *found = await self._bus.run(
            LOCK,
            [keys.session, keys.lock, keys.unsettled],
            [lock.session, lock.nonce, self._worker, self._lease_ms, self._longest_ms, above, "1", ""],
        )
        if status != b"locked":
            raise _lost(lock)
        return _lock(lock.session, lock.nonce, found)

    async def renew(self, lock: ConsolidationLock) -> None:
        """Extend the lease.

        Raises:
            LockLost: somebody else has the lock.
        """
        keys = self._bus.keys.of(lock.session)
        if (
            await self._bus.run(RELOCK, [keys.lock, keys.unsettled], [lock.session, lock.nonce, self._lease_ms])
            != b"held"
        ):
            raise _lost(lock)

    async def is_wanted(self, lock: ConsolidationLock) -> bool:
        """Whether somebody waits for the lock."""
        wanted: bytes | None = await self._bus.call("HGET", self._bus.keys.session(lock.session), "wanted")
        return wanted == lock.nonce.encode()

    async def note(
        self,
        lock: ConsolidationLock,
        what: Literal["failures", "digests", "flushed", "flush_failed", "unflushed", "digest_at", "parts"],
        value: float | str | bytes,
    ) -> None:
        """Store a note in the session; see ``ConsolidationLock``.

        Raises:
            LockLost: somebody else has the lock; nothing was written.
        """
        keys = self._bus.keys.of(lock.session)
        if await self._bus.run(NOTE, [keys.session, keys.lock], [lock.nonce, what, value]) != b"done":
            raise _lost(lock)

    async def settle(
        self,
        lock: ConsolidationLock,
        *,
        upto: int,
        last: bytes,
        tokens: int,
        continuity: Continuity | None,
        flushed: bool,
    ) -> None:
        """Move the cursor from the lock's position to ``upto``, over messages with ``tokens`` tokens.

        Raises:
            LockLost: somebody else has the lock, the cursor is elsewhere, or the log holds another message than
                ``last`` before ``upto``, since a failover set it back; nothing was written.
        """
        keys = self._bus.keys.of(lock.session)
        status = await self._bus.run(
            SETTLE,
            [keys.session, keys.lock, keys.log],
            [
                lock.session,
                lock.nonce,
                lock.cursor,
                upto,
                tokens,
                _encode(continuity) if continuity else "",
                "" if flushed else "1",
                self._bus.keys.events(lock.session),
                hashlib.sha1(last, usedforsecurity=False).hexdigest(),
            ],
        )
        if status != b"done":
            raise _lost(lock)

    async def give_back(self, lock: ConsolidationLock, *, again_in_s: float | None) -> None:
        """Release the lock. The session is examined again after ``again_in_s``, or, if None, when its log has grown."""
        keys = self._bus.keys.of(lock.session)
        delay_ms = -1 if again_in_s is None else round(again_in_s * 1000)
        await self._bus.run(
            UNLOCK,
            [keys.session, keys.lock, keys.unsettled, keys.grew],
            [lock.session, lock.nonce, lock.head, delay_ms, GREW_MAX],
        )

    async def due(self, partition: int, *, overdue_s: float = 0.0) -> list[str]:
        """Sessions whose time for consolidation came at least so long ago."""
        found = await self._bus.run(
            SWEEP,
            [self._bus.keys.unsettled(partition)],
            [self._put_off_ms, self._longest_ms, SWEPT_MOST, round(overdue_s * 1000)],
        )
        return [session.decode() for session in found]

    async def rests(self, session: str) -> bool:
        """Whether a consolidation has failed, and the next attempt is to come later; also while one is under way."""
        keys = self._bus.keys.of(session)
        at_ms = await self._bus.call("ZSCORE", keys.unsettled, session)
        if at_ms is None or int(await self._bus.call("HGET", keys.session, "failures") or 0) == 0:
            return False
        seconds, micros = await self._bus.call("TIME")
        return float(at_ms) > int(seconds) * 1000 + int(micros) // 1000

    async def note_wait(self, session: str, cursor: int) -> None:
        """Record that a turn waited, and no consolidation moved the cursor from ``cursor``."""
        await self._bus.call("HSET", self._bus.keys.lock(session), "waited", cursor)

    async def waited(self, session: str, cursor: int) -> bool:
        """Whether that was recorded of ``cursor``."""
        found: bytes | None = await self._bus.call("HGET", self._bus.keys.lock(session), "waited")
        return found == b"%d" % cursor

    async def wants(self, session: str) -> bool:
        """Whether some messages of the session should be consolidated now.

        One that rests after a failure wants nothing, however much is said in it: its time comes with ``due``.
        """
        keys = self._bus.keys.of(session)
        if await self._bus.call("ZSCORE", keys.unsettled, session) is None:
            return False
        return int(await self._bus.call("HGET", keys.session, "failures") or 0) == 0


def _lock(session: str, nonce: str, found: list[Any]) -> ConsolidationLock:
    fence, base, cursor, start, head, tokens, tokens_start, scope, options, continuity, *more = found
    fixed, flushed, unflushed, failures, digests, parts, flush_failed, digest_at = more
    first, _, upto = unflushed.decode().partition(" ")
    return ConsolidationLock(
        session=session,
        nonce=nonce,
        fence=int(fence),
        base=int(base or 0),
        cursor=int(cursor or 0),
        start=int(start or 0),
        head=int(head or 0),
        tokens=int(tokens or 0),
        tokens_start=int(tokens_start or 0),
        scope=scope.decode(),
        options=options_from(options),
        continuity=continuity_from(continuity),
        fixed_tokens=int(fixed or 0),
        flushed=int(flushed or -1),
        unflushed=(int(first), int(upto)) if upto else None,
        failures=int(failures or 0),
        digests=int(digests or 0),
        parts=parts,
        digest_at=float(digest_at or 0),
        flush_failed=int(flush_failed or -1),
    )


def _lost(lock: ConsolidationLock) -> LockLost:
    return LockLost(f"session {lock.session} is now being consolidated by another worker. Nothing more was written.")
