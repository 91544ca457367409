"""The meaning of Feishu's events: a message for the intake, or nothing. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from channels.arrival import Arrival, Sender, reacted
from channels.feishu.api_types import Body, Item, Message
from channels.feishu.message_content import MessageContent, said_in
from channels.name_directory import name_in
from channels.quoted_message import brought, quote_of, said_with
from channels.shapes import nested

SAID, RECALLED = "im.message.receive_v1", "im.message.recalled_v1"
REACTION_REMOVED = "im.message.reaction.deleted_v1"
REACTIONS = ("im.message.reaction.created_v1", REACTION_REMOVED)
"""The types of events that are of use here."""

NOBODY: Mapping[str, str] = {}
"""No names are known."""

NOTHING = MessageContent(text="")
"""The content of a message that is not known or was deleted."""

CARD = "interactive"

FORWARD = "merge_forward"
"""The type of a message that forwards several; the event does not contain them."""

RECALLED_MARK = "recalled"

is_id = re.compile(r"[A-Za-z0-9_-]{1,100}").fullmatch
"""Whether a text is an ID of Feishu."""


class Me(msgspec.Struct, frozen=True, kw_only=True):
    """The bot's identity."""

    open_id: str
    """``ou_…``: the id in mentions."""
    app_id: str
    """``cli_…``: the id in its own messages."""
    name: str = ""


def me_of(found: Mapping[str, Any], app_id: str) -> Me:
    """The bot's identity, from ``bot/v3/info``.

    Raises:
        ValueError: it does not tell.
    """
    open_id, name = nested(found, "bot", "open_id"), nested(found, "bot", "app_name")
    if not isinstance(open_id, str) or not is_id(open_id):
        raise ValueError("Feishu's response to bot/v3/info does not include a bot. Add the bot capability to the app")
    return Me(open_id=open_id, app_id=app_id, name=name_in(name) if isinstance(name, str) else "")


def read(
    body: Body,
    me: Me,
    names: Mapping[str, str] = NOBODY,
    original: Item | None = None,
    forwarded: Sequence[Item] = (),
) -> Arrival | None:
    """The message of an event for the bot ``me``; None: no message, or one of the bot itself.

    ``names`` are those of people by ``open_id``; ``original`` is the message that is answered, if it is known, and
    ``forwarded`` are those that the message, or the one that it answers, forwards.
    """
    event = body.event
    message = event.message if event else None
    sender = event.sender if event else None
    if message is None or sender is None or sender.sender_id is None:
        return None
    who = sender.sender_id.open_id
    if not (is_id(who) and is_id(message.message_id) and is_id(message.chat_id)) or who == me.open_id:
        return None
    direct = message.chat_type == "p2p"
    named = any(each.open_id == me.open_id for each in message.mentions)
    said = said_in(
        message.message_type, message.content, message.mentions, message_id=message.message_id, me=me.open_id
    )
    answers = answered_by(message)
    is_ours = original is not None and is_of(original, me)
    # Feishu does not return the text of a card, which is the form of the bot's own texts.
    is_hidden = original is None or (is_ours and original.msg_type == CARD)
    # A message that is answered may be one that forwards others.
    lines, is_forward = "\n".join([_line(each, names) for each in forwarded]), message.message_type == FORWARD
    quoted = NOTHING if original is None or is_hidden else _content_of(original)
    if lines and not is_forward:
        quoted = msgspec.structs.replace(quoted, text=lines)
    author = None if original is None or is_ours else _author(original, names)
    mentioned = direct or named or is_ours
    return Arrival(
        seen_as=message.message_id,
        id=message.message_id,
        order=milliseconds(message.create_time),
        chat=message.chat_id,
        thread=thread_of(message),
        chat_kind="direct" if direct else "group",
        sender=Sender(id=who, name=names.get(who, ""), is_bot=sender.sender_type not in ("", "user")),
        text=(lines if is_forward else "") or said.text.strip(),
        mentioned=mentioned,
        attachments=(*(brought(quoted.attachments, author) if mentioned else ()), *said.attachments),
        reply_to=answers,
        quote=quote_of(quoted.text, quoted.attachments, author),
    )


