"""``GET /api/events``: a session as Server-Sent Events, until the client goes, stalls, or this process stops."""

import anyio
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from channels.web.ask import after_of, session_in_query
from channels.web.site import Site
from channels.web.viewer import Viewer
from daemon.session import SessionReader

VIEWERS_MAX = 1_000
"""Streams at a time in one process and channel; each costs a few reads every five seconds, and a socket."""

SEND_S = 30.0
"""How long a client may take nothing of what is written before it is let go."""

END_S = 0.2
"""What the last byte of a stream may take."""

HEADERS = {"Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no"}
"""nginx would keep events back otherwise."""

_log = structlog.get_logger()


class Events:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._viewers = 0

    async def read(self, request: Request) -> Response:
        """The stream of a session."""
        session = str(session_in_query(request, self._site.name))
        after = after_of(request.headers.get("last-event-id") or request.query_params.get("after"))
        # Asked before the answer begins, so that an outage is told as one.
        await SessionReader(self._site.process.bus).state(session)
        if request.method == "HEAD":
            return Response(headers=HEADERS)
        return _Stream(self, session, after)

    async def view(self, session: str, *, after: int, receive: Receive, send: Send) -> None:
        """Stream to one client until it goes, stalls, or this process stops."""

        async def write(piece: bytes) -> None:
            with anyio.fail_after(SEND_S):
                await send({"type": "http.response.body", "body": piece, "more_body": True})

        viewer = Viewer(self._site, session, after=after, write=write)
        self._viewers += 1
        try:
            async with anyio.create_task_group() as tg:
                tg.start_soon(_until_gone, receive, tg.cancel_scope)
                tg.start_soon(_until_set, self._site.process.stopping, tg.cancel_scope)
                try:
                    await viewer.run()
                except TimeoutError:
                    _log.info("viewer.stalled", session=session, channel=self._site.name)
                    tg.cancel_scope.cancel()
        finally:
            self._viewers -= 1

    def check_room(self) -> None:
        """Raise 503 when there are as many viewers as may be."""
        if self._viewers >= VIEWERS_MAX:
            raise HTTPException(
                503, f"{VIEWERS_MAX:,} viewers are connected already; try again later", {"Retry-After": "10"}
            )


class _Stream(Response):
    """The answer that does not end by itself."""

    def __init__(self, events: Events, session: str, after: int) -> None:
        super().__init__(headers=HEADERS)
        self._events = events
        self._session = session
        self._after = after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._events.check_room()
        headers = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._events.view(self._session, after=self._after, receive=receive, send=send)
        with anyio.move_on_after(END_S):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def _until_set(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()
