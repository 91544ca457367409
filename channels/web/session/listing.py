"""``GET /api/sessions``: the list of sessions, the most recently active first."""

import datetime as dt
from collections.abc import Callable
from urllib.parse import unquote

import anyio
import msgspec
from starlette.requests import Request
from starlette.responses import Response

from channels.web.ask import age_of, limit_of
from channels.web.members import is_member
from channels.web.site import Site
from daemon.clock import stamp
from daemon.session import SessionReader, SessionState
from daemon.sessionkey import encode_part

LOOKED_AT_MAX = 20_000
"""A search looks through so many of the newest sessions: a few megabytes of names."""


class _Session(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the list."""

    session: str
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


class Sessions:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        self._name = site.name
        self._reader = SessionReader(site.process.bus)
        self._clock = site.process.clock
        self._lock = anyio.Lock()
        self._kept: tuple[int, float, bytes] | None = None
        """The last response to polling clients: its limit, its time, and its body."""

    async def read(self, request: Request) -> Response:
        """The sessions of all channels, filtered by a channel or a part of a name; for members, of this channel."""
        limit, query = limit_of(request), request.query_params
        fits = _filter(self._name if is_member(request) else query.get("channel", ""), query.get("q", ""))
        age_s = age_of(request)
        if fits or not age_s:
            return _json(await self._found(limit, fits))
        async with self._lock:  # clients that wait here get the same response
            kept, now = self._kept, self._clock.monotonic()
            if kept is None or kept[0] != limit or now - kept[1] > age_s:
                kept = self._kept = (limit, now, await self._found(limit, None))
        return _json(kept[2])

    async def _found(self, limit: int, fits: Callable[[str], bool] | None) -> bytes:
        found = await self._reader.sessions(limit=LOOKED_AT_MAX if fits else limit)
        chosen = [each for each in found if fits is None or fits(each[0])][:limit]
        return msgspec.json.encode({"sessions": await self._lines(chosen)})

    async def _lines(self, found: list[tuple[str, int]]) -> list[_Session]:
        now_ms, states = await self._reader.now_ms(), dict[str, SessionState]()

        async def look(session: str) -> None:
            states[session] = await self._reader.state(session)

        async with anyio.create_task_group() as tg:  # one tick, few pipelines
            for session, _ in found:
                tg.start_soon(look, session)
        return [_line(states[session], at_ms, now_ms) for session, at_ms in found]


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")


def _filter(channel: str, part: str) -> Callable[[str], bool] | None:
    """A filter for session keys; None accepts all."""
    if not channel and not part.strip():
        return None
    begin, part = f"{encode_part(channel)}:" if channel else "", part.strip().casefold()

    def fits(session: str) -> bool:
        # The part may be a readable name or an encoded one from an address.
        return session.startswith(begin) and (part in session.casefold() or part in unquote(session).casefold())

    return fits


def _line(state: SessionState, at_ms: int, now_ms: int) -> _Session:
    busy = state.lease_ms > now_ms
    return _Session(
        session=state.session,
        channel=unquote(state.session.partition(":")[0]),
        bot=unquote(state.scope.partition(":")[0]),
        scope=state.scope,
        head=state.head,
        cursor=state.cursor,
        waiting=state.waiting,
        busy=busy,
        parked=state.retry_at_ms > now_ms and not busy,
        last_activity=stamp(dt.datetime.fromtimestamp(at_ms / 1000, dt.UTC)),
    )
