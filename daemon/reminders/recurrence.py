"""Repeating reminders: recurrence rules (RFC 5545, by python-dateutil) and cron expressions (by cronsim). Pure.

Both count on the clock of the person's zone, without a zone: "every day at eight" is eight o'clock in summer and in
winter. ``times.on_clock`` says when that is.
"""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise, takewhile
from typing import Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from dateutil.rrule import rrule, rruleset, rrulestr

from daemon.config import zone_problem
from daemon.reminders.reminder import ReminderRefused

# Times as people mean them: on the clock of a time zone, where an hour may be missing or come twice. Pure.

FAR_S = 10 * 366 * 86_400.0
"""How far ahead a reminder may lie: ten years. Nobody knows the rules of time zones for later."""

_UNITS = {
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes", "分钟"), 60),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "小时", "个小时"), 3_600),
    **dict.fromkeys(("d", "day", "days", "天"), 86_400),
    **dict.fromkeys(("w", "week", "weeks", "周", "星期"), 604_800),
}
DURATION = r"(?:in\s+)?(?:\d{1,6}\s?[a-z]+\b|(?:\d{1,6}|半)\s?(?:分钟|个?小时|天|周|星期)后?)"
"""A delay from now, for a regular expression."""
_DURATION = re.compile(r"(?:in )?(\d{1,6}|半) ?(\w+?)后?", re.IGNORECASE)
_DAYS = {"today": 0, "今天": 0, "tomorrow": 1, "明天": 1, "后天": 2, "大后天": 3}
DAYS = "|".join((r"\d{4}-\d\d-\d\d", *sorted(_DAYS, key=len, reverse=True)))
"""Names of days, for a regular expression."""
_CLOCK = re.compile(rf"(?:({DAYS})[T ])?(\d{{1,2}}:\d\d(?::\d\d)?|\d{{1,2}}(?= ?[ap]m))(?: ?([ap]m))?", re.IGNORECASE)


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

    A day without a time of day counts to its end if ``takes_days``.

    Raises:
        ReminderRefused: it names none, or one that is past or too far ahead.
    """
    text = text.strip().replace("：", ":")
    date = _date(text, zone, now)
    if date is not None and not takes_days:
        raise ReminderRefused("remind_day", text=text)
    found = on_clock(dt.datetime.combine(date, _LAST), zone) if date is not None else _moment(text, zone, now)
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


_LAST = dt.time(23, 59, 59)


def _date(text: str, zone: ZoneInfo, now: dt.datetime) -> dt.date | None:
    """The day that ``text`` names; None: it names none, or a time of day too."""
    ahead = _DAYS.get(text.lower())
    try:
        return dt.date.fromisoformat(text) if ahead is None else _day(ahead, zone, now)
    except ValueError:
        return None


def _day(ahead: int, zone: ZoneInfo, now: dt.datetime) -> dt.date:
    return now.astimezone(zone).date() + dt.timedelta(ahead)


def _moment(text: str, zone: ZoneInfo, now: dt.datetime) -> Moment | None:
    try:
        if clock := _CLOCK.fullmatch(text):
            return _of_day(clock[1], _time(clock[2], clock[3] or ""), zone, now)
        if length := _DURATION.fullmatch(text):
            unit_s = _UNITS.get(length[2].lower())
            if unit_s is None:
                return None
            count = 0.5 if length[1] == "半" else int(length[1])
            return _at(now + dt.timedelta(seconds=count * unit_s), zone)
        given = dt.datetime.fromisoformat(text)
        return on_clock(given, zone) if given.tzinfo is None else _at(given, zone)
    except (ValueError, OverflowError):
        return None


def _at(moment: dt.datetime, zone: ZoneInfo) -> Moment:
    local = moment.astimezone(zone)
    # Exactly this time, also of an hour that comes twice.
    return Moment(local=local.replace(tzinfo=None, fold=0), utc=moment.astimezone(dt.UTC))


def _time(clock: str, half: str) -> dt.time:
    """A time of day; ``half``: am, pm or none. Raises ValueError: there is no such time."""
    hour, _, rest = clock.partition(":")
    if not half:
        return dt.time.fromisoformat(f"{int(hour):02}:{rest}")
    if not 1 <= int(hour) <= 12:
        raise ValueError(clock)
    return dt.time.fromisoformat(f"{int(hour) % 12 + 12 * (half.lower() == 'pm'):02}:{rest or '00'}")


def _of_day(day: str | None, time: dt.time, zone: ZoneInfo, now: dt.datetime) -> Moment:
    today = _day(0, zone, now)
    if day is None:
        found = on_clock(dt.datetime.combine(today, time), zone)
        return found if found.utc > now else on_clock(dt.datetime.combine(today + dt.timedelta(1), time), zone)
    date = _date(day, zone, now)
    if date is None:
        raise ValueError(day)
    return on_clock(dt.datetime.combine(date, time), zone)


CRON = "cron "
"""How the rule of a cron expression begins."""

RULE_MAX_CHARS = 200

SOONEST_S = 900.0
"""Shortest time between two occurrences: a quarter of an hour."""

SHIFT_YEARS = 19 * 400
"""Rules are worked out so many years ahead. The calendar repeats every 400 years, weekdays included. python-dateutil
looks for an occurrence until the year 9999 (``rrule._iter``). For a rule that has none, this takes several seconds from
today, and less than a second from here."""

LOOKED_AT = 60
"""Occurrences whose distances are looked at; a cron expression for some minutes of an hour shows within so many."""

WORDS = {
    **dict.fromkeys(("daily", "每天"), "FREQ=DAILY"),
    **dict.fromkeys(("weekdays", "工作日"), "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
    **dict.fromkeys(("weekly", "每周"), "FREQ=WEEKLY"),
    **dict.fromkeys(("monthly", "每月"), "FREQ=MONTHLY"),
    **dict.fromkeys(("yearly", "每年"), "FREQ=YEARLY"),
}
"""What people say for the most usual rules."""

_NUMBER = re.compile(r"[1-9]\d{0,3}")
"""An interval or a count. Of the interval 0, python-dateutil looks for the next occurrence for ever."""

_OFTEN = ("SECONDLY", "MINUTELY")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A rule that was read."""

    text: str
    """As it is stored: without the start, end and number of occurrences."""
    until: dt.datetime | None = None
    """Its own end, on the zone's clock unless it has a zone itself."""
    count: int = 0
    """Its own number of occurrences; 0: no limit."""


