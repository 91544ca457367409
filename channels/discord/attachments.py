"""The files of a message, and what a line of text describes: stickers, polls, cards, forwarded messages. Pure."""

from collections.abc import Iterator, Mapping

from channels.discord.api_types import Content, File, Message
from channels.discord.mentions import names_of, plain
from channels.media import file_kind
from daemon.events import Attachment

VOICE_MESSAGE = 1 << 13
"""Flag of messages that a person spoke (Resources, "Message Flags")."""

NAME_MAX_CHARS = 200


def attachments_of(message: Message) -> tuple[Attachment, ...]:
    """The files of a message, and of the messages that it forwards."""
    contents = [message, *(each.message for each in message.message_snapshots)]
    return tuple(_attachment(message, content, file) for content in contents for file in content.attachments)


def _attachment(message: Message, content: Content, file: File) -> Attachment:
    # The address of a file expires after a day; the message returns a new one.
    source = f"{message.channel_id}/{message.id}/{file.id}"
    name = file.filename[-NAME_MAX_CHARS:] or f"file-{file.id}"
    kind = "voice" if content.flags & VOICE_MESSAGE else file_kind(file.content_type or "", file.filename)
    return Attachment(kind=kind, name=name, size_bytes=file.size, source=source)


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
