"""The reasons why a due reminder does not fire yet: quiet hours, daily limits, missing access, and silent chats."""

import datetime as dt
from functools import lru_cache
from zoneinfo import ZoneInfo

import msgspec
import structlog

from daemon.access import Access, Speaker, is_listed, verdict
from daemon.config import BotConfig, PushConfig
from daemon.errors import ArchiveError, ConfigError, brief
from daemon.process import Process
from daemon.reminders import Reminder, Reminders, preferences_of, zone_of
from daemon.reminders.reminder import Held
from daemon.session import SessionReader
from daemon.usage import day_of

LOOK_AGAIN_S = 600.0
"""How often is looked whether a person has written or was admitted: so much later the reminder fires."""

PAGE = 100
"""Log entries that are looked at together for the last message of a person."""

_log = structlog.get_logger()


class Delay(msgspec.Struct, frozen=True, kw_only=True):
    """A reminder may not fire yet."""

    held: Held
    until: dt.datetime | None
    """None: until the person wants reminders again."""


class ReminderDelays:
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
        """Whether no person has written to the chat for so many days, as far as can be read."""
        since = now - dt.timedelta(days=days)
        if dt.datetime.fromisoformat(reminder.made_at) > since:
            return False
        state = await self._reader.state(reminder.session)
        if state.waiting:
            return False
        upto, transcripts = state.head, self._process.transcripts
        try:
            while entries := await transcripts.newest(reminder.session, before=upto, limit=PAGE):
                for _, entry in reversed(entries):
                    is_old = dt.datetime.fromisoformat(entry.time) < since
                    if is_old or (entry.id and not entry.is_reminder):
                        return is_old
                upto, _ = entries[0]
        except ArchiveError as error:
            _log.warning("reminder.unread", session=reminder.session, reason=brief(error))
            return False
        return True


def quiet_until(hours: str, now: dt.datetime, zone: ZoneInfo) -> dt.datetime | None:
    """When the quiet ``hours`` (``22:00-07:00``) end that it is ``now`` in ``zone``; None: it is none of them."""
    if not hours:
        return None
    minute = now.astimezone(dt.UTC).replace(second=0, microsecond=0)
    end = _quiet_end(hours, minute, zone)
    return end if end > minute else None


@lru_cache(maxsize=64)
def _quiet_end(hours: str, minute: dt.datetime, zone: ZoneInfo) -> dt.datetime:
    """The first minute that is not quiet. Its clock may never show the end, or show it twice, so each minute is asked.

    This takes some milliseconds, once for all reminders that are due in the same minute.
    """
    begin, end = (dt.time.fromisoformat(part) for part in hours.split("-"))
    while True:
        time = minute.astimezone(zone).time()
        if not (begin <= time < end if begin < end else begin != end and (time >= begin or time < end)):
            return minute
        minute += dt.timedelta(minutes=1)


def tomorrow(now: dt.datetime, zone: ZoneInfo) -> dt.datetime:
    """When the next day begins in ``zone``."""
    day = now.astimezone(zone).date() + dt.timedelta(days=1)
    return dt.datetime.combine(day, dt.time(), zone).astimezone(dt.UTC)
