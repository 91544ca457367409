"""``/api/queues/…``, ``/api/dead`` and ``/api/unknown``: what waits, and dead letters."""

from typing import Annotated, Any, cast, get_args
from urllib.parse import unquote

import msgspec
from msgspec import Meta, to_builtins
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import audited
from channels.web.request_params import LIMIT_MAX, decoded, json_response, limit_of, segments_of, session_in_query
from channels.web.site import Site
from daemon.bus import DeadLetter, DeadLetters, LetterSelection, LetterWork, dropped, replayed, time_of, work_off
from daemon.overview import Contents, MessageQueue, SessionQueue, push_channels, read_unknown

# ``/api/queues/…``: the messages and sessions in the queues, and the text of one message, which is audited.

MESSAGES, SESSIONS = ("backlog", "replies"), get_args(SessionQueue)
"""Queues that can be listed; ``/api/dead`` lists dead letters."""

NO_QUEUE = f"This queue does not exist. Use one of {', '.join((*MESSAGES, *SESSIONS))}."
GONE = "The message was not found. The message may have been answered, delivered, replayed or deleted."


class QueueEndpoints:
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
        return json_response({"queue": queue, "entries": [to_builtins(row) for row in rows]})

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


# ``/api/dead`` and ``/api/unknown``: dead letters, which can be replayed or dropped; replies with unknown delivery.

IDS_BYTES = 64 * LIMIT_MAX
"""Largest body: the ids of as many letters as one request may name."""

FORM = 'Choose dead letters with {"ids": ["…"]} or {"reason": "…"}.'


class _Chosen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of ``POST /api/dead/…``."""

    ids: Annotated[tuple[str, ...], Meta(min_length=1, max_length=LIMIT_MAX)] | None = None
    reason: Annotated[str, Meta(min_length=1)] | None = None


class DeadLetterEndpoints:
    """The endpoints of one site."""

    def __init__(self, site: Site) -> None:
        self._bus = site.process.bus
        self._letters = DeadLetters(site.process.bus, site.process.config.queue)

    async def read(self, request: Request) -> Response:
        """The newest dead letters, the newest first."""
        found = await self._letters.newest(limit=limit_of(request))
        return json_response({"dead": [_row(letter) for letter in reversed(found)]})

    async def unknown(self, request: Request) -> Response:
        """The newest parts of replies with unknown delivery, the newest first."""
        found = await read_unknown(self._bus, limit=limit_of(request))
        return json_response({"unknown": [to_builtins(outcome) for outcome in reversed(found)]})

    async def replay(self, request: Request) -> Response:
        """Queue messages for an answer again, or replies for delivery."""
        return await self._work(request, "dead.replay", replayed)

    async def drop(self, request: Request) -> Response:
        """Delete letters permanently."""
        return await self._work(request, "dead.drop", dropped)

    async def _work(self, request: Request, action: str, work: LetterWork) -> Response:
        chosen = await decoded(request, _Chosen, FORM, max_bytes=IDS_BYTES)
        if (chosen.ids is None) == (chosen.reason is None):
            raise HTTPException(400, FORM)
        choice = LetterSelection(names=chosen.ids or (), reason=chosen.reason)
        async with audited(request, action, chosen.reason or ", ".join(choice.names)) as doing:
            worked = await work_off(self._letters, choice, work)
            done = sum(worked.outcomes[outcome] for outcome in ("replayed", "dropped"))
            doing.outcome = f"{done} done, {len(worked.refused)} refused"
        return json_response({"done": done, "refused": [str(error) for error in worked.refused]})


def _row(letter: DeadLetter) -> dict[str, object]:
    read = letter.message or letter.reply
    return {
        "id": letter.name,
        "time": time_of(letter),
        "session": letter.session,
        "message": letter.id,
        "reason": letter.reason,
        "attempts": letter.attempts,
        "kind": letter.kind,
        "chars": len(read.text) if read else 0,
        "correlation": read.correlation if read else "",
    }
