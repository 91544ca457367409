"""``/api/messages`` and ``/api/sessions/<session>/messages``: sending a message, and reading messages."""

from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.http import read_body
from channels.inbound import accept, make_inbound
from channels.web.json_body import check_type, json_response
from channels.web.member_limits import check_channel, check_sender, is_member, readable
from channels.web.message_view import Shown, shown
from channels.web.request_params import after_of, before_of, limit_of, session_in_path
from channels.web.site import Site
from daemon.events import Attachment, Inbound
from daemon.inbox import is_of
from daemon.scope import person_scope
from daemon.session import Amendments, SessionReader
from daemon.sessionkey import SessionKey

if TYPE_CHECKING:
    from channels.web.access.request_operator import Operator  # it imports this module

BODY_EXTRA_BYTES = 65_536
"""Room in a body besides the text."""

ESCAPED = 6
"""Bytes that one byte of text may take in JSON, as ``\\u0000``."""

PAGE_BYTES = 8 * 1024 * 1024
"""A page ends early at this size, so that encoding it does not block the event loop."""


FILES_MAX = 20
"""Most files of one message; a turn takes in as many."""

Kind = Literal["image", "document", "audio", "video", "voice"]


class Uploaded(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file that was uploaded for a message."""

    path: str
    """Relative to the files of the session's scope."""
    name: str
    kind: Kind
    size_bytes: int = 0


class _Post(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of ``POST /api/messages``."""

    session: str
    text: str
    id: Annotated[str, Meta(min_length=1)] | None = None
    user: Annotated[str, Meta(min_length=1, max_length=256)] | None = None
    files: Annotated[tuple[Uploaded, ...], Meta(max_length=FILES_MAX)] = ()
    retry_of: Annotated[str, Meta(min_length=1, max_length=256)] | None = None
    """The ID of an earlier message that is to be answered once more."""


_decode = msgspec.json.Decoder(_Post).decode


class Messages:
    """The endpoints of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._reader = SessionReader(site.process.bus)
        self._transcripts = site.process.transcripts
        self._amendments = Amendments(site.process.bus, site.process.config.queue)
        self._max_bytes = site.process.config.queue.message_max_bytes * ESCAPED + BODY_EXTRA_BYTES

    async def write(self, request: Request) -> Response:
        """POST accepts a message: 202 if it will be answered. PUT edits a pending one."""
        inbound = await self._inbound(request)
        return await (self._edit(inbound) if request.method == "PUT" else self._accept(inbound))

    async def _accept(self, inbound: Inbound) -> Response:
        accepted = await accept(self._site.process, inbound)
        return json_response({"id": accepted.id, "session": str(inbound.session), "status": accepted.status}, 202)

    async def _edit(self, inbound: Inbound) -> Response:
        """Replace the pending message of this ID. ``late``: the turn that answers it has begun."""
        amended = await self._amendments.amend(inbound)
        return json_response({"id": inbound.id, "session": str(inbound.session), "status": amended})

    def inbound(self, key: SessionKey, message_id: str, sender: str, text: str = "") -> Inbound:
        """A message of this site."""
        return make_inbound(
            self._site.process,
            channel=key.channel,
            chat=key.chat,
            thread=key.thread,
            text=text,
            sender_id=sender,
            message_id=message_id,
        )

    async def _inbound(self, request: Request) -> Inbound:
        check_type(request)
        message = _decoded(await self._body(request))
        key = check_channel(SessionKey.of_channel(message.session, self._site.name), self._site.name)
        if message.user is not None and is_member(request):
            raise HTTPException(
                403,
                "Only operators may choose the user of a message. Send the operators' token, or omit the field user. "
                "If the field user is missing, the name of the session is used as the sender's name.",
            )
        sender = message.user or await self.sender(request, key)
        inbound = self.inbound(key, message.id or "", sender, message.text)
        if not all(is_of(file.path, str(key), inbound.id, message.retry_of or "") for file in message.files):
            raise HTTPException(
                400,
                "This message refers to a file that was not uploaded for it. Upload the file with the message's ID.",
            )
        files = tuple(
            Attachment(kind=each.kind, name=each.name, size_bytes=each.size_bytes, path=each.path)
            for each in message.files
        )
        inbound = msgspec.structs.replace(inbound, attachments=files, retry_of=message.retry_of or "")
        if is_member(request):
            await check_sender(self._site.process, inbound)
        return inbound

    async def sender(self, request: Request, key: SessionKey) -> str:
        """The sender of a message without a user.

        All browsers of an operator are one person. For other clients, the session names the person, so that each
        session has a memory of its own; in such a session, operators write as that person.
        """
        operator: Operator | None = request.scope["operator"]
        if operator is None or not operator.person:
            return key.chat
        owner = (await self._reader.state(str(key))).scope
        own = person_scope(self._site.config.bot, key.channel, key.chat)
        return key.chat if owner == own else operator.person

    async def read(self, request: Request) -> Response:
        """The committed messages of a session after an index, or before an index."""
        session = str(readable(request, session_in_path(request, self._site.name), self._site.name))
        after, limit, before = after_of(request.query_params.get("after")), limit_of(request), before_of(request)
        if before is not None:
            return json_response({"messages": await self._page_before(session, before, limit)})
        return json_response({"messages": await self._page(session, after, limit)})

    async def _body(self, request: Request) -> bytes:
        most = self._site.process.config.queue.message_max_bytes
        advice = f"The text can be at most {most:,} bytes long (queue.message_max_bytes)."
        return await read_body(request, max_bytes=self._max_bytes, advice=advice)

    async def _page(self, session: str, after: int, limit: int) -> list[Shown]:
        found = await self._transcripts.committed(session, after=after, limit=limit, most_bytes=PAGE_BYTES)
        return [shown(index, entry) for index, entry in found]

    async def _page_before(self, session: str, before: int, limit: int) -> list[Shown]:
        before = min(before, (await self._reader.state(session)).head)
        found = await self._transcripts.newest(session, before=before, limit=limit, most_bytes=PAGE_BYTES)
        return [shown(index, entry) for index, entry in found]


def _decoded(body: bytes) -> _Post:
    try:
        return _decode(body)
    except UnicodeDecodeError:
        raise HTTPException(400, "The request body is not valid UTF-8. Encode it as UTF-8.") from None
    except msgspec.ValidationError as error:
        raise HTTPException(
            400,
            f"{error}. A message must be an object {{session, text, id?, user?, files?, retry_of?}}. All fields except "
            "files are strings.",
        ) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise HTTPException(400, f"The request body is not valid JSON: {error}") from None
