"""Files on their way to Slack and from it.

One that is sent takes three steps: an address is asked for, the content is brought there, and the last step shows it.
Only that one is seen by people, so whatever goes wrong before it can be done again.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio

from channels.base import Part
from channels.outgoing_files import content_of
from channels.slack.api import Api
from channels.slack.api_types import objects_in
from channels.slack.message_calls import left_s, said, ts_of
from channels.slack.text_forms import Wording, clean, escaped
from daemon.errors import ChannelError, SendRefused, SendRejected
from daemon.events import Attachment
from daemon.sessionkey import SessionKey

SEND_MAX_BYTES = 50_000_000
"""Largest file that is sent; Slack takes 1 GB, and a process holds four of them in memory."""

FETCH_MAX_BYTES = 20_971_520
"""Largest file that is fetched; Slack gives 1 GB."""

DOCUMENT_NAME = "reply.md"

SHARED_S = 2.0
"""Limit for Slack's answer about the message that shows a file; without it the file's ID is used."""

SHARED_SHARE = 0.5
"""Share of the remaining time for that: the file is sent, and the caller must get the result in time."""

KINDS_OF_PAGES = ("text/html",)

_source = re.compile(r"(F[A-Z0-9]{1,40})(?: (https?://\S+))?").fullmatch


class Files:
    """The files of one bot."""

    def __init__(self, api: Api, workspace: Path) -> None:
        self._api = api
        self._workspace = workspace

    async def send(self, chat: SessionKey, part: Part, deadline: float) -> str:
        """Send the file of a part, with its text above it; ``ts`` of the message, or else the file's id.

        Errors as for ``Channel.send``.
        """
        files = [
            (each.name or "file", await content_of(self._workspace, each, max_bytes=SEND_MAX_BYTES))
            for each in part.attachments
        ]
        if part.document:
            files.insert(0, (DOCUMENT_NAME, part.document.encode("utf-8", "replace")))
        brought = [await self._brought(name, content, deadline) for name, content in files]
        fields: dict[str, Any] = {"channel_id": chat.chat, "files": brought}
        if chat.thread:
            fields["thread_ts"] = chat.thread
        if part.text.strip():
            fields["initial_comment"] = escaped(clean(part.text))
        await said(self._api, "files.completeUploadExternal", Wording(fields=fields), deadline, key=chat.chat)
        return await self._shown_in(chat, brought[0]["id"], deadline)

    async def fetch(self, attachment: Attachment, *, timeout_s: float) -> bytes:
        """An attachment of a message; ``source`` is the file's ID and, after a space, its address if known.

        Errors as for ``Channel.fetch``.
        """
        if attachment.size_bytes > FETCH_MAX_BYTES:
            raise SendRejected(
                f"the file has {attachment.size_bytes:,} bytes, but at most {FETCH_MAX_BYTES:,} bytes can be downloaded"
            )
        found = _source(attachment.source)
        if found is None:
            raise SendRejected("the file is not stored on Slack's servers")
        deadline = anyio.current_time() + timeout_s
        url = found[2] or await self._address(found[1], deadline)
        content, kind = await self._api.download(url, max_bytes=FETCH_MAX_BYTES, timeout_s=left_s(deadline))
        if kind.startswith(KINDS_OF_PAGES) and not attachment.name.lower().endswith((".html", ".htm")):
            raise SendRejected(
                "Slack returned a web page instead of the file. The app may be missing the `files:read` scope."
            )
        return content

    async def _brought(self, name: str, content: bytes, deadline: float) -> dict[str, str]:
        params = {"filename": name, "length": len(content)}
        found = await self._api.call("files.getUploadURLExternal", params, timeout_s=left_s(deadline))
        file, url = found.get("file_id"), found.get("upload_url")
        if not isinstance(file, str) or not isinstance(url, str):
            raise SendRefused("Slack returned no upload address")
        await self._api.upload(url, content, timeout_s=left_s(deadline))
        return {"id": file, "title": name}

    async def _shown_in(self, chat: SessionKey, file: str, deadline: float) -> str:
        """It was sent: nothing that goes wrong from here on changes that."""
        seconds = min(SHARED_S, SHARED_SHARE * (deadline - anyio.current_time()))
        try:
            found = await self._api.call("files.info", {"file": file}, timeout_s=max(seconds, 0.0))
        except ChannelError:
            return file
        return next(_places(found, chat.chat), file)

    async def _address(self, file: str, deadline: float) -> str:
        answer = await self._api.call("files.info", {"file": file}, timeout_s=left_s(deadline))
        found = _object(answer.get("file"))
        for key in ("url_private_download", "url_private"):
            if isinstance(url := found.get(key), str) and url:
                return url
        raise SendRejected("Slack returned no download address for the file")


def _places(answer: Mapping[str, Any], channel: str) -> Iterator[str]:
    """The messages of a channel in which a file is shown."""
    shares = _object(_object(answer.get("file")).get("shares"))
    for kind in shares.values():
        for place in objects_in(_object(kind).get(channel)):
            if ts := ts_of(place):
                yield ts


def _object(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType] - whatever is answered
