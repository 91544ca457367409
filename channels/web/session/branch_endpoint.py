"""``POST /api/sessions/<session>/branch``: a new conversation with the messages up to one turn of an older one."""

from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import audited
from channels.web.error_response import problem
from channels.web.rate_limit import check_channel
from channels.web.request_params import decoded, json_response, session_in_path
from channels.web.session.session_endpoints import TITLE_MAX_CHARS
from channels.web.site import Site
from daemon.errors import NoSuchTranscript
from daemon.session import SessionLabels
from daemon.transcripts import Branches

FORM = 'Send {"index": N} with the index of a message. The "title" field is optional.'


class _Branch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of the request."""

    index: Annotated[int, Meta(ge=0, le=2**53)]
    """Of a message of the last turn that the new conversation contains."""
    title: Annotated[str, Meta(max_length=TITLE_MAX_CHARS)] = ""


class Branching:
    """The endpoint of one site."""

    def __init__(self, site: Site) -> None:
        process = site.process
        self._site = site
        self._branches = Branches(process.bus, process.archive, process.transcripts)
        self._labels = SessionLabels(process.bus)

    async def branch(self, request: Request) -> Response:
        """Make the new session; 201 with its key."""
        wanted = await decoded(request, _Branch, FORM)
        session = str(check_channel(session_in_path(request, self._site.name), self._site.name))
        async with audited(request, "session.branch", session) as doing:
            try:
                made = await self._branches.branch(session, wanted.index)
            except NoSuchTranscript as error:
                doing.outcome = "no message"
                return problem(404, "no_message", str(error))
            if wanted.title:
                await self._labels.rename(made.session, wanted.title)
        return json_response({"session": made.session, "first": made.first, "head": made.upto}, 201)
