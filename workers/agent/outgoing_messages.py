"""Sending messages during a turn: finding the chat, checking that it is allowed, and the form of the message."""

from collections.abc import Iterator

from daemon.clock import stamp
from daemon.config import PushConfig
from daemon.errors import BadSessionKey, ToolError
from daemon.events import Inbound, Notice, Reply
from daemon.memory import Memories
from daemon.process import Process
from daemon.session import Claim, Sessions, TurnMessages, saying_id
from daemon.session import TurnMessage as Said
from daemon.sessionkey import SessionKey
from workers.tools import Saying, ToolContext


class OutgoingMessages:
    """Sends messages for one turn."""

    def __init__(self, process: Process, sessions: Sessions, memories: Memories, claim: Claim, first: Inbound) -> None:
        self._process = process
        self._memories = memories
        self._sayings = TurnMessages(process.bus, sessions, process.config.queue)
        self._claim = claim
        self._first = first

    async def say(self, context: ToolContext, saying: Saying) -> str:
        """Send a message; returns the key of its session. See ``ToolContext.say``."""
        for chat in self._chats(saying):
            whole = self._said(chat, context.call, saying, scope=await self._shared(str(chat)))
            said = await self._sayings.say(self._claim, whole) if whole.scope else "foreign"
            if said != "foreign":
                return str(chat)
        channel = repr(saying.channel) if saying.channel else "this channel"
        raise ToolError(
            f"The chat {saying.chat!r} on {channel} is not one of the chats that share this conversation's memory. "
            "Messages can be sent only to chats that share this memory."
        )

    async def _shared(self, session: str) -> str:
        """The scope of a chat if it shares the memory of this conversation; otherwise empty."""
        own = self._claim.begun.scope
        if session == self._claim.session:
            return own
        bus = self._process.bus
        scope = ((await bus.call("HGET", bus.keys.session(session), "scope")) or b"").decode()
        # Linked scopes have one memory.
        if not scope or scope == own or await self._memories.home(scope) == await self._memories.home(own):
            return scope
        return ""

    def _chats(self, saying: Saying) -> Iterator[SessionKey]:
        """Possible chats, the likeliest first: a ``:`` may belong to the name of the chat or separate a thread."""
        own = SessionKey.parse(self._claim.session)
        channel = saying.channel or own.channel
        if channel == own.channel and saying.chat in ("", own.chat):
            yield own
            return
        if not saying.chat:
            raise ToolError(f"chat_id is missing. Name a chat of {channel}.")
        chat, _, thread = saying.chat.rpartition(":")
        try:
            # The key is parsed again, which refuses characters that a key cannot contain.
            yield SessionKey.parse(str(SessionKey(channel=channel, chat=saying.chat)))
            if chat and thread:
                yield SessionKey.parse(str(SessionKey(channel=channel, chat=chat, thread=thread)))
        except (BadSessionKey, UnicodeEncodeError) as error:
            raise ToolError(f"chat_id: {error}") from error

    def _said(self, chat: SessionKey, call: str, saying: Saying, *, scope: str) -> Said:
        session, attachments = str(chat), tuple(saying.attachments)
        notice = Notice(
            kind="message",
            text=saying.text,
            time=stamp(self._process.clock.now()),
            attachments=attachments,
            choices=saying.choices,
        )
        reply = Reply(
            id=saying_id(self._claim, call, session),
            session=session,
            turn=self._claim.begun.head,
            text=saying.text,
            correlation=self._first.correlation,
            attachments=attachments,
            choices=saying.choices,
        )
        pushed = self._pushed(chat.channel)
        return Said(
            call=call,
            session=session,
            scope=scope,
            notice=notice,
            reply=reply if pushed else None,
            out_channel=chat.channel if pushed else "",
        )

    def _pushed(self, channel: str) -> bool:
        if channel == self._first.channel:
            return self._first.delivery == "push"
        config = self._process.config.channels.get(channel)
        if config is None:
            raise ToolError(f"The channel {channel!r} was not found in this worker's configuration.")
        return isinstance(config, PushConfig)
