"""Answers ``/status``, ``/usage`` and ``/help`` at once, whatever their session is doing."""

import anyio
import structlog

from daemon.clock import age_s, stamp
from daemon.errors import BusError, ConfigError
from daemon.events import Inbound, Notice, Reply
from daemon.process import Process
from daemon.session import Aside, Asides, SessionReader, SessionState
from daemon.usage import User
from daemon.wording import Language
from daemon.wording import text as say
from workers.agent.kits import Kits
from workers.agent.progress import Kit
from workers.agent.spending import spending

LOOK_S = 5.0
"""How often is looked when nothing is heard: what was said may have been missed."""

AWAY_PAUSE_S = 0.5
"""Pause when Redis is away."""

_log = structlog.get_logger()


class Speaker:
    """Answers what is asked aside, in every partition; ``run`` must be running in a task group."""

    def __init__(self, process: Process, kits: Kits) -> None:
        self._process = process
        self._bus = process.bus
        self._kits = kits
        self._asides = Asides(process.bus, process.config.queue)
        self._reader = SessionReader(process.bus)

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
                    _log.warning("aside.delayed", reason=str(group.exceptions[0]))
                    await anyio.sleep(AWAY_PAUSE_S)

    async def _answer_all(self, partition: int) -> None:
        last = ""
        while found := await self._asides.waiting(partition, after=last):
            for aside in found:
                await self._answer(aside)
            last = found[-1].member

    async def _answer(self, aside: Aside) -> None:
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

    async def _answer_readable(self, aside: Aside, inbound: Inbound) -> None:
        try:
            kit = await self._kits.of(inbound.bot)
        except ConfigError as error:
            _log.debug("aside.unknown_bot", reason=str(error))  # another process may know it
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

    async def _say(self, aside: Aside, inbound: Inbound, kit: Kit) -> bool:
        state = await self._reader.state(aside.session)
        text = say("help", kit.language)
        if inbound.command == "status":
            text = status(state, kit, now_ms=await self._reader.now_ms())
        elif inbound.command == "usage":
            user = User(bot=inbound.bot, session=aside.session, channel=inbound.channel, sender_id=inbound.sender_id)
            text = await spending(self._bus, user, self._process.bot(inbound.bot), self._process.clock)
        notice = Notice(kind="aside", text=text, time=stamp(self._process.clock.now()), message_id=inbound.id)
        reply = _reply(aside, inbound, text, turn=state.head) if inbound.delivery == "push" else None
        return await self._asides.answer(aside, notice, reply, out_channel=inbound.channel)

    async def _bury(self, aside: Aside, reason: str) -> None:
        if await self._asides.bury(aside, reason=reason):
            _log.error("aside.dead", session=aside.session, reason=reason)


def status(state: SessionState, kit: Kit, *, now_ms: int) -> str:
    """Where a conversation stands, for its people; times are the server's."""
    return say(
        "status",
        kit.language,
        model=kit.model.name,
        used=f"{min(kit.fixed_tokens + state.tokens_start, kit.budget_tokens):,}",
        budget=f"{kit.budget_tokens:,}",
        head=state.head,
        cursor=state.cursor,
        waiting=state.waiting,
        doing=_doing(state, kit.language, now_ms),
    )


def _doing(state: SessionState, language: Language, now_ms: int) -> str:
    if state.worker and state.lease_ms > now_ms:
        return say("status_running", language, seconds=_seconds(now_ms - state.since_ms))
    if state.retry_at_ms > now_ms:
        return say("status_parked", language, seconds=_seconds(state.retry_at_ms - now_ms))
    return say("status_queued" if state.waiting else "status_idle", language)


def _seconds(ms: int) -> int:
    return max(0, round(ms / 1000))


def _reply(aside: Aside, inbound: Inbound, text: str, *, turn: int) -> Reply:
    # Named by the command's own place: a turn's reply is named by a head, so the two are never alike.
    name = f"{aside.session}#aside-{aside.member.rpartition(' ')[2]}"
    return Reply(id=name, session=aside.session, turn=turn, text=text, correlation=inbound.correlation)
