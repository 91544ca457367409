"""Commands that change their session, such as ``/new`` and ``/model``. Each keeps its place among the messages.

What one changes, and what is said of it, is one commit without entries: refused when the lease is lost, and without
effect when it arrives twice.
"""

import math
from collections.abc import Sequence

from daemon.access import may
from daemon.bus import QUEUED_COMMANDS, argument_of
from daemon.config import BotConfig
from daemon.errors import BusError, ConfigError
from daemon.events import Inbound, Options
from daemon.process import Process
from daemon.session import Claim, Waiting
from daemon.wording import text as say
from workers.agent.bot_runtime import Kits
from workers.agent.command_outcome import Outcome
from workers.agent.compact_request import told
from workers.agent.limit_gate import Gate
from workers.agent.slash_export import Exporting
from workers.agent.slash_forget import ForgetCommand
from workers.agent.slash_link import Linking
from workers.consolidation import Consolidator, Report, Want
from workers.model_choice import choices
from workers.usage_accounts import user_of


class Commands:
    """Works out what commands change; nothing is changed here."""

    def __init__(self, process: Process, kits: Kits, consolidator: Consolidator) -> None:
        self._process = process
        self._kits = kits
        self._consolidator = consolidator
        self._exporting = Exporting(process, consolidator.stores.memories)
        self._forgetting = ForgetCommand(process)
        self._linking = Linking(process)
        self._gate = Gate(process)

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
            return Outcome(text=await self._forgetting.said(claim, inbound, bot))
        if inbound.command in ("link", "unlink"):
            return Outcome(text=await self._linking.said(claim, inbound, bot))
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
        want = Want(at="now", focus=argument_of(inbound.text), user=user, correlation=inbound.correlation)
        within_s = self._process.config.consolidation.call_deadline_s
        try:
            report = await self._consolidator.awaited(claim.session, want, within_s=within_s)
        except BusError:
            report = Report(outcome="failed")
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


def queued(waiting: Sequence[Waiting]) -> list[tuple[Inbound, str]]:
    """The commands among ``waiting`` that change the session, with their stream ids."""
    readable = [(entry.inbound, entry.stream_id) for entry in waiting if entry.inbound is not None]
    return [(inbound, at) for inbound, at in readable if inbound.command in QUEUED_COMMANDS]


def before_command(waiting: tuple[Waiting, ...]) -> tuple[Waiting, ...]:
    """What one turn may answer: all up to the first command that changes the session, or a reminder alone."""
    for at, entry in enumerate(waiting):
        if entry.inbound is None:
            continue
        if entry.inbound.command in QUEUED_COMMANDS or (at and entry.inbound.reminder):
            return waiting[:at]
        if entry.inbound.reminder:
            return waiting[: at + 1]
    return waiting


def command_first(waiting: Sequence[Waiting]) -> Inbound | None:
    """The command that is to be carried out before anything else; None when a message or a stop comes first."""
    for entry in waiting:
        if entry.inbound is not None:
            return entry.inbound if entry.inbound.command in QUEUED_COMMANDS else None
    return None
