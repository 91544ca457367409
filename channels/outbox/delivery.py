"""Delivering one reply: part by part, each marked before it is sent and with the platform's id after.

A part whose beginning is shown already is not sent: that message is edited, which may be repeated. Where nobody knows
whether something has arrived, and the platform can be asked, it is looked for before anything is sent again.
"""

import itertools
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache

import msgspec
import structlog

from channels.base import Channel, Finds, Part, found
from channels.leader_election import Lease
from channels.live_display import LiveDisplay
from channels.outbox.delivery_state import Asking, DeliveryState, NextStep, Place, Shown, Step, UnknownAttempt
from channels.outbox.reply_parts import PartContent, ReplyParts
from channels.posted_messages import PostedMessages
from channels.send_rate import TokenBucket
from daemon import metrics
from daemon.concurrency import SharedTimeout
from daemon.errors import Paced, SendRefused, SendRejected, SendUnknown, brief
from daemon.events import Reply
from daemon.sessionkey import SessionKey
from daemon.traces import Span

CHATS_KEPT = 10_000
"""Chats of which it is known that something was sent to them."""

PARSED_KEPT = 1_000
"""Chats whose names are kept read."""

BEGUN_MAX = 10_000
"""Replies whose number of finished parts is remembered; for others it is read again."""

_log = structlog.get_logger()
_parse = lru_cache(PARSED_KEPT)(SessionKey.parse)
_counter = cache(metrics.DELIVERIES.labels)


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """The means of sending that all leaders of a channel instance in a process share."""

    channel: Channel
    contents: ReplyParts
    pace: TokenBucket
    showing: LiveDisplay
    limit: SharedTimeout
    """Of sending one part."""
    posted: PostedMessages
    hears_reactions: bool

    async def note_posted(self, reply: Reply, platform_id: str) -> None:
        """Remember a message that was sent, if people may react to it or press its buttons."""
        if self.hears_reactions or reply.choices:
            await self.posted.note(reply, platform_id)


