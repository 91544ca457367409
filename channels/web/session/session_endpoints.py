"""``/api/sessions/<session>``: shows, renames, pins, archives and deletes a session; ``…/join`` joins its memory."""

import secrets
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import audited
from channels.web.access.request_operator import Operator
from channels.web.error_response import problem
from channels.web.json_body import decoded, json_response
from channels.web.ordered_jobs import OrderedJobs
from channels.web.request_params import session_in_path
from channels.web.session.session_rows import Lines
from channels.web.site import Site
from daemon.forget import Order, scopes_with
from daemon.memory.memory_location import home_of
from daemon.people import Asking
from daemon.scope import person_scope
from daemon.session import Labels, SessionReader, SessionState

PARTS = 4
"""Of the address ``/api/sessions/<session>``."""

TITLE_MAX_CHARS = 1_000
"""Longest title in a request. A stored title has at most ``daemon.session.session_labels.TITLE_CHARS``."""

FORM = 'Send at least one of {"title": "…", "pinned": true, "archived": true}. An empty title removes the title.'


class _Patch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a change; a field that is left out changes nothing."""

    title: Annotated[str, Meta(max_length=TITLE_MAX_CHARS)] | UnsetType = UNSET
    pinned: bool | UnsetType = UNSET
    archived: bool | UnsetType = UNSET


class Changing:
    """The endpoints of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._reader = SessionReader(site.process.bus)
        self._labels = Labels(site.process.bus)
        self._lines = Lines(site.process.bus)
        self._jobs = OrderedJobs(site)

    async def read(self, request: Request) -> Response:
        """The line of a session, with ``memory``: the scope that its memory belongs to. A new session has neither."""
        state = await self._state(request)
        [active] = await self._reader.active_at([state.session]) or [(state.session, 0)]
        [line] = await self._lines.of([active], {state.session: await self._labels.of(state.session)})
        memory = await home_of(self._site.process.bus, state.scope) if state.scope else ""
        return json_response({**msgspec.structs.asdict(line), "memory": memory})

    async def join(self, request: Request) -> Response:
        """Join the memory of a session with the memory that the other conversations of the operator share."""
        state = await self._state(request, parts=PARTS + 1)
        if not state.exists:
            return _unknown(state.session)
        operator: Operator = request.scope["operator"]
        if not operator.person:
            raise HTTPException(400, "Clients that send the token have no memory of their own. Log in with a browser.")
        own = person_scope(self._site.config.bot, self._site.name, operator.person)
        async with audited(request, "session.join", state.session):
            job_id = await Asking(self._site.process).link(own, state.scope, by=operator.who)
            return await self._jobs.answer(job_id)

    async def change(self, request: Request) -> Response:
        """Rename, pin or archive a session."""
        patch = await decoded(request, _Patch, FORM)
        if patch == _Patch():
            raise HTTPException(400, FORM)
        state = await self._state(request)
        if not state.exists:
            return _unknown(state.session)
        session = state.session
        async with audited(request, "session.change", session):
            if patch.title is not UNSET:
                await self._labels.rename(session, patch.title)
            if patch.pinned is not UNSET:
                await self._labels.mark(session, "pinned", await self._since(patch.pinned))
            if patch.archived is not UNSET:
                await self._labels.mark(session, "archived", await self._since(patch.archived))
        label = await self._labels.of(session)
        changed = {"title": label.title, "pinned": bool(label.pinned_ms), "archived": bool(label.archived_ms)}
        return json_response({"session": session, **changed})

    async def delete(self, request: Request) -> Response:
        """Forget a session: its messages, and all parts of memory that came from these messages."""
        state = await self._state(request)
        if not state.exists:
            return _unknown(state.session)
        async with audited(request, "session.forget", state.session) as doing:
            scopes = await scopes_with(self._site.process.bus, state.scope)
            order = Order(whole="session", name=state.session, session=state.session, scopes=scopes)
            doing.outcome = "ordered"
            return await self._jobs.forget(order, None, name=secrets.token_hex(8))

    async def _since(self, is_set: bool) -> int:
        return await self._reader.now_ms() if is_set else 0

    async def _state(self, request: Request, *, parts: int = PARTS) -> SessionState:
        return await self._reader.state(str(session_in_path(request, self._site.name, parts=parts)))


def _unknown(session: str) -> Response:
    return problem(404, "no_session", f"Session {session} was not found. GET /api/sessions lists all sessions.")
