"""Answers ``/status``, ``/usage``, ``/help`` and other commands immediately, independent of turns in progress."""

import math

import anyio
import structlog

from daemon.access import is_admin, may
from daemon.bus import ADMIN_COMMANDS, argument_of
from daemon.clock import age_s, stamp
from daemon.config import BotConfig
from daemon.errors import BusError, ConfigError, brief
from daemon.events import Inbound, Notice, Reply
from daemon.memory import Memories
from daemon.process import Process
from daemon.scope import scope_of
from daemon.session import ImmediateCommand, ImmediateCommands, SessionReader, SessionState
from daemon.usage import Limits, User
from daemon.wording import text as say
from workers.agent.bot_runtime import Kits
from workers.agent.commands.admin_commands import AdminCommands
from workers.agent.commands.command_outcome import answered_as
from workers.agent.commands.reminder_desk import ReminderDesk
from workers.agent.commands.slash_memory import found_again, remembered
from workers.agent.commands.slash_status import spending, status, whoami
from workers.agent.tool_loop import ServerTools
from workers.agent.turn_progress import Kit

LOOK_S = 5.0
"""How often is looked when nothing is heard: what was said may have been missed."""

AWAY_PAUSE_S = 0.5
"""Pause when Redis is away."""

_log = structlog.get_logger()