def rule_from(text: str) -> Rule:
    """The rule of ``FREQ=…``, ``daily`` and the like, or ``cron 0 8 * * 1-5``.

    Raises:
        ReminderRefused: it is none, or repeats too often.
    """
    given = " ".join(text.split())
    if len(given) > RULE_MAX_CHARS:
        raise ReminderRefused("remind_rule", rule=given[:60])
    if given.lower().startswith(CRON):
        cron = given[len(CRON) :]
        try:
            CronSim(cron, dt.datetime(2026, 1, 1))  # noqa: DTZ001 - on the clock of any zone
        except CronSimError as error:
            raise ReminderRefused("remind_cron", rule=cron[:60], problem=str(error)) from error
        if len(cron.split()) != 5:
            raise ReminderRefused("remind_cron", rule=cron[:60], problem="5 fields are needed")
        return Rule(text=CRON + cron)
    return _rrule_from(WORDS.get(given.lower(), given.upper().removeprefix("RRULE:")))


def _rrule_from(text: str) -> Rule:
    parts = _parts(text)
    until, count = parts.pop("UNTIL", ""), parts.pop("COUNT", "")
    plain = ";".join(f"{name}={value}" for name, value in parts.items())
    numbers = (parts.get("INTERVAL", "1"), count or "1")
    if not text.isascii() or "FREQ" not in parts or len(parts) + bool(until) + bool(count) != text.count(";") + 1:
        raise ReminderRefused("remind_rule", rule=text[:60])
    # Of day 0, python-dateutil makes every day.
    if not all(map(_NUMBER.fullmatch, numbers)) or "0" in parts.get("BYMONTHDAY", "").split(","):
        raise ReminderRefused("remind_rule", rule=text[:60])
    if parts["FREQ"] in _OFTEN or "BYSECOND" in parts:
        raise ReminderRefused("remind_often", minutes=round(SOONEST_S / 60))
    try:
        _rrule(plain, dt.datetime(2026, 1, 1))  # noqa: DTZ001 - on the clock of any zone
        return Rule(text=plain, until=_end(until) if until else None, count=int(count or 0))
    except (ValueError, TypeError, OverflowError, AttributeError, KeyError) as error:
        raise ReminderRefused("remind_rule", rule=text[:60]) from error


