"""Sending and editing one part: its best form first, the next one only after a definite no.

Nothing is sent again here that may have arrived.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import msgspec
from msgspec.structs import replace

from channels.base import Part
from channels.telegram.api import Api, Upload
from channels.telegram.api_types import HOPELESS, NoMethod, Rejected, Sent
from channels.telegram.attachments import METHODS, upload_of
from channels.telegram.buttons import keyboard_of
from channels.telegram.markdown import length
from channels.telegram.text_forms import CAPTION_MAX, TEXT_MAX, TextForm, captions_of, forms_of, length_of
from channels.text import beginning
from daemon.errors import ChannelError, SendRefused, SendRejected, SendUnknown

IN_THREAD_CHARS = 500
"""Markdown longer than this is parsed in a thread: of an odd one that can take longer than a loop may stand."""

PARSING = anyio.CapacityLimiter(2)

DOCUMENT_NAME = "reply.md"

NO_PREVIEW: dict[str, Any] = {"link_preview_options": {"is_disabled": True}}
"""With each text: for a preview the platform would fetch an address that a model wrote, with all that stands in it. The
Bot API documents it for ``sendMessage`` and ``editMessageText``, and ignores parameters that a method does not have."""

NOT_MODIFIED = "not modified"
NO_THREAD = "message thread not found"
NO_VOICE = "voice_messages_forbidden"
"""The receiver takes no voice messages, by a setting of Telegram Premium; other files are taken."""

_sent = msgspec.json.Decoder(Sent).decode


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Where something is said."""

    chat: str
    """As the platform calls it now."""
    thread: str = ""
    reply_to: int | None = None
    keyboard: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """The parameters of the buttons below the message."""

    @property
    def fields(self) -> dict[str, Any]:
        """The parameters that say so."""
        chat = int(self.chat) if self.chat.lstrip("-").isdecimal() else self.chat
        fields: dict[str, Any] = {"chat_id": chat, **self.keyboard}
        if self.thread.isdecimal():
            fields["message_thread_id"] = int(self.thread)
        if self.reply_to is not None:
            fields["reply_parameters"] = {"message_id": self.reply_to, "allow_sending_without_reply": True}
        return fields


