"""Updates an index with new records of a scope, in pieces that are saved one by one.

What is read from Redis is read after the index was opened. Forgetting removes it from Redis first and then deletes
the index, so what was read too early goes where the old index goes, and never into one that is opened later.
"""

import datetime as dt
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import Any, Literal, Protocol, TypeVar, get_args
from weakref import WeakKeyDictionary

import anyio
import msgspec
import structlog

from daemon.bus import load_script
from daemon.errors import ArchiveError, BusError, BusUnavailable, DamagedData
from daemon.memory import Memories
from daemon.recall.index.index_files import IndexDamaged
from daemon.recall.index.index_rows import (
    add_history,
    add_messages,
    add_notes,
    add_versions,
    decode_entry,
    decode_note,
    decode_version,
    mark_of,
)
from daemon.recall.index.index_store import NOWHERE, FeedPosition, Index, IndexWrite
from daemon.recall.session_book import SessionBook, answers
from daemon.transcripts import Transcripts
from daemon.transcripts.transcripts import Piece

LOOK = load_script(__file__, "look.lua")

REST_S = 120.0
"""How long what the archive does not give is left alone."""

RESTING_MAX = 4_096
"""Of what so much is remembered."""

PIECE = 200
"""Records that are taken in at once: about 50 ms."""

VERSIONS_PIECE = 20
"""Versions hold the whole of MEMORY.md each."""

HEADS = 128
"""Sessions whose heads are asked for at once."""

ALWAYS = 8
"""Sessions whose heads are asked for before every search, those that were active last, and as many others in turn:
activity is noted beside what is said, and may be missed."""

SLACK_MS = 10_000
"""For the same reason, sessions count as active for so long after they were."""

Source = Literal["history", "notes", "versions"]

_MARKS: dict[Source, Callable[[bytes], str]] = {
    # A record that was marked as lost is the same record.
    "history": lambda raw: mark_of(decode_entry(raw).text),
    "notes": lambda raw: mark_of(decode_note(raw).text),
    "versions": lambda raw: mark_of(decode_version(raw).text),
}

_SET_BACK = "the search index differs from the data in Redis"

_SCOPE = "scope "
"""What the sources are called by that say whose messages are fed."""

_GAP = "gap "

Make = Callable[[Any, IndexWrite], None]

_T = TypeVar("_T")
_log = structlog.get_logger()


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """The records of a scope at one moment."""

    scopes: tuple[str, ...]
    """The home, and then those that were linked into it."""
    forgets: int
    upto: dict[Source, int]
    last: dict[Source, str]
    """Marks of the newest records, of those that were looked at."""


class InThread(Protocol):
    """Runs an operation on an index in a thread."""

    def __call__(self, work: Callable[..., _T], *args: Any) -> Awaitable[_T]:
        """What ``work`` gives."""
        ...


@dataclass
class _Pass:
    """Which sessions of an index have been looked at."""

    settled_ms: int = -1
    """All that were active before are in step."""
    done: dict[str, int] = field(default_factory=dict[str, int])
    """Of the others, those that are in step, each with when it was active then."""
    turn: int = 0
    """Where among all those begin that are looked at in turn."""


