"""Sending, changing and taking back one message; nothing is sent again here that may have arrived."""

from collections import OrderedDict
from typing import Any

import anyio

from channels.base import Part
from channels.feishu.api import Api, left_s
from channels.feishu.api_types import Rejected
from channels.feishu.buttons import Buttons
from channels.feishu.card_streams import CardStreams
from channels.feishu.files import Files, Sent
from channels.feishu.text_forms import NO_FORM, card_of, clean, forms_of, uuid_of
from channels.shapes import nested
from daemon.errors import SendRejected
from daemon.sessionkey import SessionKey

MESSAGE = "om_"
"""Begins the id of every message."""

USER = "ou_"
"""Begins the open_id of every user. An administrator is named by it, and gets direct messages."""

GONE = frozenset({230011, 230110, 230003})
"""The message was taken back or deleted."""

NOT_THERE = GONE | {230019, 230050, 230071, 230072, 230111, 18113}
"""What is to be answered cannot be: the message or its thread is gone, will soon be, or takes no answer in a thread
(``im/v1/messages/:message_id/reply``)."""

REMOVED_MAX = 2_000
"""Messages of which it is known that they were taken back; as many as texts are shown at a time."""

LIKE_NEW = frozenset({230099, 230054})
"""The card of a message cannot be replaced as a whole; it may be in streaming mode."""


class MessageSender:
    """Sends the messages of one bot."""

    def __init__(self, api: Api, files: Files, streams: CardStreams, buttons: Buttons) -> None:
        self._api = api
        self._files = files
        self._streams = streams
        self._buttons = buttons
        self._removed: OrderedDict[str, None] = OrderedDict()

    async def send(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """Send a part; Feishu's id of its first message. Errors as for ``Channel.send``.

        A part with a text and a file is two messages. Each has a ``uuid`` of its own, so that a repetition of the part
        sends only what is missing.
        """
        deadline = anyio.current_time() + timeout_s
        files = await self._files.uploaded(part, deadline)
        sent = ""
        if part.text.strip() or not files:
            is_streaming = part.preview and self._streams.are_there
            buttons = await self._buttons.elements(chat, part, deadline)
            forms = forms_of(part.text, streaming=is_streaming, buttons=buttons)
            sent = await self._taken(chat, part, forms, "text", deadline)
            if part.preview and sent in self._removed:
                # Shown anew further down: under the same uuid Feishu tells of the message that was taken back.
                sent = await self._taken(chat, part, forms, f"text {part.attempt}", deadline)
        for number, file in enumerate(files):
            sent_file = await self._taken(chat, part, [file], f"file {number}", deadline)
            sent = sent or sent_file
        return sent

    async def edit(self, chat: SessionKey, message_id: str, part: Part, *, timeout_s: float) -> None:
        """Replace a message's text with that of ``part``. Errors as for ``Channel.edit``."""
        if not message_id.startswith(MESSAGE):
            raise SendRejected(f"message {message_id[:80]!r} cannot be edited because it was not found")
        deadline = anyio.current_time() + timeout_s
        is_stream = part.preview or self._streams.knows(message_id)
        if is_stream and await self._streams.went_on(message_id, part, deadline):
            return
        try:
            await self._replace(message_id, part, deadline)
        except Rejected as no:
            if no.code not in LIKE_NEW or is_stream or not await self._streams.went_on(message_id, part, deadline):
                raise

    async def remove(self, message_id: str, *, timeout_s: float) -> None:
        """Take a message back. Errors as for ``Channel.remove``."""
        if not message_id.startswith(MESSAGE):
            return
        self._streams.forget(message_id)
        try:
            await self._api.call("DELETE", f"/im/v1/messages/{message_id}", timeout_s=timeout_s)
        except Rejected as no:
            if no.code not in GONE:
                raise
        self._removed[message_id] = None
        while len(self._removed) > REMOVED_MAX:
            self._removed.popitem(last=False)

    async def _replace(self, message_id: str, part: Part, deadline: float) -> None:
        card = card_of(clean(part.text), streaming=part.preview and self._streams.are_there)
        await self._api.call("PATCH", f"/im/v1/messages/{message_id}", {"content": card}, timeout_s=left_s(deadline))

    async def _taken(self, chat: SessionKey, part: Part, forms: list[Sent], piece: str, deadline: float) -> str:
        """The id of a message in the first form that Feishu takes, in the thread or chat where it takes one."""
        uuid = uuid_of(chat, part, piece)
        answers = chat.thread or (part.reply_to if piece == "file 0" or piece.startswith("text") else "")
        left = forms
        while True:
            try:
                return await self._posted(chat, left[0], uuid, answers, deadline)
            except Rejected as no:
                if answers and no.code in NOT_THERE:
                    answers = ""  # what was asked there is answered in the chat itself
                elif no.code in NO_FORM and len(left) > 1:
                    left = left[1:]
                elif answers and no.code in NO_FORM:
                    # Perhaps it is not the form, but a message that cannot be answered (230001, 230054).
                    answers, left = "", forms
                else:
                    raise

    async def _posted(self, chat: SessionKey, form: Sent, uuid: str, answers: str, deadline: float) -> str:
        body: dict[str, Any] = {**form, "uuid": uuid}
        if answers.startswith(MESSAGE):
            body["reply_in_thread"] = bool(chat.thread)
            path = f"/im/v1/messages/{answers}/reply"
            answer = await self._api.call("POST", path, body, timeout_s=left_s(deadline))
        else:
            body["receive_id"] = chat.chat
            query = {"receive_id_type": "open_id" if chat.chat.startswith(USER) else "chat_id"}
            answer = await self._api.call("POST", "/im/v1/messages", body, timeout_s=left_s(deadline), query=query)
        sent = nested(answer, "data", "message_id")
        return sent if isinstance(sent, str) else ""
