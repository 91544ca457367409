"""``/api/queues/…``: the messages and sessions in the queues, and the text of one message, which is audited."""

from dataclasses import asdict
from typing import Any, cast, get_args
from urllib.parse import unquote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import audited
from channels.web.json_body import json_response
from channels.web.request_params import limit_of, segments_of, session_in_query
from channels.web.site import Site
from daemon.overview import Contents, MessageQueue, SessionQueue, push_channels

MESSAGES, SESSIONS = ("backlog", "replies"), get_args(SessionQueue)
"""Queues that can be listed; ``/api/dead`` lists dead letters."""

NO_QUEUE = f"This queue does not exist. Use one of {', '.join((*MESSAGES, *SESSIONS))}."
GONE = "The message was not found. The message may have been answered, delivered, replayed or deleted."


class QueuePages:
    """The endpoints of one site."""

    def __init__(self, site: Site) -> None:
        process = site.process
        self._name = site.name
        self._contents = Contents(process.bus, process.config.queue, push_channels(process.config))

    async def read(self, request: Request) -> Response:
        """The contents of a queue without texts, the longest waiting first."""
        queue, limit = unquote(segments_of(request, 4)[3]), limit_of(request)
        if queue in SESSIONS:
            rows: list[Any] = list(await self._contents.sessions(cast("SessionQueue", queue), limit=limit))
        elif queue == "backlog" and "session" in request.query_params:
            rows = list(await self._contents.messages_of(str(session_in_query(request, self._name)), limit=limit))
        elif queue in MESSAGES:
            rows = list(await self._contents.messages(cast("Any", queue), limit=limit))
        else:
            raise HTTPException(404, NO_QUEUE)
        return json_response({"queue": queue, "entries": [asdict(row) for row in rows]})

    async def text(self, request: Request) -> Response:
        """The text of one message in a queue, or of a dead letter."""
        queue, name = map(unquote, segments_of(request, 5)[3:])
        if queue not in get_args(MessageQueue):
            raise HTTPException(404, NO_QUEUE)
        async with audited(request, "queue.text", f"{queue} {name}"[:200]) as doing:
            found = await self._contents.text(cast("MessageQueue", queue), name)
            if found is None:
                raise HTTPException(404, GONE)
            session, text = found
            doing.outcome = f"shown: {session}"
        return json_response({"queue": queue, "id": name, "session": session, "text": text})