class MessageSender:
    """Sends what one bot says."""

    def __init__(self, api: Api, workspace: Path, *, rich: bool) -> None:
        """``rich``: whether Markdown goes as rich messages, where the server knows them."""
        self._api = api
        self._workspace = workspace
        self._wants_rich = rich
        self._rich = rich
        """Until the server shows that it knows none."""

    async def send(self, target: Target, part: Part, *, timeout_s: float) -> str:
        """Send a part; the platform's id of the last message that it took. Errors as for ``Channel.send``."""
        deadline = anyio.current_time() + timeout_s
        target = replace(target, keyboard=keyboard_of(part))
        uploads = [await upload_of(self._workspace, each) for each in part.attachments]
        if part.document:
            uploads.insert(0, Upload(field="document", name=DOCUMENT_NAME, content=part.document.encode()))
        if not uploads:
            return await self._text(target, part.text, deadline)
        captions = await _parsed(captions_of, part.text)
        if captions:
            return await self._rest(target, uploads, captions, deadline)
        first = await self._text(target, part.text, deadline)
        try:
            return await self._rest(
                Target(chat=target.chat, thread=target.thread), uploads, [TextForm(fields={})], deadline
            )
        except ChannelError as error:
            # What stands before it was sent: the part is neither refused nor sent.
            raise _half_sent(first, error) from error

    async def edit(self, target: Target, message_id: int, part: Part, *, timeout_s: float) -> None:
        """Have a message say what ``part`` says. Errors as for ``Channel.edit``."""
        deadline = anyio.current_time() + timeout_s
        fields = {"chat_id": target.fields["chat_id"], "message_id": message_id, **keyboard_of(part)}
        forms = [form for form in await _parsed(forms_of, part.text) if self._rich or not form.rich]
        if not forms:
            raise SendRejected("the text is longer than the server accepts in one message")
        try:
            await self._first_taken(forms, ("editMessageText", "editMessageText"), fields, deadline)
        except Rejected as no:
            if not no.says(NOT_MODIFIED):
                raise

    def length(self, text: str) -> int:
        """How long a text is to the platform, in units; see ``text_forms.length_of``."""
        return length_of(text, rich=self._wants_rich)

    async def _text(self, target: Target, text: str, deadline: float) -> str:
        forms = [form for form in await _parsed(forms_of, text) if self._rich or not form.rich]
        try:
            if forms:
                return await self._in_thread(target, forms, ("sendMessage", "sendRichMessage"), deadline)
        except Rejected as no:
            if length(text) <= TEXT_MAX or no.moved_to or no.says(*HOPELESS):
                raise
        except NoMethod:
            if not all(form.rich for form in forms):
                raise
            self._rich = False
        # Too long for anything but a rich message, which the server refuses.
        document = Upload(field="document", name=DOCUMENT_NAME, content=text.encode("utf-8", "replace"))
        captions = await _parsed(captions_of, beginning(text, CAPTION_MAX // 2, length))
        try:
            return await self._rest(target, [document], captions, deadline)
        except NoMethod:
            self._rich = self._wants_rich  # it knows no method at all: it is the token that is wrong
            raise

    async def _rest(self, target: Target, uploads: Sequence[Upload], captions: list[TextForm], deadline: float) -> str:
        """Send files, the first one with the caption."""
        sent = ""
        for upload in uploads:
            forms = [TextForm(fields={})] if sent else captions
            try:
                sent = await self._file(target, upload, forms, deadline)
            except ChannelError as error:
                if sent:
                    raise _half_sent(sent, error) from error
                raise
        return sent

    async def _file(self, target: Target, upload: Upload, forms: list[TextForm], deadline: float) -> str:
        method = METHODS[upload.field]
        try:
            return await self._in_thread(target, forms, (method, method), deadline, upload)
        except Rejected as no:
            is_hopeless = no.says(*HOPELESS) and not no.says(NO_VOICE)
            if upload.field == "document" or no.moved_to or is_hopeless:
                raise
        # A picture of an odd shape, a recording of an odd kind: as a document everything goes.
        document = Upload(field="document", name=upload.name, content=upload.content)
        return await self._in_thread(target, forms, ("sendDocument", "sendDocument"), deadline, document)

    async def _in_thread(
        self,
        target: Target,
        forms: list[TextForm],
        methods: tuple[str, str],
        deadline: float,
        upload: Upload | None = None,
    ) -> str:
        try:
            result = await self._first_taken(forms, methods, target.fields, deadline, upload)
        except Rejected as no:
            if not (target.thread and no.says(NO_THREAD)):
                raise
            # The topic was deleted: what was asked there is answered in the group itself.
            fields = replace(target, thread="").fields
            result = await self._first_taken(forms, methods, fields, deadline, upload)
        try:
            return str(_sent(result).message_id)
        except msgspec.DecodeError:
            return ""  # it took it, and that is what counts

    async def _first_taken(
        self,
        forms: Sequence[TextForm],
        methods: tuple[str, str],
        fields: dict[str, Any],
        deadline: float,
        upload: Upload | None = None,
    ) -> msgspec.Raw:
        plain, rich = methods
        unknown = False
        for form in forms:
            if form.rich and not self._rich:
                continue
            left_s = deadline - anyio.current_time()
            if left_s <= 0:
                raise SendRefused("the platform did not accept the message in any format before the timeout")
            method = rich if form.rich else plain
            try:
                params = {**fields, **form.fields, **({} if upload else NO_PREVIEW)}
                return await self._api.call(method, params, timeout_s=left_s, upload=upload)
            except NoMethod:
                if not form.rich or form is forms[-1]:
                    # It knows neither: it is the token that is wrong.
                    self._rich = self._rich or unknown
                    raise
                unknown, self._rich = True, False
            except Rejected as no:
                if form is forms[-1] or no.moved_to or no.says(*HOPELESS):
                    raise
        raise SendRefused(
            "the platform did not accept the message in any format"
        )  # not reached: the last one is never rich


def _half_sent(sent: str, error: ChannelError) -> SendUnknown:
    text = f"message {sent} was sent, but the rest of the reply was not sent"
    return SendUnknown(f"{text}: {error}", brief=f"{text}: {error.brief}")


async def _parsed(parse: Any, text: str) -> list[TextForm]:
    if len(text) <= IN_THREAD_CHARS:
        return list(parse(text))
    return list(await anyio.to_thread.run_sync(parse, text, limiter=PARSING))
