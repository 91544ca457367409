"""``/api/sessions/<session>``: shows, renames, archives, deletes and branches a session, and joins its memory."""

import datetime as dt
import secrets
from typing import Annotated, Any, Literal
from urllib.parse import unquote

import anyio
import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import audited
from channels.web.access.request_operator import Operator
from channels.web.error_response import problem
from channels.web.message_endpoints import MessageEndpoints
from channels.web.ordered_jobs import OrderedJobs
from channels.web.rate_limit import check_channel
from channels.web.request_params import decoded, json_response, session_in_path
from channels.web.session.session_list import SessionRows
from channels.web.site import Site
from daemon.access import Pauses, is_listed
from daemon.clock import stamp
from daemon.errors import NoSuchTranscript
from daemon.forget import ForgetOrder, scopes_with
from daemon.heartbeat import agent_lives
from daemon.memory.memory_merge import home_of
from daemon.people import LinkRequests
from daemon.scope import person_scope
from daemon.services import FILLING, PREVIEW, load
from daemon.session import SessionLabels, SessionReader, SessionState, pending_of
from daemon.sessionkey import SessionKey
from daemon.transcripts import Branches

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


class SessionEndpoints:
    """The endpoints of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._reader = SessionReader(site.process.bus)
        self._labels = SessionLabels(site.process.bus)
        self._lines = SessionRows(site.process.bus)
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
            job_id = await LinkRequests(self._site.process).link(own, state.scope, by=operator.who)
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
            order = ForgetOrder(whole="session", name=state.session, session=state.session, scopes=scopes)
            doing.outcome = "ordered"
            return await self._jobs.forget(order, None, name=secrets.token_hex(8))

    async def _since(self, is_set: bool) -> int:
        return await self._reader.now_ms() if is_set else 0

    async def _state(self, request: Request, *, parts: int = PARTS) -> SessionState:
        return await self._reader.state(str(session_in_path(request, self._site.name, parts=parts)))


def _unknown(session: str) -> Response:
    return problem(404, "no_session", f"Session {session} was not found. To list all sessions, send GET /api/sessions.")


# ``GET …/waiting``: the pending messages of a session, and the reason why they are not answered yet.

SHOWN = 50
"""Messages in one response."""

SHOWN_CHARS = 2_000
"""Longest text of a message in a response."""

Reason = Literal["", "answering", "parked", "backing_off", "paused", "no_worker", "queued"]


class _Why(msgspec.Struct, frozen=True, kw_only=True):
    """Why the messages of a session wait."""

    reason: Reason
    """Empty: no message waits."""
    detail: str = ""
    """Why a session was parked: ``<kind>: <reason>``."""
    until_ms: int = 0
    """When the next attempt is made, ms since 1970; 0: unknown."""


class PendingEndpoint:
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


# ``GET …/context`` and ``GET …/prompt``: the next prompt of a session, in numbers and word by word.

PROMPT_S = 30.0
"""Time limit for a prompt: tool servers are asked for their tools."""


class PromptEndpoints:
    """The endpoints of one site."""

    def __init__(self, site: Site, messages: MessageEndpoints) -> None:
        self._site = site
        self._messages = messages
        self._reader = SessionReader(site.process.bus)

    async def context(self, request: Request) -> Response:
        """Tokens by part, and the sizes at which the session is flushed and consolidated."""
        key = session_in_path(request, self._site.name)
        found: dict[str, Any] = await load(FILLING)(self._site.process, str(key), bot=self._site.config.bot)
        return json_response({**found, "models": await self._models(request, key)})

    async def _models(self, request: Request, key: SessionKey) -> list[str]:
        """The models that the person of this session may choose here by ``/model``; empty if there is no choice."""
        bot = self._site.process.config.bots.get(self._site.config.bot)
        if bot is None or key.channel != self._site.name:
            return []
        sender = await self._messages.sender(request, key)
        may = is_listed(bot, channel=key.channel, sender=sender) and len(bot.model.names) > 1
        return bot.model.names if may else []

    async def prompt(self, request: Request) -> Response:
        """The exact prompt."""
        session = str(session_in_path(request, self._site.name))
        if not (await self._reader.state(session)).exists:
            return problem(
                404,
                "no_session",
                f"Session {session} has no messages, so there is no prompt yet. Send a message first.",
            )
        try:
            with anyio.fail_after(PROMPT_S):
                found: dict[str, Any] = await load(PREVIEW)(self._site.process, session)
        except TimeoutError:
            return problem(
                503,
                "too_slow",
                f"The prompt could not be built within {PROMPT_S:.0f} s because a tool server is slow. Try "
                f"again later.",
            )
        return json_response({**found, "parts": _parts(found)})


def _parts(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts in the order of the prompt: parts of the system message as text, the others as ranges of messages."""
    parts: list[dict[str, Any]] = [
        {"name": section["part"], "tokens": section["tokens"], "text": section["text"]} for section in found["system"]
    ]
    tokens = found["parts"]
    parts.append({"name": "tools", "tokens": tokens["tools"], "text": ""})
    # Recalled memories may stand beside the newest message instead of in the system message.
    beside = tokens["recalled"] - sum(part["tokens"] for part in parts if part["name"] == "recalled")
    if beside:
        parts.append({"name": "recalled", "tokens": beside, "text": ""})
    for name, (first, upto) in found["stretches"].items():
        parts.append({"name": name, "tokens": tokens[name], "text": "", "first": first, "upto": upto})
    return parts


# ``…/branch``: a new conversation with the messages up to one turn of an older one.

BRANCH_FORM = 'Send {"index": N} with the index of a message. The "title" field is optional.'


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
        wanted = await decoded(request, _Branch, BRANCH_FORM)
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
