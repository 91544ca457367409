"""``…/file``: the files of a session, uploaded by people before their messages and sent or made by the bot."""

from pathlib import PurePosixPath
from urllib.parse import quote

import anyio
import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from channels.file_transfer import content_of
from channels.http import read_body
from channels.web.error_response import problem
from channels.web.message_endpoints import Kind, MessageEndpoints, NotStored, UploadedFile, Uploads
from channels.web.rate_limit import check_channel
from channels.web.request_params import json_response, session_in_path
from channels.web.site import Site
from daemon.errors import SendRejected
from daemon.events import Attachment
from daemon.sessionkey import SessionKey

SENT_MAX_BYTES = 50_000_000
"""Largest file that is shown; the largest one that a bot may send."""

UPLOAD_S = 600.0
"""Time limit of an upload: 20 MB at 270 kbit/s."""

AT_ONCE = 4
"""Uploads that one process receives at the same time: each is held in memory."""

NAME_MAX_CHARS = 200

SHOWN = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"OggS": "audio/ogg",
    b"ID3": "audio/mpeg",
    b"\xff\xfb": "audio/mpeg",
    b"\xff\xf3": "audio/mpeg",
}
"""Beginnings of the pictures and recordings that a browser shows on the page. All other files are downloads; so is SVG,
which may contain scripts."""


class SessionFiles:
    """The endpoints of one site."""

    def __init__(self, site: Site, messages: MessageEndpoints) -> None:
        self._site = site
        self._messages = messages
        self._uploads = Uploads(site)
        self._places = anyio.Semaphore(AT_ONCE)

    async def read(self, request: Request) -> Response:
        """One file: browsers show a picture and play a recording, other files are downloads."""
        session = session_in_path(request, self._site.name)
        path = PurePosixPath(request.query_params.get("path", ""))
        if session.channel == self._site.name:
            sender = await self._sender(request, session)
            scope = await self._uploads.scope(self._messages.inbound(session, "", sender))
        else:
            scope = await self._uploads.known_scope(str(session))
        if not scope or not path.parts:
            return _missing(path)
        workspace, folder = await self._uploads.folder(scope)
        found = Attachment(kind="document", name=path.name, path=f"{folder}/{path}")
        try:
            content = await content_of(workspace, found, max_bytes=SENT_MAX_BYTES)
        except SendRejected:
            return _missing(path)
        kind = _shown_type(content)
        place = f"{'inline' if kind else 'attachment'}; filename*=UTF-8''{quote(path.name, safe='')}"
        media_type = kind or "application/octet-stream"
        return Response(content, headers={"Content-Disposition": place}, media_type=media_type)

    async def upload(self, request: Request) -> Response:
        """Store the body as a file of the message ``?id=``, which is sent later; 201 with its path."""
        session, query = check_channel(session_in_path(request, self._site.name), self._site.name), request.query_params
        message_id, name = query.get("id", ""), query.get("name", "")[-NAME_MAX_CHARS:]
        kind = _kind(query.get("kind", "document"))
        if not message_id:
            raise HTTPException(400, "The message ID is missing. Add ?id=<ID> to the address.")
        sender = await self._sender(request, session)
        most = self._site.process.config.agent.attachment_max_bytes
        async with self._places:
            advice = f"A file can be at most {most:,} bytes in size (agent.attachment_max_bytes)."
            content = await read_body(request, max_bytes=most, advice=advice, within_s=UPLOAD_S)
            if not content:
                raise HTTPException(400, "The file is empty. Choose another file.")
            inbound = self._messages.inbound(session, message_id, sender)
            try:
                file = await self._uploads.keep(inbound, Attachment(kind=kind, name=name), content)
            except NotStored as error:
                return problem(503, "not_stored", str(error))
        return json_response(UploadedFile(path=file.path, name=name, kind=kind, size_bytes=len(content)), 201)

    async def _sender(self, request: Request, session: SessionKey) -> str:
        return request.query_params.get("user") or await self._messages.sender(request, session)


def _kind(text: str) -> Kind:
    try:
        kind: Kind = msgspec.convert(text, Kind)
    except msgspec.ValidationError:
        raise HTTPException(400, "kind must be image, document, audio, video or voice.") from None
    return kind


def _shown_type(content: bytes) -> str:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for begin, kind in SHOWN.items() if content.startswith(begin)), "")


def _missing(path: PurePosixPath) -> Response:
    return problem(
        404, "no_file", f"The file {str(path)[:200]!r} was not found in the session. The file may have been deleted."
    )
