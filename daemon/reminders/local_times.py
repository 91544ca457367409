"""Times as people mean them: on the clock of a time zone, where an hour may be missing or come twice. Pure."""

import datetime as dt
import re
from dataclasses import dataclass
from typing import Literal
from zoneinfo import ZoneInfo

from daemon.config import zone_problem
from daemon.reminders.reminder_refusal import ReminderRefused

FAR_S = 10 * 366 * 86_400.0
"""How far ahead a reminder may lie: ten years. Nobody knows the rules of time zones for later."""

_UNITS = {
    **dict.fromkeys(("m", "min", "minute", "minutes", "分钟"), 60),
    **dict.fromkeys(("h", "hour", "hours", "小时"), 3_600),
    **dict.fromkeys(("d", "day", "days", "天"), 86_400),
}
_DURATION = re.compile(r"(\d{1,6}) ?([a-z]+|分钟|小时|天)后?", re.IGNORECASE)
_CLOCK = re.compile(r"(?:(\d{4}-\d\d-\d\d|today|tomorrow|今天|明天)[T ])?(\d{1,2}:\d\d(?::\d\d)?)", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d\d-\d\d|today|tomorrow|今天|明天", re.IGNORECASE)
_DAYS = {"today": 0, "今天": 0, "tomorrow": 1, "明天": 1}


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A time of a zone's clock."""

    local: dt.datetime
    """As it was meant, without a zone."""
    utc: dt.datetime
    """When that is, with a zone."""
    clock: Literal["", "missing", "twice"] = ""
    """``missing``: the clocks skip this time, so it is meant as much later; ``twice``: the first of both is meant."""


def zone_of(name: str) -> ZoneInfo:
    """The time zone of an IANA name.

    Raises:
        ReminderRefused: there is no such zone.
    """
    if zone_problem(name):
        raise ReminderRefused("remind_zone", name=name[:60])
    return ZoneInfo(name)


def on_clock(local: dt.datetime, zone: ZoneInfo) -> Moment:
    """When ``local`` is on the clocks of ``zone``.

    A time that is skipped when summer time begins moves forward by what is skipped; of a time that comes twice when
    it ends, the first one counts (RFC 5545, 3.3.5).
    """
    first, second = local.replace(tzinfo=zone, fold=0), local.replace(tzinfo=zone, fold=1)
    utc = first.astimezone(dt.UTC)
    if first.utcoffset() == second.utcoffset():
        return Moment(local=local, utc=utc)
    is_missing = utc.astimezone(zone).replace(tzinfo=None) != local
    return Moment(local=local, utc=utc, clock="missing" if is_missing else "twice")


def moment_from(text: str, zone: ZoneInfo, *, now: dt.datetime, takes_days: bool = False) -> Moment:
    """The time that ``text`` names: ``09:00``, ``tomorrow 09:00``, ``2026-11-27 09:00``, ISO 8601, or ``90m`` from now.

    A day without a time of day is its first moment if ``takes_days``.

    Raises:
        ReminderRefused: it names none, or one that is past or too far ahead.
    """
    text = text.strip().replace("：", ":")
    if not takes_days and _DAY.fullmatch(text):
        raise ReminderRefused("remind_day", text=text)
    found = _moment(text, zone, now)
    if found is None:
        raise ReminderRefused("remind_when", text=text[:60])
    if found.utc <= now:
        raise ReminderRefused("remind_past", time=shown(found.utc, zone), now=shown(now, zone))
    if (found.utc - now).total_seconds() > FAR_S:
        raise ReminderRefused("remind_far")
    return found


def shown(moment: dt.datetime, zone: ZoneInfo) -> str:
    """A time for people, with its zone."""
    local = moment.astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M} ({zone.key}{'' if zone.key == 'UTC' else f', UTC{local:%z}'})"


def _moment(text: str, zone: ZoneInfo, now: dt.datetime) -> Moment | None:
    try:
        if length := _DURATION.fullmatch(text):
            unit_s = _UNITS.get(length[2].lower())
            if unit_s is None:
                return None
            return _at(now + dt.timedelta(seconds=int(length[1]) * unit_s), zone)
        if clock := _CLOCK.fullmatch(text):
            return _of_day(clock[1], clock[2], zone, now)
        given = dt.datetime.fromisoformat(text)
        return on_clock(given, zone) if given.tzinfo is None else _at(given, zone)
    except (ValueError, OverflowError):
        return None


def _at(moment: dt.datetime, zone: ZoneInfo) -> Moment:
    local = moment.astimezone(zone)
    # Exactly this time, also of an hour that comes twice.
    return Moment(local=local.replace(tzinfo=None, fold=0), utc=moment.astimezone(dt.UTC))


def _of_day(day: str | None, clock: str, zone: ZoneInfo, now: dt.datetime) -> Moment:
    today = now.astimezone(zone).date()
    time = dt.time.fromisoformat(clock if clock[2:3] == ":" else f"0{clock}")
    if day is None:
        found = on_clock(dt.datetime.combine(today, time), zone)
        return found if found.utc > now else on_clock(dt.datetime.combine(today + dt.timedelta(1), time), zone)
    ahead = _DAYS.get(day.lower())
    date = dt.date.fromisoformat(day) if ahead is None else today + dt.timedelta(ahead)
    return on_clock(dt.datetime.combine(date, time), zone)
