"""Previews of answers: a message is sent with the text so far, and edited until it is the reply.

Who sends a channel's replies shows their texts too. Nothing depends on it: what is known of such a message stands in
Redis beside the marks of the reply before it is edited for the first time, and whoever delivers the reply goes by that.
"""

import itertools
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TypeVar

import anyio
import msgspec
import structlog

from channels.base import Channel, Finds, Part, Purpose, found
from channels.live_display.draft_message import DraftAction, DraftMessage, next_act
from channels.live_display.shown_messages import DisplayLeader, ShownMessages, about_to_be_answered
from channels.send_rate import TokenBucket
from channels.text import beginning
from daemon.bus import Bus
from daemon.errors import BusError, BusUnavailable, ChannelError, SendRefused, SendRejected, brief
from daemon.events import Live, Moved, Reply
from daemon.session import SessionReader
from daemon.sessionkey import SessionKey

DRAFTS_MAX = 2_000
"""Texts followed at a time by one process; more are sent when they are whole."""

TIMEOUT_MAX_S = 5.0
"""Longest time that showing a text may take: a reply has to wait for its end."""

NO_ROOM_S = 0.5
"""Pause while replies use up the platform's rate limit."""

REFUSED_S = 2.0
"""Pause after a refusal that does not say how long."""

CHAT_REST_MAX_S = 60.0
"""Longest time for which a refused preview delays the replies to its chat; then the platform is asked again."""

DEALT_WITH_MAX = 10_000
"""Sessions whose last finished reply is remembered, so that late previews of it are not shown."""

RETRY_S = 0.2
"""Pause while Redis is unavailable and a mark has to be written."""

_log = structlog.get_logger()
_T = TypeVar("_T")
_decode_live = msgspec.json.Decoder(Live).decode


