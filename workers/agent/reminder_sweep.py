"""Fires reminders whose time has come. Every agent worker looks; one script decides, so each fires once.

No lease, claim or leader has to expire after a worker dies: the next look of any other worker finds the same reminders.
A look at one partition waits for no other partition. Reminders that this process cannot fire now are left out of its
next looks, so they delay no other reminder, and stay due for the other workers.
"""

from functools import partial

import anyio
import msgspec
import structlog
from anyio import to_thread

from daemon import metrics
from daemon.concurrency import until_tick
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

LOOK_S = 1.0
"""Longest pause between two looks. A reminder that a look has seen fires on time, because the next look waits no longer
than that: so late may fire what was set less than this before it is due."""

SOONEST_S = 0.02
"""Shortest pause: reminders that are due close together share a look."""

UNKNOWN_S = 5.0
"""How long this process leaves out a reminder whose bot is not configured here. Other workers may know the bot."""

FAILED_S = 60.0
"""How long this process leaves out a reminder that it failed to fire."""

FULL_S = 1.0
"""How long this process leaves out the reminders of a session that has too many pending messages."""

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
        self._left_out: dict[int, dict[str, float]] = {}
        """Members of ``upcoming`` that are left out here, by partition, until a time of the event loop's clock."""
        self._full: dict[str, float] = {}
        """Sessions that have too many pending messages, until a time of the event loop's clock."""

    async def run(self) -> None:
        """Fire, for ever."""
        async with anyio.create_task_group() as tg:
            for partition in range(self._process.bus.keys.partitions):
                tg.start_soon(self._run_for, partition)

    async def _run_for(self, partition: int) -> None:
        while True:
            try:
                pause_s = await self.look(partition)
            except* BusError as group:
                _log.debug("reminders.away", reason=brief(group.exceptions[0]))
                pause_s = LOOK_S
            await anyio.sleep(max(SOONEST_S, min(pause_s, until_tick(LOOK_S))))

    async def look(self, partition: int) -> float:
        """Fire the due reminders of a partition, and return how long the next look may wait (s)."""
        now_s = anyio.current_time()
        left_out = {name: until for name, until in self._left_out.get(partition, {}).items() if until > now_s}
        self._left_out[partition] = left_out
        self._full = {session: until for session, until in self._full.items() if until > now_s}
        overdue = await self._reminders.overdue(partition, without=left_out)
        async with anyio.create_task_group() as tg:
            for stored in overdue.reminders:
                tg.start_soon(self._fire_one, stored, overdue, left_out)
        return 0.0 if overdue.is_more else LOOK_S if overdue.next_s is None else overdue.next_s

    async def _fire_one(self, stored: StoredReminder, overdue: OverdueReminders, left_out: dict[str, float]) -> None:
        async with self._slots:
            try:
                if stored.session not in self._full:
                    await self._fire(stored, overdue)
            except BusError:
                raise
            except ConfigError as error:
                _log.debug("reminder.unknown", session=stored.session, reason=brief(error))
                left_out[stored.member] = anyio.current_time() + UNKNOWN_S
            except Exception as error:  # noqa: BLE001 - the service's top: one reminder must not hold up the others
                # Such as a time zone that this machine does not know.
                _log.exception("reminder.failed", session=stored.session, reason=type(error).__name__)
                left_out[stored.member] = anyio.current_time() + FAILED_S
            if until := self._full.get(stored.session):
                left_out[stored.member] = until

    async def _fire(self, stored: StoredReminder, overdue: OverdueReminders) -> None:
        reminder = stored.reminder
        if reminder is None:
            _log.error("reminder.unreadable", session=stored.session)
            await self._reminders.look_later(stored, now=overdue.now, seconds=SPOILT_S)
            return
        delay = await self._delays.delay(reminder, overdue.now)
        if delay is not None:
            await self._delay(stored, reminder, delay)
            return
        after = None
        if reminder.rule:  # up to a second for a rule that has no further occurrence
            after = await to_thread.run_sync(partial(following, reminder, now=overdue.now))
        fired = await self._reminders.fire(stored, reminder, after, now=overdue.now)
        if fired == "full":
            self._full[stored.session] = anyio.current_time() + FULL_S
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