def recalled(body: Body, me: Me, item: Item | None) -> Arrival | None:
    """A message was taken back; ``item`` is what Feishu still tells of it."""
    event = body.event
    if event is None or not (is_id(event.message_id) and is_id(event.chat_id)):
        return None
    if item is not None and is_of(item, me):
        return None
    author = item.sender.id if item and item.sender else ""
    return Arrival(
        seen_as=f"{event.message_id}:{RECALLED_MARK}",
        id=event.message_id,
        order=milliseconds(item.create_time if item else ""),
        chat=event.chat_id,
        thread=thread_of(item) if item else "",
        chat_kind="group",
        sender=Sender(id=author),
        deleted=True,
        original=event.message_id,
    )


def marked_in(body: Body) -> str:
    """The ID of the message that a person marked, or took a mark from; empty: none."""
    event = body.event
    is_persons = event is not None and event.user_id is not None and event.operator_type != "app"
    return event.message_id if event is not None and is_persons and is_id(event.message_id) else ""


def reaction_of(body: Body, me: Me, item: Item | None, names: Mapping[str, str] = NOBODY) -> Arrival | None:
    """A message of the bot's, ``item``, was marked, or the mark was removed; None: anything else."""
    event = body.event
    if event is None or event.user_id is None or event.reaction_type is None or event.operator_type == "app":
        return None
    who, emoji = event.user_id.open_id, event.reaction_type.emoji_type
    if item is None or not is_of(item, me) or not (is_id(who) and is_id(emoji) and is_id(item.chat_id)):
        return None
    return reacted(
        chat=item.chat_id,
        message=event.message_id,
        emoji=f":{emoji}:",
        sender=Sender(id=who, name=names.get(who, "")),
        chat_kind="group",  # which Feishu does not tell here; for the access of its people there is no difference
        removed=body.header is not None and body.header.event_type == REACTION_REMOVED,
    )


def thread_of(message: Message | Item) -> str:
    """The conversation that it is in: the thread's first message, by which it is answered; empty: the chat itself."""
    return (message.root_id or message.message_id) if message.thread_id else ""


def answered_by(message: Message) -> str:
    """The message that it answers. In a thread each one answers the first, which says nothing."""
    parent = message.parent_id if is_id(message.parent_id) else ""
    return "" if message.thread_id and parent == message.root_id else parent


def is_of(item: Item, me: Me) -> bool:
    """Whether a message is the bot's own."""
    return item.sender is not None and item.sender.id == me.app_id


def people_of(body: Body, *items: Item | None) -> Iterator[str]:
    """The ids of people whose names the event does not contain."""
    sender = body.event.sender if body.event else None
    if sender is not None and sender.sender_id is not None:
        yield sender.sender_id.open_id
    for item in items:
        if item is not None and item.sender is not None and item.sender.id_type == "open_id":
            yield item.sender.id


def _content_of(item: Item) -> MessageContent:
    if item.deleted or item.body is None:
        return NOTHING
    return said_in(item.msg_type, item.body.content, item.mentions, message_id=item.message_id)


def _author(item: Item, names: Mapping[str, str]) -> Sender:
    who = item.sender.id if item.sender else ""
    return Sender(id=who, name=names.get(who, ""))


def _line(item: Item, names: Mapping[str, str]) -> str:
    """A forwarded message, whose files Feishu does not give."""
    said, who = _content_of(item), item.sender.id if item.sender else ""
    return f"{names.get(who) or name_in(who)}: {said_with(said.attachments, said.text, between=' ')}"


def milliseconds(text: str) -> float:
    """A time of Feishu's; 0: it is none."""
    return float(text) if text.isascii() and text.isdigit() and len(text) <= 15 else 0.0
