"""The endings of a turn: answered, stopped, given up or delayed. Each ending is one commit, or releases the session."""

import math
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, TypeVar

import anyio
import msgspec
import structlog
from msgspec.structs import replace

from daemon import metrics
from daemon.clock import age_s, stamp
from daemon.errors import BusUnavailable, ConfigError, ContextOverflow, ModelRefused, brief
from daemon.events import Inbound, LogEntry
from daemon.model import LASTS_S, Answer, FailingModel
from daemon.process import Process
from daemon.session import NO_CHANGE, Change, Claim, Commit, PendingMessage, SessionNotice, Sessions
from daemon.usage import BucketLevel, Refusal
from daemon.wording import Language
from daemon.wording import text as say
from workers.agent.announcements import Announcements
from workers.agent.commands.command_outcome import Outcome, is_silent, is_stopped
from workers.agent.commands.session_commands import SessionCommands, before_command, queued
from workers.agent.log_entries import open_calls
from workers.agent.model_calls import REFUSED_ATTEMPTS
from workers.agent.prompt.history_loader import HistoryCache
from workers.agent.turn_progress import Turn, inbounds
from workers.agent.turn_replies import change_of, ids_of, reply_of, word_of
from workers.model_health import noted
from workers.session_consumer import after_attempts
from workers.tools import failure

WRITE_TIMEOUT_S = 30.0
"""How long a finished step is offered to Redis, through an outage; then it is done again by whoever claims next."""

SPREAD_S = 3.0
"""Sessions that wait for the same room come back spread over so long."""

_log = structlog.get_logger()
_T = TypeVar("_T")
GoOn = Callable[[], bool]


async def insist(write: Callable[[], Awaitable[_T]]) -> _T:
    """The result of ``write``, tried again while Redis is away; every script of a session may be repeated.

    What is written exists from here on: a shutdown may delay it, never split it.

    Raises:
        BusUnavailable: still away after ``WRITE_TIMEOUT_S``; whether it was carried out is unknown.
    """
    try:
        return await write()
    except BusUnavailable as error:
        _log.warning("write.delayed", reason=brief(error))
    except anyio.get_cancelled_exc_class():
        # Whether it was written is unknown here, too. Not shielded from the beginning: that would cost each turn 3 µs.
        # The cancellation comes again at the next wait that is not shielded.
        pass
    written: list[_T] = []
    until = anyio.current_time() + WRITE_TIMEOUT_S
    with anyio.CancelScope(shield=True):
        while not written:
            try:
                written.append(await write())
            except BusUnavailable as error:
                if anyio.current_time() > until:
                    raise
                _log.warning("write.delayed", reason=brief(error))
    return written[0]


class _End(msgspec.Struct, frozen=True):
    """How a turn ends."""

    outcome: str
    text: str
    """What a push channel is sent; empty: nothing."""
    dead_reason: str = ""
    change: Change = NO_CHANGE


