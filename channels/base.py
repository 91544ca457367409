"""What a platform has to offer so that people can talk to a bot there; everything else is the same for all of them.

An adapter turns what its platform says into ``Arrival`` and hands it to the ``Intake``; it sends, edits and marks
messages once, without trying again, and says exactly how that went. Access, groups, bursts, limits, order, repetition,
streaming and crashes are dealt with around it.
"""

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

import anyio
import msgspec
import structlog

from channels.arrival import Arrival, Press
from daemon.errors import SendRefused, SendRejected, brief
from daemon.events import Attachment, Choice, Inbound, Overheard
from daemon.sessionkey import SessionKey

# What is found when an adapter is examined.


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was found."""

    state: Literal["ok", "warning", "error"]
    text: str


Purpose = Literal["send", "begin", "edit"]
"""What is asked of a platform: to send a part, to begin to show a text that is being written, to show more of it."""


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into one part of a reply."""

    text: str
    document: str = ""
    """The whole reply, to be sent as a text file beside ``text``: it would take too many parts."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a reply that is sent as one message of the platform."""

    reply: str
    """Id of the reply."""
    number: int
    """Place in the reply, from 0."""
    text: str
    document: str = ""
    """As in ``Piece``."""
    attempt: str
    """Names this attempt at sending it, for platforms that recognise a repetition."""
    attachments: tuple[Attachment, ...] = ()
    """Files of one message, at most ``limits.files_max``, with a text of at most ``Limits.caption_max``. Their paths
    start at the workspace of the bot."""
    reply_to: str = ""
    """The platform's id of the message that it answers; on the first part only."""
    choices: tuple[Choice, ...] = ()
    """Buttons below the text. A channel without buttons ignores them: the text names their commands too."""
    preview: bool = False
    """It is the beginning of a text that is still being written."""
    asked_by: str = ""
    """Of a preview: the platform's id of whom it answers, where that is known."""


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """How often a platform lets something be sent."""

    bucket: str
    """Whose rate it is: the channel's, or a chat's; all with the same name share it."""
    count: int
    per_s: float
    """So many messages in so many seconds; all of them may come at once."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a platform takes, as its documentation says."""

    part_max: int
    """Longest text of a part, as the adapter's ``length`` counts."""
    edit_every_s: float
    """Shortest time between two edits of a message, in a direct chat; 0: what was sent cannot be changed."""
    group_edit_every_s: float
    typing_lasts_s: float
    """How long the sign that an answer is being written stands; 0: there is none."""
    fetch_max_bytes: int
    """Largest file that can be fetched; 0: none can."""
    send_max_bytes: int
    """Largest file that can be sent; 0: none can."""
    files_max: int = 1
    """Files of one message, which the platform takes all together or not at all."""
    caption_max: int = 0
    """Longest text that stands below a file in one message with it, as ``length`` counts; 0: files have no text."""
    said_max: int = 0
    """Longest message of a person, as ``length`` counts: the platform's apps split longer ones. 0: they split none."""


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """How an adapter fares, for people."""

    ok: bool
    text: str
    """What is wrong and what to do, or who the bot is."""


class Intake(Protocol):
    """Where an adapter puts what its platform says."""

    async def take(self, arrival: Arrival) -> None:
        """Deal with it; once this returns it is kept or refused for good, and need not be said again.

        Several may be taken at a time, but those of one chat one after the other. The same again changes nothing.

        Raises:
            BusUnavailable: it is not kept; the platform has to say it again.
        """
        ...

    async def press(self, press: Press) -> str:
        """Deal with a button that somebody pressed: its command is accepted as a message of theirs, once per question.

        Empty: the command is accepted, now or before, and the buttons may go. Otherwise why not, a sentence for this
        person alone.

        Raises:
            BusUnavailable: as for ``take``.
        """
        ...

    async def take_run(self, arrivals: Sequence[Arrival]) -> int:
        """As ``take``, for several of one chat, oldest first: how many of the first ones are dealt with.

        Fewer than all: the next one is not kept, and the platform has to say it again, with those behind it.
        """
        ...


