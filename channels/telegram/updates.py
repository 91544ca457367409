"""What an update of Telegram's means: a message for the intake, a chat that moved, or nothing. Pure."""

from typing import Any

import msgspec

from channels.arrival import Arrival, Press, Sender, reacted, unpacked
from channels.quoted_message import brought, quote_of
from channels.shapes import nested, objects_in
from channels.telegram.api_types import (
    ABSENT,
    Chat,
    Entity,
    ExternalReply,
    Message,
    ReactionChange,
    ReactionKind,
    Update,
    User,
    lenient,
)
from channels.telegram.attachments import attachments_of, kind_of, line_of
from channels.telegram.markdown import Utf16Text
from daemon.config import TelegramConfig
from daemon.events import Quote
from daemon.printable import one_line

KINDS = ("message", "edited_message", "my_chat_member", "callback_query")
"""What the server is asked for; it sends nothing else."""

REACTIONS = "message_reaction"
"""Also asked for if reactions are heard. In groups, only administrators are told ("Update")."""


def kinds_of(config: TelegramConfig) -> tuple[str, ...]:
    """The types of updates that the server is asked for."""
    return (*KINDS, REACTIONS) if config.hear_reactions else KINDS


GROUPS = frozenset({"group", "supergroup"})


class Me(msgspec.Struct, frozen=True, kw_only=True):
    """Who the bot is."""

    id: int
    username: str = ""

    def is_called(self, name: str) -> bool:
        """Whether ``name``, without its @, is the bot's."""
        return bool(self.username) and name.casefold() == self.username.casefold()


class Migrated(msgspec.Struct, frozen=True, kw_only=True):
    """A group has become a supergroup, which has an id of its own."""

    old: int
    new: int


class Membership(msgspec.Struct, frozen=True, kw_only=True):
    """The bot was let into a chat, or put out of it."""

    chat: int
    status: str


