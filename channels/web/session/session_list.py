"""``GET /api/sessions``: the list of sessions, page by page: pinned ones first, then the most recently active ones."""

import datetime as dt
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

import anyio
import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.rate_limit import is_member
from channels.web.request_params import age_of, flag_of, limit_of
from channels.web.site import Site
from daemon.bus import Bus
from daemon.clock import stamp
from daemon.errors import UNREADABLE
from daemon.events import LogEntry
from daemon.forget.text_matcher import FORGOTTEN
from daemon.recall import said_of
from daemon.session import (
    NO_LABEL,
    SessionLabel,
    SessionLabels,
    SessionReader,
    SessionState,
    pending_of,
    title_of,
    words_or_files,
)
from daemon.sessionkey import encode_part

# A line of the list of sessions: a title, the last message, and the state of the session.

LAST_CHARS = 160
"""Longest text of the last message in a line."""

_decode = msgspec.json.Decoder(LogEntry).decode


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One session of the list."""

    session: str
    title: str
    """A title that was given, or else the first words of the session; empty: nobody has said anything."""
    last: str
    """The beginning of the last message; empty: only the archive holds it."""
    last_role: str
    pinned: bool
    archived: bool
    channel: str
    bot: str
    scope: str
    head: int
    cursor: int
    waiting: int
    busy: bool
    """A turn is in progress."""
    parked: bool
    """It backs off after a failure."""
    last_activity: str


class SessionRows:
    """Makes lines of sessions. All methods raise BusUnavailable if Redis is unavailable."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._reader = SessionReader(bus)

    async def of(self, sessions: Sequence[tuple[str, int]], labels: Mapping[str, SessionLabel]) -> list[SessionRow]:
        """The lines of sessions, each given with the time of its last activity (ms since 1970)."""
        now_ms, lines = await self._reader.now_ms(), dict[str, SessionRow]()

        async def look(session: str, at_ms: int) -> None:
            lines[session] = await self._line(session, labels.get(session, NO_LABEL), at_ms, now_ms)

        async with anyio.create_task_group() as tg:  # few ticks, few pipelines
            for session, at_ms in sessions:
                tg.start_soon(look, session, at_ms)
        return [lines[session] for session, _ in sessions]

    async def _line(self, session: str, label: SessionLabel, at_ms: int, now_ms: int) -> SessionRow:
        state = await self._reader.state(session)
        first = "" if label.title else (await self._said(state, state.base))[0]
        last, role = await self._said(state, state.head - 1)
        if state.waiting and not (first or last):  # the first message is not answered yet
            pending = await pending_of(self._bus, session, limit=1)
            first, role = pending[0].text if pending else "", "user"
            last = first
        busy = state.lease_ms > now_ms
        return SessionRow(
            session=session,
            title=label.title or title_of(first),
            last=" ".join(last[: 4 * LAST_CHARS].split())[:LAST_CHARS],
            last_role=role,
            pinned=bool(label.pinned_ms),
            archived=bool(label.archived_ms),
            channel=unquote(session.partition(":")[0]),
            bot=unquote(state.scope.partition(":")[0]),
            scope=state.scope,
            head=state.head,
            cursor=state.cursor,
            waiting=state.waiting,
            busy=busy,
            parked=state.retry_at_ms > now_ms and not busy,
            last_activity=stamp(dt.datetime.fromtimestamp(at_ms / 1000, dt.UTC)),
        )

    async def _said(self, state: SessionState, index: int) -> tuple[str, str]:
        """The text and the role of a message that the log in Redis contains; empty if it does not."""
        if not state.base <= index < state.head:
            return "", ""
        raw = await self._bus.call("LINDEX", self._bus.keys.log(state.session), index - state.base)
        try:
            said = said_of(state.session, index, _decode(raw or b""))
        except UNREADABLE:
            return "", ""
        if said is None or said.text == FORGOTTEN:
            return "", ""
        if said.speaker == "assistant":
            return said.text, "assistant"
        # The pictures and files of a message stand on lines of their own, which are no words of its sender.
        return words_or_files(said.text), "user"


LOOKED_AT_MAX = 20_000
"""A search looks through so many of the newest sessions: a few megabytes of names."""

CHUNK = 1_000
"""Sessions read at once for a filter."""


