"""What Feishu says, as far as it is of use here; everything else in it is passed over.

Nearly nothing must be there: what has another shape than today is left out field by field.
"""

from typing import Any

from channels.shapes import Shape, nested


class Ids(Shape, frozen=True):
    """Ids of one person; the first is the one that this app knows them by."""

    open_id: str = ""
    union_id: str = ""
    user_id: str = ""


class Mention(Shape, frozen=True):
    """Somebody who is named in a message."""

    key: str = ""
    """``@_user_1``: what stands in the text."""
    id: Any = None
    """In an event ``Ids``, in a message that was asked for the ``open_id``."""
    name: str = ""

    @property
    def open_id(self) -> str:
        """Empty: not known."""
        found = nested(self.id, "open_id") or self.id
        return found if isinstance(found, str) else ""


class EventSender(Shape, frozen=True):
    """Who said it, in an event."""

    sender_id: Ids | None = None
    sender_type: str = ""
    """``user``; what apps say is not told today."""
    tenant_key: str = ""


class Message(Shape, frozen=True):
    """A message, in an event."""

    message_id: str = ""
    root_id: str = ""
    parent_id: str = ""
    thread_id: str = ""
    create_time: str = ""
    """Milliseconds of the epoch."""
    chat_id: str = ""
    chat_type: str = ""
    """``p2p`` or ``group``."""
    message_type: str = ""
    content: str = ""
    """JSON, whose form depends on ``message_type``."""
    mentions: tuple[Mention, ...] = ()


class Event(Shape, frozen=True):
    """What happened: something was said, or (``message_id`` alone) taken back."""

    sender: EventSender | None = None
    message: Message | None = None
    message_id: str = ""
    chat_id: str = ""


class Header(Shape, frozen=True):
    """What every event says of itself."""

    event_id: str = ""
    event_type: str = ""
    app_id: str = ""
    tenant_key: str = ""


class Body(Shape, frozen=True):
    """An event, as it is delivered."""

    header: Header | None = None
    event: Event | None = None


class Author(Shape, frozen=True):
    """Who said it, in a message that was asked for."""

    id: str = ""
    id_type: str = ""
    sender_type: str = ""


class Content(Shape, frozen=True):
    """What it says."""

    content: str = ""


class Item(Shape, frozen=True):
    """A message that was asked for (``im/v1/messages``)."""

    message_id: str = ""
    root_id: str = ""
    parent_id: str = ""
    thread_id: str = ""
    create_time: str = ""
    chat_id: str = ""
    msg_type: str = ""
    deleted: bool = False
    sender: Author | None = None
    body: Content | None = None
    mentions: tuple[Mention, ...] = ()