class TurnEndings:
    """Ends turns and gives sessions back."""

    def __init__(
        self,
        process: Process,
        sessions: Sessions,
        commands: SessionCommands,
        announcements: Announcements,
        histories: HistoryCache,
    ) -> None:
        self._process = process
        self._histories = histories
        self._announcements = announcements
        self._queue = process.config.queue
        self._sessions = sessions
        self._commands = commands

    async def done(self, turn: Turn, answer: Answer, *, go_on: GoOn) -> Claim | None:
        """The model answered, or a reminder's text is sent."""
        text = "" if is_silent(turn.first, answer.text) else answer.text
        last = await turn.entries.final(answer.text, answers=ids_of(turn.covered), own=answer.own)
        last = msgspec.structs.replace(last, silent=text != answer.text, speech=turn.speech)
        return await self._commit(turn, [last], _End("done", text), go_on=go_on)

    async def stopped(self, turn: Turn, upto: str, *, go_on: GoOn) -> Claim | None:
        """A person stopped it: what was finished and said stays, and all that waited before counts as answered.

        But for commands that change the session, which a stop does not take back: they are carried out with it.
        """
        known = set(ids_of(turn.covered))
        entries = await self._sessions.waiting_upto(turn.claim.session, upto)
        waiting = [entry for entry in entries if entry.inbound is not None and is_stopped(entry.inbound, known)]
        added = [await self._cut_off(turn, call.id) for call in open_calls(turn.progress.entries)]
        for entry in waiting:
            if entry.inbound is not None and not entry.inbound.command and entry.inbound.id not in known:
                added += await turn.entries.said(entry.inbound)
        turn.covered = tuple(waiting)
        mark = say("stopped", turn.kit.language)
        text = f"{turn.live.text.rstrip()}\n\n{mark}".lstrip()
        found = queued(waiting)
        outcomes = [await self._commands.outcome_at_once(turn.claim, *command) for command in found]
        commands = [command for command, _ in found]
        answered = {command.id for command in commands}
        answers = [message_id for message_id in ids_of(waiting) if message_id not in answered]
        last = await turn.entries.final(text, answers=answers, stopped=True)
        said = zip(commands, outcomes, strict=True)
        words = [self._word(turn.claim, command, outcome.text, outcome=outcome) for command, outcome in said]
        # A push channel is sent one reply for the turn; viewers of others see each notice by itself.
        sent = "\n\n".join((text, *(outcome.text for outcome in outcomes)))
        change = change_of(words, outcomes)
        return await self._commit(turn, [*added, last], _End("stopped", sent, change=change), go_on=go_on)

    async def carried_out(self, claim: Claim, command: Inbound, outcome: Outcome, *, go_on: GoOn) -> Claim | None:
        """The turn of a command that changes the session has come."""
        covered = [entry for entry in claim.begun.waiting if entry.inbound is command]
        words = [self._word(claim, command, outcome.text, outcome=outcome)]
        following = await self._commit_aside(claim, covered, words, outcomes=[outcome], go_on=go_on)
        _log.info("command.done", fence=claim.fence, head=claim.begun.head)
        return following

    async def dead(self, turn: Turn, *, go_on: GoOn) -> Claim | None:
        """Its attempts are used up: a dead letter, a line that says so, and the conversation goes on."""
        attempts = turn.claim.begun.attempts - 1
        text = say("poison", turn.kit.language, attempts=attempts, correlation=turn.first.correlation)
        return await self._dead(turn, text, reason="attempts", go_on=go_on)

    async def _dead(self, turn: Turn, text: str, *, reason: str, refused: bool = False, go_on: GoOn) -> Claim | None:
        added = [await self._cut_off(turn, call.id) for call in open_calls(turn.progress.entries)]
        last = await turn.entries.final(text, dead=ids_of(turn.covered), refused=refused)
        return await self._commit(turn, [*added, last], _End("dead", text, dead_reason=reason), go_on=go_on)

    async def aside(self, claim: Claim, *, go_on: GoOn) -> Claim | None:
        """Nothing to answer: a stop that found nothing to stop, or what cannot be read."""
        waiting = before_command(claim.begun.waiting)
        if not waiting:
            await self._sessions.hand_over(claim)
            return None
        # What cannot be read is dealt with once nothing that can be read stands before it.
        stops = [entry for entry in waiting if entry.inbound is not None]
        if not stops:
            _log.error("message.unreadable", count=len(waiting))
            return await self._commit_aside(claim, waiting, dead_reason="unreadable", go_on=go_on)
        words = [
            self._word(claim, entry.inbound, say("nothing_to_stop", self._language(entry.inbound.bot)))
            for entry in stops
            if entry.inbound is not None
        ]
        return await self._commit_aside(claim, stops, words, go_on=go_on)

    async def hopeless(self, claim: Claim, first: Inbound, *, go_on: GoOn) -> Claim | None:
        """Not even giving it up as a turn works out: it becomes a dead letter without an entry in the log."""
        attempts = claim.begun.attempts - 1
        _log.error("message.hopeless", attempt=attempts)
        metrics.TURNS.labels("dead").inc()
        text = say("poison", self._language(first.bot), attempts=attempts, correlation=first.correlation)
        covered = [entry for entry in claim.begun.waiting if entry.inbound is first]
        words = [self._word(claim, first, text)]
        # A letter would keep what is to be forgotten.
        reason = "" if first.command == "forget" else "attempts"
        return await self._commit_aside(claim, covered, words, dead_reason=reason, go_on=go_on)

    async def _commit_aside(
        self,
        claim: Claim,
        covered: Sequence[PendingMessage],
        words: Sequence[SessionNotice] = (),
        *,
        outcomes: Sequence[Outcome] = (),
        dead_reason: str = "",
        go_on: GoOn,
    ) -> Claim | None:
        """Deal with ``covered`` without an entry in the log; a push channel is sent the first of ``words``."""
        commit = Commit(
            entries=(),
            tokens=0,
            answered=tuple(entry.stream_id for entry in covered),
            reply=words[0].reply if words else None,
            dead_reason=dead_reason,
            change=change_of(words, outcomes),
        )
        channel = words[0].out_channel if words else ""
        return await insist(
            lambda: self._sessions.commit(claim, commit, step=claim.begun.step, out_channel=channel, go_on=go_on())
        )

    async def parked(self, turn: Turn, failing: FailingModel, *, delay_s: float, go_on: GoOn) -> Claim | None:
        """The model cannot be asked: tried again after ``delay_s``, for ``park_max_s`` in all."""
        # Not the message's age: what waited for a worker over night has not waited for the model yet.
        if turn.claim.begun.parked_s > self._queue.park_max_s:
            text = say("outage", turn.kit.language, correlation=turn.first.correlation)
            return await self._dead(turn, text, reason=failing.kind, go_on=go_on)
        bot = turn.kit.prompts.bot
        text = self._announcements.parked(bot, turn.first, failing)
        await self._park(turn.claim, turn.first, text, failing, delay_s=delay_s)
        await self._announcements.tell_admins(turn.first.bot, bot, failing)
        return None

    async def refused(self, turn: Turn, refusal: Refusal | BucketLevel, *, go_on: GoOn) -> Claim | None:
        """The bot's limits keep it from beginning."""
        if isinstance(refusal, BucketLevel):
            await self.delayed(turn.claim, turn.first, wait_s=refusal.wait_s, tell=refusal.tell)
        elif refusal.used_up:
            return await self._spent(turn, refusal, go_on=go_on)
        else:
            await self.delayed(turn.claim, turn.first, wait_s=0.0)
        return None

    async def _spent(self, turn: Turn, spent: Refusal, *, go_on: GoOn) -> Claim | None:
        """A limit of the day is used up: a sentence answers it, which a push channel is sent once a day."""
        text = say(f"spent_{spent.whose}", turn.kit.language)
        last = await turn.entries.unpaid(text, answers=ids_of(turn.covered))
        # Nobody is to pay for it later either: no prompt and no summary contains it.
        turn.progress.entries = [msgspec.structs.replace(entry, tokens=0) for entry in turn.progress.entries]
        return await self._commit(turn, [last], _End("spent", text if spent.tell else ""), go_on=go_on)

    async def delayed(self, claim: Claim, first: Inbound, *, wait_s: float, tell: bool = False) -> None:
        """There is no room in this minute, or beside calls in progress: it waits; with ``tell`` its people are told."""
        # Others may wait for the same room: they must not come back as one.
        delay_s = min(self._queue.backoff_max_s, wait_s + random.uniform(0, SPREAD_S))
        metrics.TURNS.labels("delayed").inc()
        _log.info("turn.delayed", waited_s=round(delay_s, 1))
        text = say("delayed", self._language(first.bot), seconds=math.ceil(wait_s))
        word = self._word(claim, first, text, kind="parked") if tell else None
        await self._sessions.put_off(claim, delay_s=delay_s, word=word)

    async def misconfigured(self, claim: Claim, first: Inbound, error: ConfigError) -> None:
        """No process here knows the message's bot: it waits until somebody mends the configuration."""
        failing = FailingModel(kind="setup", reason=str(error), since_s=0.0)
        await self._park(claim, first, say("parked", "en"), failing, delay_s=self._queue.backoff_max_s)

    async def failed(self, turn: Turn, error: Exception, *, go_on: GoOn) -> Claim | None:
        """The answer was unusable, or never came: tried again, and counted.

        A prompt that the model does not take is not: a shorter one has been tried.
        """
        metrics.TURNS.labels("failed").inc()
        await noted(self._process, error)
        attempts = turn.claim.begun.attempts
        _log.warning("turn.failed", reason=f"{type(error).__name__}: {brief(error)}", attempt=attempts)
        if isinstance(error, ContextOverflow):
            text = say("too_long", turn.kit.language, correlation=turn.first.correlation)
            return await self._dead(turn, text, reason=type(error).__name__, go_on=go_on)
        if isinstance(error, ModelRefused) and attempts >= REFUSED_ATTEMPTS:
            status = "HTML" if error.status == 200 else error.status or "error"
            correlation = turn.first.correlation
            text = say("message_refused", turn.kit.language, status=status, correlation=correlation)
            return await self._dead(turn, text, reason=error.brief, refused=True, go_on=go_on)
        await self._sessions.back_off(turn.claim, delay_s=after_attempts(attempts, self._queue))
        return None

    async def _park(self, claim: Claim, first: Inbound, text: str, failing: FailingModel, *, delay_s: float) -> None:
        metrics.TURNS.labels("parked").inc()
        _log.warning("turn.parked", reason=f"{failing.kind}: {failing.reason}", waited_s=round(delay_s, 1))
        word = replace(self._word(claim, first, text, kind="parked"), once=self._announcements.once(failing))
        # A short outage is not worth a word. A fault that somebody has to mend is.
        tell_after_s = LASTS_S if failing.kind == "outage" else 0.0
        reason = f"{failing.kind}: {failing.reason}"
        await self._sessions.park(claim, delay_s=delay_s, word=word, reason=reason, tell_after_s=tell_after_s)

    async def _commit(self, turn: Turn, added: Sequence[LogEntry], end: _End, *, go_on: GoOn) -> Claim | None:
        progress, claim, standing = turn.progress, turn.claim, turn.requests.standing
        entries = [*progress.entries, *added]
        commit = Commit(
            entries=tuple(entries[progress.step :]),
            tokens=sum(entry.tokens for entry in entries),
            answered=tuple(entry.stream_id for entry in turn.covered),
            reply=reply_of(turn, end.text),
            dead_reason=end.dead_reason,
            change=end.change,
            fixed_tokens=standing.fixed_tokens if standing else None,
            settle_tokens=turn.kit.prompts.settle_tokens(standing.tokens, flushed=claim.begun.flushed)
            if standing
            else None,
            trace=turn.tracing.trace(
                inbounds(turn.covered),
                turn=claim.begun.head,
                fence=claim.fence,
                worker=self._process.name,
                outcome=end.outcome,
                recalled_tokens=turn.requests.recalled_tokens,
            ),
        )
        with metrics.stage("commit"):
            following = await insist(
                lambda: self._sessions.commit(
                    claim, commit, step=progress.step, out_channel=turn.first.channel, go_on=go_on()
                )
            )
        self._histories.keep(claim, turn.requests.past, entries)
        outcome = end.outcome
        if outcome in ("done", "stopped"):
            progress.answered(len(turn.covered))
        took_s = self._process.clock.monotonic() - turn.began
        metrics.TURNS.labels(outcome).inc()
        metrics.TURN_SECONDS.observe(took_s)
        waited_s = age_s(turn.first.received_at, self._process.clock) - took_s
        metrics.WAITED_SECONDS.observe(max(0.0, waited_s))
        _log.info(
            f"turn.{outcome}",
            attempt=claim.begun.attempts,
            fence=claim.fence,
            head=claim.begun.head + len(entries),
            model=",".join(progress.used) or turn.kit.model.name,
            tokens_in=progress.tokens_in,
            tokens_out=progress.tokens_out,
            waited_s=round(waited_s, 4),
            took_s=round(took_s, 4),
        )
        self._process.bus.activity.note(claim.session)
        return following

    async def _cut_off(self, turn: Turn, call_id: str) -> LogEntry:
        return await turn.entries.result(call_id, failure(say("interrupted", turn.kit.language)))

    def _word(
        self,
        claim: Claim,
        inbound: Inbound,
        text: str,
        *,
        kind: Literal["aside", "parked"] = "aside",
        outcome: Outcome | None = None,
    ) -> SessionNotice:
        return word_of(claim, inbound, text, time=self._now(), kind=kind, outcome=outcome)

    def _language(self, bot: str) -> Language:
        found = self._process.config.bots.get(bot)
        return found.language if found else "en"

    def _now(self) -> str:
        return stamp(self._process.clock.now())
