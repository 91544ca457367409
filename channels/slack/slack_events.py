"""The meaning of Slack's events: a message for the intake, or nothing. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from channels.arrival import Arrival, Sender, reacted
from channels.slack.api_types import Body, Message, objects_in
from channels.slack.attachments import attachments_of, lines_of, made_of, passed_on
from channels.slack.mrkdwn import NOBODY, name_in, people_in, plain, sound, without_call

SAID = frozenset({"", "me_message", "file_share", "message_share", "thread_broadcast", "bot_message"})
"""Subtypes of messages that people write; all others report changes of a channel (docs.slack.dev, "message")."""

DIRECT = frozenset({"im", "app_home"})
"""Types of conversations with the bot alone."""

NO_TEXT = "This content can't be displayed."
"""Slack's text for a message that has only blocks."""

SLACKBOT = "USLACKBOT"
"""Slack's own bot, which has no bot id."""

REACTION_REMOVED = "reaction_removed"
REACTIONS = ("reaction_added", REACTION_REMOVED)
"""Types of events about marks on messages (docs.slack.dev, "reaction_added")."""

_is_ts = re.compile(r"\d{1,10}\.\d{1,9}", re.ASCII).fullmatch
"""Seconds of the epoch, with a running number behind the point: Slack's id of a message in its conversation."""

_is_id = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch


class Me(msgspec.Struct, frozen=True, kw_only=True):
    """The bot's identity in its workspace."""

    team: str
    user: str
    """``U…``: the ID in mentions."""
    bot: str = ""
    """``B…``: the ID in its own messages."""
    name: str = ""


def me_of(found: Mapping[str, Any]) -> Me:
    """The bot's identity, from ``auth.test``.

    Raises:
        ValueError: it does not tell.
    """
    team, user, bot, name = (str(found.get(key) or "") for key in ("team_id", "user_id", "bot_id", "user"))
    if not (_is_id(team) and _is_id(user)):
        raise ValueError("Slack's response to auth.test does not contain the team or the user")
    return Me(team=team, user=user, bot=bot, name=sound(name))


def read(body: Body, me: Me, names: Mapping[str, str] = NOBODY, *, everything: bool = False) -> Arrival | None:
    """The message of an event for the bot ``me``; None: no message, or one of the bot itself.

    ``names`` are those of people and bots by id; ``everything``: also what does not name the bot is said to it.
    """
    event = body.event
    if event is None or event.type not in ("message", "app_mention") or not _is_id(event.channel):
        return None
    if event.subtype == "message_deleted":
        return _deleted(body, event, event.previous_message or Message(), event.deleted_ts, me)
    if event.subtype != "message_changed":
        return _said(body, event, event, me, names)
    now, before = event.message or Message(), event.previous_message
    if now.subtype == "tombstone":  # what a thread began with was deleted
        return _deleted(body, event, before or Message(), now.ts, me)
    if not _is_changed(now, before):
        return None
    # Who names the bot only with an edit asks only now: until then it was said to others.
    was_for_others = not (everything or _is_direct(event) or before is None or _names(me, before))
    return _said(body, event, now, me, names, edited=not (was_for_others and _names(me, now)))


def reaction_of(body: Body, me: Me, names: Mapping[str, str] = NOBODY) -> Arrival | None:
    """The reaction of an event; None: no reaction to a message, or one of the bot itself."""
    event = body.event
    if event is None or event.type not in REACTIONS or event.item is None or event.item.type != "message":
        return None
    who, item = event.user, event.item
    if not (_is_id(who) and _is_id(item.channel) and _is_ts(item.ts) and event.reaction) or who == me.user:
        return None
    if event.item_user and event.item_user not in (me.user, me.bot):
        return None
    return reacted(
        chat=item.channel,
        message=item.ts,
        emoji=f":{event.reaction}:",
        sender=Sender(id=who, name=names.get(who, ""), is_bot=who == SLACKBOT),
        chat_kind="direct" if item.channel.startswith("D") else "group",
        removed=event.type == REACTION_REMOVED,
    )


def people_of(message: Message | None) -> Iterator[str]:
    """The IDs of people in a message whose names it does not contain."""
    while message is not None:
        yield message.user or ("" if _signed(message) else message.bot_id)
        yield from people_in(message.text)
        for each in message.attachments:
            yield from people_in(each.text)
        message = message.message


def sender_of(message: Message, names: Mapping[str, str] = NOBODY) -> Sender | None:
    """The sender; None: unknown."""
    who = message.user or message.bot_id
    if not _is_id(who):
        return None
    is_bot = bool(message.bot_id or message.bot_profile or message.subtype == "bot_message" or who == SLACKBOT)
    return Sender(id=who, name=names.get(who) or name_in(_signed(message)), is_bot=is_bot)


