"""The objects of Discord's API, with the fields that are read here. Missing and unknown fields are ignored."""

import re
from typing import Annotated

import msgspec

DISCORD_EPOCH_MS = 1_420_070_400_000
"""2015-01-01, from which the time in an ID counts (Reference, "Snowflakes")."""

is_snowflake = re.compile(r"\d{1,20}", re.ASCII).fullmatch
"""An ID of Discord."""

Snowflake = Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{1,20}\Z")]
"""An ID that becomes a part of an address."""

THREADS = frozenset({10, 11, 12})
"""Types of channels that are threads (Resources, "Channel Types")."""


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """An object of the API."""


class User(Shape, frozen=True, kw_only=True):
    """A person or a bot."""

    id: str = ""
    username: str = ""
    global_name: str | None = None
    bot: bool = False


class Member(Shape, frozen=True, kw_only=True):
    """A person in a server."""

    nick: str | None = None
    user: User | None = None


class Mentioned(User, frozen=True, kw_only=True):
    """A person who is mentioned."""

    member: Member | None = None


class File(Shape, frozen=True, kw_only=True):
    """A file of a message."""

    id: str
    filename: str = ""
    size: int = 0
    url: str = ""
    content_type: str | None = None


class Sticker(Shape, frozen=True, kw_only=True):
    """A sticker."""

    name: str = ""


class Embed(Shape, frozen=True, kw_only=True):
    """A card that an app or a link made."""

    title: str | None = None
    description: str | None = None
    url: str | None = None


class PollText(Shape, frozen=True, kw_only=True):
    """A question or an answer."""

    text: str | None = None


class PollAnswer(Shape, frozen=True, kw_only=True):
    """An answer to choose."""

    poll_media: PollText = PollText()


class Poll(Shape, frozen=True, kw_only=True):
    """A poll."""

    question: PollText = PollText()
    answers: tuple[PollAnswer, ...] = ()


class Reference(Shape, frozen=True, kw_only=True):
    """The message that another one replies to (type 0) or forwards (type 1)."""

    type: int = 0
    message_id: str | None = None


class Content(Shape, frozen=True, kw_only=True):
    """The content of a message or of a forwarded one."""

    content: str = ""
    attachments: tuple[File, ...] = ()
    embeds: tuple[Embed, ...] = ()
    sticker_items: tuple[Sticker, ...] = ()
    mentions: tuple[Mentioned, ...] = ()
    poll: Poll | None = None
    flags: int = 0


class Snapshot(Shape, frozen=True, kw_only=True):
    """A forwarded message."""

    message: Content = Content()


class Message(Content, frozen=True, kw_only=True):
    """A message."""

    id: str
    channel_id: Snowflake = ""
    guild_id: Snowflake | None = None
    type: int = 0
    author: User | None = None
    member: Member | None = None
    webhook_id: str | None = None
    edited_timestamp: str | None = None
    mention_roles: tuple[str, ...] = ()
    message_reference: Reference | None = None
    referenced_message: "Message | None" = None
    message_snapshots: tuple[Snapshot, ...] = ()
    nonce: str | int | None = None


class Deleted(Shape, frozen=True, kw_only=True):
    """Deleted messages of a channel."""

    channel_id: Snowflake
    id: str = ""
    ids: tuple[str, ...] = ()
    guild_id: Snowflake | None = None


class Emoji(Shape, frozen=True, kw_only=True):
    """An emoji; those of servers have an ID."""

    id: str | None = None
    name: str | None = None


class ReactionChange(Shape, frozen=True, kw_only=True):
    """A person marked a message or took the mark away; without a user, all marks were removed."""

    channel_id: Snowflake
    message_id: str
    guild_id: Snowflake | None = None
    user_id: str = ""
    message_author_id: str = ""
    """Of an added mark: whose the message is."""
    member: Member | None = None
    emoji: Emoji = Emoji()


class Channel(Shape, frozen=True, kw_only=True):
    """A channel or a thread."""

    id: str
    type: int = 0
    name: str | None = None
    parent_id: Snowflake | None = None

    @property
    def thread_of(self) -> str:
        """The ID of the channel that a thread belongs to; empty: it is no thread."""
        return (self.parent_id or "") if self.type in THREADS else ""


class RoleTags(Shape, frozen=True, kw_only=True):
    """The bot that a role was made for."""

    bot_id: str = ""


class Role(Shape, frozen=True, kw_only=True):
    """A role in a server."""

    id: str
    name: str = ""
    tags: RoleTags = RoleTags()


class Guild(Shape, frozen=True, kw_only=True):
    """A server, as the gateway describes it when the bot connects or joins it."""

    id: str
    channels: tuple[Channel, ...] = ()
    threads: tuple[Channel, ...] = ()
    roles: tuple[Role, ...] = ()


class Option(Shape, frozen=True, kw_only=True):
    """A value that a person entered with a slash command."""

    name: str = ""
    value: str | int | float | bool = ""


class CommandCall(Shape, frozen=True, kw_only=True):
    """A slash command, or a button."""

    name: str = ""
    custom_id: str = ""
    """Of a button: its value."""
    options: tuple[Option, ...] = ()


class PressedMessage(Shape, frozen=True, kw_only=True):
    """The message with a button."""

    id: str = ""


class Interaction(Shape, frozen=True, kw_only=True):
    """A use of a slash command (type 2), or of a button (type 3)."""

    id: Snowflake
    token: str
    type: int = 0
    channel_id: Snowflake = ""
    guild_id: Snowflake | None = None
    data: CommandCall = CommandCall()
    message: PressedMessage | None = None
    member: Member | None = None
    user: User | None = None


def order_of(snowflake: str) -> float:
    """A number that rises from message to message: milliseconds, and the running number within one of them."""
    number = int(snowflake)
    return (number >> 22) + (number & 0xFFF) / 4096


def seconds_of(snowflake: str) -> float:
    """The time of an ID, in seconds of the epoch."""
    return ((int(snowflake) >> 22) + DISCORD_EPOCH_MS) / 1_000


def snowflake_at(seconds: float) -> str:
    """The smallest ID of a moment, given in seconds of the epoch."""
    return str(max(0, round(seconds * 1_000) - DISCORD_EPOCH_MS) << 22)
