"""``/api/reminders`` and ``…/reminders``: reminders of all sessions or of one, which operators can add and change."""

import secrets
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import Operator, audited
from channels.web.error_response import problem
from channels.web.rate_limit import check_channel
from channels.web.request_params import decoded, flag_of, json_response, limit_of, segments_of, session_in_path
from channels.web.site import Site
from daemon.people import LinkIndex
from daemon.reminders import (
    Action,
    Reminder,
    ReminderRefused,
    ReminderRequest,
    Reminders,
    StoredReminder,
    act,
    add,
    all_reminders,
    change,
    confirmed,
    place_in,
    preferences_of,
)
from daemon.reminders.reminder import Kind
from daemon.scope import person_scope
from daemon.session import SessionLabels
from daemon.sessionkey import SessionKey
from daemon.wording import Language

GONE = "The reminder was not found. List the reminders with GET /api/sessions/<session>/reminders."
FORM = (
    'Send a JSON object such as {"text": "call the dentist", "when": "tomorrow 09:00", "repeat": "weekdays"}. The '
    "fields kind, until, count, time_zone and id are optional."
)

SECRET = ("scope", "delivery")
"""Fields of a reminder that say nothing to a reader."""

ID_MAX_CHARS = 100
REFUSED = "reminder"
"""The code of a refused reminder. Its message is in the requested language, so the page shows the message itself."""


class _Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a new reminder or of a change; a field that is left out changes nothing."""

    text: str | UnsetType = UNSET
    when: str | UnsetType = UNSET
    kind: Kind | UnsetType = UNSET
    rule: str | UnsetType = msgspec.field(default=UNSET, name="repeat")
    until: str | UnsetType = UNSET
    count: Annotated[int, Meta(ge=0)] | UnsetType = UNSET
    zone: str | UnsetType = msgspec.field(default=UNSET, name="time_zone")

    @property
    def given(self) -> dict[str, Any]:
        """The fields of a ``ReminderRequest`` that were given."""
        fields = {name: getattr(self, name) for name in ReminderRequest.__struct_fields__}
        return {name: value for name, value in fields.items() if value is not UNSET}


class _New(_Body, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a new reminder."""

    id: Annotated[str, Meta(max_length=ID_MAX_CHARS)] = ""
    """Names the request: sent again, it sets no second reminder."""


class ReminderEndpoints:
    """The endpoints of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._name = site.name
        self._bus = site.process.bus
        self._reminders = Reminders(site.process.bus, site.process.config.queue)
        self._labels = SessionLabels(site.process.bus)

    async def all(self, request: Request) -> Response:
        """The next reminders of all sessions, the next one first; with ``?mine=1`` only those of the operator."""
        limit, is_mine = limit_of(request), flag_of(request, "mine")
        operator: Operator = request.scope["operator"]
        scopes, person = await self._own(operator)
        found = [
            stored
            async for stored in all_reminders(self._bus, self._reminders)
            if not is_mine or (stored.reminder and _is_of(stored.reminder, scopes, person))
        ]
        found.sort(key=lambda stored: stored.reminder.due if stored.reminder else "~")
        rows = [_row(each) | {"title": (await self._labels.of(each.session)).title} for each in found[:limit]]
        return json_response({"reminders": rows, "more": max(0, len(found) - limit)})

    async def _own(self, operator: Operator) -> tuple[frozenset[str], str]:
        """The scopes of the operator's chats on all channels, and the operator as a person of this channel."""
        if not operator.person:
            return frozenset(), ""
        own = person_scope(self._site.config.bot, self._name, operator.person)
        family = await LinkIndex(self._site.process.bus).family(own)
        return frozenset([own, *family]), str(SessionKey(channel=self._name, chat=operator.person))

    async def add(self, request: Request) -> Response:
        """Add a reminder to a session of this channel."""
        body = await decoded(request, _New, FORM)
        session = str(check_channel(session_in_path(request, self._name, parts=5), self._name))
        bot = self._site.process.bot(self._site.config.bot)
        language = _language(request, bot.language)
        fields: dict[str, Any] = {"text": "", "when": "", "zone": bot.time_zone, **body.given}
        wish = ReminderRequest(**fields)
        async with audited(request, "reminder.add", session) as doing:
            try:
                place = await place_in(self._bus, self._site.config, session)
                if place is None:
                    raise ReminderRefused("remind_chat_gone", session=session)
                person = str(SessionKey(channel=place.channel, chat=place.sender_id))
                if (await preferences_of(self._bus, place.bot, person)).stopped:
                    raise ReminderRefused("remind_stopped")
                name = body.id or secrets.token_hex(8)
                new = await add(self._reminders, wish, place, asked_as=name, at_most=bot.reminders.chat_max)
            except ReminderRefused as error:
                doing.outcome = "rejected: 400"
                return problem(400, REFUSED, error.said(language))
        row = _row(StoredReminder(session=session, id=new.id, raw=new.raw, reminder=new))
        return json_response({"reminder": row, "said": confirmed(new, language, when=wish.when)}, 201)

    async def change(self, request: Request) -> Response:
        """Change the text, the time or the repetition of a reminder."""
        body = await decoded(request, _Body, FORM)
        if not body.given:
            raise HTTPException(400, FORM)
        session, reminder_id, stored = await self._stored(request, parts=6)
        if stored is None or stored.reminder is None:
            return problem(404, "no_reminder", GONE)
        language = _language(request, self._site.process.bot(self._site.config.bot).language)
        async with audited(request, "reminder.change", f"{session} {reminder_id}") as doing:
            try:
                after = await change(self._reminders, stored, **body.given)
            except ReminderRefused as error:
                doing.outcome = "rejected: 400"
                return problem(400, REFUSED, error.said(language))
        said = confirmed(after, language, when=body.given.get("when", ""))
        return json_response({"reminder": _row(replace(stored, reminder=after)), "said": said})

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
        session, reminder_id, stored = await self._stored(request, parts=parts)
        if stored is None:
            return problem(404, "no_reminder", GONE)
        async with audited(request, f"reminder.{action}", f"{session} {reminder_id}") as doing:
            try:
                after = await act(self._reminders, action, stored)
            except ReminderRefused as error:
                doing.outcome = "rejected: 409"
                return problem(409, "changed", str(error))
        return json_response({"reminder": _row(replace(stored, reminder=after)) if after else None})

    async def _stored(self, request: Request, *, parts: int) -> tuple[str, str, StoredReminder | None]:
        session, reminder_id = str(session_in_path(request, self._name, parts=parts)), segments_of(request, parts)[5]
        return session, reminder_id, await self._reminders.get(session, reminder_id)


def _is_of(reminder: Reminder, scopes: frozenset[str], person: str) -> bool:
    return reminder.scope in scopes or (reminder.person == person != "")


def _language(request: Request, default: Language) -> Language:
    """The language of the message to the operator: ``?language=``, or the bot's."""
    asked = request.query_params.get("language")
    return "zh" if asked == "zh" else "en" if asked == "en" else default


def _row(stored: StoredReminder) -> dict[str, Any]:
    row: dict[str, Any] = {"id": stored.id, "session": stored.session, "readable": stored.reminder is not None}
    if stored.reminder is not None:
        row |= msgspec.to_builtins(stored.reminder)
    return {name: value for name, value in row.items() if name not in SECRET}
