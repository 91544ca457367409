"""The answers and updates of the Bot API: their forms, and their meaning for callers. Pure.

Only ids must be there. An update in which something has another shape than today is read field by field (``lenient``),
so that what can be understood of it is not lost with the rest.
"""

from typing import Any, TypeVar

import msgspec

from daemon.errors import SendRefused, SendRejected, SendUnknown

# What the Bot API says, as far as it is of use here; everything else in it is passed over.


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What all of them are: immutable, and open to fields that are not known yet."""


ABSENT = msgspec.Raw()
"""Stands for a part of an update that is not there."""

_S = TypeVar("_S", bound=Shape)


class User(Shape, frozen=True):
    """Somebody, or a bot."""

    id: int
    is_bot: bool = False
    first_name: str = ""
    last_name: str = ""
    username: str = ""
    can_join_groups: bool = True
    can_read_all_group_messages: bool = False

    @property
    def name(self) -> str:
        """What people call them."""
        return f"{self.first_name} {self.last_name}".strip() or self.username


class Chat(Shape, frozen=True):
    """A conversation: with one person, of a group, or a channel."""

    id: int
    type: str = "private"
    title: str = ""


class Entity(Shape, frozen=True):
    """A part of a text that means something; counted in UTF-16 units."""

    type: str = ""
    offset: int = 0
    length: int = 0
    url: str = ""
    user: User | None = None


class PhotoSize(Shape, frozen=True):
    """One of the sizes of a photo."""

    file_id: str
    width: int = 0
    height: int = 0
    file_size: int = 0


class File(Shape, frozen=True):
    """A document, a recording, a film."""

    file_id: str
    file_name: str = ""
    mime_type: str = ""
    file_size: int = 0


class Sticker(Shape, frozen=True):
    """A picture that stands for an emoji."""

    emoji: str = ""


class Location(Shape, frozen=True):
    """A place on the map."""

    latitude: float = 0.0
    longitude: float = 0.0


class Venue(Shape, frozen=True):
    """A place with a name."""

    location: Location = Location()
    title: str = ""
    address: str = ""


class Contact(Shape, frozen=True):
    """Somebody's telephone number."""

    phone_number: str = ""
    first_name: str = ""
    last_name: str = ""


class Option(Shape, frozen=True):
    """What can be voted for."""

    text: str = ""


class Poll(Shape, frozen=True):
    """A question with answers to choose from."""

    question: str = ""
    options: tuple[Option, ...] = ()


class Dice(Shape, frozen=True):
    """A throw."""

    emoji: str = ""
    value: int = 0


class TextQuote(Shape, frozen=True):
    """The part of a message that an answer is about."""

    text: str = ""


class Origin(Shape, frozen=True):
    """Where a forwarded message comes from."""

    sender_user: User | None = None
    sender_user_name: str = ""
    sender_chat: Chat | None = None
    chat: Chat | None = None

    @property
    def name(self) -> str:
        """Who said it first; empty when that is hidden."""
        place = self.chat or self.sender_chat
        return (
            (self.sender_user.name if self.sender_user else "")
            or self.sender_user_name
            or (place.title if place else "")
        )


class Media(Shape, frozen=True):
    """The files of a message, and what is neither text nor a file."""

    message_id: int = 0
    photo: tuple[PhotoSize, ...] = ()
    document: File | None = None
    animation: File | None = None
    audio: File | None = None
    video: File | None = None
    video_note: File | None = None
    voice: File | None = None
    sticker: Sticker | None = None
    location: Location | None = None
    venue: Venue | None = None
    contact: Contact | None = None
    poll: Poll | None = None
    dice: Dice | None = None
    rich_message: Any = None


class ExternalReply(Media, frozen=True):
    """A message of another chat that is answered, without its text."""

    origin: Origin | None = None


class Message(Media, frozen=True, kw_only=True, rename={"sender": "from"}):
    """Something said in a chat, or something that happened there."""

    message_id: int  # pyright: ignore[reportGeneralTypeIssues] - without one, an update is unreadable
    chat: Chat
    sender: User | None = None
    sender_chat: Chat | None = None
    message_thread_id: int = 0
    is_topic_message: bool = False
    text: str = ""
    caption: str = ""
    entities: tuple[Entity, ...] = ()
    caption_entities: tuple[Entity, ...] = ()
    reply_to_message: "Message | None" = None
    external_reply: ExternalReply | None = None
    quote: TextQuote | None = None
    forward_origin: Origin | None = None
    media_group_id: str = ""
    forum_topic_created: Any = None
    migrate_to_chat_id: int = 0
    migrate_from_chat_id: int = 0


class Update(Shape, frozen=True):
    """Something that happened; at most one of the fields is there."""

    update_id: int
    message: msgspec.Raw = ABSENT
    edited_message: msgspec.Raw = ABSENT
    my_chat_member: msgspec.Raw = ABSENT
    callback_query: msgspec.Raw = ABSENT
    message_reaction: msgspec.Raw = ABSENT


class ReactionKind(Shape, frozen=True):
    """An emoji with which a message is marked; custom and paid ones have no character."""

    type: str = ""
    emoji: str = ""

    @property
    def name(self) -> str:
        """The emoji, or its type."""
        return self.emoji or self.type.replace("_", " ")


class ReactionChange(Shape, frozen=True):
    """A person changed how they mark a message."""

    chat: Chat
    message_id: int
    user: User | None = None
    actor_chat: Chat | None = None
    """An anonymous administrator's group, or a channel, instead of ``user``."""
    old_reaction: tuple[ReactionKind, ...] = ()
    new_reaction: tuple[ReactionKind, ...] = ()