class IndexFeed:
    """Updates indexes from the stores of a process."""

    def __init__(
        self,
        sessions: SessionBook,
        memories: Memories,
        transcripts: Transcripts,
        *,
        zone_of: Callable[[str], dt.tzinfo],
    ) -> None:
        """``zone_of``: in which zone a scope's history says its times."""
        self._bus = sessions.bus
        self._memories = memories
        self._transcripts = transcripts
        self._zone_of = zone_of
        self._sessions = sessions
        self._resting: dict[tuple[str, str], float] = {}
        """What could not be read, and when it is tried again, by the event loop's clock."""
        self._passes: WeakKeyDictionary[Index, _Pass] = WeakKeyDictionary()

    async def look(self, scope: str) -> Look:
        """What is to be in the index of a scope, or of the one that it was joined with.

        Raises:
            BusUnavailable: Redis is away.
        """
        keys = self._bus.keys
        is_person = scope.split(":")[1:2] == ["person"]
        joined, forgets, _, history, notes, versions, entry, note, *links = await self._bus.run(
            LOOK,
            [keys.memory(scope), keys.history(scope), keys.notes(scope), keys.versions(scope)],
            ["1" if is_person else ""],
        )
        if joined:
            return await self.look(joined.decode())
        last: dict[Source, str] = {}
        if entry:
            last["history"] = _MARKS["history"](entry)
        if note:
            last["notes"] = _MARKS["notes"](note)
        return Look(
            scopes=(scope, *[each for field in links if (each := await self._member(scope, field))]),
            forgets=int(forgets),
            upto={"history": int(history), "notes": int(notes), "versions": int(versions)},
            last=last,
        )

    async def _member(self, home: str, field: bytes) -> str:
        scope = field.decode().removeprefix("links:")
        joined = await self._bus.call("HGET", self._bus.keys.memory(scope), "joined")
        return scope if joined == home.encode() else ""

    async def in_step(self, index: Index, look: Look, within: InThread) -> bool:
        """Take in what came since the index was fed last; what is cancelled goes on the next time.

        False: another process was at it too, and has fed some of it; there may be more.

        Raises:
            IndexDamaged: Redis was set back, or another scope was separated from this one: it holds too much.
            IndexBusy, IndexUnusable: it cannot be written.
            BusUnavailable: Redis is away.
        """
        places = index.known
        if places is None:
            places = await within(index.fed)
        fed = scopes_in(places)
        if fed - set(look.scopes):
            raise IndexDamaged("the search index contains messages from before the person's identity changed")
        for scope in set(look.scopes) - fed:
            await within(index.feed, f"{_SCOPE}{scope}", NOWHERE, FeedPosition(1), _nothing)
        is_whole = True
        for source in get_args(Source):
            is_whole &= await self._list(index, look, source, places.get(source, NOWHERE), within)
        is_whole &= await self._logs(index, look, places, within)
        await self._gaps(index, places, within)
        return is_whole

    async def _list(self, index: Index, look: Look, source: Source, place: FeedPosition, within: InThread) -> bool:
        """Take in what came of a list; False: another process is at it."""
        scope, upto = look.scopes[0], look.upto[source]
        if _is_ahead(place, look, source):
            # Another process may have seen, and fed, what came after this look.
            if _is_ahead(place, await self.look(scope), source):
                raise IndexDamaged(_SET_BACK)
            return True
        if self._rests(scope, source):
            return True
        most = VERSIONS_PIECE if source == "versions" else PIECE
        while place.upto < upto:
            first = max(0, place.upto - 1)
            try:
                records = await self._memories.some(source, scope, first=first, most=most + 1)
            except ArchiveError as error:
                self._rest(scope, source, reason=str(error))
                return True
            if place.upto and (not records or _MARKS[source](records[0]) != place.last):
                raise IndexDamaged(_SET_BACK)
            new = records[place.upto - first :]
            if not new:
                break
            now = FeedPosition(place.upto + len(new), _MARKS[source](new[-1]))
            if not await within(index.feed, source, place, now, partial(_made, source, new, self._zone_of(scope))):
                return False
            place = now
        return True

    async def _logs(self, index: Index, look: Look, places: dict[str, FeedPosition], within: InThread) -> bool:
        sessions = await self._sessions.of(look.scopes)
        state = self._passes.setdefault(index, _Pass())
        chosen, newest_ms = self._chosen(state, sessions)
        keys, is_whole = self._bus.keys, True
        for first in range(0, len(chosen), HEADS):
            part = chosen[first : first + HEADS]
            heads = await answers(self._bus, [("HGET", keys.session(session), "head") for session in part])
            for session, head in zip(part, heads, strict=True):
                place, active_ms = places.get(f"log {session}", NOWHERE), self._sessions.active_ms(session)
                if await self._log_if_readable(index, session, place, head, within):
                    state.done[session] = active_ms
                else:
                    is_whole = False
        if is_whole:
            state.settled_ms = newest_ms - SLACK_MS
            # The others need not be asked again before they are active again.
            state.done = {each: ms for each, ms in state.done.items() if ms > state.settled_ms}
        return is_whole

    def _chosen(self, state: "_Pass", sessions: Sequence[str]) -> tuple[list[str], int]:
        """Sessions that may have grown, and when the newest of all was active."""
        if not sessions:
            return [], 0
        active_ms = self._sessions.active_ms
        grown = takewhile(lambda session: active_ms(session) > state.settled_ms, sessions)
        found = dict.fromkeys(sessions[:ALWAYS])
        found.update((session, None) for session in grown if state.done.get(session) != active_ms(session))
        begin = state.turn % len(sessions)
        state.turn = begin + ALWAYS
        found.update(dict.fromkeys(sessions[begin : begin + ALWAYS]))
        return list(found), active_ms(sessions[0])

    async def _log_if_readable(
        self, index: Index, session: str, place: FeedPosition, head: bytes | None, within: InThread
    ) -> bool:
        """As ``_log``; a session whose data is damaged is passed over, so that the others of its scope are found."""
        try:
            return await self._log(index, session, place, int(head or 0), within)
        except (BusUnavailable, IndexDamaged):
            raise
        except (BusError, DamagedData, ValueError) as error:
            _log.warning("index.behind", kind="log", session=session, reason=type(error).__name__)
            return True

    async def _log(self, index: Index, session: str, place: FeedPosition, head: int, within: InThread) -> bool:
        """Take in a session's messages up to its head; False: another process is at it."""
        if place.upto > head:
            raise IndexDamaged(_SET_BACK)
        if place.upto == head:
            return True
        source, first = f"log {session}", max(0, place.upto - 1)
        async with aclosing(self._transcripts.pieces(session, first, head, chunk=PIECE)) as pieces:
            async for piece in pieces:
                known = 1 if piece.first < place.upto else 0
                if piece.reason:
                    self._rest(session, _GAP, reason=piece.reason)
                    made: list[tuple[int, str, Make]]
                    made = [(piece.upto, "", partial(_missed, session, piece.first + known, piece.upto))]
                else:
                    if known and place.last and mark_of(piece.raws[0]) != place.last:
                        raise IndexDamaged(_SET_BACK)
                    made = _parts(session, piece, known)
                for upto, last, make in made:
                    if upto > place.upto:
                        now = FeedPosition(upto, last)
                        if not await within(index.feed, source, place, now, make):
                            return False
                        place = now
        return True

    async def _gaps(self, index: Index, places: dict[str, FeedPosition], within: InThread) -> None:
        """What could not be read when it was its turn is tried again now and then, a piece each time."""
        for source, place in [each for each in places.items() if each[0].startswith(_GAP)]:
            _, session, first = source.split(" ")
            if place == NOWHERE or self._rests(session, _GAP):
                continue
            async with aclosing(self._transcripts.pieces(session, int(first), place.upto, chunk=PIECE)) as pieces:
                piece = await anext(pieces, None)
            if piece is None or piece.reason:
                self._rest(session, _GAP, reason=piece.reason if piece else "the messages no longer exist")
                continue
            await within(index.feed, source, place, NOWHERE, partial(_filled, session, place.upto, piece))

    def _rest(self, owner: str, what: str, *, reason: str) -> None:
        _log.warning("index.behind", kind=what.strip(), reason=reason)
        if len(self._resting) > RESTING_MAX:
            self._resting.clear()
        self._resting[owner, what] = anyio.current_time() + REST_S

    def _rests(self, owner: str, what: str) -> bool:
        return self._resting.get((owner, what), 0.0) > anyio.current_time()


