"""Answers ``/pair``, ``/ban``, ``/pause``, ``/approve`` and their opposites, the commands for administrators.

Any number of workers may work out the same command, and each does what it says: a decision is known by its command's
place among all, so the same again changes nothing, and neither does one that arrives after a newer one.
"""

from collections.abc import Mapping

import structlog

from daemon.access import (
    EVERYWHERE,
    VALID_S,
    WRONG_S,
    Access,
    AccessNotices,
    PairingCodes,
    Pauses,
    Stranger,
    chat_of,
    is_admin,
    is_listed,
    person_of,
    welcome,
)
from daemon.bus import argument_of
from daemon.clock import stamp
from daemon.config import BotConfig, PushConfig
from daemon.errors import BadSessionKey
from daemon.events import Inbound
from daemon.operators import Approvals, OperatorAudit
from daemon.printable import one_line
from daemon.process import Process
from daemon.sessionkey import SessionKey
from daemon.wording import text as say

ID_SHOWN_CHARS = 20
"""Of an ID that a person typed."""

ALL = "all"
"""Behind ``/pause`` and ``/resume``: every chat of the bot."""

_log = structlog.get_logger()


class AdminCommands:
    """Carries out these commands and returns the answers. All methods raise BusUnavailable if Redis is unavailable."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._bus = process.bus
        self._lines = AccessNotices(process.bus)
        self._pauses = Pauses(process.bus, process.config.queue)

    async def said(self, inbound: Inbound, bot: BotConfig, *, at: str) -> str:
        """What is said of ``inbound``, one of ``ADMIN_COMMANDS``; ``at``: its stream id."""
        if not is_admin(bot, inbound):
            return say("admins_only", bot.language)
        match inbound.command:
            case "pair":
                return await self._pair(inbound, bot, at)
            case "ban" | "unban":
                return await self._ban(inbound, bot, at)
            case "approve" | "deny":
                return await self._decide(inbound, bot, at)
            case _:
                return await self._pause(inbound, bot, at)

    # Letting in

    async def _pair(self, inbound: Inbound, bot: BotConfig, at: str) -> str:
        code = argument_of(inbound.text)
        channels = self._channels(inbound.bot)
        if code:
            return await self._by_code(code, inbound, bot, at)
        if inbound.chat_kind != "group":
            return say("pair_how", bot.language)
        if inbound.channel not in channels:
            return say("pair_pull", bot.language)
        access = Access(self._bus, inbound.channel)
        done = await access.decide(inbound.chat, "paired", by=person_of(inbound), time=self._now(), at=at)
        _log.info("access.paired", channel=inbound.channel)
        return say("decided_later" if done == "late" else "pair_group", bot.language)

    async def _by_code(self, code: str, inbound: Inbound, bot: BotConfig, at: str) -> str:
        channels = self._channels(inbound.bot)
        if not channels:
            return say("pair_pull", bot.language)
        who, refused = f"{inbound.session} {inbound.id}", "wrong"
        # The administrator may write from another channel of the bot than the stranger; most write from the same.
        for channel in sorted(channels, key=lambda name: (name != inbound.channel, name)):
            found = await PairingCodes(self._bus, channel).redeem(
                code, who=who, by=person_of(inbound), time=self._now(), at=at
            )
            if isinstance(found, Stranger):
                await self._welcome(found, inbound, bot, code)
                _log.info("access.paired", channel=channel)
                return say("pair_done", bot.language, name=found.name or found.id)
            if found == "often":
                refused = found
        minutes = round((WRONG_S if refused == "often" else VALID_S) / 60)
        return say(f"pair_{refused}", bot.language, minutes=minutes)

    async def _welcome(self, stranger: Stranger, inbound: Inbound, bot: BotConfig, code: str) -> None:
        line = welcome(stranger, code=code, language=bot.language, correlation=inbound.correlation)
        await self._lines.say(line, quiet_s=VALID_S)

    # Banning

    async def _ban(self, inbound: Inbound, bot: BotConfig, at: str) -> str:
        named = argument_of(inbound.text)
        channel, name = self._whom(named, inbound)
        # A nickname is no id: nobody would ever be known by it.
        if not name or name.startswith("@"):
            return say("ban_how", bot.language)
        if channel not in self._channels(inbound.bot):
            return say("ban_channel", bot.language, channel=channel)
        if inbound.command == "ban" and is_listed(bot, channel=channel, sender=name):
            return say("ban_admin", bot.language, name=name)
        quoted = inbound.quote if not named else None
        called = quoted.sender_name if quoted else ""
        bans = inbound.command == "ban"
        done = await Access(self._bus, channel).decide(
            name, "banned" if bans else "free", by=person_of(inbound), time=self._now(), called=called, at=at
        )
        if done == "late":
            return say("decided_later", bot.language)
        _log.info("access.banned" if bans else "access.unbanned", channel=channel)
        key = "ban_done" if bans else "unban_none" if done == "none" else "unban_done"
        return say(key, bot.language, name=f"{called} ({name})" if called else name, channel=channel, id=name)

    def _whom(self, named: str, inbound: Inbound) -> tuple[str, str]:
        """Channel and id of whom a command is about: as it says, or of whoever said what it answers."""
        if not named:
            return inbound.channel, inbound.quote.sender_id if inbound.quote else ""
        try:
            key = SessionKey.parse(named)
        except BadSessionKey:
            return inbound.channel, named
        # As /whoami shows it; on some platforms ids hold a colon themselves.
        return (key.channel, key.chat) if key.channel in self._process.config.channels else (inbound.channel, named)

    # Commands of the tool exec

    async def _decide(self, inbound: Inbound, bot: BotConfig, at: str) -> str:
        approval_id, by = argument_of(inbound.text).casefold(), person_of(inbound)
        if not approval_id:
            return say("approval_how", bot.language)
        approves = inbound.command == "approve"
        done, call = await Approvals(self._bus).decide(
            approval_id, "approved" if approves else "denied", bot=inbound.bot, by=by, at=at
        )
        if call:
            await OperatorAudit(self._bus).note(who=by, action=f"exec.{inbound.command}", target=call, outcome=done)
        key = f"done_{inbound.command}" if done == "done" else done
        return say(f"approval_{key}", bot.language, id=one_line(approval_id)[:ID_SHOWN_CHARS])

    # Resting

    async def _pause(self, inbound: Inbound, bot: BotConfig, at: str) -> str:
        argument, by = argument_of(inbound.text).casefold(), person_of(inbound)
        if argument not in ("", ALL):
            return say("pause_how", bot.language)
        chat = EVERYWHERE if argument else chat_of(inbound.session)
        which = "all" if argument else "chat"
        change = self._pauses.pause if inbound.command == "pause" else self._pauses.resume
        done = await change(inbound.bot, chat, by=by, time=self._now(), at=at)
        if done == "late":
            return say("decided_later", bot.language)
        if inbound.command == "pause":
            return say("pause_already" if done == "none" else f"pause_{which}", bot.language)
        rests = await self._pauses.of(inbound.bot, inbound.session)
        if not argument and rests:
            return say("resume_but_all", bot.language)
        if done == "done":
            woken = await self._pauses.wake(frozenset(self._channels(inbound.bot, push_only=False)), chat)
            _log.info("pause.ended", bot=inbound.bot, count=woken)
        return say("resume_none" if done == "none" else f"resume_{which}", bot.language)

    def _channels(self, bot: str, *, push_only: bool = True) -> Mapping[str, object]:
        """The channels on which a bot speaks; with ``push_only`` those on which not everybody is heard."""
        found = self._process.config.channels
        return {
            name: channel
            for name, channel in found.items()
            if channel.bot == bot and (not push_only or isinstance(channel, PushConfig))
        }

    def _now(self) -> str:
        return stamp(self._process.clock.now())