def words_of(message: Message, names: Mapping[str, str] = NOBODY, *, called: str = "") -> str:
    """The text of a message without its files, and without a leading mention of the user ``called``."""
    text = "" if message.text == NO_TEXT else message.text
    words = plain(without_call(text, called) if called else text, names).strip()
    lines = [*lines_of(message), *passed_on(message, names)]
    if not text.strip() and not lines:
        return made_of(message, names)
    return "\n".join(filter(None, (words, *lines)))


def _said(
    body: Body, event: Message, message: Message, me: Me, names: Mapping[str, str], *, edited: bool = False
) -> Arrival | None:
    sender = sender_of(message, names)
    if message.subtype not in SAID or message.hidden or sender is None or not _is_ts(message.ts):
        return None
    if _is_mine(body, message, me):
        return None
    direct = _is_direct(event)
    attachments = attachments_of(message)
    mentioned = direct or event.type == "app_mention" or _names(me, message)
    text = words_of(message, {me.user: me.name, **names}, called=me.user)
    if not (text or attachments):
        if not mentioned:
            return None
        # A person who sends what is not known yet shall hear that; who says no more than the name is understood.
        text = "" if message.text.strip() else f"[unsupported: {_kind(message)}]"
    # A mention that comes with an edit is told as the message itself, marked as edited.
    change = message.edited.ts if message.edited and _is_ts(message.edited.ts) else event.event_ts or event.ts
    is_edit = edited or (event.type == "app_mention" and message.edited is not None)
    return Arrival(
        seen_as=_seen_as(me, event.channel, message.ts, change[:64] if is_edit else ""),
        id=message.ts,
        order=float(message.ts),
        chat=event.channel,
        thread=_thread(message, message.ts, direct=direct),
        chat_kind="direct" if direct else "group",
        sender=sender,
        text=text,
        mentioned=mentioned,
        attachments=attachments,
        edited=is_edit,
    )


def _deleted(body: Body, event: Message, before: Message, ts: str, me: Me) -> Arrival | None:
    """What was said, ``before``, was taken back; who did, and in what thread, is told only with it."""
    if not _is_ts(ts) or _is_mine(body, before, me) or before.subtype == "tombstone":
        return None
    direct = _is_direct(event)
    return Arrival(
        seen_as=_seen_as(me, event.channel, ts, "deleted"),
        id=ts,
        order=float(ts),
        chat=event.channel,
        thread=_thread(before, ts, direct=direct),
        chat_kind="direct" if direct else "group",
        sender=sender_of(before) or Sender(id=""),
        mentioned=direct or _names(me, before),
        deleted=True,
        original=_seen_as(me, event.channel, ts, ""),
    )


def _is_changed(now: Message, before: Message | None) -> bool:
    """Whether a person changed the text; link previews and reply counts are not changes."""
    if before is None:
        return now.edited is not None
    return now.text != before.text or [(file.id, file.mode) for file in now.files] != [
        (file.id, file.mode) for file in before.files
    ]


def _names(me: Me, message: Message) -> bool:
    return me.user in people_in(message.text)


def _is_mine(body: Body, message: Message, me: Me) -> bool:
    if message.user == me.user or (me.bot and message.bot_id == me.bot):
        return True
    # What another of the app's own hooks posts has a bot id of its own.
    app = message.app_id or (message.bot_profile.app_id if message.bot_profile else "")
    return bool(message.bot_id and app and app == body.api_app_id)


def is_direct(channel: str) -> bool:
    """Whether a conversation is one with the bot alone, by its ID."""
    return channel.startswith("D")


def _is_direct(event: Message) -> bool:
    # Not every event says what kind of conversation it is from.
    return event.channel_type in DIRECT or is_direct(event.channel)


def _thread(message: Message, ts: str, *, direct: bool) -> str:
    """In a channel whatever is said at top level begins a thread; in a direct conversation it stays there."""
    thread = message.thread_ts if _is_ts(message.thread_ts) else ""
    if direct:
        return "" if thread == ts else thread
    return thread or ts


def _seen_as(me: Me, channel: str, ts: str, change: str) -> str:
    # Without the event's own id: a mention comes as two events, which are one message.
    return ":".join(filter(None, (me.team, channel, ts, change)))


def _signed(message: Message) -> str:
    return message.username or (message.bot_profile.name if message.bot_profile else "")


def _kind(message: Message) -> str:
    """A description of a message without readable text."""
    kinds = (str(each.get("type") or "") for each in objects_in(message.blocks))
    return sound(next(filter(None, kinds), "message"))[:64]