class _Page(msgspec.Struct, frozen=True, kw_only=True):
    """The body of a response."""

    sessions: list[SessionRow]
    next: str
    """The value of ``before`` for the next page; empty: this is the last page."""


class _Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions that a request asks for."""

    limit: int
    channel: str
    part: str
    archived: bool
    before: tuple[int, str] | None

    def fits(self, session: str, label: SessionLabel) -> bool:
        """Whether the filters accept a session."""
        if self.channel and not session.startswith(f"{encode_part(self.channel)}:"):
            return False
        # The part may be a readable name or an encoded one from an address.
        texts = (session, unquote(session), label.title)
        return not self.part or any(self.part in text.casefold() for text in texts)

    def is_in_turn(self, session: str, label: SessionLabel) -> bool:
        """Whether a session stands among the others, by its last activity."""
        is_there = self.archived or not label.pinned_ms
        return is_there and bool(label.archived_ms) == self.archived and self.fits(session, label)


class SessionList:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        self._name = site.name
        self._reader = SessionReader(site.process.bus)
        self._labels = SessionLabels(site.process.bus)
        self._lines = SessionRows(site.process.bus)
        self._clock = site.process.clock
        self._lock = anyio.Lock()
        self._kept: tuple[_Wanted, float, bytes] | None = None
        """The last response to polling clients: its request, its time, and its body."""

    async def read(self, request: Request) -> Response:
        """The sessions of all channels, filtered by a channel or a part of a name or title; for members, of theirs."""
        query = request.query_params
        wanted = _Wanted(
            limit=limit_of(request),
            channel=self._name if is_member(request) else query.get("channel", ""),
            part=query.get("q", "").strip().casefold(),
            archived=flag_of(request, "archived"),
            before=_place_in(query.get("before", "")),
        )
        age_s = age_of(request)
        if wanted.part or not age_s:
            return _json(await self._found(wanted))
        async with self._lock:  # clients that wait here get the same response
            kept, now = self._kept, self._clock.monotonic()
            if kept is None or kept[0] != wanted or now - kept[1] > age_s:
                kept = self._kept = (wanted, now, await self._found(wanted))
        return _json(kept[2])

    async def _found(self, wanted: _Wanted) -> bytes:
        labels = await self._labels.all()
        pinned = [] if wanted.archived or wanted.before else await self._pinned(wanted, labels)
        chosen, place = await self._in_turn(wanted, labels)
        lines = await self._lines.of([*pinned, *chosen], labels)
        return msgspec.json.encode(_Page(sessions=lines, next=place))

    async def _pinned(self, wanted: _Wanted, labels: Mapping[str, SessionLabel]) -> list[tuple[str, int]]:
        """The pinned sessions, the last pinned first, each with the time of its last activity."""
        pinned = [
            (label.pinned_ms, session)
            for session, label in labels.items()
            if label.pinned_ms and not label.archived_ms and wanted.fits(session, label)
        ]
        names = [session for _, session in sorted(pinned, reverse=True)]
        return await self._reader.active_at(names)

    async def _in_turn(self, wanted: _Wanted, labels: Mapping[str, SessionLabel]) -> tuple[list[tuple[str, int]], str]:
        """The sessions of a page, and the place of the next page."""
        chosen, before = list[tuple[str, int]](), wanted.before
        for _ in range(LOOKED_AT_MAX // CHUNK):
            found = await self._reader.sessions_before(before, limit=CHUNK)
            for session, at_ms in found:
                if len(chosen) == wanted.limit:
                    return chosen, f"{chosen[-1][1]} {chosen[-1][0]}"
                if wanted.is_in_turn(session, labels.get(session, NO_LABEL)):
                    chosen.append((session, at_ms))
            if len(found) < CHUNK:
                return chosen, ""
            before = (found[-1][1], found[-1][0])
        return chosen, ""


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")


def _place_in(text: str) -> tuple[int, str] | None:
    """The place that a response named as its ``next``.

    Raises:
        HTTPException: 400, no response names such a place.
    """
    if not text:
        return None
    number, _, session = text.partition(" ")
    if not (number.isascii() and number.isdigit() and len(number) <= 16 and session):
        raise HTTPException(
            400,
            f"{text[:80]!r} is not a valid value for the `before` parameter. Use the value of the next field from an "
            "earlier response.",
        )
    return int(number), session
