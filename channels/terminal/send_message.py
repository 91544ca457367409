"""One message sent to any session, and its answer if that is waited for."""

from contextlib import aclosing
from dataclasses import dataclass

import anyio

from channels.conversation import Conversation, Said, settled_by
from channels.terminal.session_target import any_session, sender_of
from daemon.events import Notice
from daemon.process import Process


@dataclass(frozen=True, kw_only=True)
class Sent:
    """The result of sending a message."""

    id: str
    session: str
    status: str
    """``accepted`` or ``duplicate``."""
    reply: str | None = None
    """The answer's text; None when it was not waited for."""


@dataclass(frozen=True, kw_only=True)
class Sending:
    """One message on its way."""

    conversation: Conversation
    sent: Sent

    async def reply(self, *, limit_s: float) -> Sent:
        """The answer, as soon as it is committed.

        Raises:
            TimeoutError: there was none within ``limit_s``; the message stays accepted.
        """
        try:
            with anyio.fail_after(limit_s):
                text = await self._text()
        except TimeoutError:
            raise TimeoutError(
                f"no answer arrived within {limit_s:g} s. Message {self.sent.id} is stored and will be "
                f"answered. Run `millpond session show {self.sent.session}` later to see the answer. Run "
                "`millpond doctor` "
                "to check whether a worker is running."
            ) from None
        return Sent(id=self.sent.id, session=self.sent.session, status=self.sent.status, reply=text)

    async def _text(self) -> str:
        found = await self.conversation.answer_to(self.sent.id) if self.sent.status == "duplicate" else None
        if found is not None:
            return found.text
        async with aclosing(self.conversation.events()) as events:
            async for shown in events:
                if isinstance(shown, Said | Notice) and self.sent.id in settled_by(shown):
                    return shown.text
        raise AssertionError("the connection that delivers the answer was closed before the answer arrived")


async def send(process: Process, *, session: str, text: str, message_id: str = "") -> Sending:
    """Hand in ``text``; it is accepted when this returns.

    Raises:
        InboundError, SessionFull, BusUnavailable, ConfigError: it was not accepted; the text says what to do.
    """
    key = any_session(process.config, session)
    conversation = await Conversation.open(process, key, sender=sender_of(process.config, key))
    accepted = await conversation.send(text, message_id=message_id)
    sent = Sent(id=accepted.id, session=conversation.session, status=accepted.status)
    return Sending(conversation=conversation, sent=sent)