def scopes_in(places: Mapping[str, FeedPosition]) -> set[str]:
    """Whose messages are fed, by how far all sources are."""
    return {source.removeprefix(_SCOPE) for source in places if source.startswith(_SCOPE)}


def _is_ahead(place: FeedPosition, look: Look, source: Source) -> bool:
    """Whether more was fed, or something else, than there is."""
    upto, last = look.upto[source], look.last.get(source, place.last)
    return place.upto > upto or (place.upto == upto and place.last != last)


def _nothing(_connection: Any, _write: IndexWrite) -> None:
    """There are no records."""


def _parts(session: str, piece: Piece, known: int) -> list[tuple[int, str, Make]]:
    """A piece of messages, in as many as are taken in at once."""
    found = list[tuple[int, str, Make]]()
    for at in range(0, len(piece.raws), PIECE):
        raws = piece.raws[max(0, at - 1) : at + PIECE]
        first, overlap = piece.first + max(0, at - 1), known if at == 0 else 1
        make = partial(_said, session, first, raws, overlap)
        found.append((first + len(raws), mark_of(raws[-1]), make))
    return found


def _made(source: Source, records: Sequence[bytes], zone: dt.tzinfo, connection: Any, write: IndexWrite) -> None:
    if source == "versions":
        add_versions(connection, write, records)
    elif source == "history":
        add_history(write, records, zone)
    else:
        add_notes(write, records, zone)


def _said(session: str, first: int, records: Sequence[bytes], known: int, _connection: Any, write: IndexWrite) -> None:
    add_messages(write, session, first, records, known=known)


def _missed(session: str, first: int, upto: int, _connection: Any, write: IndexWrite) -> None:
    write.fed[f"{_GAP}{session} {first}"] = FeedPosition(upto, "")


def _filled(session: str, upto: int, piece: Piece, _connection: Any, write: IndexWrite) -> None:
    add_messages(write, session, piece.first, piece.raws)
    if piece.upto < upto:
        _missed(session, piece.upto, upto, _connection, write)
