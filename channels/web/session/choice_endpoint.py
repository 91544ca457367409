"""``POST …/choice``: a person answers a question of the bot with one of its choices, as with a button in a chat app."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from channels.inbound import accept
from channels.web.error_response import problem
from channels.web.message_endpoints import MessageEndpoints
from channels.web.rate_limit import check_channel
from channels.web.request_params import decoded, json_response, session_in_path
from channels.web.site import Site
from daemon.access import may
from daemon.bus import pairs
from daemon.errors import UNREADABLE
from daemon.events import Choice, Notice

FORM = (
    'The body must be {"notice": "…", "command": "…"}, with the ID of a notice and the command of one of its choices.'
)

OLD = "This button belongs to an older question and no longer works."
NOT_YOURS = "You are not allowed to use this button."

decode_notice = msgspec.json.Decoder(Notice).decode


class _Choice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a request."""

    notice: Annotated[str, Meta(pattern=r"^[0-9]{1,20}-[0-9]{1,20}\Z")]
    command: Annotated[str, Meta(min_length=1, max_length=256)]


class ChoiceEndpoint:
    """The endpoint of one site."""

    def __init__(self, site: Site, messages: MessageEndpoints) -> None:
        self._site = site
        self._bus = site.process.bus
        self._messages = messages

    async def choose(self, request: Request) -> Response:
        """Accept the command of a choice as a message. Each question is answered once: later answers are duplicates."""
        key = check_channel(session_in_path(request, self._site.name), self._site.name)
        wanted = await decoded(request, _Choice, FORM)
        choice = await self._choice(str(key), wanted)
        if choice is None:
            return problem(409, "choice_old", OLD)
        sender = await self._messages.sender(request, key)
        inbound = self._messages.inbound(key, answer_id(wanted.notice), sender, choice.command)
        # Before it counts as the answer: somebody who may not answer must not use the question up.
        bot = self._site.process.bot(self._site.config.bot)
        if choice.who not in ("", sender) or not may(bot, inbound, inbound.command):
            return problem(403, "choice_not_yours", NOT_YOURS)
        accepted = await accept(self._site.process, inbound)
        return json_response({"id": accepted.id, "session": str(key), "status": accepted.status}, 202)

    async def _choice(self, session: str, wanted: _Choice) -> Choice | None:
        """The choice as the bot offered it; None if it did not, or if its question has expired."""
        key, at = self._bus.keys.notices(session), wanted.notice
        found: Any = await self._bus.call("XRANGE", key, at, at)
        for _, fields in found:
            try:
                notice = decode_notice(dict(pairs(fields))[b"notice"])
            except UNREADABLE:
                continue
            return next((each for each in notice.choices if each.command == wanted.command), None)
        return None


def answer_id(notice: str) -> str:
    """The ID of the message that answers the question in a notice; the page knows it as well."""
    return f"choice-{notice}"
