"""What a platform has to offer so that replies can be sent to it; the outbox does the rest."""

from typing import Protocol

import msgspec

from daemon.events import Attachment
from daemon.sessionkey import SessionKey


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a reply that is sent as one message of the platform."""

    reply: str
    """Id of the reply."""
    number: int
    """Place in the reply, from 0."""
    text: str
    attempt: str
    """Names this attempt at sending it, for platforms that recognise a repetition."""
    attachments: tuple[Attachment, ...] = ()
    """Files that go with it, on the reply's last part; their paths start at the workspace of the channel's bot."""


class Channel(Protocol):
    """The adapter of one channel instance."""

    name: str
    """The channel instance: the name of its section in the configuration."""

    def split(self, text: str) -> list[str]:
        """The parts that a reply is sent in; always the same for the same text. None: there is nothing to send."""
        ...

    async def send(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        """Send a part within ``timeout_s``, once and without trying again; the platform's id of what was sent.

        Raises:
            SendRefused: nothing was sent, or the platform says no for now.
            SendRejected: the platform refuses it for good.
            SendUnknown: it was cut after sending, so nobody knows.
        """
        ...
