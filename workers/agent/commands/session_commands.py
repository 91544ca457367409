"""Commands that change their session, such as ``/new`` and ``/model``. Each keeps its place among the messages.

What one changes, and what is said of it, is one commit without entries: refused when the lease is lost, and without
effect when it arrives twice.
"""

import math
from collections.abc import Sequence

from daemon.access import may
from daemon.bus import QUEUED_COMMANDS, argument_of
from daemon.config import BotConfig
from daemon.errors import BusError, ConfigError, ToolError
from daemon.events import Inbound, Options
from daemon.process import Process
from daemon.session import Claim, PendingMessage
from daemon.wording import Language
from daemon.wording import text as say
from workers.agent.bot_runtime import Kits
from workers.agent.commands.command_outcome import Outcome
from workers.agent.commands.slash_link import LinkCommand
from workers.agent.commands.slash_memory import ExportCommand, ForgetCommand
from workers.agent.limit_gate import LimitGate
from workers.agent.prompt.turn_requests import TurnRequests
from workers.consolidation import ConsolidationReport, ConsolidationRequest, Consolidator
from workers.model_choice import choices
from workers.paid_calls import user_of

# Consolidation on request by the tool ``compact`` or by ``/compact``, with a sentence about the result.


async def compacted(requests: TurnRequests, focus: str) -> str:
    """The result of the tool for the model.

    Raises:
        ToolError: it could not be done now.
    """
    try:
        report = await requests.compact(focus)
    except (BusError, ConfigError) as error:
        raise ToolError(f"the conversation's older messages could not be summarized right now: {error}") from error
    if report.outcome == "unpaid":
        raise ToolError(say("compact_limited", "en"))
    if report.outcome in ("failed", "skipped", "busy"):
        raise ToolError(
            "The older messages could not be summarized right now. The conversation remains unchanged. Continue "
            "without compaction."
        )
    return told(report, "en")


def told(report: ConsolidationReport, language: Language) -> str:
    """The result of a consolidation, for people."""
    if report.outcome == "nothing":
        return say("compact_nothing", language)
    if report.outcome == "unpaid":
        return say("compact_limited", language)
    if report.outcome != "settled":
        return say("compact_failed", language)
    return say(
        "compacted",
        language,
        count=report.upto - report.first,
        before=f"{report.tokens_before:,}",
        after=f"{report.tokens_after:,}",
    )


class SessionCommands:
    """Works out what commands change; nothing is changed here."""

    def __init__(self, process: Process, kits: Kits, consolidator: Consolidator) -> None:
        self._process = process
        self._kits = kits
        self._consolidator = consolidator
        self._exporting = ExportCommand(process, consolidator.stores.memories)
        self._forgetting = ForgetCommand(process)
        self._linking = LinkCommand(process)
        self._gate = LimitGate(process)

    async def outcome(self, claim: Claim, inbound: Inbound) -> Outcome:
        """What ``inbound``, one of ``QUEUED_COMMANDS``, comes to.

        Raises:
            ConfigError: its bot is not configured here.
        """
        bot = self._process.bot(inbound.bot)
        if inbound.command == "new":
            return Outcome(text=say("new_conversation", bot.language), start_over=True)
        if inbound.command == "compact":
            return await self._compact(claim, inbound, bot)
        if inbound.command == "export":
            return await self._exporting.outcome(claim, inbound, bot)
        if inbound.command == "forget":
            return await self._forgetting.outcome(claim, inbound, bot)
        if inbound.command in ("link", "unlink"):
            return await self._linking.outcome(claim, inbound, bot)
        return await self._model(claim.begun.options, inbound, bot)

    async def outcome_at_once(self, claim: Claim, inbound: Inbound, at: str) -> Outcome:
        """As ``outcome``, of a command that cannot wait; one too many in this minute is not carried out.

        ``at``: its stream id.

        Raises:
            ConfigError: its bot is not configured here.
        """
        room = await self._gate.wait(claim, inbound, at)
        if room is None:
            return await self.outcome(claim, inbound)
        language = self._process.bot(inbound.bot).language
        return Outcome(text=say("command_delayed", language, seconds=math.ceil(room.wait_s)))

    async def _compact(self, claim: Claim, inbound: Inbound, bot: BotConfig) -> Outcome:
        user = user_of(claim, inbound)
        want = ConsolidationRequest(
            at="now", focus=argument_of(inbound.text), user=user, correlation=inbound.correlation
        )
        within_s = self._process.config.consolidation.call_deadline_s
        try:
            report = await self._consolidator.awaited(claim.session, want, within_s=within_s)
        except BusError:
            report = ConsolidationReport(outcome="failed")
        return Outcome(text=told(report, bot.language))

    async def _model(self, options: Options, inbound: Inbound, bot: BotConfig) -> Outcome:
        if not may(bot, inbound, "model"):
            return Outcome(text=say("admins_only", bot.language))
        names, wanted = choices(bot), argument_of(inbound.text)
        used = options.model if options.model in names else names[0]
        listed = ", ".join(names)
        if not wanted:
            return Outcome(text=say("model_used", bot.language, model=used, models=listed))
        name = next((name for name in names if name.casefold() == wanted.casefold()), "")
        if not name:
            return Outcome(text=say("model_unknown", bot.language, model=used, models=listed))
        try:
            await self._kits.choose(inbound.bot, name)
        except ConfigError as error:  # its window may be too small for what stands in every prompt
            return Outcome(text=say("model_unusable", bot.language, model=name, reason=error))
        # The bot's own is not kept by name, so that it stays so when the configuration changes.
        chosen = Options(model="" if name == names[0] else name)
        return Outcome(text=say("model_chosen", bot.language, model=name), options=chosen)


def queued(waiting: Sequence[PendingMessage]) -> list[tuple[Inbound, str]]:
    """The commands among ``waiting`` that change the session, with their stream ids."""
    readable = [(entry.inbound, entry.stream_id) for entry in waiting if entry.inbound is not None]
    return [(inbound, at) for inbound, at in readable if inbound.command in QUEUED_COMMANDS]


def before_command(waiting: tuple[PendingMessage, ...]) -> tuple[PendingMessage, ...]:
    """What one turn may answer: all up to the first command that changes the session, or a reminder alone."""
    for at, entry in enumerate(waiting):
        if entry.inbound is None:
            continue
        if entry.inbound.command in QUEUED_COMMANDS or (at and entry.inbound.reminder):
            return waiting[:at]
        if entry.inbound.reminder:
            return waiting[: at + 1]
    return waiting


def command_first(waiting: Sequence[PendingMessage]) -> Inbound | None:
    """The command that is to be carried out before anything else; None when a message or a stop comes first."""
    for entry in waiting:
        if entry.inbound is not None:
            return entry.inbound if entry.inbound.command in QUEUED_COMMANDS else None
    return None
