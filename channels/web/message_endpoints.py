"""``/api/messages`` and ``/api/sessions/<session>/messages``: sending a message, and reading messages.

The name of a file contains the mark of its message, so the file is forgotten with the message (``daemon/inbox.py``).
"""

import hashlib
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import unquote

import msgspec
from anyio import to_thread
from msgspec import UNSET, Meta, Raw, UnsetType
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.http import read_body
from channels.inbound import accept, make_inbound
from channels.web.rate_limit import check_channel, check_sender, is_member, readable
from channels.web.request_params import after_of, before_of, check_type, json_response, limit_of, session_in_path
from channels.web.site import Site
from daemon.durable import folder_below, whole_file
from daemon.events import Attachment, Inbound, LogEntry
from daemon.inbox import is_of, path_of
from daemon.memory import Memories
from daemon.scope import folder_of, person_scope, scope_of
from daemon.session import MessageEdits, SessionReader
from daemon.sessionkey import SessionKey

if TYPE_CHECKING:
    from channels.web.access.request_operator import Operator


# A log entry in the form of the API.


class _Wire(msgspec.Struct, frozen=True, kw_only=True):
    # Raw: these fields are passed on without decoding and encoding.
    role: str
    content: Raw = Raw(b"null")
    tool_calls: Raw | UnsetType = UNSET
    tool_call_id: Raw | UnsetType = UNSET


class MessageView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of ``GET …/messages`` and of the event ``message``; a field without a value is left out."""

    index: int
    """Counted from the first message ever stored."""
    role: str
    content: Raw
    """A text, null with tool calls, or the parts of a message, as the model gets them."""
    time: str
    turn: int
    """The index at which its turn began."""
    tokens: int
    """Its token count in a prompt."""
    id: str = ""
    """For messages of people: the id of the message."""
    sender: str = ""
    overheard: bool = False
    """Group context, not addressed to the bot: it has no id and gets no answer."""
    answers: tuple[str, ...] = ()
    """For the last message of a turn: the ids that it answers."""
    dead: tuple[str, ...] = ()
    """As ``answers``, for ids that could not be answered."""
    stopped: bool = False
    """A person stopped the turn here."""
    silent: bool = False
    """A reminder's turn that had nothing to say; its content is null."""
    speech: str = ""
    """The path of the answer as a recording, for ``GET …/file``."""
    tool_calls: Raw | UnsetType = UNSET
    tool_call_id: Raw | UnsetType = UNSET


_decode = msgspec.json.Decoder(_Wire).decode
encode: Any = msgspec.json.Encoder().encode


def shown(index: int, entry: LogEntry) -> MessageView:
    """The entry at ``index`` in the form of the API."""
    wire = _decode(entry.wire)
    return MessageView(
        index=index,
        role=wire.role,
        content=Raw(b"null") if entry.silent else wire.content,
        time=entry.time,
        turn=entry.turn,
        tokens=entry.tokens,
        id=entry.id,
        sender=entry.sender,
        overheard=bool(entry.person) and not entry.id,
        answers=entry.answers,
        dead=entry.dead,
        stopped=entry.stopped,
        silent=entry.silent,
        speech=entry.speech,
        tool_calls=wire.tool_calls,
        tool_call_id=wire.tool_call_id,
    )


# Files that people send with a message, stored where the turn of the message looks for them.

ADVICE = "Check the free disk space and this folder's permissions, and upload the file again."


class NotStored(Exception):
    """A file cannot be stored. The text says where and why."""


class Uploads:
    """The uploads of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._reader = SessionReader(site.process.bus)
        self._memories = Memories(site.process.bus, site.process.archive)

    async def keep(self, inbound: Inbound, file: Attachment, content: bytes) -> Attachment:
        """Store ``content`` as a file of the message ``inbound``; the file with its path.

        The same content of the same message is stored once.

        Raises:
            NotStored: the folder cannot be written.
            BusUnavailable: Redis is unavailable.
        """
        source = hashlib.blake2b(content, digest_size=8).hexdigest()
        file = msgspec.structs.replace(file, source=source, size_bytes=len(content))
        path = path_of(msgspec.structs.replace(inbound, attachments=(file,)), 0)
        workspace, folder = await self.folder(await self.scope(inbound))
        try:
            await to_thread.run_sync(partial(_write, workspace, PurePosixPath(folder, path), content))
        except OSError as error:
            raise NotStored(f"{workspace}: the file cannot be stored ({error.strerror}). {ADVICE}") from error
        return msgspec.structs.replace(file, source="", path=path)

    async def scope(self, inbound: Inbound) -> str:
        """The scope of a session of this channel; before its first message, the one that this message will give it."""
        known = await self.known_scope(str(inbound.session))
        return known or scope_of(inbound, self._site.process.bot(self._site.config.bot))

    async def known_scope(self, session: str) -> str:
        """The scope of a session, also of a channel that is not configured here; empty: it has no messages."""
        return (await self._reader.state(session)).scope

    async def folder(self, scope: str) -> tuple[Path, str]:
        """The workspace, and the folder of the scope's files in it."""
        home = await self._memories.home(scope)
        return self._site.process.workspace(unquote(scope.partition(":")[0])), f"files/{folder_of(home)}"


def _write(workspace: Path, path: PurePosixPath, content: bytes) -> None:
    with (
        folder_below(workspace, *path.parts[:-1], make=True) as folder,
        whole_file(folder, path.name, replace=True) as file,
    ):
        file.write(content)


BODY_EXTRA_BYTES = 65_536
"""Room in a body besides the text."""

ESCAPED = 6
"""Bytes that one byte of text may take in JSON, as ``\\u0000``."""

PAGE_BYTES = 8 * 1024 * 1024
"""A page ends early at this size, so that encoding it does not block the event loop."""


FILES_MAX = 20
"""Most files of one message; a turn takes in as many."""

Kind = Literal["image", "document", "audio", "video", "voice"]


class UploadedFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
    files: Annotated[tuple[UploadedFile, ...], Meta(max_length=FILES_MAX)] = ()
    retry_of: Annotated[str, Meta(min_length=1, max_length=256)] | None = None
    """The ID of an earlier message that is to be answered once more."""


_decode_message = msgspec.json.Decoder(_Post).decode


class MessageEndpoints:
    """The endpoints of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._reader = SessionReader(site.process.bus)
        self._transcripts = site.process.transcripts
        self._amendments = MessageEdits(site.process.bus, site.process.config.queue)
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
                "Only operators can set the user field of a message. Send the operator token, or omit the user "
                "field. If the user field is missing, the session name is used as the sender's name.",
            )
        sender = message.user or await self.sender(request, key)
        inbound = self.inbound(key, message.id or "", sender, message.text)
        if not all(is_of(file.path, str(key), inbound.id, message.retry_of or "") for file in message.files):
            raise HTTPException(
                400,
                "This message refers to a file that was not uploaded with the message's ID. Upload the file with "
                "the message's ID.",
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

    async def _page(self, session: str, after: int, limit: int) -> list[MessageView]:
        found = await self._transcripts.committed(session, after=after, limit=limit, most_bytes=PAGE_BYTES)
        return [shown(index, entry) for index, entry in found]

    async def _page_before(self, session: str, before: int, limit: int) -> list[MessageView]:
        before = min(before, (await self._reader.state(session)).head)
        found = await self._transcripts.newest(session, before=before, limit=limit, most_bytes=PAGE_BYTES)
        return [shown(index, entry) for index, entry in found]


def _decoded(body: bytes) -> _Post:
    try:
        return _decode_message(body)
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
