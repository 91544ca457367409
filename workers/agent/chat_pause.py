"""Chats in which a bot is paused. Their messages are delayed, and their users are notified once."""

import random

import structlog

from daemon import metrics
from daemon.access import Pauses
from daemon.clock import stamp
from daemon.errors import ConfigError
from daemon.events import Inbound, Notice, Reply
from daemon.process import Process
from daemon.session import Claim, Sessions, Word
from daemon.wording import text as say
from workers.claim_hold import Hold

LOOK_S = 10.0
"""How often a session that rests is looked at, should nobody wake it when its bot goes on."""

_log = structlog.get_logger()


class Resting:
    """Puts claims off while their bot rests."""

    def __init__(self, process: Process, sessions: Sessions, pauses: Pauses) -> None:
        self._process = process
        self._sessions = sessions
        self._pauses = pauses

    async def puts_off(self, hold: Hold) -> bool:
        """Whether a claim was given back since its bot rests; what has begun goes on, and a stop is obeyed.

        Raises:
            BusUnavailable: Redis is away.
        """
        claim = hold.claim
        first = next((entry.inbound for entry in claim.begun.waiting if entry.inbound is not None), None)
        if first is None or claim.begun.step or hold.stop_upto or claim.begun.stop_upto:
            return False
        pause = await self._pauses.of(first.bot, first.session)
        if not pause:
            return False
        metrics.TURNS.labels("paused").inc()
        # All that rest come back one after the other.
        delay_s = min(LOOK_S, self._process.config.queue.backoff_max_s) * random.uniform(0.8, 1.0)
        await self._sessions.put_off(claim, delay_s=delay_s, word=self._word(claim, first, pause))
        _log.info("turn.paused", waited_s=round(delay_s, 1))
        return True

    def _word(self, claim: Claim, first: Inbound, pause: str) -> Word | None:
        try:
            text = say("paused", self._process.bot(first.bot).language)
        except ConfigError:
            return None
        notice = Notice(kind="parked", text=text, time=stamp(self._process.clock.now()), message_id=first.id)
        reply = None
        if first.delivery == "push":
            reply = Reply(
                id=f"{claim.session}#paused-{claim.begun.claims}",
                session=claim.session,
                turn=claim.begun.head,
                text=text,
                correlation=first.correlation,
            )
        return Word(notice=notice, reply=reply, out_channel=first.channel, once=pause)