class Sent(Shape, frozen=True):
    """What is of use of a message that was sent."""

    message_id: int | str = ""


class WebhookInfo(Shape, frozen=True):
    """How a bot is told of updates."""

    url: str = ""
    pending_update_count: int = 0
    last_error_message: str = ""


class Command(Shape, frozen=True):
    """One line in the menu of commands."""

    command: str
    description: str


class Path(Shape, frozen=True):
    """Where a file lies that can be fetched."""

    file_path: str = ""
    file_size: int = 0


def lenient(kind: type[_S], found: msgspec.Raw | bytes) -> _S:
    """``found`` as a ``kind``; fields that have another shape than expected are left out.

    Raises:
        msgspec.DecodeError: not even the ids are there.
    """
    try:
        return msgspec.json.decode(found, type=kind)
    except msgspec.ValidationError:
        fields = msgspec.json.decode(found, type=dict[str, Any])
    fitting: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        try:
            fitting[field.encode_name] = msgspec.to_builtins(msgspec.convert(fields[field.encode_name], field.type))
        except (KeyError, msgspec.ValidationError):
            continue
    return msgspec.convert(fitting, kind)


# What an answer of the Bot API means for whoever asked. Pure.

LONG_REST_S = 60.0
"""Pause when only a person can help: a wrong token, an address without a Bot API behind it."""

TOO_LARGE = 413
"""Status of a proxy that lets no request of this size through."""


HOPELESS = (
    *("chat not found", "bot was blocked", "user is deactivated", "not enough rights", "have no rights"),
    *("bot was kicked", "topic_closed", "chat_write_forbidden", "message to edit not found", "message can't be edited"),
    *("not modified", "message thread not found", "peer_id_invalid", "group chat was upgraded", "bot can't initiate"),
    *("forbidden", "message_id_invalid"),
)
"""What is refused whatever the form."""

KNOWN = (*HOPELESS, "can't parse", "too long", "is empty", "not found", "terminated by other getupdates", "webhook")
"""Words of the server that a log may hold. Others may quote a message."""


class Unreached(SendRefused):
    """The server cannot be reached; nothing was sent."""


class Unauthorized(SendRefused):
    """The server does not know the token; only a person can help."""


class NoMethod(SendRefused):
    """The server does not know the method, or the token is none at all: it says the same of both."""


class Conflict(SendRefused):
    """Somebody else asks for the updates of this bot, or a webhook is set; what was asked was not done."""

    def __init__(self, message: str, *, webhook: bool, brief: str = "") -> None:
        super().__init__(message, brief=brief)
        self.webhook = webhook
        """Whether it is a webhook, and no second one that asks."""


class Rejected(SendRejected):
    """The Bot API says why it does not do what was asked."""

    def __init__(self, message: str, *, description: str, moved_to: int = 0, brief: str = "") -> None:
        super().__init__(message, brief=brief)
        self.description = description.lower()
        """The server's words, in small letters."""
        self.moved_to = moved_to
        """Id of the supergroup that the chat has become; 0: it has not."""

    def says(self, *words: str) -> bool:
        """Whether any of these stands in the server's words."""
        return any(word in self.description for word in words)


class Parameters(msgspec.Struct, frozen=True, kw_only=True):
    """What a refusal says for machines."""

    retry_after: float | None = None
    migrate_to_chat_id: int = 0


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the server says to every call."""

    ok: bool
    result: msgspec.Raw = msgspec.Raw(b"null")
    error_code: int = 0
    description: str = ""
    parameters: Parameters = Parameters()


def judged(answer: Answer | None, *, status: int, method: str, base: str) -> msgspec.Raw:
    """The result of a call, or the error that it comes to. Errors as for ``Api.call``.

    ``answer`` is None when what came is no answer of the Bot API: a page of something between it and us.
    """
    if answer is None:
        raise _foreign(status, method, base)
    if answer.ok:
        return answer.result
    code, said = answer.error_code or status, answer.description
    text = f"Telegram responded to {method} with error {code}"
    known = next((words for words in KNOWN if words in said.lower()), "")
    brief, text = f"{text}: {known}" if known else text, f"{text}: {said}"
    if code == 429:
        raise SendRefused(text, retry_after_s=answer.parameters.retry_after, brief=brief)
    if code >= 500:
        raise SendRefused(text, brief=brief)
    if code == 401:
        raise Unauthorized(f"{text}. Check the token.", retry_after_s=LONG_REST_S, brief=brief)
    if code == 404:
        raise NoMethod(f"{text}. Check the token.", retry_after_s=LONG_REST_S, brief=brief)
    if code == 409:
        raise Conflict(text, webhook="webhook" in said.lower(), brief=brief)
    raise Rejected(text, description=said, moved_to=answer.parameters.migrate_to_chat_id, brief=brief)


def _foreign(status: int, method: str, base: str) -> Exception:
    """What to make of an answer that is not the Bot API's."""
    text = f"{base} responded to {method} with HTTP status {status}, but the body is not valid Bot API JSON"
    if status == TOO_LARGE:
        return Rejected(text, description="")
    # A gateway that got no answer in time, and a page that says it went well: what was sent may have arrived.
    if status == 504 or 200 <= status < 300:
        return SendUnknown(text)
    if status == 429 or status >= 500:
        return SendRefused(text)
    return SendRefused(f"{text}. Check base_url.", retry_after_s=LONG_REST_S)
