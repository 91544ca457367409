"""The role ``agent``: takes ready sessions and answers them, until the process stops."""

import gc
from functools import partial

import anyio
import structlog
from anyio import to_thread

from daemon.heartbeat import NOWHERE, beat
from daemon.model import said
from daemon.process import Process
from daemon.recall import Recaller
from daemon.reminders import load_phrases
from daemon.session import Sessions
from workers.agent.announcements import Announcements
from workers.agent.bot_runtime import Kits
from workers.agent.commands.immediate_answers import ImmediateAnswers
from workers.agent.reminder_sweep import ReminderSweep
from workers.agent.turn import Turns
from workers.consolidation import stand_in
from workers.model_health import ask_anew
from workers.session_consumer import SessionConsumer
from workers.tools.registry import load_checks

_log = structlog.get_logger()


async def serve(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Answer messages; returns when the process stops and every turn is finished or handed over.

    Messages are answered when all is loaded that most first turns need, and it is started when everything is loaded.
    """
    announcements = Announcements(process)
    sessions = Sessions(process.bus, process.config.queue, worker=process.name, still_parked=announcements.still_parked)
    turns = Turns(process, sessions, announcements)
    consumer = SessionConsumer(process, sessions, turns, slots=process.config.agent.slots)
    try:
        async with anyio.create_task_group() as tg:
            tg.start_soon(beat, process, "agent", lambda: consumer.holding, NOWHERE, turns.report)
            tg.start_soon(ReminderSweep(process).run)  # it needs nothing of what is loaded below
            await ask_anew(process)
            tg.start_soon(turns.live.run)
            tg.start_soon(turns.histories.run)
            tg.start_soon(announcements.run)
            tg.start_soon(turns.pauses.run, process.listener)
            turns.consolidator.open(tg)
            tg.start_soon(stand_in, turns.consolidator)
            await tg.start(turns.equipment.servers.run)
            await process.unless_stopping(partial(_warm, turns.kits, process.recaller))
            tg.start_soon(ImmediateAnswers(process, turns.kits, turns.equipment).run)
            tg.start_soon(process.recaller.run)
            async with anyio.create_task_group() as answering:
                answering.start_soon(consumer.run)
                await process.unless_stopping(partial(_load_rest, process.recaller))
                task_status.started()
            tg.cancel_scope.cancel()
    finally:
        with anyio.move_on_after(1, shield=True):
            await turns.aclose()


async def _warm(kits: Kits, recaller: Recaller) -> None:
    # First what the first answer needs.
    await kits.warm()
    await recaller.warm()


async def _load_rest(recaller: Recaller) -> None:
    # Few first turns need a date in other languages, the time of a reminder, or a tool; the first text that is filtered
    # compiles expressions for 5 ms.
    await recaller.load_other_dates()
    for load in (load_phrases, load_checks, partial(said, "text")):
        await to_thread.run_sync(load, abandon_on_cancel=True)
    # Modules and vocabularies live as long as the process: each full collection that looked at them would hold the
    # event loop up for 80 ms.
    gc.freeze()
