"""One session as somebody at a terminal follows it: messages go in, what is said comes out. Knows no screen.

Every piece may be missing, late or doubled. What does not follow on what stands here is left out; the log's entry
replaces all of it in the end.

What is said is read from the log, the journal of the running turn included: a journalled step is never taken back, so
every entry is shown once and in order. Events only say when to look, and show the answer while it is written.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
import msgspec
import structlog

from channels.inbound import accept, make_inbound
from daemon.bus import Accepted, Subscription, pairs
from daemon.clock import stamp
from daemon.errors import UNREADABLE, BusUnavailable
from daemon.events import Attachment, Inbound, Live, LogEntry, Moved, Notice, ToolEvent
from daemon.heartbeat import agent_lives
from daemon.process import Process
from daemon.session import SessionReader, SessionState
from daemon.sessionkey import SessionKey

# Why a message has no answer yet.


async def delay(process: Process, session: str) -> str:
    """The reason why the session's messages wait, as a sentence; empty while a worker answers them.

    Raises:
        BusUnavailable: Redis is away.
    """
    reader = SessionReader(process.bus)
    running = await agent_lives(process.bus, process.clock)
    return reason(await reader.state(session), running=running, now_ms=await reader.now_ms())


def reason(state: SessionState, *, running: bool, now_ms: int) -> str:
    """The same of a session's ``state``; ``running``: whether there is an agent worker."""
    if not state.waiting or state.lease_ms > now_ms:
        return ""
    if not running:
        return "No agent worker is running. Start an agent worker with `millpond run`."
    if state.parked_why:
        return state.parked_why.partition(": ")[2]
    if state.retry_at_ms <= now_ms:
        return (
            "All agent workers are busy with other conversations. Start more workers to answer more "
            "conversations at the same time."
        )
    # A limit or a pause announces itself, and is not counted as an attempt.
    return "The last attempt to answer this message failed. Millpond retries automatically." if state.attempts else ""


# The answer being written, put together from what is published in passing. Pure.


class Preview:
    """The text of one answer at a time."""

    def __init__(self) -> None:
        self.text: str = ""
        self._of = (-1, -1)
        """Turn and fence of the text."""
        self._sequence = -1
        self._over = -1
        """The last turn that is known to have ended."""

    @property
    def turn(self) -> int:
        """The turn of the text; -1 before the first piece."""
        return self._of[0]

    def hear(self, live: Live) -> bool:
        """Take in a piece; whether the text is another one now."""
        of = (live.turn, live.fence)
        if live.turn <= self._over or of < self._of or (of == self._of and live.sequence <= self._sequence):
            return False
        # An offset of 0 begins an answer: another turn's, a successor's of a killed worker, or the next of this turn.
        if live.offset == 0:
            self.text = live.text
        elif of == self._of and live.offset == len(self.text):
            self.text += live.text
        else:
            return False
        self._of, self._sequence = of, live.sequence
        return True

    def close(self, turn: int, *, ended: bool) -> None:
        """The log holds the answer now; ``ended`` when it was the turn's last."""
        self.text = ""
        if ended:
            self._over = max(self._over, turn)


POLL_S = 5.0
"""Longest time without looking at the log, for events that got lost."""

SILENT_POLLS = 2
"""After so many looks without an event since the last message was sent, the reason is shown."""

CHUNK = 200
"""Entries read at once."""

LOOK_BACK = 1_000
"""Newest entries among which the answer to a message sent earlier is looked for."""


class _Function(msgspec.Struct):
    name: str = ""


class _Call(msgspec.Struct):
    function: _Function = msgspec.field(default_factory=_Function)


class _Part(msgspec.Struct):
    text: str = ""


class _Wire(msgspec.Struct):
    role: str
    content: str | list[_Part] | None = None
    tool_calls: list[_Call] | None = None


class ConversationEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the log."""

    index: int
    entry: LogEntry
    role: str
    """``user``, ``assistant`` or ``tool``."""
    text: str
    tools: tuple[str, ...] = ()
    """Names of the tools that it calls."""


class AnswerProgress(msgspec.Struct, frozen=True):
    """The answer as far as it is written, from its beginning; advisory, its ``ConversationEntry`` follows."""

    text: str
    turn: int
    """The index at which the turn began."""


Shown = ConversationEntry | AnswerProgress | ToolEvent | Notice

_log = structlog.get_logger()
_decode_wire = msgspec.json.Decoder(_Wire).decode
_decode_event = msgspec.json.Decoder(Live | ToolEvent | Moved | Notice).decode
_decode_live = msgspec.json.Decoder(Live).decode
_decode_notice = msgspec.json.Decoder(Notice).decode


def said(index: int, entry: LogEntry) -> ConversationEntry:
    """An entry as it can be shown."""
    wire = _decode_wire(entry.wire)
    content = "" if entry.silent else wire.content or ""
    text = content if isinstance(content, str) else "\n".join(part.text for part in content if part.text)
    tools = tuple(call.function.name for call in wire.tool_calls or ())
    return ConversationEntry(index=index, entry=entry, role=wire.role, text=text, tools=tools)


@dataclass(kw_only=True)
class Conversation:
    """Follows one session from the moment it was opened on; made by ``open``."""

    process: Process
    key: SessionKey
    sender: str
    """Id of the person who sends messages from here."""
    pending: set[str] = field(default_factory=set[str])
    """Ids of the messages sent from here that are not answered yet."""
    sent: set[str] = field(default_factory=set[str])
    _settled: set[str] = field(default_factory=set[str])
    """Of these, the ones that are answered."""
    _next: int = 0
    """Index of the first entry that was not shown."""
    _last_notice: str = "0"
    """Stream id."""
    _preview: Preview = field(default_factory=Preview)
    _away: bool = False
    _silent: int = 0
    """Looks without an event since a message was sent or anything was heard."""
    _told: list[str] = field(default_factory=list[str])
    """Why messages wait, as their sender was told since the last answer."""

    @classmethod
    async def open(cls, process: Process, key: SessionKey, *, sender: str = "") -> "Conversation":
        """Stand at the session's end; what is said from now on will be shown.

        ``sender``: as the field; empty: the chat's own name.

        Raises:
            BusUnavailable: Redis is away.
        """
        state = await SessionReader(process.bus).state(str(key))
        newest: Any = await process.bus.call("XREVRANGE", process.bus.keys.notices(str(key)), "+", "-", "COUNT", 1)
        last = newest[0][0].decode() if newest else "0"
        return cls(process=process, key=key, sender=sender or key.chat, _next=state.head, _last_notice=last)

    @property
    def session(self) -> str:
        """The session's key as text."""
        return str(self.key)

    @property
    def _reader(self) -> SessionReader:
        return SessionReader(self.process.bus)

    def inbound(self, text: str, *, message_id: str = "") -> Inbound:
        """A message of this conversation."""
        return make_inbound(
            self.process,
            channel=self.key.channel,
            chat=self.key.chat,
            thread=self.key.thread,
            text=text,
            sender_id=self.sender,
            message_id=message_id,
        )

    async def send(self, text: str, *, message_id: str = "", files: tuple[Attachment, ...] = ()) -> Accepted:
        """Hand in a message; errors as for ``channels.inbound.accept``, after which it may be sent again by its id."""
        inbound = msgspec.structs.replace(self.inbound(text, message_id=message_id), attachments=files)
        self._silent = 0
        # Noted before it is sent: its answer may be here before the confirmation.
        self.sent.add(inbound.id)
        # Of one that is sent again the answer may be here as well: an outage can hide that it was accepted.
        if inbound.id not in self._settled:
            self.pending.add(inbound.id)
        try:
            return await accept(self.process, inbound)
        except BaseException:
            self.pending.discard(inbound.id)
            raise

    async def earlier(self, count: int) -> list[ConversationEntry]:
        """The last ``count`` entries before the conversation was opened."""
        found: list[ConversationEntry] = []
        pieces = self.process.transcripts.pieces(self.session, self._next - count, self._next, chunk=CHUNK)
        async with aclosing(pieces):
            async for piece in pieces:
                found += [said(index, entry) for index, entry in piece.entries()]
                if piece.reason:
                    _log.warning("transcript.unread", session=self.session, reason=piece.reason)
        return found

    async def answer_to(self, message_id: str) -> ConversationEntry | Notice | None:
        """The entry that answered a message earlier, of a command the notice; None when there is none lately."""
        found: list[ConversationEntry | Notice] = [notice for _, notice in await self._notice_rows("-")]
        found += await self.earlier(LOOK_BACK)
        return next((one for one in reversed(found) if message_id in settled_by(one)), None)

    async def events(self) -> AsyncGenerator[Shown, None]:
        """What is shown, for ever; an outage of Redis is a notice, and what was missed comes after it."""
        async with self.process.listener.hear(self.process.bus.keys.events(self.session)) as heard:
            while True:
                event = await _next_event(heard)
                try:
                    found = await self._shown_at(event)
                    self._away = False
                except BusUnavailable as error:
                    found = self._outage(error)
                for shown in found:
                    # Only now: whoever waits for the last answer must have been given it.
                    settled = self.sent.intersection(settled_by(shown))
                    self._settled |= settled
                    self.pending -= settled
                    self._note(shown, answered=bool(settled))
                    yield shown

    def _note(self, shown: Shown, *, answered: bool) -> None:
        if answered:
            self._told.clear()
        if isinstance(shown, Notice) and shown.kind == "parked":
            self._told.append(shown.text)

    async def _shown_at(self, event: Live | ToolEvent | Moved | Notice | None) -> list[Shown]:
        if isinstance(event, Live):
            return [self._writing()] if self._preview.hear(event) else []
        found: list[Shown] = [*await self._new_entries(), *await self._new_notices()]
        if isinstance(event, ToolEvent):
            found.append(event)
        self._silent = self._silent + 1 if event is None else 0
        if event is None:
            found += await self._written_so_far()
            found += await self._delay()
        return found

    async def _new_entries(self) -> list[ConversationEntry | Notice]:
        found: list[ConversationEntry | Notice] = []
        # Beyond head stands the journal of the turn in progress; see the module's first lines.
        pieces = self.process.transcripts.pieces(self.session, self._next, chunk=CHUNK, journal=True)
        async with aclosing(pieces):
            async for piece in pieces:
                if piece.reason:
                    found.append(self._aside(piece.reason))
                found += [said(index, entry) for index, entry in piece.entries()]
                self._next = piece.upto
        for one in found:
            if isinstance(one, ConversationEntry) and one.role == "assistant":
                self._preview.close(one.entry.turn, ended=bool(settled_by(one)))
        return found

    async def _new_notices(self) -> list[Notice]:
        rows = await self._notice_rows(f"({self._last_notice}")
        if rows:
            self._last_notice = rows[-1][0]
        return [notice for _, notice in rows]

    async def _notice_rows(self, first: str) -> list[tuple[str, Notice]]:
        """The notices from stream id ``first`` on, each with its own."""
        key = self.process.bus.keys.notices(self.session)
        rows: Any = await self.process.bus.call("XRANGE", key, first, "+")
        return [(stream_id.decode(), _decode_notice(dict(pairs(fields))[b"notice"])) for stream_id, fields in rows]

    async def _written_so_far(self) -> list[Shown]:
        live = await self._reader.live(self.session)
        return [self._writing()] if live and self._preview.hear(_decode_live(live)) else []

    def _writing(self) -> AnswerProgress:
        return AnswerProgress(self._preview.text, self._preview.turn)

    async def _delay(self) -> list[Shown]:
        """Why the messages sent from here wait, unless their sender was told."""
        if not self.pending or self._silent < SILENT_POLLS:
            return []
        reason = await delay(self.process, self.session)
        if not reason or any(reason in text for text in self._told):
            return []
        return [self._aside(f"Your message is waiting: {reason}", kind="parked")]

    def _outage(self, error: BusUnavailable) -> list[Shown]:
        if self._away:
            return []
        self._away = True
        return [self._aside(str(error), kind="parked")]

    def _aside(self, text: str, *, kind: Literal["aside", "parked"] = "aside") -> Notice:
        return Notice(kind=kind, text=text, time=stamp(self.process.clock.now()))


def settled_by(shown: Shown) -> tuple[str, ...]:
    """The ids of the messages for which nothing more is to be expected after ``shown``."""
    if isinstance(shown, ConversationEntry):
        return shown.entry.answers + shown.entry.dead
    return (shown.message_id,) if isinstance(shown, Notice) and shown.kind == "aside" else ()


async def _next_event(heard: Subscription) -> Live | ToolEvent | Moved | Notice | None:
    """The next event; None when it is time to look, or something may have been missed."""
    with anyio.move_on_after(POLL_S):
        event = await heard.next()
        try:
            return _decode_event(event) if event else None
        except UNREADABLE:  # of a newer Millpond
            return None
    return None
