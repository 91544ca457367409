"""A message of a person as a bridge posts it. Pure."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from channels.arrival import Arrival, Sender
from daemon.events import Attachment, Quote

Id = Annotated[str, Meta(min_length=1, max_length=256)]

FORM = (
    "A message must be an object {chat, sender, text, id?, type?, thread?, group?, mentioned?, reply_to?, files?}; see "
    "docs/webhook-channel.md."
)


class _Sender(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: Id
    name: str = ""
    bot: bool = False


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    url: Annotated[str, Meta(min_length=1, max_length=2_048)]
    name: Annotated[str, Meta(max_length=256)] = ""
    kind: Literal["image", "document", "audio", "video", "voice"] = "document"
    bytes: Annotated[int, Meta(ge=0)] = 0


class _Quote(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: str
    sender: str = ""


class _Message(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    type: Literal["message", "edit", "delete"] = "message"
    chat: Id
    sender: Id | _Sender
    text: str = ""
    id: Id | None = None
    """Unset: the id of the request."""
    thread: Annotated[str, Meta(max_length=256)] = ""
    group: bool = False
    chat_name: Annotated[str, Meta(max_length=256)] = ""
    mentioned: bool = True
    """In a group, whether the message is for the bot."""
    reply_to: Annotated[str, Meta(max_length=256)] = ""
    quote: _Quote | None = None
    files: Annotated[tuple[_File, ...], Meta(max_length=20)] = ()
    order: float | None = None
    """Rises in a chat; unset: the time of the request."""


_decode = msgspec.json.Decoder(_Message).decode


def arrival_of(body: bytes, request_id: str, *, now_s: float) -> Arrival:
    """The message in ``body``.

    Args:
        body: JSON in UTF-8.
        request_id: the id of the request, by which a repetition is recognised.
        now_s: seconds since 1970.

    Raises:
        UnicodeDecodeError, msgspec.DecodeError, RecursionError: it is not such a message.
    """
    found = _decode(body)
    sender = found.sender if isinstance(found.sender, _Sender) else _Sender(id=found.sender)
    return Arrival(
        seen_as=request_id,
        id=found.id or request_id,
        order=now_s if found.order is None else found.order,
        chat=found.chat,
        thread=found.thread,
        chat_kind="group" if found.group else "direct",
        chat_name=found.chat_name,
        sender=Sender(id=sender.id, name=sender.name, is_bot=sender.bot),
        text=found.text,
        mentioned=found.mentioned or not found.group,
        attachments=tuple([_attachment(file) for file in found.files]),
        reply_to=found.reply_to,
        quote=None if found.quote is None else Quote(text=found.quote.text, sender_name=found.quote.sender),
        edited=found.type == "edit",
        deleted=found.type == "delete",
    )


def _attachment(file: _File) -> Attachment:
    return Attachment(kind=file.kind, name=file.name, size_bytes=file.bytes, source=file.url)