class Pressed(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody has pressed a button of the bot."""

    query: str
    """The platform's id of the press, which wants an answer."""
    chat: int
    """The chat's id as the platform says it now."""
    press: Press


class _Member(msgspec.Struct, frozen=True):
    status: str = ""


class _Membership(msgspec.Struct, frozen=True):
    chat: Chat
    new_chat_member: _Member = _Member()


class _Query(msgspec.Struct, frozen=True, rename={"sender": "from"}):
    id: str
    sender: User
    message: msgspec.Raw = ABSENT
    data: str = ""


class Reacted(msgspec.Struct, frozen=True, kw_only=True):
    """A person marked a message, took marks away, or both."""

    arrivals: tuple[Arrival, ...]


Event = Arrival | Migrated | Membership | Reacted | Pressed | None


def read(found: msgspec.Raw | bytes, me: Me) -> Event:
    """What an update means for the bot ``me``; None: nothing that concerns it.

    Raises:
        msgspec.DecodeError: it cannot be understood at all.
    """
    update = lenient(Update, found)
    if update.my_chat_member:
        member = msgspec.json.decode(update.my_chat_member, type=_Membership)
        return Membership(chat=member.chat.id, status=member.new_chat_member.status)
    if update.message_reaction:
        return _reacted(lenient(ReactionChange, update.message_reaction), me)
    said = update.message or update.edited_message
    if not said:
        return _pressed(update) if update.callback_query else None
    return _read_message(update, said, me)


def _read_message(update: Update, said: msgspec.Raw, me: Me) -> Event:
    message = lenient(Message, said)
    if message.migrate_to_chat_id:
        return Migrated(old=message.chat.id, new=message.migrate_to_chat_id)
    if message.migrate_from_chat_id:
        return Migrated(old=message.migrate_from_chat_id, new=message.chat.id)
    sender = _sender(message)
    if sender is None or (message.chat.type != "private" and message.chat.type not in GROUPS):
        return None
    return _arrival(update, message, sender, me, said)


def _pressed(update: Update) -> Pressed | None:
    query = msgspec.json.decode(update.callback_query, type=_Query)
    if not query.message or not query.data:
        return None
    message = lenient(Message, query.message)
    if not _is_of(query.data, query.message):
        return None
    who, command = unpacked(query.data)
    arrival = Arrival(
        seen_as=str(update.update_id),
        id=str(message.message_id),
        order=float(message.message_id),
        chat=str(message.chat.id),
        thread=_thread(message),
        chat_kind="direct" if message.chat.type == "private" else "group",
        chat_name=message.chat.title,
        sender=Sender(id=str(query.sender.id), name=query.sender.name, is_bot=query.sender.is_bot),
        text=command,
    )
    return Pressed(query=query.id, chat=message.chat.id, press=Press(arrival=arrival, who=who))


def _is_of(data: str, message: msgspec.Raw) -> bool:
    """Whether ``message`` has the button that was pressed, as a forged app can say anything; or no buttons any more."""
    found = nested(msgspec.json.decode(message), "reply_markup", "inline_keyboard")
    rows: list[Any] = msgspec.convert(found, list[Any]) if isinstance(found, list) else []
    known = [each.get("callback_data") for row in rows for each in objects_in(row)]
    return not known or data in known


def _thread(message: Message) -> str:
    return str(message.message_thread_id) if message.is_topic_message and message.message_thread_id else ""


def _reacted(change: ReactionChange, me: Me) -> Reacted | None:
    who, chat = change.user, change.chat
    if _is(who, me) or (chat.type != "private" and chat.type not in GROUPS):
        return None
    sender = _sender(Message(message_id=change.message_id, chat=chat, sender=who, sender_chat=change.actor_chat))
    if sender is None:
        return None

    def arrival(kind: ReactionKind, *, removed: bool) -> Arrival:
        return reacted(
            chat=str(chat.id),
            message=str(change.message_id),
            emoji=kind.name,
            sender=sender,
            chat_kind="direct" if chat.type == "private" else "group",
            removed=removed,
        )

    old, new = change.old_reaction, change.new_reaction
    gone = [arrival(each, removed=True) for each in old if each not in new]
    return Reacted(arrivals=(*gone, *[arrival(each, removed=False) for each in new if each not in old]))


def _arrival(update: Update, message: Message, sender: Sender, me: Me, said: msgspec.Raw) -> Arrival | None:
    direct = message.chat.type == "private"
    words = _Words(message, me)
    attachments = attachments_of(message)
    text = words.text if words.text or attachments else line_of(message)
    if not (text or attachments or words.mentions_me):
        # A person who sends what is not known yet shall hear that; in a group nobody waits for it.
        unknown = kind_of(said) if direct else ""
        if not unknown:
            return None
        text = f"[unsupported: {unknown}]"
    if words.for_another:
        return None
    answered = _answered(message)
    mentioned = direct or words.mentions_me or (answered is not None and _is(answered.sender, me))
    pointed_at = answered or message.external_reply
    # It may be old, or one that the bot was never sent.
    lent = brought(attachments_of(pointed_at), _author(pointed_at, me)) if pointed_at and mentioned else ()
    if message.forward_origin is not None:
        # What somebody else said is no command of the person's who passes it on, and names nobody.
        text = f"[forwarded from {one_line(message.forward_origin.name) or '?'}]\n{text}"
    return Arrival(
        seen_as=str(update.update_id),
        id=str(message.message_id),
        order=float(message.message_id),
        chat=str(message.chat.id),
        thread=_thread(message),
        chat_kind="direct" if direct else "group",
        chat_name=message.chat.title,
        sender=sender,
        text=text,
        mentioned=mentioned,
        attachments=(*lent, *attachments),
        reply_to=str(answered.message_id) if answered else "",
        quote=_quote(message, pointed_at, me),
        album=message.media_group_id,
        edited=not update.message,
    )


def _sender(message: Message) -> Sender | None:
    # Who speaks for a group or a channel is shown as it; ``from`` is a stand-in there, which counts as a bot.
    if message.sender_chat is not None:
        return Sender(id=str(message.sender_chat.id), name=message.sender_chat.title)
    if message.sender is None:
        return None
    return Sender(id=str(message.sender.id), name=message.sender.name, is_bot=message.sender.is_bot)


def _is(user: User | None, me: Me) -> bool:
    return user is not None and user.id == me.id


def _answered(message: Message) -> Message | None:
    """The message that this one answers. In a topic, what answers nothing seems to answer the topic's beginning."""
    answered = message.reply_to_message
    if answered is None or answered.forum_topic_created is not None:
        return None
    if message.is_topic_message and answered.message_id == message.message_thread_id:
        return None
    return answered


def _quote(message: Message, answered: Message | ExternalReply | None, me: Me) -> Quote | None:
    marked = message.quote.text if message.quote else ""
    if answered is None:
        return quote_of(marked, (), Sender(id=""))
    own = answered.text or answered.caption if isinstance(answered, Message) else ""
    return quote_of(marked or own or line_of(answered), attachments_of(answered), _author(answered, me))


def _author(answered: Message | ExternalReply, me: Me) -> Sender | None:
    """Who wrote the message that is answered; None: the bot."""
    if isinstance(answered, Message):
        return None if _is(answered.sender, me) else _sender(answered) or Sender(id="")
    origin = answered.origin
    user = origin.sender_user if origin else None
    return None if _is(user, me) else Sender(id=str(user.id) if user else "", name=origin.name if origin else "")


class _Words:
    """What a message says, without the name of the bot that it began with."""

    def __init__(self, message: Message, me: Me) -> None:
        written = message.text or message.caption
        self._units = Utf16Text(written)
        self._me = me
        self.mentions_me = False
        self.for_another = False
        """It is a command for another bot."""
        changes: list[tuple[int, int, str]] = []
        forwarded = message.forward_origin is not None
        for entity in message.entities or message.caption_entities:
            change = self._change(entity, forwarded=forwarded)
            if change is not None:
                changes.append(change)
        text = self._units.changed(changes)
        begins_with_me = any(begin == 0 and not instead for begin, _, instead in changes)
        self.text = text.lstrip(" \t\n,:") if begins_with_me else text
        # What stands behind it is meant for whoever made the link.
        if self.text.casefold().startswith("/start "):
            self.text = "/start"

    def _change(self, entity: Entity, *, forwarded: bool) -> tuple[int, int, str] | None:
        begin, end = entity.offset, entity.offset + entity.length
        shown = self._units.cut(begin, end)
        if entity.type == "text_link" and entity.url and entity.url.rstrip("/") != shown.rstrip("/"):
            return end, end, f" ({entity.url})"
        if forwarded:
            return None
        if entity.type == "bot_command" and begin == 0:
            command, _, whose = shown.partition("@")
            self.for_another = bool(whose) and not self._me.is_called(whose)
            self.mentions_me = self.mentions_me or not self.for_another
            return (0, end, command) if whose else None
        named = entity.type == "mention" and self._me.is_called(shown.removeprefix("@"))
        if named or (entity.type == "text_mention" and _is(entity.user, self._me)):
            self.mentions_me = True
            return (begin, end, "") if begin == 0 else None
        return None
