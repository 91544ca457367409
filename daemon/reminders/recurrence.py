"""Repeating reminders: recurrence rules (RFC 5545, by python-dateutil) and cron expressions (by cronsim). Pure.

Both count on the clock of the person's zone, without a zone: "every day at eight" is eight o'clock in summer and in
winter. ``times.on_clock`` says when that is.
"""

import datetime as dt
import re
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from itertools import islice, pairwise, takewhile
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

import msgspec
from cronsim import CronSim, CronSimError
from dateutil.rrule import rrule, rruleset, rrulestr

from daemon.config import zone_problem
from daemon.reminders import phrase_days
from daemon.reminders.phrase_days import Days, Phrase
from daemon.reminders.reminder import ReminderRefused

# Times as people mean them: on the clock of a time zone, where an hour may be missing or come twice. Pure.

FAR_S = 10 * 366 * 86_400.0
"""How far ahead a reminder may lie: ten years. Nobody knows the rules of time zones for later."""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """A time of a zone's clock."""

    local: dt.datetime
    """As it was meant, without a zone."""
    utc: dt.datetime
    """When that is, with a zone."""
    clock: Literal["", "missing", "twice"] = ""
    """``missing``: the clocks skip this time, so it is meant as much later; ``twice``: the first of both is meant."""


NO_PLACES = ("Factory", "localtime", "posixrules")
"""Files of time zone databases that mean another time zone on each machine, or none."""


def zone_of(name: str) -> ZoneInfo:
    """The time zone of an IANA name, in any case.

    Raises:
        ReminderRefused: there is no such zone.
    """
    if zone_problem(name) or name in NO_PLACES:
        found = {each.lower(): each for each in available_timezones() if each not in NO_PLACES}.get(name.lower())
        if found is None:
            raise ReminderRefused("remind_zone", name=name[:60])
        name = found
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
    """The time that ``text`` names: in ISO 8601, or in words that ``time_phrases`` knows; a repetition's first one.

    A day without a time of day counts to its end if ``takes_days``.

    Raises:
        ReminderRefused: it names none, or one that is past or too far ahead.
    """
    text = text.strip()
    try:
        found = _moment(text, zone, now, takes_days=takes_days)
    except (ValueError, OverflowError):
        found = None
    if found is None:
        raise ReminderRefused("remind_when", text=text[:60])
    if found.utc <= now:
        raise ReminderRefused("remind_past", time=shown(found.utc, zone), now=shown(now, zone))
    if (found.utc - now).total_seconds() > FAR_S:
        raise ReminderRefused("remind_far")
    return found


def load_phrases() -> None:
    """Import the expressions for phrases. Otherwise, the first phrase would do it. Blocks for 0.1 s."""
    import_module("daemon.reminders.time_remainder")


def phrase_of(text: str) -> Phrase:
    """The phrase at the beginning of ``text``, as ``time_phrases.phrase_of`` reads it."""
    from daemon.reminders import time_phrases  # noqa: PLC0415 - see ``load_phrases``

    return time_phrases.phrase_of(text)


def repetition_in(text: str) -> str:
    """The rule that ``text`` names besides a time, such as ``every monday 9:00``; empty: none."""
    phrase = phrase_of(text.strip())
    return phrase.rule if phrase.end == len(text.strip()) else ""


def is_repetition(text: str) -> bool:
    """Whether ``text`` is a repetition alone, without a day, a time or a part of the day: ``daily``."""
    phrase = phrase_of(text.strip())
    has_time = phrase.days or phrase.has_part or phrase.time is not None or phrase.is_broken
    return bool(repetition_in(text)) and not has_time


def shown(moment: dt.datetime, zone: ZoneInfo) -> str:
    """A time for people, with its zone."""
    local = moment.astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M} ({zone.key}{'' if zone.key == 'UTC' else f', UTC{local:%z}'})"


_LAST = dt.time(23, 59, 59)


def _moment(text: str, zone: ZoneInfo, now: dt.datetime, *, takes_days: bool) -> Moment | None:
    """Raises ValueError, OverflowError: the calendar has no such day."""
    phrase = phrase_of(text)
    if phrase.end == len(text) and phrase.is_broken:
        return None
    if phrase.end == len(text) and phrase.delay_s is not None and phrase.time is None:
        later = dt.timedelta(seconds=phrase.delay_s)
        return _at(now + later, zone) if not phrase.months else on_clock(_months_ahead(phrase, zone, now) + later, zone)
    days = phrase.days if phrase.end == len(text) else _iso_day(text)
    time = phrase.time if phrase.end == len(text) else None
    if time is None and days is not None and takes_days:
        time = _LAST
    if time is None and (days is not None or (phrase.end == len(text) and phrase.rule)):
        raise ReminderRefused("remind_day", text=text[:60])
    if time is None:
        given = dt.datetime.fromisoformat(text)
        return on_clock(given, zone) if given.tzinfo is None else _at(given, zone)
    return _first_day(days or phrase_days.any_day, time, phrase.more_days, zone, now)


def _months_ahead(phrase: Phrase, zone: ZoneInfo, now: dt.datetime) -> dt.datetime:
    local = now.astimezone(zone).replace(tzinfo=None, fold=0)
    (day,) = phrase_days.months_ahead(phrase.months, 0, local.date())
    return dt.datetime.combine(day, local.time())


