"""Fires reminders whose time has come. Every agent worker looks; one script decides, so each fires once.

No lease, claim or leader has to expire after a worker dies: the next look of any other worker finds the same reminders.
A look at one partition waits for no other partition. Reminders that this process cannot fire now are left out of its
next looks, so they delay no other reminder, and stay due for the other workers.
"""

import datetime as dt
from dataclasses import dataclass
from functools import partial
from zoneinfo import ZoneInfo

import anyio
import msgspec
import structlog
from anyio import to_thread

from daemon import metrics
from daemon.access import Access, Speaker, is_listed, verdict
from daemon.config import BotConfig, PushConfig
from daemon.errors import BusError, ConfigError, brief
from daemon.process import Process
from daemon.reminders import (
    OverdueReminders,
    Reminder,
    Reminders,
    StoredReminder,
    following,
    is_late,
    preferences_of,
    zone_of,
)
from daemon.reminders.reminder import Held
from daemon.session import SessionReader
from daemon.usage import day_of

# When a reminder may not fire yet: quiet hours, limits of a day, and people who are not admitted or do not write.

LOOK_AGAIN_S = 600.0
"""How often is looked whether a person has written or was admitted: so much later the reminder fires."""

PAGE = 100
"""Log entries that are looked at together for the last message of a person."""

OF_REMINDER = "reminder-"
"""How the ids of messages begin that a reminder wrote."""


@dataclass(frozen=True, kw_only=True)
class Delay:
    """A reminder may not fire yet."""

    held: Held
    until: dt.datetime | None
    """None: until the person wants reminders again."""


class ReminderBounds:
    """The rules of one process's bots. All methods raise BusUnavailable when Redis is away."""

    def __init__(self, process: Process, reminders: Reminders) -> None:
        self._process = process
        self._reminders = reminders
        self._reader = SessionReader(process.bus)
        self._access: dict[str, Access] = {}

    async def delay(self, reminder: Reminder, now: dt.datetime) -> Delay | None:
        """Why ``reminder`` may not fire ``now``; None: it may, and is counted.

        Raises:
            ConfigError: its bot or channel is not configured here.
        """
        bot = self._process.bot(reminder.bot)
        rules = bot.reminders
        if (await preferences_of(self._process.bus, reminder.bot, reminder.person)).stopped:
            return Delay(held="stopped", until=None)
        if until := quiet_until(rules.quiet_hours, now, zone_of(reminder.zone)):
            return Delay(held="quiet", until=until)
        later = now + dt.timedelta(seconds=LOOK_AGAIN_S)
        if not await self._is_admitted(reminder, bot):
            return Delay(held="access", until=later)
        if rules.written_within_days and await self._is_silent(reminder, now, days=rules.written_within_days):
            return Delay(held="silent", until=later)
        whose = await self._reminders.allow(
            reminder, day=day_of(now, bot.time_zone), person=rules.person_per_day, bot=rules.bot_per_day
        )
        return Delay(held=whose, until=tomorrow(now, zone_of(bot.time_zone))) if whose else None

    async def _is_admitted(self, reminder: Reminder, bot: BotConfig) -> bool:
        config = self._process.config.channels.get(reminder.channel)
        if config is None:
            raise ConfigError(f"the channel {reminder.channel} of a reminder is not configured here")
        if not isinstance(config, PushConfig):
            return True  # pull channels have no access rules
        access = self._access.setdefault(reminder.channel, Access(self._process.bus, reminder.channel))
        speaker = Speaker(
            sender=reminder.sender_id,
            chat=reminder.chat,
            in_group=reminder.chat_kind == "group",
            is_admin=is_listed(bot, channel=reminder.channel, sender=reminder.sender_id),
        )
        return verdict(config.access, await access.entries(), speaker) == "heard"

    async def _is_silent(self, reminder: Reminder, now: dt.datetime, *, days: int) -> bool:
        """Whether no person has written to the chat for so many days."""
        since = now - dt.timedelta(days=days)
        if dt.datetime.fromisoformat(reminder.made_at) > since:
            return False
        state = await self._reader.state(reminder.session)
        if state.waiting:
            return False
        upto = state.head
        while upto > state.base:
            first = max(state.base, upto - PAGE)
            for _, entry in reversed(
                await self._reader.committed(reminder.session, after=first - 1, limit=upto - first)
            ):
                if entry.id and not entry.id.startswith(OF_REMINDER):
                    return dt.datetime.fromisoformat(entry.time) < since
            upto = first
        return True


def quiet_until(hours: str, now: dt.datetime, zone: ZoneInfo) -> dt.datetime | None:
    """When the quiet ``hours`` (``22:00-07:00``) end that it is ``now`` in ``zone``; None: it is none of them."""
    if not hours:
        return None
    begin, end = (dt.time.fromisoformat(part) for part in hours.split("-"))
    local = now.astimezone(zone)
    time = local.time().replace(tzinfo=None)
    is_quiet = begin <= time < end if begin < end else begin != end and (time >= begin or time < end)
    if not is_quiet:
        return None
    day = local.date() if time < end else local.date() + dt.timedelta(days=1)
    return dt.datetime.combine(day, end, zone).astimezone(dt.UTC)


def tomorrow(now: dt.datetime, zone: ZoneInfo) -> dt.datetime:
    """When the next day begins in ``zone``."""
    day = now.astimezone(zone).date() + dt.timedelta(days=1)
    return dt.datetime.combine(day, dt.time(), zone).astimezone(dt.UTC)


LOOK_S = 0.5
"""Longest pause between two looks: so late a reminder may fire when the workers are running."""

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
        self._bounds = ReminderBounds(process, self._reminders)
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
            await anyio.sleep(max(SOONEST_S, min(pause_s, LOOK_S)))

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
        delay = await self._bounds.delay(reminder, overdue.now)
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
