"""``GET …/waiting``: the pending messages of a session, and the reason why they are not answered yet."""

import datetime as dt
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response

from channels.web.json_body import json_response
from channels.web.request_params import session_in_path
from channels.web.site import Site
from daemon.access import Pauses
from daemon.clock import stamp
from daemon.heartbeat import agent_lives
from daemon.session import SessionReader, SessionState, pending_of
from daemon.sessionkey import SessionKey

SHOWN = 50
"""Messages in one response."""

SHOWN_CHARS = 2_000
"""Longest text of a message in a response."""

Reason = Literal["", "answering", "parked", "backing_off", "paused", "no_worker", "queued"]


@dataclass(frozen=True, kw_only=True)
class _Why:
    """Why the messages of a session wait."""

    reason: Reason
    """Empty: no message waits."""
    detail: str = ""
    """Why a session was parked: ``<kind>: <reason>``."""
    until_ms: int = 0
    """When the next attempt is made, ms since 1970; 0: unknown."""


class Waiting:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._bus = site.process.bus
        self._reader = SessionReader(self._bus)
        self._pauses = Pauses(self._bus, site.process.config.queue)

    async def read(self, request: Request) -> Response:
        """The oldest pending messages of a session."""
        state = await self._reader.state(str(session_in_path(request, self._site.name)))
        why = await self._why(state) if state.waiting else _Why(reason="")
        pending = await pending_of(self._bus, state.session, limit=SHOWN) if state.waiting else []
        messages = [
            {"id": each.id, "sender": each.sender_id, "text": each.text[:SHOWN_CHARS], "time": each.received_at}
            for each in pending
        ]
        return json_response(
            {
                "session": state.session,
                "count": state.waiting,
                "reason": why.reason,
                "detail": why.detail,
                "since": pending[0].received_at if pending else "",
                "until": stamp(dt.datetime.fromtimestamp(why.until_ms / 1000, dt.UTC)) if why.until_ms else "",
                "messages": messages,
            }
        )

    async def _why(self, state: SessionState) -> _Why:
        now_ms = await self._reader.now_ms()
        if state.lease_ms > now_ms:
            return _Why(reason="answering")
        bot = unquote(state.scope.partition(":")[0])
        if bot and await self._pauses.of(bot, SessionKey.parse(state.session)):
            return _Why(reason="paused")
        if state.retry_at_ms > now_ms:
            reason: Reason = "parked" if state.parked_why else "backing_off"
            return _Why(reason=reason, detail=state.parked_why, until_ms=state.retry_at_ms)
        is_served = await agent_lives(self._bus, self._site.process.clock)
        return _Why(reason="queued" if is_served else "no_worker")
