"""The turn: answers the messages of a claim in named steps. The module ``ending`` contains its endings."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Literal

import structlog
from structlog.contextvars import bind_contextvars

from daemon import metrics
from daemon.access import Pauses, is_admin, person_of
from daemon.concurrency import SharedTimeout
from daemon.config import BotConfig
from daemon.errors import (
    ConfigError,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    SetupFault,
)
from daemon.events import Inbound, LogEntry
from daemon.heartbeat import BotReport
from daemon.memory import MemoryLocation
from daemon.model import RETRY_AFTER_MAX_S, Answer, FailingModel
from daemon.process import Process
from daemon.session import Claim, SessionReader, Sessions
from daemon.usage import LimitReached
from workers.admin_messages import tell_administrators
from workers.agent.announcements import Announcements, ChatPause
from workers.agent.bot_checks import problems_of
from workers.agent.bot_runtime import Kits
from workers.agent.commands.reminder_desk import ReminderDesk, reminder_text
from workers.agent.commands.session_commands import SessionCommands, before_command, command_first, compacted
from workers.agent.compaction_wait import CompactionWaits
from workers.agent.file_intake import FileIntake
from workers.agent.limit_gate import LimitGate
from workers.agent.live_text import LiveBoard, LiveText
from workers.agent.log_entries import LogEntries, open_calls
from workers.agent.model_calls import REFUSED_ATTEMPTS, attributed
from workers.agent.outgoing_messages import OutgoingMessages
from workers.agent.prompt.history_loader import HistoryCache, HistoryLoader
from workers.agent.prompt.turn_requests import TurnRequests, cache_key
from workers.agent.spoken_answer import Voice
from workers.agent.thread_backfill import ThreadBackfill
from workers.agent.tool_loop import ServerTools, ToolLoop
from workers.agent.turn_endings import TurnEndings, insist
from workers.agent.turn_progress import Kit, Turn, TurnProgress, inbounds
from workers.agent.turn_recall import recalled, traced
from workers.agent.turn_tracing import TurnTracing
from workers.consolidation import Consolidator, stores_of
from workers.consolidation import Kits as ConsolidationKits
from workers.lease_upkeep import ClaimHold
from workers.model_health import ModelHealth, noted, remembered
from workers.paid_calls import user_of
from workers.session_consumer import after_looking, after_waiting
from workers.tools import FileAccess, ToolContext
from workers.tools.command_sandbox import Shell
from workers.tools.web import WebAccess

_log = structlog.get_logger()


class Turns:
    """Answers claims: the ``Answer`` that ``workers.session_consumer.SessionConsumer`` calls."""

    def __init__(self, process: Process, sessions: Sessions, announcements: Announcements | None = None) -> None:
        self._process = process
        self._sessions = sessions
        self._attempts_max = process.config.queue.attempts_max
        self._gate = LimitGate(process)
        self.pauses = Pauses(process.bus, process.config.queue)
        self._resting = ChatPause(process, sessions, self.pauses)
        self.kits = Kits(process)
        self.consolidator = consolidator = Consolidator(stores_of(process), ConsolidationKits(process))
        self._files, self._memories = consolidator.stores.files, consolidator.stores.memories
        reader = SessionReader(process.bus)
        self._pasts = HistoryLoader(reader, self._memories, process.config.micro_compact)
        self._rooms = CompactionWaits(consolidator, reader, self._pasts)
        self._commands = SessionCommands(process, self.kits, consolidator)
        self._announcements = announcements or Announcements(process)
        self.histories = HistoryCache()
        self._ending = TurnEndings(process, sessions, self._commands, self._announcements, self.histories)
        self._health = ModelHealth(process)
        self._limit = SharedTimeout(process.config.agent.turn_timeout_s)
        self._looking_back = ThreadBackfill(process)
        self._taking_in = FileIntake(process)
        self._voice = Voice(process)
        self._desk = ReminderDesk(process)
        self.equipment = ServerTools(process)
        self.live = LiveBoard(process.bus, process.config.queue)

    async def __call__(self, hold: ClaimHold, *, go_on: Callable[[], bool]) -> Claim | None:
        """See ``workers.session_consumer.Answer``."""
        claim, tracing = hold.claim, TurnTracing(self._process.clock)
        if claim.begun.dropped:
            _log.error("message.missing", count=claim.begun.dropped)
        if await self._resting.puts_off(hold):
            return None
        command = command_first(claim.begun.waiting)
        if command is not None:
            return await self._carry_out(hold, command, go_on=go_on)
        readable = inbounds(before_command(claim.begun.waiting))
        if not readable:
            return await self._ending.aside(claim, go_on=go_on)
        first = readable[0]
        # For the rest of the claim, whose task has these to itself.
        bind_contextvars(message_id=first.id, correlation=first.correlation, turn=claim.begun.head)
        try:
            kit = await self.kits.of(first.bot, model=claim.begun.options.model)
            # Once a turn: whatever it is joined with meanwhile, it ends with the files and servers that it began with.
            home = await self._memories.home_for_turn(claim.begun.scope)
            kit = await self.equipment.of(kit, first.bot, scope=home.scope, session=claim.session)
        except ConfigError as error:
            await self._ending.misconfigured(claim, first, error)
            return None
        if claim.begun.attempts > self._attempts_max + 1 and not claim.begun.step:
            # One claim more than it takes to give it up below: reading or counting it is what fails.
            return await self._ending.hopeless(claim, first, go_on=go_on)
        with metrics.stage("read"):
            turn = await self._begin(claim, first, kit, home, tracing)
        try:
            return await self._answer(turn, hold, go_on=go_on)
        finally:
            self._process.recaller.grew(home.scope)
            await self._gate.account(turn)

    async def report(self) -> BotReport:
        """What the process's bots cannot use, and the state of their tool servers."""
        servers = self.equipment.servers
        return BotReport(problems=await problems_of(self.kits, self._files, servers), servers=servers.states())

    async def aclose(self) -> None:
        """Close the models' connections."""
        await self.kits.aclose()
        await self._process.recaller.aclose()
        await self._taking_in.aclose()
        await self._voice.aclose()
        await self.consolidator.aclose()

    async def _carry_out(self, hold: ClaimHold, command: Inbound, *, go_on: Callable[[], bool]) -> Claim | None:
        """Deal with a command that changes the session; its turn has come."""
        claim = hold.claim
        bind_contextvars(message_id=command.id, correlation=command.correlation, turn=claim.begun.head)
        if claim.begun.attempts > self._attempts_max:
            return await self._ending.hopeless(claim, command, go_on=go_on)
        try:
            at = next(entry.stream_id for entry in claim.begun.waiting if entry.inbound is command)
            room = None if hold.stop_upto else await self._gate.wait(claim, command, at)
            if room is not None:
                await self._ending.delayed(claim, command, wait_s=room.wait_s, tell=room.tell)
                return None
            if hold.stop_upto:  # nobody waits any more for what stands before a stop
                outcome = await self._commands.outcome_at_once(claim, command, at)
            else:
                outcome = await self._commands.outcome(claim, command)
        except ConfigError as error:
            await self._ending.misconfigured(claim, command, error)
            return None
        return await self._ending.carried_out(claim, command, outcome, go_on=go_on)

    async def _answer(self, turn: Turn, hold: ClaimHold, *, go_on: Callable[[], bool]) -> Claim | None:
        if turn.claim.begun.attempts > self._attempts_max and not hold.stop_upto:
            return await self._ending.dead(turn, go_on=go_on)
        reminder = turn.first.reminder
        if reminder is not None and reminder.kind == "text":
            text = reminder_text(turn.first, self._process.clock.now(), turn.kit.language)
            return await self._ending.done(turn, Answer(text=text), go_on=go_on)
        # What has begun goes on to its end.
        refusal = None if turn.progress.step or hold.stop_upto else await self._gate.refusal(turn)
        if refusal is not None:
            return await self._ending.refused(turn, refusal, go_on=go_on)
        try:
            return await self._asked(turn, hold, go_on=go_on)
        except LimitReached as error:
            return await self._ending.refused(turn, error.refusal, go_on=go_on)

    async def _asked(self, turn: Turn, hold: ClaimHold, *, go_on: Callable[[], bool]) -> Claim | None:
        model, parked_s = turn.kit.prompts.bot.model, turn.claim.begun.parked_s
        obstacle = None if hold.stop_upto else await self._health.obstacle(model, was_parked=parked_s > 0)
        if obstacle is not None:
            return await self._ending.parked(
                turn, obstacle, delay_s=after_looking(parked_s, self._process.config.queue), go_on=go_on
            )
        try:
            answer = await hold.until(lambda: self._run(turn), limit=self._limit)
        except ModelError as error:
            return await self._failed(turn, hold, error, go_on=go_on)
        except TimeoutError as error:
            return await self._ending.failed(turn, error, go_on=go_on)
        if answer is None:
            return await self._ending.stopped(turn, hold.stop_upto, go_on=go_on)
        await self._health.works(model, was_parked=parked_s > 0)
        await self._health.answered(turn.first.bot, model)
        # The answer is whole: a stop or the limit of the turn ends only its spoken form.
        with suppress(TimeoutError):
            await hold.until(partial(self._voice.speak, turn, answer), limit=self._limit)
        return await self._ending.done(turn, answer, go_on=go_on)

    async def _failed(
        self, turn: Turn, hold: ClaimHold, error: ModelError, *, go_on: Callable[[], bool]
    ) -> Claim | None:
        """A model call of the turn failed."""
        bot, parked_s = turn.kit.prompts.bot, turn.claim.begun.parked_s
        test = partial(attributed, turn, error, attempts_max=self._attempts_max)
        cause = await hold.until(test, limit=self._limit)
        if cause is None:
            return await self._ending.stopped(turn, hold.stop_upto, go_on=go_on)
        if isinstance(cause, ModelUnavailable | SetupFault):
            return await self._parked(turn, cause, go_on=go_on)
        # Its server is there, whatever it says: others need not wait until somebody finds that out.
        await self._health.works(bot.model, was_parked=parked_s > 0)
        following = await self._ending.failed(turn, cause, go_on=go_on)
        if isinstance(cause, ModelRefused) and turn.claim.begun.attempts >= REFUSED_ATTEMPTS:
            failing = await self._health.refused(turn.first.bot, bot.model, turn.claim.session, cause)
            await self._announcements.tell_admins(turn.first.bot, bot, failing)
        return following

    async def _parked(self, turn: Turn, error: ModelError, *, go_on: Callable[[], bool]) -> Claim | None:
        """The model cannot be asked: the turn waits until it can."""
        await noted(self._process, error)
        parked_s = turn.claim.begun.parked_s
        kind: Literal["outage", "setup"] = "setup" if isinstance(error, SetupFault) else "outage"
        retry_after_s = error.retry_after_s if isinstance(error, ModelUnavailable) else None
        failing = await self._health.failed(
            turn.kit.prompts.bot.model,
            FailingModel(kind=kind, reason=error.brief, since_s=parked_s),
            retry_after_s=retry_after_s,
        )
        at_least_s = min(RETRY_AFTER_MAX_S, retry_after_s or 0.0)
        delay_s = after_looking(parked_s, self._process.config.queue)
        if kind == "outage":
            delay_s = after_waiting(parked_s, self._process.config.queue, at_least_s=at_least_s)
        return await self._ending.parked(turn, failing, delay_s=delay_s, go_on=go_on)

    async def _begin(self, claim: Claim, first: Inbound, kit: Kit, home: MemoryLocation, tracing: TurnTracing) -> Turn:
        begun, covered = claim.begun, before_command(claim.begun.waiting)
        vision = kit.prompts.bot.model.vision
        entries = LogEntries(kit.tokenizer, self._process.clock, turn=begun.head, vision=vision)
        await self._files.sync(home.scope)
        past, journal = await self._pasts.read(
            claim.session,
            begun,
            upto=begun.head + begun.step,
            budget_tokens=kit.budget_tokens,
            known=self.histories.take(claim.session, begun),
        )
        if journal:
            # Its first record fixed what the turn covers; a message deleted since is not waiting any more.
            known = {entry.id for entry in journal if entry.id}
            covered = tuple(entry for entry in covered if entry.inbound and entry.inbound.id in known)
            progress = TurnProgress(entries=journal, step=len(journal), cut_off=open_calls(journal))
            said = inbounds(covered)
        else:
            said = inbounds(covered)
            progress = TurnProgress(entries=[entry for inbound in said for entry in await entries.said(inbound)])
        recall = partial(recalled, self._process.recaller, home, claim.session, kit.prompts, note=tracing.recall_noted)
        requests = TurnRequests(
            kit.prompts,
            self._process.clock,
            said=said or [first],
            past=past,
            room=self._rooms.of(user_of(claim, first), budget_tokens=kit.budget_tokens, correlation=first.correlation),
            recall=traced(recall, tracing, engine=self._process.recaller.engine),
        )
        requests.cache_key = cache_key(first.bot, claim.session)
        requests.missing = tracing.missing = kit.missing
        return Turn(
            claim=claim,
            covered=covered,
            first=first,
            kit=kit,
            entries=entries,
            live=LiveText(self.live, claim, is_hidden=first.reminder is not None),
            requests=requests,
            tracing=tracing,
            payer=self._gate.payer(claim, first, message=covered[0].stream_id if covered else ""),
            context_of=partial(self._context_of, claim, first, kit, requests, home.scope),
            began=self._process.clock.monotonic(),
            progress=progress,
        )

    def _context_of(
        self, claim: Claim, first: Inbound, kit: Kit, requests: TurnRequests, home: str, call: str
    ) -> ToolContext:
        speech = OutgoingMessages(self._process, self._sessions, self._memories, claim, first)
        return ToolContext(
            clock=self._process.clock,
            time_zone=kit.time_zone,
            bot=first.bot,
            session=claim.session,
            scope=home,
            turn=claim.begun.head,
            nonce=claim.nonce,
            folders=FileAccess(self._process.workspace(first.bot), home),
            say=speech.say,
            compact=lambda focus: compacted(requests, focus),
            recaller=self._process.recaller,
            shell=self._shell(kit.prompts.bot, requests.said, home),
            web=WebAccess(bus=self._process.bus, name=first.bot, bot=kit.prompts.bot, user=user_of(claim, first)),
            remind=partial(self._desk.called, claim, requests.said),
            call=call,
        )

    def _shell(self, bot: BotConfig, said: Sequence[Inbound], home: str) -> Shell:
        allowed = bot.exec.allow == "everyone" or all(is_admin(bot, each) for each in said)
        folders = FileAccess(self._process.workspace(said[-1].bot), home)
        process, session = self._process, str(said[-1].session)
        return Shell(
            bus=process.bus,
            config=bot.exec,
            folder=folders.own,
            who=person_of(said[-1]),
            allowed=allowed,
            bot=said[-1].bot,
            language=bot.language,
            tell_administrators=partial(
                tell_administrators, process.bus, process.config, process.clock, bot, besides=session
            ),
        )

    async def _run(self, turn: Turn) -> Answer:
        async def journal(step: int, entries: Sequence[LogEntry]) -> None:
            if turn.progress.used:
                # Others that wait for the model need not wait for the end of this turn.
                await self._health.works(turn.kit.prompts.bot.model, was_parked=turn.claim.begun.parked_s > 0)
            await insist(lambda: self._sessions.journal(turn.claim, step=step, entries=entries))

        await self._looking_back.look(turn)
        await self._taking_in.take_in(turn)
        try:
            return await ToolLoop(turn, journal=journal).run()
        finally:
            turn.live.end()
            await remembered(self._process, turn.kit.prompts.bot.model)
