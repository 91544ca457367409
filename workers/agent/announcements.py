"""Notices while messages wait for a model. Administrators learn the cause; all users learn that the messages wait.

The terminal, the page and administrators get the exact sentence of a set-up fault. Other people are told that the bot
is not set up correctly, and its administrators get the sentence in their own chats, once an hour.
"""

import math
import random
from collections import deque
from contextlib import suppress

import anyio
import msgspec
import structlog

from daemon import metrics
from daemon.access import Pauses, is_admin
from daemon.clock import stamp
from daemon.config import BotConfig
from daemon.errors import UNREADABLE, BusError, ConfigError, brief
from daemon.events import Inbound, Notice, Reply
from daemon.model import FailingModel
from daemon.process import Process
from daemon.session import Claim, SessionNotice, Sessions, StillParked, tell
from daemon.wording import text as say
from daemon.wording.durations import duration
from workers.admin_messages import tell_administrators
from workers.agent.commands.command_outcome import answered_as
from workers.lease_upkeep import ClaimHold

# Chats in which a bot is paused. Their messages are delayed, and their users are notified once.

LOOK_S = 10.0
"""How often a session that rests is looked at, should nobody wake it when its bot goes on."""

_log = structlog.get_logger()


class ChatPause:
    """Puts claims off while their bot rests."""

    def __init__(self, process: Process, sessions: Sessions, pauses: Pauses) -> None:
        self._process = process
        self._sessions = sessions
        self._pauses = pauses

    async def puts_off(self, hold: ClaimHold) -> bool:
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

    def _word(self, claim: Claim, first: Inbound, pause: str) -> SessionNotice | None:
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
        return SessionNotice(notice=notice, reply=reply, out_channel=first.channel, once=pause)


HOUR_S = 3_600
"""A set-up fault is told once in so long in each chat."""
PENDING_MAX = 100
"""Chats whose people are to be told how many messages wait; more at once are not told."""

_decode = msgspec.json.Decoder(Inbound).decode


class Announcements:
    """Of one process."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._bus, self._queue = process.bus, process.config.queue
        self._pending: deque[StillParked] = deque(maxlen=PENDING_MAX)
        self._came = anyio.Event()

    def parked(self, bot: BotConfig, inbound: Inbound, failing: FailingModel) -> str:
        """What is said in the chat of a message that is parked."""
        if failing.kind == "outage":
            return say("parked", bot.language)
        if inbound.delivery == "pull" or is_admin(bot, inbound):
            return say("setup_fault", bot.language, reason=failing.reason)
        return say("setup_fault_others", bot.language)

    def once(self, failing: FailingModel) -> str:
        """The name under which a chat is told again: none of an outage, one an hour of a set-up fault."""
        if failing.kind == "outage":
            return ""
        return f"setup-{math.floor(self._process.clock.now().timestamp() / HOUR_S)}"

    async def tell_admins(self, name: str, bot: BotConfig, failing: FailingModel | None) -> None:
        """Tell the administrators on push channels of a failure, when nobody has within the hour."""
        if failing is None or not failing.tell_admins:
            return
        with suppress(BusError):
            key = "refusals_told" if failing.kind == "refused" else "setup_fault_told"
            text = say(key, bot.language, bot=name, reason=failing.reason)
            await tell_administrators(self._bus, self._process.config, self._process.clock, bot, text)

    def still_parked(self, session: StillParked) -> None:
        """Have the people of a parked session told how many messages wait; ``run`` does it."""
        if session.reason.startswith("damage:"):
            _log.error("session.damaged", session=session.session, reason=session.reason)
        self._pending.append(session)
        self._came.set()

    async def run(self) -> None:
        """Tell them, for ever."""
        while True:
            await self._came.wait()
            self._came = anyio.Event()
            while self._pending:
                await self._tell_count(self._pending.popleft())

    async def _tell_count(self, session: StillParked) -> None:
        try:
            inbound = _decode(session.newest)
            bot = self._process.bot(inbound.bot)
            await tell(self._bus, self._queue, session.session, self._count(session, inbound, bot))
        except UNREADABLE as error:
            _log.warning("notice.unreadable", session=session.session, reason=type(error).__name__)
        except (BusError, ConfigError) as error:
            _log.warning("notice.failed", session=session.session, reason=brief(error))

    def _count(self, session: StillParked, inbound: Inbound, bot: BotConfig) -> SessionNotice:
        kind, _, _ = session.reason.partition(":")
        text = say(
            {"setup": "still_setup_fault", "damage": "damaged"}.get(kind, "still_parked"),
            bot.language,
            count=session.count,
            time=duration(session.parked_s, bot.language),
        )
        notice = Notice(kind="parked", text=text, time=self._now(), message_id=inbound.id)
        reply = None
        if inbound.delivery == "push":
            reply = Reply(
                id=f"{session.session}#queued-{inbound.id}",
                session=session.session,
                turn=0,
                text=text,
                correlation=inbound.correlation,
                reply_to=answered_as(inbound),
            )
        return SessionNotice(notice=notice, reply=reply, out_channel=inbound.channel)

    def _now(self) -> str:
        return stamp(self._process.clock.now())
