"""``…/file``: the files of a session, uploaded by people before their messages and sent or made by the bot.

An upload is stored where the turn of its message looks for it, and its name contains the mark of that message, so that
the file is forgotten with the message (``daemon/inbox.py``).
"""

import secrets
from functools import partial
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

import anyio
import msgspec
from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.http import read_body
from channels.outgoing_files import content_of
from channels.web.error_response import problem
from channels.web.json_body import json_response
from channels.web.member_limits import check_channel
from channels.web.message_endpoints import Kind, Messages, Uploaded
from channels.web.request_params import session_in_path
from channels.web.site import Site
from daemon.durable import folder_below, whole_file
from daemon.errors import SendRejected
from daemon.events import Attachment
from daemon.inbox import path_of
from daemon.memory import Memories
from daemon.scope import folder_of, scope_of
from daemon.session import SessionReader
from daemon.sessionkey import SessionKey

SENT_MAX_BYTES = 50_000_000
"""Largest file that is shown; the largest one that a bot may send."""

UPLOAD_S = 600.0
"""Time limit of an upload: 20 MB at 270 kbit/s."""

AT_ONCE = 4
"""Uploads that one process receives at the same time: each is held in memory."""

NAME_MAX_CHARS = 200

ADVICE = "Check the space and the permissions of this folder, and upload the file again."

PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
"""Beginnings of the pictures that a browser shows on the page. All other files are downloads; so is SVG, which may
contain scripts."""


class Files:
    """The endpoints of one site."""

    def __init__(self, site: Site, messages: Messages) -> None:
        self._site = site
        self._messages = messages
        self._reader = SessionReader(site.process.bus)
        self._memories = Memories(site.process.bus, site.process.archive)
        self._places = anyio.Semaphore(AT_ONCE)

    async def read(self, request: Request) -> Response:
        """One file: a picture is shown by browsers, other files are downloads."""
        session = session_in_path(request, self._site.name)
        path = PurePosixPath(request.query_params.get("path", ""))
        scope = await self._scope(session, await self._sender(request, session))
        if not scope or not path.parts:
            return _missing(path)
        workspace, folder = await self._folder(scope)
        found = Attachment(kind="document", name=path.name, path=f"{folder}/{path}")
        try:
            content = await content_of(workspace, found, max_bytes=SENT_MAX_BYTES)
        except SendRejected:
            return _missing(path)
        kind = _picture_type(content)
        place = f"{'inline' if kind else 'attachment'}; filename*=UTF-8''{quote(path.name, safe='')}"
        media_type = kind or "application/octet-stream"
        return Response(content, headers={"Content-Disposition": place}, media_type=media_type)

    async def upload(self, request: Request) -> Response:
        """Store the body as a file of the message ``?id=``, which is sent later; 201 with its path."""
        session, query = check_channel(session_in_path(request, self._site.name), self._site.name), request.query_params
        message_id, name = query.get("id", ""), query.get("name", "")[-NAME_MAX_CHARS:]
        kind = _kind(query.get("kind", "document"))
        if not message_id:
            raise HTTPException(400, "The ID of the message is missing. Add ?id=<ID> to the address.")
        sender = await self._sender(request, session)
        scope = await self._scope(session, sender)
        most = self._site.process.config.agent.attachment_max_bytes
        async with self._places:
            advice = f"A file can be at most {most:,} bytes large (agent.attachment_max_bytes)."
            content = await read_body(request, max_bytes=most, advice=advice, within_s=UPLOAD_S)
            if not content:
                raise HTTPException(400, "The file is empty. Choose another file.")
            file = Attachment(kind=kind, name=name, source=secrets.token_hex(8))
            inbound = self._messages.inbound(session, message_id, sender)
            path = path_of(msgspec.structs.replace(inbound, attachments=(file,)), 0)
            workspace, folder = await self._folder(scope)
            try:
                await to_thread.run_sync(partial(_keep, workspace, PurePosixPath(folder, path), content))
            except OSError as error:
                return problem(
                    503, "not_stored", f"{workspace}: the file cannot be stored ({error.strerror}). {ADVICE}"
                )
        return json_response(Uploaded(path=path, name=name, kind=kind, size_bytes=len(content)), 201)

    async def _sender(self, request: Request, session: SessionKey) -> str:
        return request.query_params.get("user") or await self._messages.sender(request, session)

    async def _scope(self, session: SessionKey, sender: str) -> str:
        """The scope of a session; before its first message, the one that this message will give it; empty: none."""
        known = (await self._reader.state(str(session))).scope
        if known or session.channel != self._site.name:
            return known
        bot = self._site.process.bot(self._site.config.bot)
        return scope_of(self._messages.inbound(session, "", sender), bot)

    async def _folder(self, scope: str) -> tuple[Path, str]:
        """The workspace, and the folder of the scope's files in it."""
        home = await self._memories.home(scope)
        return self._site.process.workspace(unquote(scope.partition(":")[0])), f"files/{folder_of(home)}"


def _keep(workspace: Path, path: PurePosixPath, content: bytes) -> None:
    with (
        folder_below(workspace, *path.parts[:-1], make=True) as folder,
        whole_file(folder, path.name, replace=True) as file,
    ):
        file.write(content)


def _kind(text: str) -> Kind:
    try:
        kind: Kind = msgspec.convert(text, Kind)
    except msgspec.ValidationError:
        raise HTTPException(400, "kind must be image, document, audio, video or voice.") from None
    return kind


def _picture_type(content: bytes) -> str:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for begin, kind in PICTURES.items() if content.startswith(begin)), "")


def _missing(path: PurePosixPath) -> Response:
    return problem(404, "no_file", f"The file {str(path)[:200]!r} was not found in the session. It may be forgotten.")
