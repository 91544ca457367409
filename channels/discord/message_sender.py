"""Sending, editing and deleting one message; nothing is sent again here that may have arrived."""

import hashlib
from pathlib import Path
from typing import Any

import anyio
import msgspec

from channels.base import Part
from channels.discord.api import Api, Request, Upload, left_s
from channels.discord.api_outcome import UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, Rejected
from channels.discord.api_types import is_snowflake
from channels.discord.markdown import discord_markdown, length
from channels.file_transfer import content_of
from channels.text import beginning
from daemon.errors import UNREADABLE, SendRejected
from daemon.sessionkey import SessionKey

PART_MAX = 2_000
"""Longest text of a message (Resources, "Create Message")."""

SEND_MAX_BYTES = 10_485_760
"""Largest file that a bot may send where no server has a higher limit (Reference, "Uploading Files")."""

DOCUMENT_NAME = "reply.md"

SUPPRESS_EMBEDS = 1 << 2
"""Flag: without previews of links, for which Discord would request an address that a model wrote."""

NONCE_CHARS = 24
"""Discord accepts 25."""


class SentMessage(msgspec.Struct, frozen=True):
    """A message that Discord accepted."""

    id: str = ""


_sent = msgspec.json.Decoder(SentMessage).decode


def nonce_of(chat: SessionKey, part: Part) -> str:
    """The same for each attempt at a part. A preview keeps its nonce while its text grows."""
    text = "" if part.preview else part.text
    files = [each.path for each in part.attachments]
    named = msgspec.json.encode([str(chat), part.reply, part.number, part.preview, text, files])
    return hashlib.sha256(named).hexdigest()[:NONCE_CHARS]


def shown(text: str) -> str:
    """A text as it is sent: for Discord, or as it is if it would become too long."""
    written = discord_markdown(text)
    return written if length(written) <= PART_MAX else text


class MessageSender:
    """Sends the messages of one bot."""

    def __init__(self, api: Api, workspace: Path) -> None:
        self._api = api
        self._workspace = workspace

    async def send(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """Send a part; the ID of the message. Errors as for ``Channel.send``."""
        deadline = anyio.current_time() + timeout_s
        uploads = await self._uploads(part)
        body: dict[str, Any] = {
            "content": shown(part.text),
            "nonce": nonce_of(chat, part),
            # A preview that was deleted may be shown again, which Discord would refuse.
            "enforce_nonce": not part.preview,
            **_quiet(),
        }
        if uploads:
            body["attachments"] = [{"id": number, "filename": each.name} for number, each in enumerate(uploads)]
        if is_snowflake(part.reply_to):
            body["message_reference"] = {"message_id": part.reply_to, "fail_if_not_exists": False}
        try:
            content = await self._posted(target_of(chat), body, uploads, deadline)
        except Rejected as no:
            if no.code != UNKNOWN_CHANNEL or not chat.thread:
                raise
            # The thread was deleted: the question is answered in its channel.
            content = await self._posted(chat.chat, body, uploads, deadline)
        try:
            return _sent(content).id
        except UNREADABLE:
            return ""  # Discord accepted it

    async def edit(self, chat: SessionKey, message_id: str, part: Part, *, timeout_s: float) -> None:
        """Replace the text of a message. Errors as for ``Channel.edit``."""
        if not is_snowflake(message_id):
            raise SendRejected(f"message {message_id[:80]!r} cannot be edited: it was not found")
        text = beginning(part.text, PART_MAX, length) if part.preview else part.text
        body = {"content": shown(text), **_quiet()}
        path = f"/channels/{target_of(chat)}/messages/{message_id}"
        await self._api.call(Request("PATCH", path, body, passing=part.preview), timeout_s=timeout_s)

    async def remove(self, chat: SessionKey, message_id: str, *, timeout_s: float) -> None:
        """Delete a message. Errors as for ``Channel.remove``."""
        if not is_snowflake(message_id):
            return
        path = f"/channels/{target_of(chat)}/messages/{message_id}"
        try:
            await self._api.call(Request("DELETE", path), timeout_s=timeout_s)
        except Rejected as no:
            if no.code not in (UNKNOWN_MESSAGE, UNKNOWN_CHANNEL):
                raise

    async def _posted(self, channel: str, body: Any, uploads: list[Upload], deadline: float) -> bytes:
        request = Request("POST", f"/channels/{channel}/messages", body, uploads=uploads)
        return await self._api.call(request, timeout_s=left_s(deadline))

    async def _uploads(self, part: Part) -> list[Upload]:
        found: list[Upload] = []
        if part.document:
            found.append(Upload(name=DOCUMENT_NAME, content=part.document.encode("utf-8", "replace")))
        for each in part.attachments:
            content = await content_of(self._workspace, each, max_bytes=SEND_MAX_BYTES)
            found.append(Upload(name=each.name or "file", content=content))
        return found


def target_of(chat: SessionKey) -> str:
    """The channel in which a chat is: to Discord, a thread is a channel."""
    return chat.thread or chat.chat


def _quiet() -> dict[str, Any]:
    """Nobody is notified by a mention that a model writes; the sender of the question is, by the reply."""
    return {"allowed_mentions": {"parse": [], "replied_user": True}, "flags": SUPPRESS_EMBEDS}
