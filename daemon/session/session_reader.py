"""Reads a session without holding it: its positions, its log and its pending messages."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

import anyio
import msgspec

from daemon.bus import Bus, load_script, pairs, scan
from daemon.errors import UNREADABLE, DamagedData, Trimmed
from daemon.events import NO_OPTIONS, Continuity, Inbound, LogEntry, Options
from daemon.session.claim import continuity_from, options_from

# Messages of a session that are accepted and not answered yet.

_decode = msgspec.json.Decoder(Inbound).decode


async def pending_of(bus: Bus, session: str, *, limit: int) -> list[Inbound]:
    """The first ``limit`` pending messages of a session, oldest first; unreadable ones are left out.

    Raises:
        BusUnavailable: Redis is unavailable.
    """
    ids: list[bytes] = await bus.call("LRANGE", bus.keys.waiting(session), 0, limit - 1)
    inbox = bus.keys.inbox(bus.keys.partition(session))
    found: list[Inbound] = []
    for stream_id in ids:
        for _, fields in await bus.call("XRANGE", inbox, stream_id, stream_id):
            try:
                found.append(_decode(dict(pairs(fields)).get(b"message", b"")))
            except UNREADABLE:
                continue
    return found


# All sessions and their scopes, read from the sessions themselves, because the index may be incomplete.


async def all_sessions(bus: Bus) -> list[str]:
    """The keys of all sessions, sorted.

    Raises:
        BusUnavailable: Redis is away.
    """
    return sorted([name async for names in scan(bus, "session") for name in names])


async def sessions_of(bus: Bus, scopes: Collection[str]) -> list[tuple[str, str]]:
    """All sessions whose own scope is one of ``scopes``, each with its scope, sorted. Errors as for ``all_sessions``.

    What two scopes have become by being linked is not looked at here.
    """
    return await sessions_where(bus, lambda scope: scope in scopes)


async def sessions_where(bus: Bus, wanted: Callable[[str], bool]) -> list[tuple[str, str]]:
    """As ``sessions_of``, for the scopes that ``wanted`` accepts."""
    found: list[tuple[str, str]] = []

    async def look(session: str) -> None:
        scope = await bus.call("HGET", bus.keys.session(session), "scope")
        if scope is not None and wanted(scope.decode()):
            found.append((session, scope.decode()))

    async for names in scan(bus, "session"):
        async with anyio.create_task_group() as tg:  # one tick, few pipelines
            for name in names:
                tg.start_soon(look, name)
    return sorted(found)


LOG = load_script(__file__, "log.lua")

_NUMBERS = (
    "base",
    "begins",
    "cursor",
    "start",
    "head",
    "tokens",
    "tokens_start",
    "fence",
    "claims",
    "attempts",
    "deaths",
)

_decode_entry = msgspec.json.Decoder(LogEntry).decode


class SessionState(msgspec.Struct, frozen=True, kw_only=True):
    """A session's positions at one moment."""

    session: str
    exists: bool
    base: int = 0
    begins: int = 0
    """Index of the first message that is kept anywhere; those before it were forgotten, or never were."""
    cursor: int = 0
    start: int = 0
    head: int = 0
    tokens: int = 0
    """Of the messages from the cursor on."""
    tokens_start: int = 0
    """Of the messages that a model sees: from the start on."""
    fence: int = 0
    claims: int = 0
    attempts: int = 0
    deaths: int = 0
    """Workers that died, or lost the lease, since the last progress."""
    worker: str = ""
    """Who holds it; empty when nobody does."""
    lease_ms: int = 0
    """When the lease ends: server's clock, ms since 1970."""
    since_ms: int = 0
    """When its holder began the turn in progress."""
    retry_at_ms: int = 0
    parked_why: str = ""
    """``<kind>: <reason>``: why the session was parked since its last commit; empty unless it was."""
    scope: str = ""
    options: Options = NO_OPTIONS
    continuity: Continuity | None = None
    fixed_tokens: int = 0
    """What stands in every prompt beside memory and history; 0: not known yet."""
    waiting: int = 0
    """Messages not yet answered."""

    @property
    def is_repeated(self) -> bool:
        """Whether a turn failed or died since the last progress. The next turn then takes only the first message."""
        return self.attempts > 1 or self.deaths > 0