def _parts(rule: str) -> dict[str, str]:
    return {name: value for name, _, value in (part.partition("=") for part in rule.split(";"))}


def _end(text: str) -> dt.datetime:
    end = dt.datetime.fromisoformat(text)
    return end if "T" in text else end + dt.timedelta(days=1, seconds=-1)  # a day counts to its end


def _rrule(text: str, start: dt.datetime) -> rrule:
    found: rrule | rruleset = rrulestr(text, dtstart=start)
    if not isinstance(found, rrule):
        raise TypeError(text)
    return found.replace(dtstart=_shifted(start, SHIFT_YEARS))


def _shifted(local: dt.datetime, years: int) -> dt.datetime:
    return local.replace(year=local.year + years)


def occurrences(rule: str, after: Moment, zone: ZoneInfo) -> Iterator[Moment]:
    """The occurrences after one of them, each later than the one before; at most ten years ahead.

    Two that a skipped hour would put at the same time are one.
    """
    last = after.utc
    for local in _locals(rule, after.local):
        found = on_clock(local, zone)
        if found.utc > last:
            last = found.utc
            yield found


def _locals(rule: str, after: dt.datetime) -> Iterator[dt.datetime]:
    latest = after + dt.timedelta(seconds=FAR_S)
    if rule.startswith(CRON):
        found: Iterator[dt.datetime] = CronSim(rule.removeprefix(CRON), after)
    else:
        far = _rrule(rule, after).xafter(_shifted(after, SHIFT_YEARS))
        found = (_shifted(local, -SHIFT_YEARS) for local in far)
    yield from takewhile(lambda local: local <= latest, found)


def first_of(rule: Rule, start: Moment, zone: ZoneInfo) -> Moment:
    """The first occurrence at or after ``start``.

    Raises:
        ReminderRefused: there is none, or the rule repeats too often.
    """
    second = dt.timedelta(seconds=1)
    before = Moment(local=start.local - second, utc=start.utc - second)
    found = _first(rule.text, start, before, zone)
    if found is None:
        raise ReminderRefused("remind_never")
    if (found.utc - start.utc).total_seconds() > FAR_S:
        raise ReminderRefused("remind_far")
    near = [found, *islice(occurrences(rule.text, found, zone), LOOKED_AT)]
    if any((late.utc - soon.utc).total_seconds() < SOONEST_S for soon, late in pairwise(near)):
        raise ReminderRefused("remind_often", minutes=round(SOONEST_S / 60))
    return found


def _first(rule: str, start: Moment, before: Moment, zone: ZoneInfo) -> Moment | None:
    if rule.startswith(CRON):
        return next(occurrences(rule, before, zone), None)
    # A rule counts from its start, which belongs to it only if it fits.
    local = _rrule(rule, start.local).after(_shifted(start.local, SHIFT_YEARS), inc=True)
    return None if local is None else on_clock(_shifted(local, -SHIFT_YEARS), zone)


def skips_years(rule: str, local: dt.datetime) -> bool:
    """Whether a rule whose occurrence is at ``local`` is for 29 February alone."""
    is_yearly = _parts(rule).get("FREQ") == "YEARLY" if not rule.startswith(CRON) else rule.split()[3:5] == ["29", "2"]
    return is_yearly and (local.month, local.day) == (2, 29)


def skips_months(rule: str, local: dt.datetime) -> bool:
    """Whether a rule whose occurrence is at ``local`` is for a day that not every month has."""
    if rule.startswith(CRON):
        fields = rule.removeprefix(CRON).split()
        return fields[2].isdecimal() and int(fields[2]) > 28 and fields[3] == "*"
    parts = _parts(rule)
    if parts.get("FREQ") != "MONTHLY" or "BYDAY" in parts:
        return False
    days = parts.get("BYMONTHDAY", str(local.day)).split(",")
    return all(day.isdecimal() and int(day) > 28 for day in days)
