"""``/api/dead`` and ``/api/unknown``: dead letters, which can be replayed or dropped; replies with unknown delivery."""

from dataclasses import asdict
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import audited
from channels.web.json_body import decoded, json_response
from channels.web.request_params import LIMIT_MAX, limit_of
from channels.web.site import Site
from daemon.bus import Choice, DeadLetter, DeadLetters, LetterWork, dropped, replayed, time_of, work_off
from daemon.overview import read_unknown

IDS_BYTES = 64 * LIMIT_MAX
"""Largest body: the ids of as many letters as one request may name."""

FORM = 'Choose dead letters with {"ids": ["…"]} or {"reason": "…"}.'


class _Chosen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of ``POST /api/dead/…``."""

    ids: Annotated[tuple[str, ...], Meta(min_length=1, max_length=LIMIT_MAX)] | None = None
    reason: Annotated[str, Meta(min_length=1)] | None = None


class DeadPages:
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
        return json_response({"unknown": [asdict(outcome) for outcome in reversed(found)]})

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
        choice = Choice(names=chosen.ids or (), reason=chosen.reason)
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
