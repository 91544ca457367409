"""What a platform said, in one form for all platforms: what an adapter makes of an update."""

from collections.abc import Sequence

import msgspec

from daemon.errors import InboundError
from daemon.events import Attachment, ChatKind, Choice, Quote
from daemon.printable import one_line
from daemon.sessionkey import SessionKey

NAME_CHARS = 128
"""Longest name of a person; longer ones are abuse."""


class Sender(msgspec.Struct, frozen=True, kw_only=True):
    """Who said it."""

    id: str
    name: str = ""
    is_bot: bool = False


class Arrival(msgspec.Struct, frozen=True, kw_only=True):
    """One message, before anybody has judged whether it is to be answered."""

    seen_as: str
    """The platform's id of the update: what comes again under it is a repetition."""
    id: str
    """The platform's id of the message, unique in its chat."""
    order: float
    """Rises in a chat from message to message."""
    chat: str
    """The platform's id of the chat."""
    thread: str = ""
    chat_kind: ChatKind = "direct"
    chat_name: str = ""
    sender: Sender
    text: str = ""
    """Without the mention of the bot that it began with, and without the bot's name behind a command."""
    mentioned: bool = True
    """In a group, whether the bot is meant: named, or what it said is answered. Always true in a direct chat."""
    attachments: tuple[Attachment, ...] = ()
    reply_to: str = ""
    """Id of the message that it answers."""
    quote: Quote | None = None
    album: str = ""
    """What came with it as one; its parts arrive as messages of their own."""
    edited: bool = False
    """It replaces what the message ``id`` said."""
    deleted: bool = False
    """The message ``id`` was taken back. Chat and thread are those of the message, the sender's id too or empty; what
    else stands here does not matter."""
    reaction: str = ""
    """An emoji with which the sender marked the bot's message ``id``. Nothing was said; see ``reacted``."""
    original: str = ""
    """Of one that is ``deleted``: the message's own ``seen_as``, under which it may be said yet; empty: it is not."""


class Press(msgspec.Struct, frozen=True, kw_only=True):
    """One of the bot's buttons, pressed by a person."""

    arrival: Arrival
    """As a message of this person with the button's command as its text, and the id of the message with the button."""
    who: str
    """The platform's id of the only person who may press it; empty: everybody who may use the command."""


PACKED_MAX_BYTES = 64
"""Longest value of a button (Bot API, ``callback_data``; the other platforms take more)."""


def packed(choice: Choice) -> str:
    """A choice as the value of a button; empty if it is too long."""
    value = f"{choice.who}|{choice.command}"
    return value if len(value.encode()) <= PACKED_MAX_BYTES else ""


BUTTONS_MAX = 25
"""Buttons of a message: five rows of five on Discord, and one block of Slack. Other platforms take more."""


def buttons_of(choices: Sequence[Choice], *, label_max: int | None = None) -> list[tuple[str, str]]:
    """The labels, of at most ``label_max`` characters, and the values of the buttons that every platform takes."""
    labels: dict[str, str] = {}
    for each in choices:
        if value := packed(each):
            labels.setdefault(value, each.label[:label_max])
    return [(label, value) for value, label in labels.items()][:BUTTONS_MAX]


def unpacked(value: str) -> tuple[str, str]:
    """The only person who may press the button with this value, or an empty string, and its command."""
    who, _, command = value.partition("|")
    return who, command


EMOJI_CHARS = 32
"""Longest emoji, or name of an emoji; longer ones are abuse."""


def reacted(
    *, chat: str, message: str, emoji: str, sender: Sender, chat_kind: ChatKind, removed: bool = False
) -> Arrival:
    """Somebody marked a message of the bot's with an emoji, or (``removed``) took the mark away.

    Args:
        chat: the platform's ID of the chat. A thread need not be known.
        message: the platform's ID of the message.
        emoji: the emoji or its name. Of a removal, empty: all of them.
        sender: the person. Of a removal, an empty ID: whoever put the mark there.
        chat_kind: as in ``Arrival``.
        removed: whether it is a removal.
    """
    return Arrival(
        seen_as=f"{chat}:{reaction_id(message, emoji, sender.id)}{'removed' if removed else ''}",
        id=message,
        order=0.0,
        chat=chat,
        chat_kind=chat_kind,
        sender=sender,
        mentioned=False,
        deleted=removed,
        reaction=emoji or ALL_REACTIONS,
    )


ALL_REACTIONS = "*"
"""Stands for every emoji in a removal."""


def reaction_id(message: str, emoji: str, sender: str) -> str:
    """The ID of a reaction. An emoji or a sender that is empty gives what the IDs of several reactions begin with."""
    found = ":".join(("reaction", message, *filter(None, (emoji, emoji and sender))))
    return f"{found}:"


def cleaned(arrival: Arrival) -> Arrival:
    """``arrival`` with names as one line without hidden characters, because lists and prompts contain names."""
    sender = msgspec.structs.replace(arrival.sender, name=_clean(arrival.sender.name))
    quote = arrival.quote and msgspec.structs.replace(arrival.quote, sender_name=_clean(arrival.quote.sender_name))
    attachments = tuple([msgspec.structs.replace(each, name=one_line(each.name)) for each in arrival.attachments])
    emoji = one_line(arrival.reaction)[:EMOJI_CHARS]
    return msgspec.structs.replace(arrival, sender=sender, quote=quote, attachments=attachments, reaction=emoji)


def _clean(name: str) -> str:
    return one_line(name)[:NAME_CHARS]


# One arrival on its way through the intake.


class ArrivalCase(msgspec.Struct, frozen=True, kw_only=True):
    """What is judged."""

    arrival: Arrival
    session: SessionKey
    correlation: str


def session_of(channel: str, arrival: Arrival) -> SessionKey | None:
    """The session that an arrival belongs to; None: its IDs cannot stand in a session key."""
    key = SessionKey(channel=channel, chat=arrival.chat, thread=arrival.thread)
    try:
        return SessionKey.parse(str(key))
    except (InboundError, UnicodeEncodeError):
        return None


def text_of(arrival: Arrival, *, bot: str) -> str:
    """The text of the message that an arrival becomes."""
    # A mention without text asks the bot to react to the earlier messages.
    is_bare = arrival.chat_kind == "group" and not arrival.text.strip() and not arrival.attachments
    return f"@{bot}" if is_bare else arrival.text
