"""A line of the list of sessions: a title, the last message, and the state of the session."""

import datetime as dt
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

import anyio
import msgspec

from daemon.bus import Bus
from daemon.clock import stamp
from daemon.errors import UNREADABLE
from daemon.events import LogEntry
from daemon.forget.text_matcher import FORGOTTEN
from daemon.recall import said_of
from daemon.session import NO_LABEL, Label, SessionReader, SessionState, pending_of, title_of, without_files

LAST_CHARS = 160
"""Longest text of the last message in a line."""

_decode = msgspec.json.Decoder(LogEntry).decode


class Line(msgspec.Struct, frozen=True, kw_only=True):
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


class Lines:
    """Makes lines of sessions. All methods raise BusUnavailable if Redis is unavailable."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._reader = SessionReader(bus)

    async def of(self, sessions: Sequence[tuple[str, int]], labels: Mapping[str, Label]) -> list[Line]:
        """The lines of sessions, each given with the time of its last activity (ms since 1970)."""
        now_ms, lines = await self._reader.now_ms(), dict[str, Line]()

        async def look(session: str, at_ms: int) -> None:
            lines[session] = await self._line(session, labels.get(session, NO_LABEL), at_ms, now_ms)

        async with anyio.create_task_group() as tg:  # few ticks, few pipelines
            for session, at_ms in sessions:
                tg.start_soon(look, session, at_ms)
        return [lines[session] for session, _ in sessions]

    async def _line(self, session: str, label: Label, at_ms: int, now_ms: int) -> Line:
        state = await self._reader.state(session)
        first = "" if label.title else (await self._said(state, state.base))[0]
        last, role = await self._said(state, state.head - 1)
        if state.waiting and not (first or last):  # the first message is not answered yet
            pending = await pending_of(self._bus, session, limit=1)
            first, role = pending[0].text if pending else "", "user"
            last = first
        busy = state.lease_ms > now_ms
        return Line(
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
        return without_files(said.text).strip() or said.text, "user"
