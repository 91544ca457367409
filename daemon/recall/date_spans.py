"""Date arithmetic that all languages share. Pure."""

import calendar
import datetime as dt
from typing import Literal

import msgspec

DAY = dt.timedelta(days=1)

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month in which each begins, north of the equator."""


WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

Kind = Literal["day", "day number", "weekday", "week", "weekend", "month", "season", "year", "open", ""]
"""What a date names; empty: a period of another length. A day number is the
day of a month that is not named. An open period has only one end."""


class Span(msgspec.Struct, frozen=True):
    """A part of a text, and its dates."""

    begin: int
    end: int
    """One past the last character."""
    first: dt.date
    last: dt.date
    """Of the days, among them."""
    is_relative: bool = True
    """Whether it can be understood only by who knows when it was said, or names other days than those that are meant:
    nobody who wrote then wrote these words."""
    kind: Kind = ""
    has_year: bool = False
    """Whether the text names the year."""


THE = r"(?:the|dem|den|le|la|el|il|l'|o|a)?\s*"
"""A pattern for an article before a date."""
DASH = r"to|till|until|through|thru|up\ to|bis|au|jusqu'au|[-–—~～]|到|至"
"""A pattern for what stands between the first and the last day of a period, in ``re.VERBOSE``."""
ROMANCE_DASH = r"al?|hasta(?:\ el)?|até|fino\ al?"
"""The same in Spanish, Italian and Portuguese, where another day or month follows."""
AND = "and|und|et|y|e"
"""A pattern for what stands between two dates."""

Days = tuple[dt.date, dt.date]
"""The first and the last."""


def day(year: int, month: int, number: int) -> Days | None:
    """One day; None when there is no such day."""
    try:
        found = dt.date(year, month, number)
    except (ValueError, OverflowError):
        return None
    return found, found


def recent_day(month: int, number: int, today: dt.date) -> Days | None:
    """The last day of that name, perhaps today; four years are enough for a 29 February, but for those around 1900."""
    for year in range(today.year, max(0, today.year - 9), -1):
        if (found := day(year, month, number)) and found[0] <= today:
            return found
    return None


def recent_number(number: int, today: dt.date) -> Days | None:
    """The last day with that number in its month, perhaps today."""
    for back in range(3):
        first, _ = month_from(today, -back)
        if (found := day(first.year, first.month, number)) and found[0] <= today:
            return found
    return None


def month(year: int, number: int) -> Days | None:
    """All days of a month; None when there is no such month."""
    if not (dt.MINYEAR <= year <= dt.MAXYEAR and 1 <= number <= 12):
        return None
    return dt.date(year, number, 1), dt.date(year, number, calendar.monthrange(year, number)[1])


def recent_month(number: int, today: dt.date, *, ended: bool = False) -> Days | None:
    """The last month of that name; this one too, unless it must have ``ended``."""
    year = today.year - (number > today.month or (ended and number == today.month))
    return month(year, number)


def month_from(today: dt.date, months: int) -> Days:
    """The month that is so many months away.

    Raises:
        OverflowError: there is none.
    """
    index = today.year * 12 + today.month - 1 + months
    found = month(index // 12, index % 12 + 1)
    if found is None:
        raise OverflowError("no such month")
    return found


def year_of(year: int) -> Days | None:
    """All days of a year; None when there is no such year."""
    return (dt.date(year, 1, 1), dt.date(year, 12, 31)) if dt.MINYEAR <= year <= dt.MAXYEAR else None


def week_from(today: dt.date, weeks: int) -> Days:
    """Monday to Sunday of the week that is so many weeks away."""
    monday = today - DAY * today.weekday() + 7 * DAY * weeks
    return monday, monday + 6 * DAY


def weekday_from(today: dt.date, weeks: int, number: int) -> Days:
    """A day of the week that is so many weeks away; Monday is 0."""
    found = week_from(today, weeks)[0] + DAY * number
    return found, found


def weekend_from(today: dt.date, weeks: int) -> Days:
    """Saturday and Sunday of the week that is so many weeks away."""
    _, sunday = week_from(today, weeks)
    return sunday - DAY, sunday


def recent_weekday(number: int, today: dt.date) -> Days:
    """The last day with that name before today; Monday is 0."""
    found = today - DAY * ((today.weekday() - number - 1) % 7 + 1)
    return found, found


def season(name: str, year: int) -> Days | None:
    """The three months of a season that begins in ``year``."""
    begins = SEASONS[name]
    first = month(year, begins)
    last = month(year + (begins == 12), (begins + 1) % 12 + 1)
    return (first[0], last[1]) if first and last else None


def recent_season(name: str, today: dt.date, *, ended: bool = False) -> Days | None:
    """The last season of that name that has begun, or has ``ended``."""
    for year in range(today.year, today.year - 3, -1):
        found = season(name, year)
        if found and (found[1] < today if ended else found[0] <= today):
            return found
    return None


def ago(number: int, unit: str, today: dt.date) -> Days:
    """So many days, weeks, months or years ago: the longer ago, the less exactly it is meant.

    Raises:
        OverflowError: the calendar does not reach so far.
    """
    if unit == "day":
        found = today - DAY * number
        # "Ten days ago" is seldom counted.
        about = DAY * (number // 5)
        return found - about, min(found + about, today - DAY) if number else found
    if unit == "week":
        found = today - 7 * DAY * number
        return found - 3 * DAY, found + 3 * DAY
    if unit == "month":
        return month_from(today, -number)
    found_year = year_of(today.year - number)
    if found_year is None:
        raise OverflowError("no such year")
    return found_year


def half_ago(number: int, unit: str, today: dt.date) -> Days:
    """So many and a half weeks, months or years ago.

    Raises:
        OverflowError: the calendar does not reach so far.
    """
    if unit == "year":
        first, last = (month_from(today, -12 * number - 6 + step) for step in (-1, 1))
        return first[0], last[1]
    days = 7 * number + 3 if unit == "week" else 30 * number + 15
    about = DAY * (2 if unit == "week" else 5)
    return today - DAY * days - about, today - DAY * days + about


def until_today(number: int, unit: str, today: dt.date) -> Days:
    """The last so many days, weeks, weekends, months or years until today.

    Raises:
        OverflowError: the calendar does not reach so far.
    """
    match unit:
        case "week" | "weekend":
            return week_from(today, -number)[0], today
        case "month":
            first, _ = month_from(today, -number)
            return first + DAY * min(today.day - 1, 27), today
        case "year":
            return moved(today, today.year - number), today
        case _:
            return today - DAY * number, today


def quarter(number: int, today: dt.date, year: int | None = None) -> Days | None:
    """A quarter of a year, by default the last one with that number that has begun."""
    if year is None:
        year = today.year - (3 * number - 2 > today.month)
    first, last = month(year, 3 * number - 2), month(year, 3 * number)
    return (first[0], last[1]) if first and last else None


def moved(date: dt.date, year: int) -> dt.date:
    """The same day of another year; of a leap year's last day in February the day before.

    Raises:
        OverflowError: no such year.
    """
    if not dt.MINYEAR <= year <= dt.MAXYEAR:
        raise OverflowError("no such year")
    return date.replace(year=year, day=min(date.day, calendar.monthrange(year, date.month)[1]))
