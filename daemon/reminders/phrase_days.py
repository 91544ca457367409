"""Phrases that name a time, and the days that people name: each function gives the possible dates, in order. Pure."""

import datetime as dt
from calendar import monthrange
from collections.abc import Callable, Iterable

import msgspec

Days = Callable[[dt.date], Iterable[dt.date]]
"""The possible dates of a named day when the argument is today, in order. Only a fixed date may lie before today."""

YEARS_AHEAD = 9
"""29 February, the rarest date, comes at least once in eight years (1896 to 1904)."""


class Phrase(msgspec.Struct, frozen=True, kw_only=True):
    """The meaning of the first words of a text."""

    end: int = 0
    """Length in characters, without the spaces behind the phrase; 0: the text begins with other words."""
    rule: str = ""
    """A recurrence rule of RFC 5545; empty: no repetition."""
    days: Days | None = None
    has_part: bool = False
    """A part of the day is named, which is no time of its own: every morning."""
    time: dt.time | None = None
    more_days: int = 0
    """1: ``time`` is the midnight after the day."""
    delay_s: float | None = None
    """Seconds from now, after ``months``."""
    months: int = 0
    """Calendar months from now."""
    is_broken: bool = False
    """No clock shows the time of day (25:00, 13pm), or the day contradicts the repetition."""


def ahead(number: int, today: dt.date) -> Iterable[dt.date]:
    """So many days from today."""
    return [today + dt.timedelta(number)]


def months_ahead(months: int, number: int, today: dt.date) -> Iterable[dt.date]:
    """So many months and days from today. The last day of a month stands for the days that the month does not have."""
    year, month = _month(months, today)
    return [dt.date(year, month, min(today.day, monthrange(year, month)[1])) + dt.timedelta(number)]


def month_ends(months: range, today: dt.date) -> Iterable[dt.date]:
    """The last days of the months that come so many months after this one."""
    for each in months:
        yield from of_month(monthrange(*_month(each, today))[1], each, today)


def any_day(today: dt.date) -> Iterable[dt.date]:
    """Today, or tomorrow for a time that has passed today."""
    return (today + dt.timedelta(number) for number in range(2))


def fixed(iso: str, _: dt.date) -> Iterable[dt.date]:
    """A date of ISO 8601. Raises ValueError: the calendar has no such day."""
    return [dt.date.fromisoformat(iso)]


def weekdays(numbers: frozenset[int], today: dt.date) -> Iterable[dt.date]:
    """The days of the week, 0 for Monday, from today on."""
    days = (today + dt.timedelta(number) for number in range(15))
    return (day for day in days if day.weekday() in numbers)


def after_today(numbers: frozenset[int], today: dt.date) -> Iterable[dt.date]:
    """The days of the week from tomorrow on."""
    return weekdays(numbers, today + dt.timedelta(1))


def of_week(weeks: int, number: int, today: dt.date) -> Iterable[dt.date]:
    """A day of the week so many weeks after this one. Weeks begin on Monday."""
    return [today + dt.timedelta(7 * weeks + number - today.weekday())]


def among(numbers: frozenset[int], days: Days, today: dt.date) -> Iterable[dt.date]:
    """Those of ``days`` that are such days of the week."""
    return (day for day in days(today) if day.weekday() in numbers)


def of_year(month: int, day: int, year: str, today: dt.date) -> Iterable[dt.date]:
    """A day of each year, or of the ``year``: a number, 今, 明 or 后."""
    first = today.year + "今明后".index(year) if year and year in "今明后" else int(year or today.year)
    years = [first] if year else range(first, first + YEARS_AHEAD)
    return (date for each in years if (date := _date(each, month, day)) and (year or date >= today))


def of_month(day: int, months: int | None, today: dt.date) -> Iterable[dt.date]:
    """A day of each month that has it, or of the month that comes so many ``months`` after this one."""
    found = (_month(more, today) for more in (range(13) if months is None else [months]))
    dates = (_date(year, month, day) for year, month in found)
    return (date for date in dates if date and (months is not None or date >= today))


def _month(months: int, today: dt.date) -> tuple[int, int]:
    """The year and the month that come so many months after today's."""
    year, month = divmod(12 * today.year + today.month - 1 + months, 12)
    return year, month + 1


def _date(year: int, month: int, day: int) -> dt.date | None:
    try:
        return dt.date(year, month, day)
    except ValueError:
        return None
