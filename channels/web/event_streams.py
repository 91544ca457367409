"""Server-Sent Events: responses that end when their work is done, the client disconnects or stalls, or on a stop."""

from collections.abc import Awaitable, Callable, Mapping

import anyio
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

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


class Streams:
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
                f"The limit of {VIEWERS_MAX:,} connected viewers is reached. Try again later.",
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

    def __init__(self, streams: Streams, work: Work, headers: Mapping[str, str]) -> None:
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
