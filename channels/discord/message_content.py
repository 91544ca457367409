"""What a message contains: mentions as names, its files, and what a line of text describes. Pure.

Discord writes ``<@1>`` for a person, ``<@&1>`` for a role, ``<#1>`` for a channel, ``<:wave:1>`` for an emoji and
``</help:1>`` for a command (Reference, "Message Formatting"). A line of text describes stickers, polls, cards and
forwarded messages.
"""

import re
from collections.abc import Collection, Iterator, Mapping

from channels.discord.api_types import Content, File, Member, Message, User
from channels.media import file_kind
from daemon.events import Attachment

_marked = re.compile(r"<(?:(@!?|@&|#)(\d{1,20})|a?(:\w{1,64}:)\d{1,20}|(/[^<>:\n]{1,100}):\d{1,20})>")


def name_of(user: User, member: Member | None = None) -> str:
    """A person's name as Discord shows it."""
    return (member.nick if member else None) or user.global_name or user.username


def names_of(content: Content) -> dict[str, str]:
    """The names of the people whom a message mentions, by their IDs."""
    return {each.id: name_of(each, each.member) for each in content.mentions}


def plain(text: str, names: Mapping[str, str]) -> str:
    """``text`` as people read it. ``names``: of people, channels and roles, by ID."""

    def read(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[3] or found[4] or ""
        sign = "#" if found[1] == "#" else "@"
        return f"{sign}{names.get(found[2]) or found[2]}"

    return _marked.sub(read, text)


def without_call(text: str, called: Collection[str]) -> str:
    """``text`` without the mentions of the bot at its beginning. ``called``: the IDs of the bot and of its roles."""
    at = 0
    while found := re.compile(r"\s*<@[!&]?(\d{1,20})>[\s,:]*").match(text, at):
        if found[1] not in called:
            break
        at = found.end()
    return text[at:]


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
    is_apps = message.webhook_id is not None or (message.author is not None and message.author.bot)
    yield from _lines(message, names, is_apps=is_apps)
    for each in message.message_snapshots:
        forwarded = each.message
        named = {**names, **names_of(forwarded)}
        text = plain(forwarded.content, named).strip()
        yield "\n".join(filter(None, ("[forwarded message]", text, *_lines(forwarded, named))))


def _lines(content: Content, names: Mapping[str, str], *, is_apps: bool = False) -> Iterator[str]:
    for sticker in content.sticker_items:
        yield f"[sticker: {sticker.name}]"
    if content.poll is not None:
        answers = "; ".join(each.poll_media.text or "" for each in content.poll.answers)
        yield f"[poll: {content.poll.question.text or ''} ({answers})]"
    for embed in content.embeds:
        # With a text of a person, a card is the preview of a link in it.
        if not content.content or (is_apps and embed.type == "rich"):
            values = (": ".join(filter(None, (each.name, each.value))) for each in embed.fields)
            yield plain("\n".join(filter(None, (embed.title, embed.description, *values, embed.url))), names)
