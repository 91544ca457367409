"""Files that are sent, and files that came with messages."""

import re
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from channels.base import Part
from channels.feishu.api import Api, Upload, left_s
from channels.feishu.api_types import Rejected
from channels.file_transfer import content_of
from channels.media import opus_s
from channels.shapes import nested
from daemon.errors import SendRefused, SendRejected
from daemon.events import Attachment

SEND_MAX_BYTES = 30_000_000
"""Largest file that is sent (``im/v1/files``: 30 MB)."""

IMAGE_MAX_BYTES = 10_000_000
"""Largest picture that is sent as one (``im/v1/images``: 10 MB); a larger one goes as a file."""

FETCH_MAX_BYTES = 20_971_520
"""Largest file that is fetched; Feishu gives 100 MB."""

IMAGES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".ico", ".tiff", ".heic"})
"""Names of pictures that Feishu takes (``im/v1/images``)."""

DOCUMENT_NAME = "reply.md"

Sent = dict[str, str]
"""``msg_type`` and ``content`` of a message that shows a file."""

_source = re.compile(r"(om_[A-Za-z0-9_-]{1,80}) ([A-Za-z0-9_-]{1,200}) (image|file)").fullmatch
_encode = msgspec.json.encode


def source_of(message_id: str, key: str, kind: str) -> str:
    """What a file is fetched by; ``kind``: ``image`` or ``file``."""
    return f"{message_id} {key} {kind}"


class Files:
    """The files of one bot."""

    def __init__(self, api: Api, workspace: Path) -> None:
        self._api = api
        self._workspace = workspace

    async def uploaded(self, part: Part, deadline: float) -> list[Sent]:
        """The messages that show the files of a part; the files are uploaded, and nobody sees them yet.

        Raises:
            SendRefused: not now.
            SendRejected: never: a file is gone, too large, or refused.
        """
        sent: list[Sent] = []
        if part.document:
            sent.append(await self._file(DOCUMENT_NAME, part.document.encode("utf-8", "replace"), deadline))
        for each in part.attachments:
            content = await content_of(self._workspace, each, max_bytes=SEND_MAX_BYTES)
            name = each.name or "file"
            if _is_image(each, content):
                shown = await self._image(name, content, deadline)
            else:
                shown = await self._audio(name, content, deadline) if each.kind == "voice" else None
            sent.append(shown or await self._file(name, content, deadline))
        return sent

    async def fetch(self, attachment: Attachment, *, timeout_s: float) -> bytes:
        """An attachment of a message. Errors as for ``Channel.fetch``."""
        if attachment.size_bytes > FETCH_MAX_BYTES:
            raise SendRejected(
                f"the file is {attachment.size_bytes:,} bytes, but downloads are limited to {FETCH_MAX_BYTES:,} bytes"
            )
        found = _source(attachment.source)
        if found is None:
            raise SendRejected("the file is not stored on Feishu's servers")
        message_id, key, kind = found.groups()
        path = f"/im/v1/messages/{message_id}/resources/{key}"
        return await self._api.download(path, {"type": kind}, max_bytes=FETCH_MAX_BYTES, timeout_s=timeout_s)

    async def _image(self, name: str, content: bytes, deadline: float) -> Sent | None:
        """None: Feishu takes it for no picture."""
        upload = Upload(field="image", name=name, content=content)
        fields = {"image_type": "message"}
        try:
            answer = await self._api.upload("/im/v1/images", fields, upload, timeout_s=left_s(deadline))
        except Rejected:
            return None
        return {"msg_type": "image", "content": _keyed("image_key", answer)}

    async def _audio(self, name: str, content: bytes, deadline: float) -> Sent | None:
        """None: it is not Opus, the only form of a voice message, or Feishu does not take it."""
        length_s = opus_s(content)
        if length_s is None:
            return None
        upload = Upload(field="file", name=name, content=content)
        fields = {"file_type": "opus", "file_name": name, "duration": str(round(length_s * 1_000))}
        try:
            answer = await self._api.upload("/im/v1/files", fields, upload, timeout_s=left_s(deadline))
        except Rejected:
            return None
        return {"msg_type": "audio", "content": _keyed("file_key", answer)}

    async def _file(self, name: str, content: bytes, deadline: float) -> Sent:
        upload = Upload(field="file", name=name, content=content)
        fields = {"file_type": "stream", "file_name": name}
        answer = await self._api.upload("/im/v1/files", fields, upload, timeout_s=left_s(deadline))
        return {"msg_type": "file", "content": _keyed("file_key", answer)}


def _is_image(attachment: Attachment, content: bytes) -> bool:
    fine = PurePosixPath(attachment.name.lower()).suffix in IMAGES
    return attachment.kind == "image" and fine and len(content) <= IMAGE_MAX_BYTES


def _keyed(name: str, answer: dict[str, Any]) -> str:
    key = nested(answer, "data", name)
    if not isinstance(key, str) or not key:
        raise SendRefused("Feishu did not return a key for the file")
    return _encode({name: key}).decode()
