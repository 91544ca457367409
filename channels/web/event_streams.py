"""Server-Sent Events: the stream of a response, and the events of a session in order.

Published events are hints. The log is read again after an event that says it moved, after a possible gap, and every few
seconds. A viewer may therefore fall behind, but never misses a message.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any

import anyio
import msgspec
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from channels.live_display.draft_message import TextPreview
from channels.web.message_endpoints import encode, shown
from channels.web.rate_limit import readable
from channels.web.request_params import after_of, session_in_query
from channels.web.site import Site
from daemon.bus import Heard, Subscription, pairs
from daemon.errors import UNREADABLE, ArchiveError, BusError, brief
from daemon.events import Live, Moved, Notice, ToolEvent
from daemon.session import SessionReader, SessionState
from daemon.transcripts import Piece

# Server-Sent Events: responses that end when their work is done, the client disconnects or stalls, or on a stop.

VIEWERS_MAX = 1_000
"""Most streams of an endpoint in one process and channel. Each costs a few reads every five seconds, and a socket."""

KEEP_ALIVE_S = 1.0
"""Longest silence. The page holds a stream for lost after two of these times; proxies close idle connections."""

SEND_S = 30.0
"""A client that reads nothing for so long is disconnected."""

END_S = 0.2
"""Time limit for the last byte of a stream."""

HEADERS = {"Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no"}
"""Without X-Accel-Buffering, nginx would hold events back."""

Write = Callable[[bytes], Awaitable[None]]
"""Sends bytes to the viewer; raises if the viewer stalls."""

Work = Callable[[Write], Awaitable[None]]
"""Writes the events of one stream until it ends or is cancelled."""

_log = structlog.get_logger()


class EventStreams:
    """The streams of one endpoint."""

    def __init__(self, stopping: anyio.Event, channel: str) -> None:
        self._stopping = stopping
        self._channel = channel
        self._viewers = 0

    def response(self, request: Request, work: Work, headers: Mapping[str, str] | None = None) -> Response:
        """The response that ``work`` writes.

        Raises:
            HTTPException: 503, the limit of viewers is reached.
        """
        if request.method == "HEAD":
            return Response(headers={**HEADERS, **(headers or {})})
        if self._viewers >= VIEWERS_MAX:
            raise HTTPException(
                503,
                f"The limit of {VIEWERS_MAX:,} connected viewers has been reached. Try again later.",
                {"Retry-After": "10"},
            )
        return _Stream(self, work, {**HEADERS, **(headers or {})})

    async def view(self, scope: Scope, receive: Receive, send: Send, work: Work) -> None:
        """Stream to one client until it disconnects or stalls, or this process stops."""

        lock, sent_at = anyio.Lock(), anyio.current_time()

        async def write(piece: bytes) -> None:
            nonlocal sent_at
            with anyio.fail_after(SEND_S):
                async with lock:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            sent_at = anyio.current_time()

        async def keep_alive() -> None:
            while True:
                await anyio.sleep_until(sent_at + KEEP_ALIVE_S)
                if anyio.current_time() >= sent_at + KEEP_ALIVE_S:
                    await write(b": keep-alive\n\n")

        self._viewers += 1
        try:
            async with anyio.create_task_group() as tg:
                tg.start_soon(until_gone, receive, tg.cancel_scope)
                tg.start_soon(_until_set, self._stopping, tg.cancel_scope)
                try:
                    async with anyio.create_task_group() as writers:
                        writers.start_soon(keep_alive)
                        await work(write)
                except* TimeoutError:
                    _log.info("viewer.stalled", channel=self._channel, path=scope["path"])
                tg.cancel_scope.cancel()
        finally:
            self._viewers -= 1


class _Stream(Response):
    """A response of unknown length."""

    def __init__(self, streams: EventStreams, work: Work, headers: Mapping[str, str]) -> None:
        super().__init__(headers=headers)
        self._streams = streams
        self._work = work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._streams.view(scope, receive, send, self._work)
        with anyio.move_on_after(END_S):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def until_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    """Cancel ``scope`` as soon as the client of a request, whose body was read, disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def _until_set(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


# The events for one viewer of a session, in order: the messages of the log, and live events in between.

RETRY_MS = 1_000
"""Delay after which a disconnected client should reconnect."""

POLL_S = 5.0
"""How often the log is read without any event."""

BATCH = 50
"""Messages read and written at once."""

GAPS_MAX = 3
"""After so many unreadable parts of the archive in one reading, the rest of the archive is skipped."""

GAP_S = 1.0
"""The rest is also skipped if one unreadable part took longer than this."""

_decode = msgspec.json.Decoder(Live | ToolEvent | Moved | Notice).decode
_decode_live = msgspec.json.Decoder(Live).decode
_decode_notice = msgspec.json.Decoder(Notice).decode


def event_of(name: str, data: object, *, at: int | None = None) -> bytes:
    """A Server-Sent Event; ``at`` becomes its id (WHATWG HTML, section 9.2)."""
    head = f"event: {name}\n" if at is None else f"id: {at}\nevent: {name}\n"
    return b"%sdata: %s\n\n" % (head.encode(), encode(data))


class EventViewer:
    """Writes the events of ``session`` after index ``after``."""

    def __init__(self, site: Site, session: str, *, after: int, write: Write) -> None:
        self._bus = site.process.bus
        self._listener = site.process.listener
        self._clock = site.process.clock
        self._reader = SessionReader(self._bus)
        self._transcripts = site.process.transcripts
        self._session = session
        self._to_viewer = write
        self._next = after + 1
        self._cursor = 0
        self._noticed = ""
        self._preview = TextPreview()

    async def run(self) -> None:
        """Write until cancelled."""
        async with self._listener.hear(self._bus.keys.events(self._session)) as heard:
            await self._write(b"retry: %d\n\n" % RETRY_MS)
            while True:
                await self._show(await self._hear(heard))

    async def _hear(self, heard: Subscription) -> Heard:
        with anyio.move_on_after(POLL_S):
            return await heard.next()
        return None

    async def _show(self, heard: Heard) -> None:
        try:
            event = None if heard is None else _decode(heard)
        except UNREADABLE:
            return  # an event of a newer process that this one does not know
        try:
            await (self._catch_up() if event is None else self._pass_on(event))
        except BusError as error:
            _log.debug("viewer.behind", session=self._session, reason=brief(error))

    async def _catch_up(self) -> None:
        state = await self._read_log()
        await self._show_notices(state)
        await self._show_whole()

    async def _pass_on(self, event: Live | ToolEvent | Moved | Notice) -> None:
        match event:
            case Moved():
                await self._read_log()
            case Live():
                await self._show_piece(event)
            case ToolEvent():
                if event.turn >= self._next and not self._preview.outdates(fence=event.fence):
                    await self._write(event_of("tool", _fields(event, "turn", "fence", "call", "name", "state")))
            case Notice():
                await self._show_notices(await self._reader.state(self._session))

    async def _read_log(self) -> SessionState:
        while True:
            state = await self._reader.state(self._session)
            # Beyond the head: the server lost messages that the viewer has, and new ones get their indexes.
            self._next = min(self._next, state.head)
            await self._write_upto(state)
            if self._next >= state.head:
                break
        if state.cursor != self._cursor:
            self._cursor = state.cursor
            await self._write(event_of("cursor", _fields(state, "session", "head", "cursor")))
        return state

    async def _write_upto(self, state: SessionState) -> None:
        gaps, asked_at = 0, self._clock.monotonic()
        async with aclosing(self._transcripts.pieces(self._session, self._next, state.head, chunk=BATCH)) as pieces:
            async for piece in pieces:
                if piece.reason:
                    gaps += 1
                    if gaps >= GAPS_MAX or self._clock.monotonic() - asked_at > GAP_S:
                        # The viewer does not wait for an unavailable store: the messages in Redis are shown.
                        await self._skip(piece, upto=max(piece.upto, min(state.base, state.head)))
                        return
                    await self._skip(piece, upto=piece.upto)
                for at in range(0, len(piece.raws), BATCH):
                    entries = piece.entries(at, at + BATCH)
                    await self._write(b"".join(event_of("message", shown(n, entry), at=n) for n, entry in entries))
                    self._next = entries[-1][0] + 1
                asked_at = self._clock.monotonic()
        # There may be fewer messages than indexes, so continue at the head.
        self._next = max(self._next, state.head)

    async def _skip(self, piece: Piece, *, upto: int) -> None:
        _log.warning("viewer.gap", session=self._session, first=piece.first, upto=upto, reason=piece.reason)
        data = {"session": self._session, "first": piece.first, "upto": upto, "reason": piece.reason}
        await self._write(event_of("missing", data))
        self._next = upto

    async def _show_piece(self, piece: Live) -> None:
        judgement = self._preview.judge(piece, upto=self._next)
        if judgement == "show":
            await self._write(event_of("delta", _fields(piece, "turn", "fence", "sequence", "offset", "text")))
        elif judgement == "gap":
            await self._show_whole()

    async def _show_whole(self) -> None:
        live = await self._reader.live(self._session)
        if live is not None:
            await self._show_piece(_decode_live(live))

    async def _show_notices(self, state: SessionState) -> None:
        # A new viewer gets the notices after the last message, which are still relevant.
        since = "" if self._noticed else await self._last_time(state)
        first = f"({self._noticed}" if self._noticed else "-"
        found: Any = await self._bus.call("XRANGE", self._bus.keys.notices(self._session), first, "+")
        self._noticed = self._noticed or "0-0"
        for stream_id, fields in found:
            self._noticed = stream_id.decode()
            notice = _decode_notice(dict(pairs(fields))[b"notice"])
            if notice.time > since:
                names = ("kind", "text", "time", "message_id", "attachments", "choices")
                data = {"notice": self._noticed, **_fields(notice, *names)}
                await self._write(event_of("notice", data))

    async def _last_time(self, state: SessionState) -> str:
        try:
            last = await self._transcripts.committed(self._session, after=state.head - 2, limit=1)
        except ArchiveError:
            return ""
        return last[0][1].time if last and state.head else ""

    async def _write(self, piece: bytes) -> None:
        await self._to_viewer(piece)


def _fields(value: object, *names: str) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


# ``GET /api/events``: a session as Server-Sent Events.


class SessionEvents:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._streams = EventStreams(site.process.stopping, site.name)

    async def read(self, request: Request) -> Response:
        """The stream of a session."""
        session = str(readable(request, session_in_query(request, self._site.name), self._site.name))
        after = after_of(request.headers.get("last-event-id") or request.query_params.get("after"))
        # Read before the response begins, so that an outage is reported as an error.
        await SessionReader(self._site.process.bus).state(session)

        async def work(write: Write) -> None:
            await EventViewer(self._site, session, after=after, write=write).run()

        return self._streams.response(request, work)
