"""The meaning of Discord's events: a message for the intake, or nothing. Pure."""

from collections.abc import Collection, Iterator, Mapping

import msgspec

from channels.arrival import Arrival, Sender, reacted
from channels.discord.api_types import Deleted, Interaction, Message, ReactionChange, is_snowflake, order_of
from channels.discord.message_content import attachments_of, lines_of, name_of, names_of, plain, without_call
from channels.quoted_message import brought, quote_of
from daemon.events import ChatKind

DEFAULT, REPLY, THREAD_STARTER = 0, 19, 21
SAID = frozenset({DEFAULT, REPLY})
"""Types of messages that people write; all others report changes (Resources, "Message Types")."""

REACTION_ADDED = "MESSAGE_REACTION_ADD"
REACTIONS = frozenset({REACTION_ADDED, *(f"MESSAGE_REACTION_REMOVE{which}" for which in ("", "_ALL", "_EMOJI"))})
"""Events about marks on messages (Events, "Gateway Events")."""

REPLIED_TO = 0
"""Type of a reference to the message that is replied to; others are forwarded messages."""


class Me(msgspec.Struct, frozen=True, kw_only=True):
    """The bot's identity."""

    id: str
    name: str = ""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a message was written."""

    chat: str
    """The channel that is no thread."""
    thread: str = ""
    name: str = ""
    names: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """Names of channels and roles, by ID."""
    roles: Collection[str] = ()
    """The bot's own roles in the server, which people mention instead of the bot."""


def read(message: Message, me: Me, place: Place, *, edited: bool = False) -> Arrival | None:
    """The message for the bot ``me``; None: one of its own, or none that a person wrote."""
    sender = sender_of(message)
    if message.type not in SAID or sender is None or sender.id == me.id or not is_snowflake(message.id):
        return None
    if edited and not message.edited_timestamp:  # Discord added the preview of a link
        return None
    direct = not message.guild_id
    mentioned = direct or _is_meant(message, me, place)
    attachments = attachments_of(message)
    answered = _answered(message)
    author = _author(answered, me) if answered is not None else None
    lent = brought(attachments_of(answered), author) if answered is not None and mentioned else ()
    text = words_of(message, me, place)
    if not (text or attachments or (mentioned and message.content)):
        return None  # without the privileged intent, Discord hides the content, also of replies that mention nobody
    change = (message.edited_timestamp or "")[:64] if edited else ""
    return Arrival(
        seen_as=seen_as(message.channel_id, message.id, change),
        id=message.id,
        order=order_of(message.id),
        chat=place.chat,
        thread=place.thread,
        chat_kind=kind_of(message.guild_id),
        chat_name=place.name,
        sender=sender,
        text=text,
        mentioned=mentioned,
        attachments=(*lent, *attachments),
        reply_to=replied_to(message),
        quote=quote_of(words_of(answered, me, place), attachments_of(answered), author) if answered else None,
        edited=edited,
    )


def deleted(event: Deleted, place: Place) -> Iterator[Arrival]:
    """The messages that were deleted; Discord does not state by whom they were written."""
    for each in filter(is_snowflake, event.ids or (event.id,)):
        yield Arrival(
            seen_as=seen_as(event.channel_id, each, "deleted"),
            id=each,
            order=order_of(each),
            chat=place.chat,
            thread=place.thread,
            chat_kind=kind_of(event.guild_id),
            sender=Sender(id=""),
            deleted=True,
            original=seen_as(event.channel_id, each, ""),
        )


def reaction_of(kind: str, event: ReactionChange, me: Me, place: Place) -> Arrival | None:
    """The reaction of an event of type ``kind``; None: the bot's own."""
    if event.user_id == me.id or event.message_author_id not in ("", me.id) or not is_snowflake(event.message_id):
        return None
    emoji, removed = event.emoji.name or event.emoji.id or "", kind != REACTION_ADDED
    if not (removed or (emoji and is_snowflake(event.user_id))):
        return None
    user = event.member.user if event.member else None
    name = name_of(user, event.member) if user else ""
    return reacted(
        chat=place.chat,
        message=event.message_id,
        emoji=emoji,
        sender=Sender(id=event.user_id, name=name, is_bot=user.bot if user else False),
        chat_kind=kind_of(event.guild_id),
        removed=removed,
    )


def read_command(event: Interaction, place: Place) -> Arrival | None:
    """The slash command as a message; None: another interaction."""
    sender = person_of(event)
    if event.type != 2 or sender is None or not is_snowflake(event.id):
        return None
    values = (str(option.value).strip() for option in event.data.options)
    return Arrival(
        seen_as=seen_as(event.channel_id, event.id, ""),
        id=event.id,
        order=order_of(event.id),
        chat=place.chat,
        thread=place.thread,
        chat_kind=kind_of(event.guild_id),
        chat_name=place.name,
        sender=sender,
        text=" ".join(filter(None, (f"/{event.data.name}", *values))),
    )


def person_of(event: Interaction) -> Sender | None:
    """The person who uses a command or presses a button; None: unknown."""
    user = event.user or (event.member.user if event.member else None)
    return Sender(id=user.id, name=name_of(user, event.member), is_bot=user.bot) if user else None


def sender_of(message: Message) -> Sender | None:
    """The sender; None: unknown."""
    author = message.author
    if author is None or not is_snowflake(author.id):
        return None
    is_bot = author.bot or message.webhook_id is not None
    return Sender(id=author.id, name=name_of(author, message.member), is_bot=is_bot)


def words_of(message: Message, me: Me, place: Place) -> str:
    """The text of a message without a mention of the bot at its beginning."""
    names = {**place.names, **names_of(message), me.id: me.name}
    text = plain(without_call(message.content, {me.id, *place.roles}), names).strip()
    return "\n".join(filter(None, (text, *lines_of(message, names))))


def kind_of(guild_id: str | None) -> ChatKind:
    """Whether a message was written in a server."""
    return "group" if guild_id else "direct"


def seen_as(channel_id: str, message_id: str, change: str) -> str:
    """The ID of an update: of a message, or of a change to it."""
    return ":".join(filter(None, (channel_id, message_id, change)))


def _is_meant(message: Message, me: Me, place: Place) -> bool:
    answered = _answered(message)
    to_us = answered is not None and answered.author is not None and answered.author.id == me.id
    named = any(each.id == me.id for each in message.mentions)
    return to_us or named or any(role in place.roles for role in message.mention_roles)


def replied_to(message: Message) -> str:
    """The ID of the message that it replies to; empty: none."""
    reference = message.message_reference
    return (reference.message_id or "") if reference and reference.type == REPLIED_TO else ""


def _answered(message: Message) -> Message | None:
    answered = message.referenced_message if replied_to(message) else None
    return answered if isinstance(answered, Message) else None


def _author(answered: Message, me: Me) -> Sender | None:
    """The sender of the message that is replied to; None: the bot."""
    sender = sender_of(answered) or Sender(id="")
    return None if sender.id == me.id else sender
