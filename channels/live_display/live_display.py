"""All that a chat of one channel instance is shown beside the replies themselves."""

from collections import deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager

import anyio
import msgspec
import structlog

from channels.base import Channel
from channels.live_display.shown_messages import DisplayLeader
from channels.live_display.streamer import Streamer
from channels.live_display.typing_indicator import TypingIndicator
from channels.send_rate import TokenBucket
from daemon.config import PushConfig
from daemon.errors import UNREADABLE, ChannelError, brief
from daemon.events import Inbound, Live, Moved, Notice, Reply, ToolEvent
from daemon.process import Process
from daemon.sessionkey import SessionKey, encode_part

# Messages marked from their acceptance to their answer. Best effort: a mark that cannot be made is not made.

WAITING_MAX = 1_000
"""Marks of a worker still to be made; older ones are left out."""

AT_ONCE = 4
"""Workers; those of one session are made by the same worker, in order."""

TIMEOUT_S = 3.0

_log = structlog.get_logger()


class Reactions:
    """Marks messages of one channel instance with ``sign``; ``run`` must be running in a task group."""

    def __init__(self, channel: Channel, *, sign: str) -> None:
        self._channel = channel
        self._sign = sign
        self._waiting = [deque[tuple[str, str, str]](maxlen=WAITING_MAX) for _ in range(AT_ONCE)]
        """Session, message ID and sign; an empty sign removes the mark."""
        self._asked = [anyio.Event() for _ in range(AT_ONCE)]

    def mark(self, inbound: Inbound) -> None:
        """Have a message marked."""
        self._ask(str(inbound.session), (inbound.id,), self._sign)

    def clear(self, reply: Reply) -> None:
        """Have the marks removed from the messages that ``reply`` answers."""
        self._ask(reply.session, reply.answers, "")

    def _ask(self, session: str, message_ids: Sequence[str], sign: str) -> None:
        if not self._sign:
            return
        worker = hash(session) % AT_ONCE
        self._waiting[worker].extend((session, message_id, sign) for message_id in message_ids)
        self._asked[worker].set()

    async def run(self) -> None:
        """Mark, for ever."""
        async with anyio.create_task_group() as tg:
            for worker in range(AT_ONCE):
                tg.start_soon(self._work, worker)

    async def _work(self, worker: int) -> None:
        while True:
            while self._waiting[worker]:
                await self._react(*self._waiting[worker].popleft())
            self._asked[worker] = anyio.Event()
            await self._asked[worker].wait()

    async def _react(self, session: str, message_id: str, sign: str) -> None:
        try:
            with anyio.move_on_after(TIMEOUT_S):
                await self._channel.react(SessionKey.parse(session), message_id, sign, timeout_s=TIMEOUT_S)
        except ChannelError as error:
            _log.debug("reaction.failed", session=session, reason=brief(error))
        except Exception as error:  # noqa: BLE001 - a bug in a mere mark must not end what is sent
            _log.exception("reaction.failed", session=session, reason=type(error).__name__)


_decode = msgspec.json.Decoder(Live | ToolEvent | Moved | Notice).decode


class LiveDisplay:
    """Texts being written, the sign that somebody writes, marks on messages; ``run`` must be running."""

    def __init__(self, process: Process, channel: Channel, config: PushConfig, pace: TokenBucket) -> None:
        self._process = process
        self._name = channel.name
        self.streams = config.streaming and channel.limits.edit_every_s > 0
        """Whether texts are shown while they are written."""
        self._streamer = Streamer(process.bus, channel, pace, timeout_s=config.send_timeout_s)
        self._typist = TypingIndicator(process.bus, channel, enabled=config.typing)
        self._reactions = Reactions(channel, sign=config.reaction)

    async def run(self) -> None:
        """Show, for ever."""
        async with anyio.create_task_group() as tg:
            tg.start_soon(self._typist.run)
            tg.start_soon(self._reactions.run)
            # Each turn is told of: who shows nothing of it is not to pay for hearing it.
            if self.streams or self._typist.enabled:
                tg.start_soon(self._listen)

    def accepted(self, session: SessionKey, inbound: Inbound) -> None:
        """A message will be answered; never waits."""
        if not inbound.command:
            self._typist.begin(str(session))
        self._reactions.mark(inbound)

    @contextmanager
    def leading(self, lead: DisplayLeader) -> Generator[None]:
        """Show the texts of a partition, whose replies this process sends, for the length of the block."""
        with self._streamer.leading(lead):
            yield

    async def make_way(self, reply: Reply) -> bool:
        """Called before ``reply`` is sent, if texts are shown: what is of its own is dealt with, other taken away.

        Whether its text is shown by this process, and is the last thing in its chat.
        """
        return await self._streamer.make_way(reply)

    def delivered(self, reply: Reply) -> None:
        """Called when ``reply`` is in the chat, or never will be."""
        if self.streams:
            self._streamer.delivered(reply)
        self._reactions.clear(reply)
        self._typist.look(reply.session)

    async def _listen(self) -> None:
        # Of all channels: the server's rules allow a pattern only if they name just this one.
        pattern = self._process.bus.keys.events("*")
        own = f"{encode_part(self._name)}:"
        async with self._process.listener.hear_all(pattern) as heard:
            while True:
                said = await heard.next()
                if said is None:
                    continue  # what was missed shows in what is heard next
                try:
                    event = _decode(said)
                except UNREADABLE:
                    continue  # a newer process says what this one does not know
                if isinstance(event, Notice) or not event.session.startswith(own):
                    continue
                try:
                    await self._take_in(event)
                except Exception as error:  # noqa: BLE001 - a bug in what is only shown must not end what is sent
                    _log.exception("preview.failed", channel=self._name, reason=type(error).__name__)

    async def _take_in(self, event: Live | ToolEvent | Moved) -> None:
        if isinstance(event, Live | ToolEvent) and self._streamer.leads(event.session):
            self._typist.begin(event.session)
        if self.streams and isinstance(event, Live | Moved):
            await self._streamer.hear(event)
