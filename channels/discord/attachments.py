"""The files of a message, and what a line of text describes: stickers, polls, cards, forwarded messages. Pure."""

from collections.abc import Iterator, Mapping
from typing import Literal

from channels.discord.api_types import Content, File, Message
from channels.discord.mentions import names_of, plain
from daemon.events import Attachment

IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/webp", "image/gif"})
"""Files of these types are images to a model."""

VOICE_MESSAGE = 1 << 13
"""Flag of messages that a person spoke (Resources, "Message Flags")."""

NAME_MAX_CHARS = 200

_Kind = Literal["image", "document", "audio", "video", "voice"]


def attachments_of(message: Message) -> tuple[Attachment, ...]:
    """The files of a message, and of the messages that it forwards."""
    contents = [message, *(each.message for each in message.message_snapshots)]
    return tuple(_attachment(message, content, file) for content in contents for file in content.attachments)


def _attachment(message: Message, content: Content, file: File) -> Attachment:
    # The address of a file expires after a day; the message returns a new one.
    source = f"{message.channel_id}/{message.id}/{file.id}"
    name = file.filename[-NAME_MAX_CHARS:] or f"file-{file.id}"
    return Attachment(kind=_kind(content, file), name=name, size_bytes=file.size, source=source)


def _kind(content: Content, file: File) -> _Kind:
    kind = (file.content_type or "").partition(";")[0].strip().lower()
    if content.flags & VOICE_MESSAGE:
        return "voice"
    if kind in IMAGE_TYPES:
        return "image"
    if kind.startswith("audio/"):
        return "audio"
    return "video" if kind.startswith("video/") else "document"


def lines_of(message: Message, names: Mapping[str, str]) -> Iterator[str]:
    """What a message contains beside its text and files, one line or more each."""
    yield from _lines(message)
    for each in message.message_snapshots:
        forwarded = each.message
        text = plain(forwarded.content, {**names, **names_of(forwarded)}).strip()
        yield "\n".join(filter(None, ("[forwarded message]", text, *_lines(forwarded))))


def _lines(content: Content) -> Iterator[str]:
    for sticker in content.sticker_items:
        yield f"[sticker: {sticker.name}]"
    if content.poll is not None:
        answers = "; ".join(each.poll_media.text or "" for each in content.poll.answers)
        yield f"[poll: {content.poll.question.text or ''} ({answers})]"
    if not content.content:
        # With a text, a card is the preview of a link in it.
        for embed in content.embeds:
            yield "\n".join(filter(None, (embed.title, embed.description, embed.url)))
