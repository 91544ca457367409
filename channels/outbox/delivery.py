"""Delivering one reply: part by part, each marked before it is sent and with the platform's id after."""

import itertools
from dataclasses import dataclass, field
from functools import cache, lru_cache

import anyio
import structlog

from channels.base import Channel, Part
from channels.leading import Lease
from channels.outbox.ledger import Ledger, Place, Step, Word
from channels.outbox.parts import split
from daemon import metrics
from daemon.errors import SendRefused, SendRejected, SendUnknown
from daemon.events import Reply
from daemon.sessionkey import SessionKey

CHATS_KEPT = 10_000
"""Chats whose names are kept read."""

_log = structlog.get_logger()
_parse = lru_cache(CHATS_KEPT)(SessionKey.parse)
_counter = cache(metrics.DELIVERIES.labels)


@dataclass(kw_only=True)
class Delivery:
    """Sends replies in the name of one leader."""

    channel: Channel
    ledger: Ledger
    lease: Lease
    timeout_s: float
    """How long sending one part may take."""
    stopping: anyio.Event
    """Once it is set no part is begun."""
    _marks: "itertools.count[int]" = field(default_factory=itertools.count)

    async def deliver(self, stream_id: bytes, reply: Reply) -> bool:
        """Send what is not sent yet; False when there was no time for all of it.

        Raises:
            SendRefused, SendUnknown: the rest is to be delivered later.
            BusUnavailable: as these.
            LeaseLost: somebody else sends now.
        """
        chat, texts = _parse(reply.session), self._texts(reply.text)
        for number, text in enumerate(texts):
            place = Place(stream_id=stream_id, reply=reply, part=number, last=number + 1 == len(texts))
            try:
                if not await self._part(chat, place, text):
                    return False
            except SendRejected as error:
                await self.bury(stream_id, reply, reason=f"rejected: {error}", attempts=1)
                return True
        if not texts:
            await self.bury(stream_id, reply, reason="", attempts=0)
        _log.info("reply.delivered", session=reply.session, turn=reply.turn, correlation=reply.correlation)
        return True

    async def bury(self, stream_id: bytes, reply: Reply | None, *, reason: str, attempts: int) -> None:
        """Take a reply out of ``out`` that will not be delivered; errors as for ``deliver``."""
        if reason:
            session, correlation = (reply.session, reply.correlation) if reply else ("", "")
            _log.warning("reply.dead", session=session, correlation=correlation, reason=reason)
        await self.ledger.bury(stream_id, reply, reason=reason, attempts=attempts)

    async def _part(self, chat: SessionKey, place: Place, text: str) -> bool:
        attempt = 0
        while True:
            await self.lease.outlasting(self.timeout_s)
            if self.stopping.is_set():
                return False
            step = Step(place=place, attempt=attempt + 1, mark=f"{self.lease.nonce}-{next(self._marks)}")
            word = await self.ledger.sending(step)
            if isinstance(word, Word):
                break
            attempt = word
        if word is Word.SEND_AGAIN:
            self._note(step, "resent")
        elif word is Word.GIVEN_UP:
            self._note(step, "given_up")
        if word is Word.SEND or word is Word.SEND_AGAIN:
            await self._send(chat, step, text)
        return True

    async def _send(self, chat: SessionKey, step: Step, text: str) -> None:
        # Nothing may come between this look at the clock and the send: whoever stalls here has lost the lease after.
        await self.lease.outlasting(self.timeout_s)
        place = step.place
        attachments = place.reply.attachments if place.last else ()
        part = Part(reply=place.reply.id, number=place.part, text=text, attempt=step.mark, attachments=attachments)
        platform_id: str | None = None
        try:
            with anyio.move_on_after(self.timeout_s):
                platform_id = await self.channel.send(chat, part, timeout_s=self.timeout_s)
            if platform_id is None:
                raise SendUnknown(f"no answer within {self.timeout_s:g} s")
        except (SendRefused, SendRejected) as error:
            self.ledger.note(step, "refused")
            self._count(_outcome(error))
            raise
        except SendUnknown:
            # The mark stays: whoever goes on here finds it and knows that nobody knows.
            self._count("unknown")
            raise
        self.ledger.note(step, "sent", platform_id)
        self._count("sent")

    def _texts(self, text: str) -> list[str]:
        longest = self.channel.limits.part_max
        if self.channel.length(text) <= longest:
            return [text] if text.strip() else []
        return split(text, longest)

    def _count(self, outcome: str) -> None:
        _counter(self.channel.name, outcome).inc()

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


def _outcome(error: SendRefused | SendRejected) -> str:
    return "refused" if isinstance(error, SendRefused) else "rejected"
