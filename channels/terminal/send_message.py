"""One message sent to any session, and its answer if that is waited for."""

import getpass
from contextlib import aclosing

import anyio
import msgspec

from channels.conversation import Conversation, ConversationEntry, settled_by
from daemon.config import Config, TerminalConfig
from daemon.errors import ConfigError, ForeignSession
from daemon.events import Notice
from daemon.process import Process
from daemon.sessionkey import SessionKey

# The session that a person names, and the person's identity.


def user_name() -> str:
    """The name of the person at this terminal, as the system knows it; ``user`` where it knows none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container's user without an entry in /etc/passwd
        return "user"


def terminal_of(config: Config) -> str:
    """The terminal's channel instance.

    Raises:
        ConfigError: every one is disabled.
    """
    enabled = [name for name, channel in config.channels.items() if _is_open(channel)]
    if not enabled:
        raise ConfigError("The terminal chat is disabled in the configuration. Set channels.terminal.enabled = true.")
    return "terminal" if "terminal" in enabled else enabled[0]


def own_session(config: Config, name: str = "") -> SessionKey:
    """The session called ``name`` of the terminal, by default the one called as its user.

    Raises:
        BadSessionKey: the name cannot be read.
        ForeignSession: it belongs to another channel.
        ConfigError: there is no terminal channel.
    """
    channel = terminal_of(config)
    key = SessionKey.of_channel(name or user_name(), channel)
    if not _is_open(config.channels.get(key.channel)):
        raise ForeignSession(
            f"session {key} belongs to channel {key.channel}, not to the terminal. Choose a terminal session with "
            f"--session NAME, or send the message with `millpond send {key} TEXT`."
        )
    return key


def any_session(config: Config, name: str) -> SessionKey:
    """The session called ``name``, of whatever channel; a bare name is one of the terminal's.

    Raises:
        BadSessionKey: the name cannot be read.
        ForeignSession: no channel of the configuration owns it.
        ConfigError: the name is bare and there is no terminal channel.
    """
    key = SessionKey.parse(name) if ":" in name else SessionKey.of_channel(name, terminal_of(config))
    if key.channel not in config.channels:
        known = ", ".join(config.channels)
        raise ForeignSession(
            f"session {key}: channel {key.channel} is not in the configuration. Its channels are: {known}."
        )
    return key


def sender_of(config: Config, key: SessionKey) -> str:
    """The sender in a session that this process writes to: the person at the terminal, otherwise the chat itself."""
    return user_name() if isinstance(config.channels.get(key.channel), TerminalConfig) else key.chat


def _is_open(channel: object) -> bool:
    return isinstance(channel, TerminalConfig) and channel.enabled


class SendResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of sending a message."""

    id: str
    session: str
    status: str
    """``accepted`` or ``duplicate``."""
    reply: str | None = None
    """The answer's text; None when it was not waited for."""


class Sending(msgspec.Struct, frozen=True, kw_only=True):
    """One message on its way."""

    conversation: Conversation
    sent: SendResult

    async def reply(self, *, limit_s: float) -> SendResult:
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
        return SendResult(id=self.sent.id, session=self.sent.session, status=self.sent.status, reply=text)

    async def _text(self) -> str:
        found = await self.conversation.answer_to(self.sent.id) if self.sent.status == "duplicate" else None
        if found is not None:
            return found.text
        async with aclosing(self.conversation.events()) as events:
            async for shown in events:
                if isinstance(shown, ConversationEntry | Notice) and self.sent.id in settled_by(shown):
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
    sent = SendResult(id=accepted.id, session=conversation.session, status=accepted.status)
    return Sending(conversation=conversation, sent=sent)
