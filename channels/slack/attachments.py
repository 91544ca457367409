"""Files that come with a message, and files that are sent to Slack.

One that is sent takes three steps: an address is asked for, the content is brought there, and the last step shows it.
Only that one is seen by people, so whatever goes wrong before it can be done again.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

import anyio

from channels.base import Part
from channels.file_transfer import content_of
from channels.media import IMAGE_TYPES, file_kind
from channels.slack.api import Api
from channels.slack.api_types import Attached, File, Message, Shape, lenient, objects_in
from channels.slack.mrkdwn import NOBODY, linked, name_in, plain, sound
from channels.slack.text_forms import TextForms, clean, escaped, left_s, said, ts_of
from daemon.errors import ChannelError, SendRefused, SendRejected
from daemon.events import Attachment
from daemon.sessionkey import SessionKey

# What comes with a message beside its words: files to fetch, what is passed on, what apps made. Pure.

HEAVY_BYTES = 3_750_000
"""A larger picture is shown to no model (``PICTURE_MAX_BYTES``): the smaller one that Slack made of it is fetched."""

UNSEEN = frozenset({"image/svg+xml"})
"""Pictures that are texts."""

PAGES = frozenset({"text/html", "application/vnd.slack-docs"})
"""Files of these types (mails, canvases) are pages of HTML, whatever their names say."""

NAME_MAX_CHARS = 200

RICH = frozenset({"rich_text_section", "rich_text_quote", "rich_text_preformatted"})
"""Blocks of which all elements together are one text."""

DEPTH_MAX = 16
"""Of blocks within blocks: Slack's own lists have eight levels."""

_GONE = {
    "tombstone": "a file that was deleted",
    "hidden_by_limit": "a file that Slack hides because of limits in the workspace's plan",
}
"""Modes of files of which only a sign is left."""

_NO_ACCESS = frozenset({"file_not_found", "access_denied"})


def attachments_of(message: Message) -> tuple[Attachment, ...]:
    """The files of a message, and of those passed on with it."""
    return tuple(_attachment(file) for file in _files(message) if file.id and not _instead(file))


def lines_of(message: Message) -> Iterator[str]:
    """What comes with a message and cannot be fetched, in a line each."""
    for file in _files(message):
        if instead := _instead(file):
            yield instead


def passed_on(message: Message, names: Mapping[str, str] = NOBODY) -> Iterator[str]:
    """What somebody else said that is passed on with a message, each with who said it."""
    for each in message.attachments:
        if each.is_passed_on:
            said = plain(each.text, names) or "\n".join(_written(each.message_blocks, names)) or sound(each.fallback)
            yield f"[forwarded from {name_in(each.author_name) or '?'}]\n{said}".rstrip()


def made_of(message: Message, names: Mapping[str, str] = NOBODY) -> str:
    """What a message says that has no text of its own: in blocks, or in the cards of an app."""
    words = "\n".join(_written(message.blocks, names))
    if not words.strip():
        words = "\n".join(filter(None, (_card(each, names) for each in message.attachments if not each.is_passed_on)))
    return words.strip()


def _files(message: Message) -> Iterator[File]:
    yield from message.files
    for each in message.attachments:
        if each.is_passed_on:
            yield from each.files


def _instead(file: File) -> str:
    """The line that stands for a file that cannot be fetched; empty for one that can."""
    if file.mode in _GONE:
        return f"[{_GONE[file.mode]}]"
    name = _name(file)
    if file.file_access in _NO_ACCESS:
        return f"[a file that cannot be opened: {name}]" if name else "[a file that cannot be opened]"
    if file.is_external or file.mode == "external":
        return f"[file elsewhere: {name} ({sound(file.external_url or file.url_private)})]"
    return ""


def _attachment(file: File) -> Attachment:
    if small := _small(file):
        name = unquote(urlsplit(small).path).rpartition("/")[2] or _name(file)
        return Attachment(kind="image", name=sound(name)[-NAME_MAX_CHARS:], source=f"{file.id} {small}")
    name = _name(file) or f"file-{file.id}"
    if file.mimetype.lower() in PAGES and not name.lower().endswith((".html", ".htm")):
        name = f"{name}.html"
    url = file.url_private_download or file.url_private
    # Without an address (files of other workspaces) it is asked for when it is fetched.
    return Attachment(
        kind="voice" if file.subtype == "slack_audio" else file_kind(file.mimetype, name),
        name=name,
        size_bytes=max(file.size, 0),
        source=f"{file.id} {url}".strip(),
        spoken=file.subtype == "slack_video",
    )


