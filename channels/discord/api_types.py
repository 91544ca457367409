"""The objects and answers of Discord's API: their forms, and their meaning for callers. Pure.

Missing and unknown fields are ignored.
"""

import math
import re
from collections.abc import Mapping
from typing import Annotated

import msgspec

from daemon.errors import UNREADABLE, SendRefused, SendRejected, SendUnknown

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


class EmbedField(Shape, frozen=True, kw_only=True):
    """A named value."""

    name: str | None = None
    value: str | None = None


class Embed(Shape, frozen=True, kw_only=True):
    """A card that an app or a link made."""

    type: str | None = None
    """``rich``: the cards of apps, and few of links."""
    title: str | None = None
    description: str | None = None
    url: str | None = None
    fields: tuple[EmbedField, ...] = ()


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
    referenced_message: "Message | msgspec.UnsetType | None" = msgspec.UNSET
    """None: deleted. Not set: Discord has not looked for it."""
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
    application_id: Snowflake = ""
    type: int = 0
    channel_id: Snowflake = ""
    guild_id: Snowflake | None = None
    data: CommandCall = CommandCall()
    message: PressedMessage | None = None
    member: Member | None = None
    user: User | None = None


STARTS_FEW = 100
"""Sessions that a bot may still begin, of 1,000 a day, below which they are spread over the rest of the day: a bot that
begins all of them loses its token (Gateway, "Identifying")."""


class SessionStarts(msgspec.Struct, frozen=True):
    """The sessions that a bot may still begin."""

    remaining: int = STARTS_FEW
    reset_after: float = 0.0
    """Milliseconds until there are 1,000 again."""
    max_concurrency: int = 1
    """How many may begin at a time."""


class GatewayAddress(msgspec.Struct, frozen=True):
    """The answer to ``/gateway/bot``."""

    url: str
    shards: int = 1
    """The recommended number of connections."""
    session_start_limit: SessionStarts = SessionStarts()


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


# The meaning of an answer of Discord's REST API.

LONG_REST_S = 60.0
"""Pause when only a person can help: a wrong token, an address without Discord behind it."""

UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, UNKNOWN_EMOJI = 10_003, 10_008, 10_014
ANSWERED, ARCHIVED = 40_060, 50_083
NO_HISTORY = 160_002
NO_VOICE = frozenset({50_035, 50_159, 50_160, 50_161, 50_173})
"""Error codes of Discord (Topics, "Opcodes and Status Codes"); those of ``NO_VOICE`` refuse a voice message."""


NO_ANSWER = frozenset({504, 520, 524})
"""Status codes of a proxy that got no answer in time, or none that it can read: the message may have arrived. The last
two are Cloudflare's (Cloudflare, "5xx errors")."""


class Unreached(SendRefused):
    """Discord cannot be reached; nothing was sent."""


class Unauthorized(SendRefused):
    """Discord does not accept the token; only a person can help."""


class TooMany(SendRefused):
    """A rate limit is reached."""

    def __init__(self, message: str, *, retry_after_s: float | None, is_global: bool) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.is_global = is_global
        """Whether the limit is that of all requests of the bot."""


class Rejected(SendRejected):
    """Discord states why it refuses the request for good."""

    def __init__(self, message: str, *, code: int, brief: str = "") -> None:
        super().__init__(message, brief=brief)
        self.code = code
        """Discord's error code; 0: none."""


class _Error(msgspec.Struct, frozen=True):
    message: str = ""
    code: int = 0
    retry_after: float | None = None
    is_global: bool = msgspec.field(default=False, name="global")


_decode = msgspec.json.Decoder(_Error, strict=False).decode


def judged(status: int, content: bytes, headers: Mapping[str, str], *, action: str, base: str) -> bytes:
    """The content of a successful answer. ``action``: the request, for people. Errors as for ``Api.call``."""
    if 200 <= status < 300:
        return content or b"null"
    error = _read(content)
    text = f"Discord answered {action} with status {status}"
    if status == 429:
        after = error.retry_after if error else None
        told = stated_s(headers.get("retry-after", "") if after is None else after)
        if error is None or told is None:
            # Cloudflare before Discord, or Discord itself, blocks this machine after too many refusals.
            raise TooMany(text, retry_after_s=LONG_REST_S if told is None else told, is_global=True)
        is_global = headers.get("x-ratelimit-global") == "true" or error.is_global
        raise TooMany(text, retry_after_s=told, is_global=is_global)
    if status in NO_ANSWER:
        raise SendUnknown(text)
    if status >= 500:
        raise SendRefused(text)
    if error is None and status == 413:  # of Cloudflare, whose limit a request of Discord's largest files may reach
        raise Rejected(text, code=0)
    if error is None:
        raise SendRefused(f"{text}, but not with JSON. Check base_url.", retry_after_s=LONG_REST_S)
    if status == 401:
        raise Unauthorized(f"{text}. Check the token.", retry_after_s=LONG_REST_S)
    # Discord's words may quote the message, so that only the code is logged.
    raise Rejected(f"{text}: {error.message}", code=error.code, brief=f"{text}, error code {error.code}")


def _read(content: bytes) -> _Error | None:
    try:
        return _decode(content)
    except UNREADABLE:
        return None


def stated_s(told: str | float) -> float | None:
    """A time that Discord states; None: it is none."""
    try:
        seconds = float(told)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
