"""What a leader does in its term: reads ``out`` from its beginning and has each chat's replies delivered in order.

A reply leaves ``out`` when it is delivered, so the next leader, in this process or another, simply starts over.
"""

import asyncio
from collections.abc import Callable, Sequence

import anyio
import msgspec
import structlog
from anyio.abc import TaskGroup

from channels.outbox.delivery import Delivery
from channels.outbox.out_feed import Entry
from channels.outbox.retry_schedule import Chat, ChatAgenda, rest_s
from daemon.concurrency import Slots
from daemon.errors import BusUnavailable, LeaseLost, Paced, SendRefused, SendUnknown, brief
from daemon.events import Reply
from daemon.process import Process

IN_FLIGHT = 128
"""Chats that one leader sends to at a time."""

HELD_MAX = 100_000
"""Replies that one leader knows of, most of them by their stream id alone: some 10 MB. What is beyond waits unread."""

LOOK_S = 5.0
"""Longest wait for what was put off."""

BEGINNING = b"0"
"""Before the first reply in ``out``."""

UNREADABLE = ""
"""Stands for the chat of what cannot be read."""

_log = structlog.get_logger()
_decode = msgspec.json.Decoder(Reply).decode


class LeaderTerm:
    """One leader's work; ``sends`` is the task group in which replies are delivered."""

    def __init__(self, process: Process, delivery: Delivery, look: Callable[[], None], sends: TaskGroup) -> None:
        self._queue = process.config.queue
        self._ending = delivery.lease.ending
        self._delivery = delivery
        self._look = look
        self._sends = sends
        self._work: Slots[Chat] = Slots(self._deliver_some)
        self._work.open(sends)
        self._agenda = ChatAgenda()
        self._parked = anyio.Event()
        self._now = asyncio.get_running_loop().time
        self._position = BEGINNING
        self._full = False
        self.in_flight = 0
        """Chats that something is being sent to."""

    async def run(self) -> None:
        """Begin what was put off when it is due, until cancelled; what was begun goes on in its task group."""
        try:
            while True:
                self._parked = anyio.Event()
                soonest = self._agenda.soonest()
                with anyio.move_on_after(LOOK_S if soonest is None else min(soonest - self._now(), LOOK_S)):
                    await self._parked.wait()
                self._begin()
        finally:
            self._work.close()

    def holds(self, session: str) -> bool:
        """Whether there are replies to deliver to a chat."""
        return self._agenda.holds(session)

    def read_from(self) -> bytes | None:
        """See ``Reader``."""
        if self._agenda.waiting >= IN_FLIGHT or self._agenda.held >= HELD_MAX:
            self._full = True
            return None
        if not self._agenda.held and self._delivery.ledger.idle:
            # What stands there now is undelivered: a failover or a hand may have put it behind our position.
            self._position = BEGINNING
        return self._position

    def take_in(self, entries: Sequence[Entry]) -> None:
        """See ``Reader``."""
        for stream_id, fields in entries:
            reply = _read_reply(fields)
            self._agenda.add(reply.session if reply else UNREADABLE, stream_id, reply)
            self._position = stream_id
        self._begin()

    def _begin(self) -> None:
        now = self._now()
        while self.in_flight < IN_FLIGHT and not self._ending.is_set():
            chat = self._agenda.next(now)
            if chat is None:
                return
            self.in_flight += 1
            self._work.give(chat)

    async def _deliver_some(self, given: Chat) -> None:
        """Deliver to a chat, and to others that are ready then."""
        chat: Chat | None = given
        try:
            while chat is not None and not self._ending.is_set():
                await self._deliver_first(chat)
                chat = self._agenda.next(self._now())
                if self._full and self._agenda.waiting < IN_FLIGHT:
                    self._full = False
                    self._look()
        except LeaseLost:
            # Somebody else has begun to send: not one more part.
            self._sends.cancel_scope.cancel()
        finally:
            self.in_flight -= 1

    async def _deliver_first(self, chat: Chat) -> None:
        try:
            stream_id, reply = chat.replies[0]
            if reply is not None and not chat.errors:
                over = await self._delivery.deliver(stream_id, reply)
            else:
                over = await self._try(chat, stream_id, reply)
        except Paced as error:
            self._agenda.wait(chat, self._now() + error.wait_s)
            self._parked.set()
        except (SendRefused, SendUnknown, BusUnavailable) as error:
            self._park(chat, error)
        except LeaseLost:
            raise
        except Exception as error:  # noqa: BLE001 - the service's top: a bug in one reply must not end the others
            _log.exception("delivery.failed", session=chat.session, reason=type(error).__name__)
            chat.errors += 1
            self._park(chat, error)
        else:
            if over:
                self._agenda.done(chat)

    async def _try(self, chat: Chat, stream_id: bytes, reply: Reply | None) -> bool:
        """Whether the reply is dealt with; False when the process stops before that."""
        if reply is None:
            found = await self._delivery.ledger.entry(stream_id)
            if found is None:
                return True  # somebody took it out meanwhile
            reply = _read_reply(found)
        if reply is None or chat.errors > self._queue.attempts_max:
            reason = "failed" if reply else "unreadable"
            await self._delivery.bury(stream_id, reply, reason=reason, attempts=chat.errors)
            return True
        return await self._delivery.deliver(stream_id, reply)

    def _park(self, chat: Chat, error: Exception) -> None:
        told_s = error.retry_after_s if isinstance(error, SendRefused) else None
        pause_s = rest_s(chat.failures, self._queue, told_s=told_s)
        _log.info(
            "reply.parked",
            session=chat.session,
            attempt=chat.failures + 1,
            waited_s=round(pause_s, 3),
            reason=brief(error),
        )
        self._agenda.park(chat, self._now() + pause_s)
        self._parked.set()


def _read_reply(fields: dict[bytes, bytes]) -> Reply | None:
    try:
        return _decode(fields[b"reply"])
    except (KeyError, msgspec.DecodeError):
        return None
