"""Sending, editing and deleting one message; nothing is sent again here that may have arrived."""

import hashlib
from base64 import b64encode
from pathlib import Path
from typing import Any

import anyio
import msgspec

from channels.base import Part
from channels.discord.api import Api, Request, Upload, left_s
from channels.discord.api_types import (
    ARCHIVED,
    NO_HISTORY,
    NO_VOICE,
    UNKNOWN_CHANNEL,
    UNKNOWN_MESSAGE,
    Rejected,
    is_snowflake,
)
from channels.discord.buttons import components_of
from channels.discord.markdown import discord_markdown, length
from channels.discord.message_content import VOICE_MESSAGE
from channels.file_transfer import content_of
from channels.link_spoofing import honest
from channels.media import opus_s
from channels.text import beginning
from daemon.errors import UNREADABLE, SendRefused, SendRejected, SendUnknown
from daemon.sessionkey import SessionKey

PART_MAX = 2_000
"""Longest text of a message (Resources, "Create Message")."""

SEND_MAX_BYTES = 10_485_760
"""Largest file that a bot may send where no server has a higher limit (Reference, "Uploading Files")."""

DOCUMENT_NAME = "reply.md"

SUPPRESS_EMBEDS = 1 << 2
"""Flag: without previews of links, for which Discord would request an address that a model wrote."""

WAVEFORM = b64encode(bytes([64] * 64)).decode()
"""The waveform that people see while they play a recording; Discord asks for one, and the real one is unknown."""

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
    """A text as it is sent: for Discord, or as it is if it would become too long, but never with a misleading link."""
    written = discord_markdown(text)
    if length(written) <= PART_MAX:
        return written
    return text if honest(text) == text else text.replace("](", "] ")  # no longer than before


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
        if components := components_of(part):
            body["components"] = components
        if uploads:
            body["attachments"] = [{"id": number, "filename": each.name} for number, each in enumerate(uploads)]
        if is_snowflake(part.reply_to):
            body["message_reference"] = {"message_id": part.reply_to, "fail_if_not_exists": False}
        try:
            return await self._taken(chat, body | _voice_message(part, uploads), uploads, deadline)
        except Rejected as no:
            if no.code not in NO_VOICE:
                raise
            return await self._taken(chat, body, uploads, deadline)

    async def _taken(self, chat: SessionKey, body: Any, uploads: list[Upload], deadline: float) -> str:
        try:
            content = await self._posted(target_of(chat), body, uploads, deadline)
        except Rejected as no:
            if no.code != UNKNOWN_CHANNEL:
                raise
            # The question of a deleted thread is answered in its channel. An administrator is named by the user ID.
            channel = chat.chat if chat.thread else await self._direct(chat.chat, deadline, instead=no)
            content = await self._posted(channel, body, uploads, deadline)
        try:
            return _sent(content).id
        except UNREADABLE:
            return ""  # Discord accepted it

    async def edit(self, chat: SessionKey, message_id: str, part: Part, *, timeout_s: float) -> None:
        """Replace the text of a message. Errors as for ``Channel.edit``."""
        if not is_snowflake(message_id):
            raise SendRejected(f"message {message_id[:80]!r} cannot be edited because it was not found")
        text = beginning(part.text, PART_MAX, length) if part.preview else part.text
        body = {"content": shown(text), **_quiet()}
        path = f"/channels/{target_of(chat)}/messages/{message_id}"
        await self._changed(chat, Request("PATCH", path, body, passing=part.preview), timeout_s)

    async def remove(self, chat: SessionKey, message_id: str, *, timeout_s: float) -> None:
        """Delete a message. Errors as for ``Channel.remove``."""
        if not is_snowflake(message_id):
            return
        path = f"/channels/{target_of(chat)}/messages/{message_id}"
        try:
            await self._changed(chat, Request("DELETE", path), timeout_s)
        except Rejected as no:
            if no.code not in (UNKNOWN_MESSAGE, UNKNOWN_CHANNEL):
                raise

    async def _changed(self, chat: SessionKey, request: Request, timeout_s: float) -> None:
        """Change a message. A person may have closed the thread during the answer, which a new message would reopen."""
        deadline = anyio.current_time() + timeout_s
        try:
            await self._api.call(request, timeout_s=timeout_s)
        except Rejected as no:
            if no.code != ARCHIVED or request.passing:
                raise
            reopened = Request("PATCH", f"/channels/{target_of(chat)}", {"archived": False})
            await self._api.call(reopened, timeout_s=left_s(deadline))
            await self._api.call(request, timeout_s=left_s(deadline))

    async def _posted(self, channel: str, body: Any, uploads: list[Upload], deadline: float) -> bytes:
        path = f"/channels/{channel}/messages"
        try:
            return await self._api.call(Request("POST", path, body, uploads=uploads), timeout_s=left_s(deadline))
        except Rejected as no:
            if no.code != NO_HISTORY:
                raise
            # Without the permission to read the history, the bot may write, but not reply.
            plain = {key: value for key, value in body.items() if key != "message_reference"}
            return await self._api.call(Request("POST", path, plain, uploads=uploads), timeout_s=left_s(deadline))

    async def _direct(self, user: str, deadline: float, *, instead: Rejected) -> str:
        """The direct message channel with a user. Raises: SendRefused; ``instead``: nobody has this ID."""
        request = Request("POST", "/users/@me/channels", {"recipient_id": user})
        try:
            return _sent(await self._api.call(request, timeout_s=left_s(deadline))).id
        except SendUnknown as error:
            raise SendRefused(str(error)) from None  # no message was sent
        except (Rejected, *UNREADABLE):
            raise instead from None

    async def _uploads(self, part: Part) -> list[Upload]:
        found: list[Upload] = []
        if part.document:
            found.append(Upload(name=DOCUMENT_NAME, content=part.document.encode("utf-8", "replace")))
        for each in part.attachments:
            content = await content_of(self._workspace, each, max_bytes=SEND_MAX_BYTES)
            found.append(Upload(name=each.name or "file", content=content))
        return found


def target_of(chat: SessionKey) -> str:
    """The channel in which a chat is: to Discord, a thread is a channel. Raises: SendRejected: it has no ID."""
    if not is_snowflake(chat.chat) or not is_snowflake(chat.thread or "0"):
        # The name of a chat is a part of the address of a request, and a model may choose it.
        raise SendRejected("the chat was not found because its ID is not a number, as Discord's IDs are")
    return chat.thread or chat.chat


def _voice_message(part: Part, uploads: list[Upload]) -> dict[str, Any]:
    """The fields that show a recording as a voice message; none for other parts."""
    length_s = opus_s(uploads[0].content) if [each.kind for each in part.attachments] == ["voice"] else None
    if length_s is None or part.text or part.document:
        return {}
    file = {"id": 0, "filename": uploads[0].name, "duration_secs": round(length_s, 3), "waveform": WAVEFORM}
    return {"content": "", "attachments": [file], "flags": VOICE_MESSAGE}


def _quiet() -> dict[str, Any]:
    """Nobody is notified by a mention that a model writes; the sender of the question is, by the reply."""
    return {"allowed_mentions": {"parse": [], "replied_user": True}, "flags": SUPPRESS_EMBEDS}