class SessionReader:
    """Reads the sessions of a database."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def state(self, session: str) -> SessionState:
        """The positions; all zero for a session without messages.

        Raises:
            DamagedData: a field that should be a number is none.
        """
        keys = self._bus.keys
        fields = dict(pairs(await self._bus.call("HGETALL", keys.session(session))))
        waiting = int(await self._bus.call("LLEN", keys.waiting(session)))
        if not fields:
            return SessionState(session=session, exists=False, waiting=waiting)
        numbers = {name: number_in(fields, name, session) for name in _NUMBERS}
        return SessionState(
            session=session,
            exists=True,
            worker=fields.get(b"worker", b"").decode(),
            lease_ms=number_in(fields, "lease", session),
            since_ms=number_in(fields, "since", session),
            retry_at_ms=number_in(fields, "retry_at", session),
            parked_why=fields.get(b"parked_why", b"").decode(errors="replace"),
            scope=fields.get(b"scope", b"").decode(),
            options=options_from(fields.get(b"options", b"")),
            continuity=continuity_from(fields.get(b"continuity", b"")),
            fixed_tokens=number_in(fields, "fixed", session),
            waiting=waiting,
            **numbers,
        )

    async def now_ms(self) -> int:
        """The server's clock, ms since 1970, which is compared with leases and back-offs."""
        seconds, micros = await self._bus.call("TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    async def is_settling(self, session: str) -> bool:
        """Whether a worker is consolidating older messages of the session."""
        nonce, lease_ms = await self._bus.call("HMGET", self._bus.keys.lock(session), "nonce", "lease")
        return bool(nonce) and int(lease_ms or 0) > await self.now_ms()

    async def log(self, session: str, *, first: int, upto: int, base: int) -> list[LogEntry]:
        """The entries with indexes ``first`` to ``upto`` (exclusive), as far as Redis held them at ``base``.

        ``base`` is the one read with the session's state.

        Raises:
            Trimmed: the first of them has left Redis since.
        """
        first = max(first, base)
        if upto <= first:
            return []
        return [_decode_entry(raw) for raw in await raws_of_log(self._bus, session, first, upto)]

    async def committed(self, session: str, *, after: int = -1, limit: int = 100) -> list[tuple[int, LogEntry]]:
        """Up to ``limit`` committed entries after index ``after`` that Redis contains, each with its index."""
        while True:
            state = await self.state(session)
            first = max(after + 1, state.base)
            with suppress(Trimmed):  # each time it has come nearer to the head
                entries = await self.log(session, first=first, upto=min(first + limit, state.head), base=state.base)
                return list(enumerate(entries, first))

    async def live(self, session: str) -> bytes | None:
        """The text being written, as a JSON ``Live``; None if no answer is in progress."""
        live: bytes | None = await self._bus.call("GET", self._bus.keys.live(session))
        return live

    async def sessions(self, *, limit: int = 1_000) -> list[tuple[str, int]]:
        """The most recently active sessions, newest first, each with the time of its last activity (ms since 1970)."""
        await self._bus.activity.written()
        found = await self._bus.call("ZRANGE", self._bus.keys.sessions, 0, limit - 1, "REV", "WITHSCORES")
        return [(name.decode(), int(float(score))) for name, score in pairs(found)]

    async def active_at(self, sessions: Sequence[str]) -> list[tuple[str, int]]:
        """Sessions with the time of their last activity (ms since 1970); those that are in no list are left out."""
        if not sessions:
            return []
        found = await self._bus.call("ZMSCORE", self._bus.keys.sessions, *sessions)
        return [(name, int(float(ms))) for name, ms in zip(sessions, found, strict=True) if ms is not None]

    async def sessions_before(self, before: tuple[int, str] | None, *, limit: int) -> list[tuple[str, int]]:
        """As ``sessions``, beginning after the session that was active last at ``before`` (ms, session key)."""
        await self._bus.activity.written()
        least = "+inf" if before is None else before[0]
        found, offset = list[tuple[str, int]](), 0
        while True:
            command = ("ZRANGE", self._bus.keys.sessions, least, "-inf", "BYSCORE", "REV", "LIMIT", offset, limit)
            listed = [
                (name.decode(), int(float(ms))) for name, ms in pairs(await self._bus.call(*command, "WITHSCORES"))
            ]
            # Of the same time, the server gives names in reverse order.
            found += [(name, ms) for name, ms in listed if before is None or (ms, name) < before]
            if len(found) >= limit or len(listed) < limit:
                return found[:limit]
            offset += limit


def number_in(fields: Mapping[bytes, bytes], name: str, session: str) -> int:
    """A field of a session's hash; 0 where it is not there.

    Raises:
        DamagedData: it is no number.
    """
    value = fields.get(name.encode(), b"0")
    if not value.removeprefix(b"-").isdigit():
        raise DamagedData(
            f"the data of session {session} is damaged: {name} is not a number. Run `millpond data check --repair`."
        )
    return int(value)


async def raws_of_log(bus: Bus, session: str, first: int, upto: int) -> list[bytes]:
    """The stored messages ``first`` to ``upto`` (exclusive) of a log and its journal, as far as they exist.

    Raises:
        Trimmed: the first of them has left Redis.
        BusUnavailable: Redis is away.
    """
    base, *raws = await bus.run(LOG, [bus.keys.session(session), bus.keys.log(session)], [first, upto])
    if first < base:
        raise Trimmed(
            f"session {session}: messages {first} to {min(upto, base) - 1} are in the archive and no longer in Redis",
            base=base,
        )
    found: list[bytes] = raws
    return found
