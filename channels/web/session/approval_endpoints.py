"""``/api/approvals``: the commands that wait for an administrator's approval, in all conversations of the bot.

An operator decides like in a chat: the decision is a message with the command ``/approve`` or ``/deny``.
"""

import re
import time
from typing import Any, Literal

import anyio
import msgspec
from msgspec import to_builtins
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.inbound import accept
from channels.web.access.login import may_approve
from channels.web.error_response import problem
from channels.web.message_endpoints import MessageEndpoints
from channels.web.request_params import decoded, json_response, segments_of
from channels.web.session.choice_endpoint import NOT_YOURS, answer_id, decode_notice
from channels.web.site import Site
from daemon.bus import pairs
from daemon.errors import UNREADABLE
from daemon.operators import Approvals
from daemon.session import standings
from daemon.sessionkey import SessionKey

FRESH_S = 1.5
"""Highest age of the list, which is read once for all viewers."""

NOTICES = 20
"""The newest notices of a conversation in which its question is looked for: a turn rarely says more meanwhile."""

FORM = 'The body must be {"decision": "approve"} or {"decision": "deny"}.'
GONE = "This command is no longer waiting for approval."

_id_in = re.compile(r"/approve ([0-9a-f]{8})").fullmatch


class WaitingApproval(msgspec.Struct, frozen=True, kw_only=True):
    """A command that waits for approval."""

    id: str
    session: str
    """The conversation in which the bot wants to run the command."""
    notice: str
    """The notice with the bot's question."""
    time: str
    """When the bot asked: ISO 8601, UTC."""
    text: str
    """The question, which contains the command."""
    left_s: float
    """How long it can still be decided."""


class _Decision(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of ``POST /api/approvals/<id>``."""

    decision: Literal["approve", "deny"]


class ApprovalEndpoints:
    """The endpoints of one site."""

    def __init__(self, site: Site, messages: MessageEndpoints) -> None:
        self._site = site
        self._bus = site.process.bus
        self._messages = messages
        self._approvals = Approvals(site.process.bus)
        self._lock = anyio.Lock()
        self._newest: tuple[float, list[WaitingApproval]] = (-FRESH_S, [])
        """When the list was read, by the monotonic clock, and the list."""

    async def read(self, request: Request) -> Response:
        """The commands that the operator may approve or deny, the oldest first."""
        waiting = await self._waiting() if self._may(request) else []
        return json_response({"approvals": [to_builtins(each) for each in waiting]})

    async def decide(self, request: Request) -> Response:
        """Accept a decision as a message. Each command is decided once: later decisions are duplicates."""
        approval_id = segments_of(request, 4)[3]
        verb = (await decoded(request, _Decision, FORM)).decision
        if not self._may(request):
            return problem(403, "choice_not_yours", NOT_YOURS)
        found = next((each for each in await self._read() if each.id == approval_id), None)
        if found is None:
            raise HTTPException(404, GONE)
        key, own = SessionKey.parse(found.session), self._site.name
        person = request.scope["operator"].person
        if key.channel == own:  # the answer to its question, which takes the buttons off it
            message_id = answer_id(found.notice)
        else:
            key, message_id = SessionKey(channel=own, chat=person), f"approval-{approval_id}"
        inbound = self._messages.inbound(key, message_id, person, f"/{verb} {approval_id}")
        accepted = await accept(self._site.process, inbound)
        return json_response({"id": accepted.id, "session": str(key), "status": accepted.status}, 202)

    def _may(self, request: Request) -> bool:
        bot = self._site.process.bot(self._site.config.bot)
        return may_approve(self._site, bot, request.scope["operator"].person)

    async def _waiting(self) -> list[WaitingApproval]:
        async with self._lock:
            if (now := time.monotonic()) - self._newest[0] >= FRESH_S:
                self._newest = now, await self._read()
            return self._newest[1]

    async def _read(self) -> list[WaitingApproval]:
        """A command waits within its turn, so only sessions with a turn in progress are looked at."""
        found = [
            waiting for one in await standings(self._bus) if one.held for waiting in await self._waiting_in(one.session)
        ]
        return sorted(found, key=lambda each: each.time)

    async def _waiting_in(self, session: str) -> list[WaitingApproval]:
        read: Any = await self._bus.call("XREVRANGE", self._bus.keys.notices(session), "+", "-", "COUNT", NOTICES)
        found: list[WaitingApproval] = []
        for name, fields in read:
            try:
                notice = decode_notice(dict(pairs(fields))[b"notice"])
            except UNREADABLE:
                continue
            for match in filter(None, (_id_in(choice.command) for choice in notice.choices)):
                left_s = await self._approvals.left_s(match[1], bot=self._site.config.bot)
                if left_s > 0:
                    found.append(
                        WaitingApproval(
                            id=match[1],
                            session=session,
                            notice=name.decode(),
                            time=notice.time,
                            text=notice.text,
                            left_s=round(left_s, 1),
                        )
                    )
        return found