class Channel(Protocol):
    """The adapter of one channel instance. What is sent is sent once: no method tries again."""

    name: str
    """The channel instance: the name of its section in the configuration."""
    limits: Limits

    async def receive(self, intake: Intake) -> None:
        """Hand in what the platform says, until cancelled; one that is cancelled loses nothing."""
        ...

    def length(self, text: str) -> int:
        """How long a text is to the platform."""
        ...

    def rates(self, chat: SessionKey, purpose: Purpose = "send") -> tuple[Rate, ...]:
        """What sending to a chat, or showing it something, has to keep to."""
        ...

    async def send(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """Send a part within ``timeout_s``; the platform's id of what was sent.

        Raises:
            SendRefused: nothing was sent, or the platform says no for now.
            SendRejected: the platform refuses it for good.
            SendUnknown: it was cut after sending, so nobody knows.
        """
        ...

    async def edit(self, chat: SessionKey, platform_id: str, part: Part, *, timeout_s: float) -> None:
        """Have a message that was sent say what ``part`` says; one that says it already is no error.

        Raises: as ``send``; SendRejected also when the message is gone.
        """
        ...

    async def remove(self, chat: SessionKey, platform_id: str, *, timeout_s: float) -> None:
        """Take a message back that was sent; one that is gone already is no error. Raises: as ``send``."""
        ...

    async def typing(self, chat: SessionKey, *, timeout_s: float) -> None:
        """Show that an answer is being written, for ``limits.typing_lasts_s``. Raises: as ``send``."""
        ...

    async def react(self, chat: SessionKey, message_id: str, sign: str, *, timeout_s: float) -> None:
        """Mark a message of somebody's, ``Inbound.id``, with an emoji; "" takes the mark away. Raises: as ``send``."""
        ...

    async def fetch(self, attachment: Attachment, *, timeout_s: float) -> bytes:
        """The file that came with a message, found by its ``source``. Raises: as ``send``; never SendUnknown."""
        ...

    async def health(self) -> Health:
        """Ask the platform who the bot is; never raises what ``send`` raises."""
        ...


@runtime_checkable
class Finds(Protocol):
    """An adapter that can look whether what nobody knows of was sent: so it is not sent twice."""

    async def find(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """The platform's id of what some attempt at ``part`` has sent; empty: nothing of the kind is there.

        ``attempt`` does not matter. With ``preview``, what shows the beginning of ``text`` is looked for, and only
        that; else only what is the part.

        Raises:
            SendRefused: it cannot be looked just now.
            SendRejected: it may not be looked at all.
        """
        ...


@runtime_checkable
class LooksBack(Protocol):
    """An adapter that can read what was said in a thread before the bot was first asked there."""

    async def before(self, inbound: Inbound, *, timeout_s: float) -> tuple[Overheard, ...]:
        """What was said in the thread of ``inbound`` before it, oldest first; nothing where there is no thread.

        Raises: as ``Channel.fetch``.
        """
        ...


# Looking up whether a message was sent, if the adapter can.

_log = structlog.get_logger()


async def found(channel: Channel, chat: SessionKey, part: Part, *, timeout_s: float) -> str | None:
    """The platform's ID of the message sent by an attempt at ``part``; empty: none; None: it cannot be looked up.

    Raises:
        SendRefused: it cannot be looked just now.
    """
    if not isinstance(channel, Finds):
        return None
    try:
        with anyio.move_on_after(timeout_s):
            return await channel.find(chat, part, timeout_s=timeout_s)
    except SendRejected as error:
        _log.warning("part.unfindable", session=str(chat), reason=brief(error))
        return None
    raise SendRefused(f"the platform did not confirm within {timeout_s:g} s that the message arrived")
