"""``GET /api/sessions``: the list of sessions, page by page: pinned ones first, then the most recently active ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

import anyio
import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.member_limits import is_member
from channels.web.request_params import age_of, flag_of, limit_of
from channels.web.session.session_rows import Line, Lines
from channels.web.site import Site
from daemon.session import NO_LABEL, Label, Labels, SessionReader
from daemon.sessionkey import encode_part

LOOKED_AT_MAX = 20_000
"""A search looks through so many of the newest sessions: a few megabytes of names."""

CHUNK = 1_000
"""Sessions read at once for a filter."""


class _Page(msgspec.Struct, frozen=True, kw_only=True):
    """The body of a response."""

    sessions: list[Line]
    next: str
    """The value of ``before`` for the next page; empty: this is the last page."""


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    """The sessions that a request asks for."""

    limit: int
    channel: str
    part: str
    archived: bool
    before: tuple[int, str] | None

    def fits(self, session: str, label: Label) -> bool:
        """Whether the filters accept a session."""
        if self.channel and not session.startswith(f"{encode_part(self.channel)}:"):
            return False
        # The part may be a readable name or an encoded one from an address.
        texts = (session, unquote(session), label.title)
        return not self.part or any(self.part in text.casefold() for text in texts)

    def is_in_turn(self, session: str, label: Label) -> bool:
        """Whether a session stands among the others, by its last activity."""
        is_there = self.archived or not label.pinned_ms
        return is_there and bool(label.archived_ms) == self.archived and self.fits(session, label)


class Sessions:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        self._name = site.name
        self._reader = SessionReader(site.process.bus)
        self._labels = Labels(site.process.bus)
        self._lines = Lines(site.process.bus)
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

    async def _pinned(self, wanted: _Wanted, labels: Mapping[str, Label]) -> list[tuple[str, int]]:
        """The pinned sessions, the last pinned first, each with the time of its last activity."""
        pinned = [
            (label.pinned_ms, session)
            for session, label in labels.items()
            if label.pinned_ms and not label.archived_ms and wanted.fits(session, label)
        ]
        names = [session for _, session in sorted(pinned, reverse=True)]
        return await self._reader.active_at(names)

    async def _in_turn(self, wanted: _Wanted, labels: Mapping[str, Label]) -> tuple[list[tuple[str, int]], str]:
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
            f"{text[:80]!r} is not a valid value of before. Use the value of the field next from an earlier response.",
        )
    return int(number), session
