"""Fires reminders whose time has come. Every agent worker looks; one script decides, so each fires once."""

import random
from functools import partial

import anyio
import msgspec
import structlog
from anyio import to_thread

from daemon import metrics
from daemon.errors import BusError, ConfigError, brief
from daemon.process import Process
from daemon.reminders import (
    OverdueReminders,
    Reminder,
    Reminders,
    StoredReminder,
    following,
    is_late,
)
from workers.agent.reminder_delays import Delay, ReminderDelays

LOOK_S = 0.5
"""Longest pause between two looks: so late a reminder may fire when the workers are running."""

SOONEST_S = 0.02
"""Shortest pause: reminders that are due close together share a look."""

UNKNOWN_S = 5.0
"""When is looked again at a reminder whose bot is not configured here: another process may know the bot."""

SPOILT_S = 3_600.0
"""When is looked again at a reminder that cannot be read."""

AT_ONCE = 32
"""Reminders that a process fires at a time."""

_log = structlog.get_logger()


class ReminderSweep:
    """Looks for one process; ``run`` must be running in a task group."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._reminders = Reminders(process.bus, process.config.queue)
        self._delays = ReminderDelays(process, self._reminders)
        self._slots = anyio.CapacityLimiter(AT_ONCE)

    async def run(self) -> None:
        """Fire, for ever."""
        while True:
            try:
                pause_s = await self.look()
            except* BusError as group:
                _log.debug("reminders.away", reason=brief(group.exceptions[0]))
                pause_s = LOOK_S
            await anyio.sleep(max(SOONEST_S, min(pause_s, LOOK_S)))

    async def look(self) -> float:
        """Fire what is due in all partitions, and say how long the next look may wait."""
        partitions = list(range(self._process.bus.keys.partitions))
        random.shuffle(partitions)  # several processes look at the same time
        pauses: list[float] = []

        async def look_at(partition: int) -> None:
            overdue = await self._reminders.overdue(partition)
            async with anyio.create_task_group() as tg:
                for stored in overdue.reminders:
                    tg.start_soon(self._fire_one, stored, overdue)
            pauses.append(0.0 if overdue.is_more else LOOK_S if overdue.next_s is None else overdue.next_s)

        async with anyio.create_task_group() as tg:
            for partition in partitions:
                tg.start_soon(look_at, partition)
        return min(pauses)

    async def _fire_one(self, stored: StoredReminder, overdue: OverdueReminders) -> None:
        async with self._slots:
            try:
                await self._fire(stored, overdue)
            except BusError:
                raise
            except ConfigError as error:
                _log.debug("reminder.unknown", session=stored.session, reason=brief(error))
                await self._put_off(stored, overdue, seconds=UNKNOWN_S)
            except Exception as error:  # noqa: BLE001 - the service's top: one reminder must not hold up the others
                # Such as a time zone that this machine does not know.
                _log.exception("reminder.failed", session=stored.session, reason=type(error).__name__)
                await self._put_off(stored, overdue, seconds=SPOILT_S)

    async def _fire(self, stored: StoredReminder, overdue: OverdueReminders) -> None:
        reminder = stored.reminder
        if reminder is None:
            _log.error("reminder.unreadable", session=stored.session)
            await self._put_off(stored, overdue, seconds=SPOILT_S)
            return
        delay = await self._delays.delay(reminder, overdue.now)
        if delay is not None:
            await self._delay(stored, reminder, delay)
            return
        after = None
        if reminder.rule:  # seconds for a rule that has no further occurrence
            after = await to_thread.run_sync(partial(following, reminder, now=overdue.now))
        fired = await self._reminders.fire(stored, reminder, after, now=overdue.now)
        if fired == "fired":
            late = is_late(reminder.due, overdue.now)
            metrics.REMINDERS.labels("late" if late else "fired").inc()
            late_s = (overdue.now.timestamp() * 1000 - reminder.due_ms) / 1000
            _log.info("reminder.fired", session=stored.session, bot=reminder.bot, waited_s=round(late_s, 3))

    async def _delay(self, stored: StoredReminder, reminder: Reminder, delay: Delay) -> None:
        held = msgspec.structs.replace(reminder, held=delay.held, paused=delay.until is None)
        if await self._reminders.change(stored, held, look_at=delay.until) and held != reminder:
            metrics.REMINDERS.labels("delayed").inc()
            _log.info("reminder.delayed", session=stored.session, bot=reminder.bot, reason=delay.held)

    async def _put_off(self, stored: StoredReminder, overdue: OverdueReminders, *, seconds: float) -> None:
        await self._reminders.look_later(stored, now=overdue.now, seconds=seconds)
