"""``/api/reminders`` and ``…/reminders``: reminders of all sessions or of one, which can be paused and deleted."""

from dataclasses import replace
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import audited
from channels.web.error_response import problem
from channels.web.json_body import json_response
from channels.web.request_params import limit_of, segments_of, session_in_path
from channels.web.site import Site
from daemon.reminders import Action, ReminderRefused, Reminders, Stored, act, all_reminders

GONE = "The reminder was not found. List the reminders with GET /api/sessions/<session>/reminders."

SECRET = ("scope", "delivery")
"""Fields of a reminder that say nothing to a reader."""


class ReminderPages:
    """The endpoints of one site."""

    def __init__(self, site: Site) -> None:
        self._name = site.name
        self._bus = site.process.bus
        self._reminders = Reminders(site.process.bus, site.process.config.queue)

    async def all(self, request: Request) -> Response:
        """The next reminders of all sessions, the next one first."""
        limit = limit_of(request)
        found = [stored async for stored in all_reminders(self._bus, self._reminders)]
        found.sort(key=lambda stored: stored.reminder.due if stored.reminder else "~")
        return json_response({"reminders": [_row(each) for each in found[:limit]], "more": max(0, len(found) - limit)})

    async def read(self, request: Request) -> Response:
        """The reminders of a session, the next one first."""
        session = str(session_in_path(request, self._name))
        found = await self._reminders.of(session)
        return json_response({"session": session, "reminders": [_row(each) for each in found]})

    async def pause(self, request: Request) -> Response:
        """Pause a reminder."""
        return await self._act(request, "pause", parts=7)

    async def resume(self, request: Request) -> Response:
        """Activate a paused reminder; one whose only time has passed is deleted."""
        return await self._act(request, "resume", parts=7)

    async def delete(self, request: Request) -> Response:
        """Delete a reminder."""
        return await self._act(request, "delete", parts=6)

    async def _act(self, request: Request, action: Action, *, parts: int) -> Response:
        session = str(session_in_path(request, self._name, parts=parts))
        reminder_id = segments_of(request, parts)[5]
        stored = await self._reminders.get(session, reminder_id)
        if stored is None:
            return problem(404, "no_reminder", GONE)
        async with audited(request, f"reminder.{action}", f"{session} {reminder_id}") as doing:
            try:
                after = await act(self._reminders, action, stored)
            except ReminderRefused as error:
                doing.outcome = "refused: 409"
                return problem(409, "changed", str(error))
        return json_response({"reminder": _row(replace(stored, reminder=after)) if after else None})


def _row(stored: Stored) -> dict[str, Any]:
    row: dict[str, Any] = {"id": stored.id, "session": stored.session, "readable": stored.reminder is not None}
    if stored.reminder is not None:
        row |= msgspec.to_builtins(stored.reminder)
    return {name: value for name, value in row.items() if name not in SECRET}