def _small(file: File) -> str:
    """Where a smaller one lies of a picture that no model can be shown as it is; empty: nowhere."""
    mimetype = file.mimetype.lower()
    can_be_shown = mimetype in IMAGE_TYPES and file.size <= HEAVY_BYTES
    if can_be_shown or mimetype in UNSEEN or not mimetype.startswith("image/"):
        return ""
    return file.thumb_1024 or file.thumb_960 or file.thumb_720


def _name(file: File) -> str:
    return sound(file.name or file.title)[-NAME_MAX_CHARS:]


def _card(card: Attached, names: Mapping[str, str]) -> str:
    words = "\n".join(plain(each, names) for each in (card.pretext, card.title, card.text) if each)
    return words or "\n".join(_written(card.blocks, names)) or plain(card.fallback, names)


def _written(found: Any, names: Mapping[str, str], depth: int = 0) -> Iterator[str]:
    """The texts of blocks, without their form: a line for each block, list item or field."""
    if depth > DEPTH_MAX:
        return
    if isinstance(found, list):
        for each in found:  # pyright: ignore[reportUnknownVariableType] - whatever the platform says
            yield from _written(each, names, depth + 1)
    elif isinstance(found, dict):
        block = cast("dict[str, Any]", found)
        if block.get("type") in RICH:
            elements = objects_in(block.get("elements"))
            yield "".join(lenient(_Element, each).shown(names) for each in elements)
            return
        text = block.get("text")
        if isinstance(text, str):
            yield plain(text, names) if block.get("type") == "mrkdwn" else sound(text)
        elif isinstance(text, dict):
            yield from _written(text, names, depth + 1)
        for key in ("title", "fields", "elements", "message", "blocks"):
            yield from _written(block.get(key), names, depth + 1)


class _Element(Shape, frozen=True):
    """A piece of rich text."""

    type: str = ""
    text: str = ""
    url: str = ""
    user_id: str = ""
    usergroup_id: str = ""
    channel_id: str = ""
    name: str = ""
    range: str = ""
    fallback: str = ""

    def shown(self, names: Mapping[str, str]) -> str:
        """As people read it."""
        forms = {
            "user": f"@{names.get(self.user_id) or self.user_id}",
            "usergroup": f"@{self.usergroup_id}",
            "channel": f"#{self.channel_id}",
            "emoji": f":{self.name}:",
            "broadcast": f"@{self.range}",
            "date": self.fallback,
            "link": linked(self.url, self.text),
        }
        return sound(forms.get(self.type, self.text))


# Files on their way to Slack and from it.

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
        await said(self._api, "files.completeUploadExternal", TextForms(fields=fields), deadline, key=chat.chat)
        return await self._shown_in(chat, brought[0]["id"], deadline)

    async def fetch(self, attachment: Attachment, *, timeout_s: float) -> bytes:
        """An attachment of a message; ``source`` is the file's ID and, after a space, its address if known.

        Errors as for ``Channel.fetch``.
        """
        if attachment.size_bytes > FETCH_MAX_BYTES:
            raise SendRejected(
                f"the file is {attachment.size_bytes:,} bytes, but downloads are limited to {FETCH_MAX_BYTES:,} bytes"
            )
        found = _source(attachment.source)
        if found is None:
            raise SendRejected("the file is not stored on Slack's servers")
        deadline = anyio.current_time() + timeout_s
        url = found[2] or await self._address(found[1], deadline)
        content, kind = await self._api.download(url, max_bytes=FETCH_MAX_BYTES, timeout_s=left_s(deadline))
        if kind.startswith(KINDS_OF_PAGES) and not attachment.name.lower().endswith((".html", ".htm")):
            raise SendRejected(
                "Slack returned a web page instead of the file. Check whether the app has the `files:read` scope."
            )
        return content

    async def _brought(self, name: str, content: bytes, deadline: float) -> dict[str, str]:
        params = {"filename": name, "length": len(content)}
        found = await self._api.call("files.getUploadURLExternal", params, timeout_s=left_s(deadline))
        file, url = found.get("file_id"), found.get("upload_url")
        if not isinstance(file, str) or not isinstance(url, str):
            raise SendRefused("Slack did not return an upload address")
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
        raise SendRejected("Slack did not return a download address for the file")


def _places(answer: Mapping[str, Any], channel: str) -> Iterator[str]:
    """The messages of a channel in which a file is shown."""
    shares = _object(_object(answer.get("file")).get("shares"))
    for kind in shares.values():
        for place in objects_in(_object(kind).get(channel)):
            if ts := ts_of(place):
                yield ts


def _object(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType] - whatever is answered