class Streamer:
    """Shows the texts of one channel instance's sessions, as far as this process leads."""

    def __init__(self, bus: Bus, channel: Channel, pace: TokenBucket, *, timeout_s: float) -> None:
        self._bus = bus
        self._channel = channel
        self._pace = pace
        self._timeout_s = min(timeout_s, TIMEOUT_MAX_S)
        self._looks = isinstance(channel, Finds)
        self._book = ShownMessages(bus, channel.name, looks=self._looks)
        self._reader = SessionReader(bus)
        self._leads: dict[int, DisplayLeader] = {}
        self._drafts: dict[str, DraftMessage] = {}
        self._dealt_with: dict[str, int] = {}
        self._marks = itertools.count()

    @contextmanager
    def leading(self, lead: DisplayLeader) -> Generator[None]:
        """Show previews of its partition during the block; previews in progress end in its task group."""
        self._leads[lead.partition] = lead
        try:
            yield
        finally:
            del self._leads[lead.partition]
            for draft in list(self._drafts.values()):
                if self._bus.keys.partition(draft.session) == lead.partition:
                    self._close(draft)

    def leads(self, session: str) -> bool:
        """Whether this process sends to the session's chat."""
        return self._bus.keys.partition(session) in self._leads

    # What is heard

    async def hear(self, event: Live | Moved) -> None:
        """Process an event of a session."""
        lead = self._leads.get(self._bus.keys.partition(event.session))
        if lead is None:
            return
        if isinstance(event, Live):
            await self._hear_live(lead, event)
        elif (draft := self._drafts.get(event.session)) and event.head > draft.turn and draft.ended_at is None:
            draft.ended_at = anyio.current_time()
            draft.tell()

    async def _hear_live(self, lead: DisplayLeader, piece: Live) -> None:
        if piece.turn <= self._dealt_with.get(piece.session, -1):
            return
        draft = self._drafts.get(piece.session)
        if draft is None or piece.turn > draft.turn:
            if draft is not None:
                self._close(draft)
            elif len(self._drafts) >= DRAFTS_MAX:
                return
            draft = self._open(lead, piece)
        if draft.closed or piece.turn < draft.turn:
            return
        if draft.hear(piece, anyio.current_time()) == "gap":
            await self._read_whole(draft)
        draft.tell()

    def _open(self, lead: DisplayLeader, piece: Live) -> DraftMessage:
        now, every_s = anyio.current_time(), self._channel.limits.edit_every_s
        draft = DraftMessage(session=piece.session, turn=piece.turn, heard_at=now, every_s=every_s)
        self._drafts[piece.session] = draft
        lead.sends.start_soon(self._follow, lead, draft)
        return draft

    async def _read_whole(self, draft: DraftMessage) -> None:
        try:
            live = await self._reader.live(draft.session)
        except BusError:
            return  # the next piece shows the gap again
        with suppress(msgspec.DecodeError):
            if live is not None:
                draft.hear(_decode_live(live), anyio.current_time())

    # What is delivered

    async def make_way(self, reply: Reply) -> bool:
        """Wait until no preview of ``reply`` is shown any more, or delete one that would stay above it, if possible.

        Whether it was this process that showed it, so that nothing else was sent below it since.
        """
        draft = self._drafts.get(reply.session)
        if reply.id == f"{reply.session}#{reply.turn}":
            self._note_dealt_with(reply)
        if draft is None:
            return False
        if reply.id == draft.reply:
            draft.closed = True
            async with draft.lock:
                self._close(draft)
            return bool(draft.platform_id)
        draft.yielding_to = reply.id
        async with draft.lock:
            # What is found from now on stands above the reply.
            draft.hidden = draft.hidden or draft.doubtful
            lead = self._leads.get(self._bus.keys.partition(draft.session))
            if draft.platform_id and lead is not None:
                try:
                    await self._take_away(lead, draft)
                except ChannelError as error:
                    _log.info("preview.left", session=draft.session, reason=brief(error))
        return False

    def delivered(self, reply: Reply) -> None:
        """It is in the chat, or never will be: a text may be shown again."""
        draft = self._drafts.get(reply.session)
        if draft is not None and draft.yielding_to == reply.id:
            draft.yielding_to = ""
            draft.tell()

    def _note_dealt_with(self, reply: Reply) -> None:
        if len(self._dealt_with) >= DEALT_WITH_MAX:
            self._dealt_with.clear()
        self._dealt_with[reply.session] = reply.turn

    # What is shown

    async def _follow(self, lead: DisplayLeader, draft: DraftMessage) -> None:
        try:
            while not draft.closed:
                changed = draft.changed
                act, at = next_act(draft, self._text(draft), anyio.current_time())
                if act is not DraftAction.WAIT and at <= anyio.current_time():
                    await self._attempt(lead, draft, act)
                else:
                    with anyio.move_on_after(max(0.0, at - anyio.current_time())):
                        await changed.wait()
        finally:
            self._close(draft)

    def _text(self, draft: DraftMessage) -> str:
        longest = self._channel.limits.part_max
        return beginning(draft.text.rstrip(), longest, self._channel.length)

    async def _attempt(self, lead: DisplayLeader, draft: DraftMessage, act: DraftAction) -> None:
        async with draft.lock:
            if draft.closed or (draft.yielding_to and act is not DraftAction.FORGET):
                return
            try:
                await self._do(lead, draft, act)
            except SendRefused as error:
                self._rest(draft, REFUSED_S if error.retry_after_s is None else error.retry_after_s)
                if error.retry_after_s:
                    # The reply to the chat would be refused too, and might make the pause longer.
                    self._pace.rest(draft.session, min(error.retry_after_s, CHAT_REST_MAX_S))
            except ChannelError as error:
                self._rest(draft, REFUSED_S)
                _log.info("preview.failed", session=draft.session, reason=brief(error))
            except BusError as error:
                self._rest(draft, REFUSED_S)
                _log.debug("preview.away", session=draft.session, reason=brief(error))
            except Exception as error:  # noqa: BLE001 - a bug in what is only shown must not end what is sent
                draft.hidden = True
                _log.exception("preview.failed", session=draft.session, reason=type(error).__name__)

    def _rest(self, draft: DraftMessage, seconds: float) -> None:
        draft.not_before = anyio.current_time() + seconds

    async def _do(self, lead: DisplayLeader, draft: DraftMessage, act: DraftAction) -> None:
        if act is DraftAction.REMOVE and lead.holds(draft.session):
            draft.ended_at = anyio.current_time()  # a reply is on its way
        elif act is DraftAction.REMOVE:
            await self._clear(lead, draft)
        elif act is DraftAction.FORGET:
            self._close(draft)
        elif lead.lease.left_s < self._timeout_s or (act is DraftAction.BEGIN and lead.holds(draft.session)):
            # What is said first stands above: a successor does not know what came between.
            self._rest(draft, NO_ROOM_S)
        elif act is DraftAction.LOOK:
            await self._look(lead, draft)
        elif not await self._has_room(draft, act):
            self._rest(draft, NO_ROOM_S)
        elif act is DraftAction.BEGIN:
            await self._begin(lead, draft)
        else:
            await self._edit(lead, draft)

    async def _has_room(self, draft: DraftMessage, act: DraftAction) -> bool:
        purpose: Purpose = "begin" if act is DraftAction.BEGIN else "edit"
        return await self._pace.take_spare(self._channel.rates(_chat(draft), purpose))

    async def _begin(self, lead: DisplayLeader, draft: DraftMessage) -> None:
        mark = f"{lead.lease.nonce}-preview{next(self._marks)}"
        asked = await about_to_be_answered(self._bus, draft.session)
        if asked is not None and asked.chat_kind == "group":
            draft.every_s, draft.reply_to = self._channel.limits.group_edit_every_s, asked.id
        draft.asked_by = asked.sender_id if asked is not None else ""
        draft.number += 1
        # Under the same mark until it is known: another would find this one, and nobody who knows of its message.
        begun = await self._surely(partial(self._book.begin, lead, draft, mark))
        if begun.platform_id or begun.look:
            draft.platform_id, draft.doubtful = begun.platform_id, begun.look
            return
        text = self._text(draft)
        if not begun.send:
            draft.hidden = True
        elif draft.closed or lead.lease.left_s < self._timeout_s:
            # It was not sent: that has to be known.
            await self._surely(partial(self._book.gone, lead, draft, mark=mark))
        else:
            await self._send(lead, draft, mark, text)

    async def _send(self, lead: DisplayLeader, draft: DraftMessage, mark: str, text: str) -> None:
        platform_id = ""
        try:
            with anyio.move_on_after(self._timeout_s):
                part = _part(draft, mark, text)
                platform_id = await self._channel.send(_chat(draft), part, timeout_s=self._timeout_s)
        except (SendRefused, SendRejected) as error:
            draft.hidden = isinstance(error, SendRejected)
            await self._surely(partial(self._book.gone, lead, draft, mark=mark))
            raise
        except ChannelError as error:
            _log.info("preview.unknown", session=draft.session, reason=brief(error))
        if not platform_id and self._looks:
            # The mark stays: whoever shows the text, or delivers the reply, looks for it.
            draft.doubtful = True
            self._rest(draft, REFUSED_S)
            return
        if not platform_id:
            # There is no id to edit it by, or to take it away: it stays as it is, if it is there.
            draft.hidden = True
            await self._surely(partial(self._book.unknown, lead, draft, mark))
            return
        noted = await self._surely(partial(self._book.shown, lead, draft, mark, platform_id))
        draft.platform_id, draft.shown = platform_id, text
        self._rest(draft, draft.every_s)
        if not noted:
            await self._remove(draft)
            draft.platform_id, draft.hidden = "", True

    async def _look(self, lead: DisplayLeader, draft: DraftMessage) -> None:
        """Look for the message that may be there. Nothing is shown when it is not: it may come yet, beside another."""
        part = _part(draft, "", self._text(draft))
        platform_id = await found(self._channel, _chat(draft), part, timeout_s=self._timeout_s)
        draft.hidden = True
        if platform_id is None:
            draft.doubtful = False  # whoever delivers the reply lists it
        elif platform_id:
            draft.doubtful = False
            if await self._surely(partial(self._book.found, lead, draft, platform_id)):
                draft.platform_id, draft.hidden = platform_id, False

    async def _clear(self, lead: DisplayLeader, draft: DraftMessage) -> None:
        """Leave nothing behind of a turn that has ended without a reply."""
        if draft.doubtful:
            await self._look(lead, draft)
        if draft.platform_id:
            await self._take_away(lead, draft)
        elif draft.doubtful:
            await self._surely(partial(self._book.missing, lead, draft))
            draft.doubtful = False

    async def _edit(self, lead: DisplayLeader, draft: DraftMessage) -> None:
        text, done = self._text(draft), False
        part = _part(draft, f"{lead.lease.nonce}-preview{next(self._marks)}", text)
        try:
            with anyio.move_on_after(self._timeout_s):
                await self._channel.edit(_chat(draft), draft.platform_id, part, timeout_s=self._timeout_s)
                done = True
        except SendRefused:
            raise
        except ChannelError as error:
            # Somebody has deleted it, or nobody knows: an edit that arrives late must not undo the last one.
            _log.info("preview.lost", session=draft.session, reason=brief(error))
        if done:
            draft.shown = text
            self._rest(draft, draft.every_s)
            return
        draft.hidden = True
        await self._take_away(lead, draft)

    async def _take_away(self, lead: DisplayLeader, draft: DraftMessage) -> None:
        await self._remove(draft)
        await self._surely(partial(self._book.gone, lead, draft))
        draft.platform_id = draft.shown = ""
        self._rest(draft, draft.every_s)

    async def _remove(self, draft: DraftMessage) -> None:
        done = False
        try:
            with anyio.move_on_after(self._timeout_s):
                await self._channel.remove(_chat(draft), draft.platform_id, timeout_s=self._timeout_s)
                done = True
        except SendRejected as error:
            _log.info("preview.left", session=draft.session, reason=brief(error))
            done = True
        if not done:
            raise SendRefused(f"the platform did not respond within {self._timeout_s:g} s")

    async def _surely(self, note: Callable[[], Awaitable[_T]]) -> _T:
        """Write the mark, despite outages of Redis; the delivery of the reply waits for it as for its own marks."""
        while True:
            try:
                return await note()
            except BusUnavailable:
                await anyio.sleep(RETRY_S)

    def _close(self, draft: DraftMessage) -> None:
        draft.closed = True
        draft.tell()
        if self._drafts.get(draft.session) is draft:
            del self._drafts[draft.session]


def _chat(draft: DraftMessage) -> SessionKey:
    return SessionKey.parse(draft.session)


def _part(draft: DraftMessage, mark: str, text: str) -> Part:
    return Part(
        reply=draft.reply,
        number=0,
        text=text,
        attempt=mark,
        reply_to=draft.reply_to,
        preview=True,
        asked_by=draft.asked_by,
    )