def _iso_day(text: str) -> Days | None:
    """A day in a form of ISO 8601 that no person writes: 20261224, 2026-W52-4."""
    try:
        return partial(phrase_days.fixed, dt.date.fromisoformat(text).isoformat())
    except ValueError:
        return None


def _first_day(days: Days, time: dt.time, more_days: int, zone: ZoneInfo, now: dt.datetime) -> Moment | None:
    """The first of ``days`` whose time is ahead; the first one if all have passed."""
    first = None
    for day in days(now.astimezone(zone).date()):
        found = on_clock(dt.datetime.combine(day + dt.timedelta(more_days), time), zone)
        if found.utc > now:
            return found
        first = first or found
    return first


def _at(moment: dt.datetime, zone: ZoneInfo) -> Moment:
    local = moment.astimezone(zone)
    # Exactly this time, also of an hour that comes twice.
    return Moment(local=local.replace(tzinfo=None, fold=0), utc=moment.astimezone(dt.UTC))


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

_NUMBER = re.compile(r"[1-9]\d{0,3}")
"""An interval or a count. Of the interval 0, python-dateutil looks for the next occurrence for ever."""
_DAY = re.compile(r"[+-]?0?([1-9]|[12]\d|3[01])")
"""A day of a month. Of day 0, python-dateutil makes every day, and of day 40 none."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that was read."""

    text: str
    """As it is stored: without the start, end and number of occurrences."""
    until: dt.datetime | None = None
    """Its own end, on the zone's clock unless it has a zone itself."""
    count: int = 0
    """Its own number of occurrences; 0: no limit."""


def rule_from(text: str) -> Rule:
    """The rule of ``FREQ=…``, ``daily`` or other words of ``time_phrases``, or ``cron 0 8 * * 1-5``.

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
    phrase = phrase_of(given)
    if phrase.rule and phrase.end == len(given) and phrase.time is None:
        return _rrule_from(phrase.rule)
    return _rrule_from(given.upper().removeprefix("RRULE:"))


def _rrule_from(text: str) -> Rule:
    parts = _parts(text)
    until, count = parts.pop("UNTIL", ""), parts.pop("COUNT", "")
    plain = ";".join(f"{name}={value}" for name, value in parts.items())
    numbers = (parts.get("INTERVAL", "1"), count or "1")
    if not text.isascii() or "FREQ" not in parts or len(parts) + bool(until) + bool(count) != text.count(";") + 1:
        raise ReminderRefused("remind_rule", rule=text[:60])
    days = parts["BYMONTHDAY"].split(",") if "BYMONTHDAY" in parts else []
    if not all(map(_NUMBER.fullmatch, numbers)) or not all(map(_DAY.fullmatch, days)):
        raise ReminderRefused("remind_rule", rule=text[:60])
    is_often = parts["FREQ"] == "MINUTELY" and 60 * int(numbers[0]) < SOONEST_S
    if is_often or parts["FREQ"] == "SECONDLY" or "BYSECOND" in parts:
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


def occurrences(rule: str, after: Moment, zone: ZoneInfo, *, apart_s: float = SOONEST_S) -> Iterator[Moment]:
    """The occurrences after one of them, each at least ``apart_s`` later than the one before; at most ten years ahead.

    Those that a skipped hour would put at the same time, or too close together, are one.
    """
    last = after.utc
    for local in _locals(rule, after.local):
        found = on_clock(local, zone)
        if (found.utc - last).total_seconds() >= apart_s:
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
    # A repetition that never comes again would be none.
    near = [found.local, *islice(_locals(rule.text, found.local), LOOKED_AT)]
    if len(near) == 1 and not rule.count:
        raise ReminderRefused("remind_far")
    if any((late - soon).total_seconds() < SOONEST_S for soon, late in pairwise(near)):
        raise ReminderRefused("remind_often", minutes=round(SOONEST_S / 60))
    return found


def _first(rule: str, start: Moment, before: Moment, zone: ZoneInfo) -> Moment | None:
    if rule.startswith(CRON):
        return next(occurrences(rule, before, zone, apart_s=1.0), None)
    # A rule counts from its start, which belongs to it only if it fits.
    try:
        local = _rrule(rule, start.local).after(_shifted(start.local, SHIFT_YEARS), inc=True)
    except ValueError:  # every two hours from an odd one never come to BYHOUR=2
        return None
    return None if local is None else on_clock(_shifted(local, -SHIFT_YEARS), zone)


def skips_years(rule: str, local: dt.datetime) -> bool:
    """Whether a rule whose occurrence is at ``local`` is for 29 February alone."""
    is_yearly = _parts(rule).get("FREQ") == "YEARLY" if not rule.startswith(CRON) else rule.split()[3:5] == ["29", "2"]
    return is_yearly and (local.month, local.day) == (2, 29)


def skips_months(rule: str, local: dt.datetime) -> bool:
    """Whether a rule whose occurrence is at ``local`` is for a day that not every month has, such as a fifth Friday."""
    if rule.startswith(CRON):
        fields = rule.removeprefix(CRON).split()
        return fields[2].isdecimal() and int(fields[2]) > 28 and fields[3] == "*"
    parts = _parts(rule)
    if parts.get("FREQ") != "MONTHLY" or "BYSETPOS" in parts:
        return False
    if "BYDAY" in parts:
        return "BYMONTHDAY" not in parts and "5" in parts["BYDAY"]
    days = parts.get("BYMONTHDAY", str(local.day)).split(",")
    return any(day.isdecimal() and int(day) > 28 for day in days)