@dataclass(kw_only=True)
class Delivery:
    """Sends replies for one leader."""

    means: Means
    ledger: DeliveryState
    lease: Lease
    """Once it is ending no part is begun."""
    _begun: dict[str, int] = field(default_factory=dict[str, int])
    """The number of finished parts of interrupted replies."""
    _last: set[str] = field(default_factory=set[str])
    """Replies whose text is shown below everything else in their chats."""
    _told: set[str] = field(default_factory=set[str])
    """Sessions that something was sent to in this leader's name."""
    _marks: "itertools.count[int]" = field(default_factory=itertools.count)
    _asking: Asking = field(default="sending", init=False)
    """The first way to ask about a part."""

    def __post_init__(self) -> None:
        # Once: to look at what a channel can do takes a fiftieth of all that a message costs.
        if isinstance(self.means.channel, Finds):
            self._asking = "asking"

    async def deliver(self, stream_id: bytes, reply: Reply) -> bool:
        """Send the parts that are not sent yet; False if the time ran out.

        Raises:
            SendRefused, SendUnknown: the rest is to be delivered later.
            Paced: as these, and nothing failed.
            BusUnavailable: as these.
            LeaseLost: somebody else sends now.
        """
        means, chat = self.means, _parse(reply.session)
        contents = means.contents.at_once(reply) or await means.contents.of(reply)
        # A reply without anything to send takes no text over: that is taken away as of a turn without a reply.
        if contents and means.showing.streams and await means.showing.make_way(reply):
            self._last.add(reply.id)
        for number in range(self._begun.get(reply.id, 0), len(contents)):
            place = Place(stream_id=stream_id, reply=reply, part=number, last=number + 1 == len(contents))
            try:
                if not await self._part(chat, place, contents[number]):
                    return False
            except SendRejected as error:
                _log.warning("reply.rejected", session=reply.session, reason=brief(error))
                if contents[number].attachments and contents[number].text:
                    # It may be the file alone that the platform refuses.
                    with suppress(SendRejected):
                        if not await self._part(chat, place, PartContent(text=contents[number].text)):
                            return False
                await self.bury(stream_id, reply, reason=f"rejected: {error}", attempts=1)
                return True
            if not place.last:
                self._note_begun(reply, number + 1)
        if not contents:
            await self.bury(stream_id, reply, reason="", attempts=0)
        self._over(reply)
        _log.info("reply.delivered", session=reply.session, turn=reply.turn, correlation=reply.correlation)
        return True

    async def bury(self, stream_id: bytes, reply: Reply | None, *, reason: str, attempts: int) -> None:
        """Take a reply out of ``out`` that will not be delivered; errors as for ``deliver``."""
        if reason:
            session, correlation = (reply.session, reply.correlation) if reply else ("", "")
            # Behind the colon are words of the platform.
            kind = reason.partition(":")[0]
            _log.warning("reply.dead", session=session, correlation=correlation, reason=kind)
        await self.ledger.bury(stream_id, reply, reason=reason, attempts=attempts)
        if reply is not None:
            self._over(reply)

    def _over(self, reply: Reply) -> None:
        self._begun.pop(reply.id, None)
        self._last.discard(reply.id)
        if len(self._told) >= CHATS_KEPT:
            self._told.clear()
        self._told.add(reply.session)
        self.means.showing.delivered(reply)

    def _note_begun(self, reply: Reply, count: int) -> None:
        if len(self._begun) >= BEGUN_MAX:
            self._begun.clear()
        self._begun[reply.id] = count

    async def _part(self, chat: SessionKey, place: Place, content: PartContent) -> bool:
        if rates := self.means.channel.rates(chat):
            wait_s = await self.means.pace.take(place.reply.session, rates)
            if wait_s:
                raise Paced(wait_s=wait_s)
        asking = self._asking
        while True:
            step, word = await self._marked(place, asking)
            if step is None:
                return False
            if isinstance(word, UnknownAttempt):
                if (ask_on := await self._look(chat, step, content, word)) is None:
                    return True
                asking = ask_on
            elif not isinstance(word, Shown):
                break
            elif await self._edit(chat, step, content, word.platform_id):
                return True
        if word is NextStep.SEND_AGAIN:
            self._note(step, "resent")
        elif word is NextStep.GIVEN_UP:
            self._note(step, "given_up")
        if word is NextStep.SEND or word is NextStep.SEND_AGAIN:
            await self._send(chat, step, content)
        return True

    async def _marked(self, place: Place, asking: Asking) -> tuple[Step | None, NextStep | Shown | UnknownAttempt]:
        """The step and the attempt for a part; no attempt if the time ran out."""
        attempt, seconds = 0, self.means.limit.seconds
        while True:
            if not self.lease.outlasts(seconds):
                await self.lease.outlasting(seconds)
            if self.lease.ending.is_set():
                return None, NextStep.OVER
            step = Step(place=place, attempt=attempt + 1, mark=f"{self.lease.nonce}-{next(self._marks)}")
            word = await self.ledger.sending(step, asking)
            if not isinstance(word, int):
                return step, word
            attempt = word

    async def _look(self, chat: SessionKey, step: Step, content: PartContent, doubt: UnknownAttempt) -> Asking | None:
        """Look for a part on the platform; returns how to continue, or None if found. Errors as for ``deliver``."""
        await self.lease.outlasting(self.means.limit.seconds)
        part = _part_of(step, content, preview=doubt.preview)
        platform_id = await found(self.means.channel, chat, part, timeout_s=self.means.limit.seconds)
        if platform_id is None:
            return "sending"
        if doubt.preview:
            self.ledger.note(doubt.of(step), "seen" if platform_id else "unseen", platform_id)
            return "asking"
        if not platform_id:
            return "looked"
        self.ledger.note(doubt.of(step), "found", platform_id)
        await self.means.note_posted(step.place.reply, platform_id)
        self._note(step, "found")
        return None

    async def _send(self, chat: SessionKey, step: Step, content: PartContent) -> None:
        limit, part = self.means.limit, _part_of(step, content)
        platform_id: str | None = None
        # Nothing may come between this look at the clock and the send: whoever stalls here has lost the lease after.
        if not self.lease.outlasts(limit.seconds):
            await self.lease.outlasting(limit.seconds)
        began = _Began()
        try:
            with limit():
                platform_id = await self.means.channel.send(chat, part, timeout_s=limit.seconds)
            if platform_id is None:
                raise SendUnknown(f"the platform did not respond within {limit.seconds:g} s")
        except (SendRefused, SendRejected) as error:
            outcome = _outcome(error)
            self.ledger.note(step, "refused", span=self._span(step, began, outcome))
            self._count(outcome)
            raise
        except SendUnknown:
            # The mark stays: whoever goes on here finds it and knows that nobody knows.
            self._count("unknown")
            raise
        self.ledger.note(step, "sent", platform_id, self._span(step, began, "done"))
        self._count("sent")
        await self.means.note_posted(step.place.reply, platform_id)

    async def _edit(self, chat: SessionKey, step: Step, content: PartContent, platform_id: str) -> bool:
        """Have the preview say the part; False when it has to be sent after all. Errors as for ``_send``."""
        reply = step.place.reply
        # A predecessor may have shown it before something else was sent: a reply's parts stand one below the other.
        in_order = reply.id in self._last or reply.session not in self._told
        is_text, began = not (content.document or content.attachments), _Began()
        if not (in_order and is_text and await self._edited(chat, step, content, platform_id)):
            await self._take_back(chat, platform_id)
            self.ledger.note(step, "dropped", platform_id)
            return False
        self.ledger.note(step, "edited", platform_id, self._span(step, began, "done"))
        self._count("sent")
        await self.means.note_posted(reply, platform_id)
        return True

    async def _edited(self, chat: SessionKey, step: Step, content: PartContent, platform_id: str) -> bool:
        await self.lease.outlasting(self.means.limit.seconds)
        done = False
        try:
            with self.means.limit():
                await self.means.channel.edit(
                    chat, platform_id, _part_of(step, content), timeout_s=self.means.limit.seconds
                )
                done = True
            if not done:
                raise SendUnknown(
                    f"the platform did not respond to an edit request within {self.means.limit.seconds:g} s"
                )
        except SendRejected as error:
            # Somebody has deleted it, or the platform edits no message that is so old.
            _log.info("preview.lost", session=step.place.reply.session, reason=brief(error))
            return False
        except SendRefused:
            self._count("refused")
            raise
        return True

    async def _take_back(self, chat: SessionKey, platform_id: str) -> None:
        """Remove a preview that cannot become the part, if possible.

        Raises:
            SendRefused: not now; once it counts as dropped nobody would try again.
        """
        await self.lease.outlasting(self.means.limit.seconds)
        # To take away what is gone is no error: what nobody knows is asked for again.
        reason = f"the platform did not respond within {self.means.limit.seconds:g} s"
        try:
            with self.means.limit():
                await self.means.channel.remove(chat, platform_id, timeout_s=self.means.limit.seconds)
                return
        except SendRejected as error:
            _log.info("preview.left", session=str(chat), reason=brief(error))
            return
        except SendUnknown as error:
            reason = str(error)
        raise SendRefused(f"the preview message cannot be deleted yet: {reason}")

    def _span(self, step: Step, began: "_Began", outcome: str) -> Span:
        return Span(
            kind="delivery",
            name=self.means.channel.name,
            began_ms=began.at_ms,
            took_ms=round((time.monotonic() - began.monotonic) * 1000, 1),
            part=step.place.part,
            outcome=outcome,
        )

    def _count(self, outcome: str) -> None:
        _counter(self.means.channel.name, outcome).inc()

    def _note(self, step: Step, outcome: str) -> None:
        self._count(outcome)
        reply = step.place.reply
        _log.warning(
            "part.unknown",
            session=reply.session,
            turn=reply.turn,
            correlation=reply.correlation,
            attempt=step.attempt - 1,
            status=outcome,
        )


class _Began:
    """When something began."""

    __slots__ = ("at_ms", "monotonic")

    def __init__(self) -> None:
        self.at_ms = round(time.time() * 1000)
        self.monotonic = time.monotonic()


def _outcome(error: SendRefused | SendRejected) -> str:
    return "refused" if isinstance(error, SendRefused) else "rejected"


def _part_of(step: Step, content: PartContent, *, preview: bool = False) -> Part:
    place = step.place
    return Part(
        reply=place.reply.id,
        number=place.part,
        text=content.text,
        document=content.document,
        attempt=step.mark,
        attachments=content.attachments,
        choices=place.reply.choices if place.last else (),
        reply_to=place.reply.reply_to if place.part == 0 else "",
        preview=preview,
    )