class ImmediateAnswers:
    """Answers what is asked aside, in every partition; ``run`` must be running in a task group."""

    def __init__(self, process: Process, kits: Kits, equipment: ServerTools) -> None:
        self._process = process
        self._bus = process.bus
        self._kits = kits
        self._equipment = equipment
        self._asides = ImmediateCommands(process.bus, process.config.queue)
        self._reader = SessionReader(process.bus)
        self._memories = Memories(process.bus)
        self._admitting = AdminCommands(process)
        self._desk = ReminderDesk(process)

    async def run(self) -> None:
        """Answer, for ever."""
        async with self._process.listener.hear(self._bus.keys.commands) as asked:
            while True:
                with anyio.move_on_after(LOOK_S):
                    await asked.next()
                try:
                    async with anyio.create_task_group() as tg:
                        for number in range(self._bus.keys.partitions):
                            tg.start_soon(self._answer_all, number)
                except* BusError as group:
                    _log.warning("aside.delayed", reason=brief(group.exceptions[0]))
                    await anyio.sleep(AWAY_PAUSE_S)

    async def _answer_all(self, partition: int) -> None:
        last = ""
        while found := await self._asides.waiting(partition, after=last):
            for aside in found:
                await self._answer(aside)
            last = found[-1].member

    async def _answer(self, aside: ImmediateCommand) -> None:
        inbound = aside.inbound
        if aside.command is None:
            await self._asides.bury(aside, reason="missing")  # nothing to bury: it leaves the set
        elif inbound is None:
            await self._bury(aside, "unreadable")
        else:
            with structlog.contextvars.bound_contextvars(
                session=aside.session, message_id=inbound.id, correlation=inbound.correlation
            ):
                await self._answer_readable(aside, inbound)

    async def _answer_readable(self, aside: ImmediateCommand, inbound: Inbound) -> None:
        try:
            kit = await self._kits.of(inbound.bot)
        except ConfigError as error:
            _log.debug("aside.unknown_bot", reason=brief(error))  # another process may know it
            return
        try:
            said = await self._say(aside, inbound, kit)
        except BusError:
            raise
        except Exception as error:  # noqa: BLE001 - the service's top: a bug in one answer must not end the worker
            _log.exception("aside.failed", reason=type(error).__name__)
            await self._bury(aside, "failed")
        else:
            if said:
                waited_s = age_s(inbound.received_at, self._process.clock)
                _log.info("aside.done", bot=inbound.bot, waited_s=round(waited_s, 4))

    async def _say(self, aside: ImmediateCommand, inbound: Inbound, kit: Kit) -> bool:
        text, head = await self._text(aside, inbound, kit)
        notice = Notice(kind="aside", text=text, time=stamp(self._process.clock.now()), message_id=inbound.id)
        reply = _reply(aside, inbound, text, turn=head) if inbound.delivery == "push" else None
        return await self._asides.answer(aside, notice, reply, out_channel=inbound.channel)

    async def _text(self, aside: ImmediateCommand, inbound: Inbound, kit: Kit) -> tuple[str, int]:
        """What is answered, and the session's head."""
        session = aside.session
        state, bot = await self._reader.state(session), self._process.bot(inbound.bot)
        if inbound.command in ADMIN_COMMANDS:
            return await self._admitting.said(inbound, bot, at=_stream_id(aside)), state.head
        match inbound.command:
            case "status":
                used = self._equipment.known(await self._kits.of(inbound.bot, model=state.options.model))
                now_ms = await self._reader.now_ms()
                return await status(self._process, used, state, inbound, now_ms=now_ms), state.head
            case "usage":
                user = User(bot=inbound.bot, session=session, channel=inbound.channel, sender_id=inbound.sender_id)
                for_admin = is_admin(bot, inbound)
                return await spending(self._bus, user, bot, self._process.clock, for_admin=for_admin), state.head
            case "memory":
                return await self._memory(aside, inbound, bot, await self._home(state, inbound, bot)), state.head
            case "reminders" | "remind":
                return await self._remind(aside, inbound, bot, state), state.head
            case "whoami":
                text = whoami(bot, state, inbound, scope=await self._home(state, inbound, bot))
            case _:
                text = _help(inbound, bot)
        return text, state.head

    async def _memory(self, aside: ImmediateCommand, inbound: Inbound, bot: BotConfig, home: str) -> str:
        question = argument_of(inbound.text)
        if not question:
            return await remembered(self._memories, bot, home)
        if wait_s := await self._wait_s(aside, inbound, bot):
            return say("command_delayed", bot.language, seconds=math.ceil(wait_s))
        return await found_again(self._process.recaller, bot, home, question)

    async def _remind(self, aside: ImmediateCommand, inbound: Inbound, bot: BotConfig, state: SessionState) -> str:
        if inbound.command == "reminders":
            return await self._desk.list_said(inbound, bot)
        scope = state.scope or scope_of(inbound, bot)
        text = argument_of(inbound.text)
        return await self._desk.remind_said(inbound, bot, text=text, scope=scope, at=_stream_id(aside))

    async def _wait_s(self, aside: ImmediateCommand, inbound: Inbound, bot: BotConfig) -> float:
        """How long a command would have to wait that does more than to read a few keys."""
        if not bot.limits.any_messages:
            return 0.0
        user = User(bot=inbound.bot, session=aside.session, channel=inbound.channel, sender_id=inbound.sender_id)
        room = await Limits(self._bus).take(
            user, bot.limits.messages_per_minute, message=_stream_id(aside), count=1, claim="", aside=True
        )
        return room.wait_s

    async def _home(self, state: SessionState, inbound: Inbound, bot: BotConfig) -> str:
        # Nothing was said in a session that is not there yet; its first message will fix its scope so.
        return await self._memories.home(state.scope or scope_of(inbound, bot))

    async def _bury(self, aside: ImmediateCommand, reason: str) -> None:
        if await self._asides.bury(aside, reason=reason):
            _log.error("aside.dead", session=aside.session, reason=reason)


def _help(inbound: Inbound, bot: BotConfig) -> str:
    """The commands; in a group only those that the sender may use there."""
    lines = say("help", bot.language).splitlines()
    if inbound.chat_kind == "group":
        lines = [line for line in lines if line[:1] != "/" or may(bot, inbound, line.split()[0][1:])]
    return "\n".join([*lines, say("help_admins", bot.language)] if is_admin(bot, inbound) else lines)


def _reply(aside: ImmediateCommand, inbound: Inbound, text: str, *, turn: int) -> Reply:
    # Named by the command's own place: a turn's reply is named by a head, so the two are never alike.
    name = f"{aside.session}#aside-{_stream_id(aside)}"
    return Reply(
        id=name,
        session=aside.session,
        turn=turn,
        text=text,
        correlation=inbound.correlation,
        reply_to=answered_as(inbound),
        answers=(inbound.id,),
    )


def _stream_id(aside: ImmediateCommand) -> str:
    """The command's place among all messages."""
    return aside.member.rpartition(" ")[2]
