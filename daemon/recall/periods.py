"""Periods that a text names by dates and words around them: ``early March``, ``since May``, ``3 to 10 June``. Pure.

The dates are found before (``daemon.recall.dates``). Here the words beside them are read: those of English and
Chinese, and the most common ones of German and French.
"""

import calendar
import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from daemon.recall import date_spans
from daemon.recall.date_spans import DAY, Days, Span

EARLIEST = dt.date(1970, 1, 1)
"""Where a period begins that names only its end. Stored times are later."""

_THE = r"(?:the|dem|den|le|la)?\s*"
_DASH = r"to|till|until|through|thru|up\ to|bis|au|jusqu'au|[-–—~～]|到|至"
_to = re.compile(rf"\s*(?:{_DASH})\s*{_THE}", re.IGNORECASE | re.VERBOSE).fullmatch
_and = re.compile(rf"\s*(?:and|und|et|和|与|跟)\s*{_THE}", re.IGNORECASE).fullmatch
_or = re.compile(r"\s*(?:and|or|und|oder|et|ou|和|或)\s*(?:in\s+)?", re.IGNORECASE).fullmatch
_between = re.compile(rf"\b(?:between|zwischen|entre)\s+{_THE}$|在\s*$", re.IGNORECASE).search
_between_behind = re.compile(r"\s*(?:之间|期间|中间)").match
_NUMBER = r"(\d{1,2})(?:st|nd|rd|th|日|号|號)?"
_first_day = re.compile(rf"(?<![\w/.-]){_NUMBER}\s*(?:{_DASH}|and)\s*$", re.IGNORECASE | re.VERBOSE).search
_last_day = re.compile(rf"\s*(?:{_DASH}|and)\s*{_THE}{_NUMBER}(?![\w:.-])", re.IGNORECASE | re.VERBOSE).match

_BEFORE, _AFTER = "before|prior\\ to|preceding", "after|following"
_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {"a": 1, "an": 1} | {name: number for number, name in enumerate(_COUNTS, 1)}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_beside = re.compile(
    rf"""\b(?:
    (?:(?:the|last|on|that)\ )*(?P<unit>weekend|week|month|year|day|night|evening|{"|".join(_WEEKDAYS)})
    |(?P<count>\d{{1,2}}|{"|".join(_NUMBERS)})\ (?P<counted>day|week|month|year)s?
    )\ (?:(?P<before>{_BEFORE})|(?P<of>of|beginning|starting)|{_AFTER})\s+(?:on\s+)?{_THE}$""",
    re.IGNORECASE | re.VERBOSE,
).search
_open_before = re.compile(
    rf"""\b(?:(?P<since>since|seit|depuis)|(?P<after>{_AFTER}|nach|après)|(?P<before>{_BEFORE}|vor|avant)
    |(?P<until>until|till|by|up\ to|through|bis|jusqu'en|jusqu'au))\s+{_THE}$""",
    re.IGNORECASE | re.VERBOSE,
).search
_open_behind = re.compile(
    r"\s*(?:(?P<since>以来|以來|起|开始|開始|onwards?\b)|(?P<after>[之以过]?[后後])|(?P<before>[之以]?前(?![面往期]))|(?P<until>为止))",
    re.IGNORECASE,
).match
_PARTS: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("early", "beginning", "start", "anfang", "début", "初", "月初", "年初", "上旬"), (0, 1 / 3)),
    **dict.fromkeys(("mid", "middle", "mitte", "mi", "中旬", "月中", "年中"), (1 / 3, 2 / 3)),
    **dict.fromkeys(("late", "end", "ende", "fin", "下旬", "底", "末", "月底", "月末", "年底", "年末"), (2 / 3, 1)),
    "first half": (0, 1 / 2),
    "second half": (1 / 2, 1),
    **{
        f"{name} week": (number / 4, (number + 1) / 4)
        for number, name in enumerate(("first", "second", "third", "last"))
    },
}
"""Where a part of a month, season or year begins and ends."""
_ASCII_PARTS = "|".join(part.replace(" ", "\\ ") for part in _PARTS if part.isascii() or part == "début")
_part_before = re.compile(
    rf"\b{_THE}(?P<part>{_ASCII_PARTS})[\s-]+(?:(?:of|in|de)\s+)?{_THE}$", re.IGNORECASE | re.VERBOSE
).search
_part_behind = re.compile(rf"的?(?P<part>{'|'.join(part for part in _PARTS if ord(part[0]) > 0x3000)})(?!次)").match
_within = re.compile(rf"\s*,?\s*(?:(?:of|in|on|'s|’s|的)\s*)?{_THE}", re.IGNORECASE).fullmatch
"""Between a date and a longer one that contains it: "Friday of last week", "last year in March"."""


def periods(text: str, found: Sequence[Span], today: dt.date) -> Iterator[Span]:
    """The dates, with the words beside them taken into account, in order.

    Args:
        text: that contains the dates.
        found: the dates in order; those with two meanings stand there twice and stay as they are.
        today: when the text is said.

    Raises:
        OverflowError: the calendar does not have a day that is meant.
    """
    begins = [span.begin for span in found]
    ends = [0, *(span.end for span in found)]
    left = [
        span if begins.count(span.begin) > 1 else _with_part(span, text[end : span.begin], text[span.end : begin])
        for span, end, begin in zip(found, ends, [*begins[1:], len(text)], strict=False)
    ]
    done = list[Span]()
    while left:
        span = left.pop(0)
        while left and (both := _joined(text, span, left[0])):
            span = both
            left.pop(0)
        if left and _or(text[span.end : left[0].begin]) and left[0].has_year and not span.has_year:
            span = _in_year_of(span, left[0])
        if begins.count(span.begin) == 1:
            span = _beside_or_open(text, span, today)
        done = [*(each for each in done if each.end <= span.begin or each.end == span.end), span]
    yield from done


# Parts: "early March", "三月底", "3–10 May"


def _with_part(span: Span, before: str, behind: str) -> Span:
    if span.kind == "day" and not span.is_relative:
        return _with_other_day(span, before, behind)
    if span.kind not in ("week", "month", "season", "year"):
        return span
    if part := _part_before(before):
        first, last = _part_of(span, part["part"].lower())
        return replace(span, begin=part.start(), first=first, last=last)
    if part := _part_behind(behind):
        first, last = _part_of(span, part["part"])
        return replace(span, end=span.end + part.end(), first=first, last=last)
    return span


def _part_of(span: Span, part: str) -> Days:
    length = (span.last - span.first).days + 1
    begin, end = _PARTS[part]
    return span.first + DAY * round(length * begin), span.first + DAY * (round(length * end) - 1)


def _with_other_day(span: Span, before: str, behind: str) -> Span:
    year, month = span.first.year, span.first.month
    if (first := _first_day(before)) and (days := date_spans.day(year, month, int(first[1]))) and days[0] < span.first:
        return replace(span, begin=first.start(), first=days[0])
    if (last := _last_day(behind)) and (days := date_spans.day(year, month, int(last[1]))) and days[0] > span.last:
        return replace(span, end=span.end + last.end(), last=days[0])
    return span


# Two dates as one: "from May to June", "Friday of last week", "last year in March"


def _joined(text: str, one: Span, other: Span) -> Span | None:
    gap = text[one.end : other.begin]
    if _to(gap) or (_and(gap) and (_between(text[: one.begin]) or _between_behind(text[other.end :]))):
        # Mostly only one of the dates names its year.
        if one.has_year and not other.has_year and not other.is_relative:
            lasts = [_moved(other.last, one.first.year + more) for more in (0, 1)]
            other = replace(other, last=next((last for last in lasts if last >= one.first), other.last))
        firsts = [_moved(one.first, year) for year in (one.first.year, other.last.year, other.last.year - 1)]
        first = next((first for first in firsts if first <= other.last), None)
        return replace(one, end=other.end, first=first, last=other.last, kind="") if first else None
    if not _within(gap):
        return None
    small, large = (one, other) if one.last - one.first <= other.last - other.first else (other, one)
    days = _inside(small, large)
    if days is None:
        return None
    kind, is_relative = ("day" if days[0] == days[1] else small.kind), one.is_relative or other.is_relative
    return Span(one.begin, other.end, *days, is_relative=is_relative, kind=kind, has_year=True)


def _inside(small: Span, large: Span) -> Days | None:
    """A date within a longer one."""
    if small.kind == "weekday" and large.kind == "day":
        return large.first, large.last  # "Friday, 3 May"
    if small.kind == "weekday" and large.kind == "week":
        day = large.first + DAY * ((small.first.weekday() - large.first.weekday()) % 7)
        return day, day
    if large.kind == "year" and not small.has_year and small.kind in ("day", "month", "season"):
        more = small.last.year - small.first.year
        return _moved(small.first, large.first.year), _moved(small.last, large.first.year + more)
    return None


def _in_year_of(span: Span, other: Span) -> Span:
    """ "May and June 2025": only the second date names the year."""
    first, more = _moved(span.first, other.first.year), span.last.year - span.first.year
    return replace(span, first=first, last=_moved(span.last, first.year + more), has_year=True)


def _moved(date: dt.date, year: int) -> dt.date:
    """The same day of another year; of a leap year's last day in February the day before."""
    if not dt.MINYEAR <= year <= dt.MAXYEAR:
        raise OverflowError("no such year")
    return date.replace(year=year, day=min(date.day, calendar.monthrange(year, date.month)[1]))


# What lies beside a date, or on one side of it: "the weekend before 10 April", "since March"


def _beside_or_open(text: str, span: Span, today: dt.date) -> Span:
    before = text[: span.begin]
    if (found := _beside(before)) and found["of"]:
        return _around(replace(span, begin=found.start()), found)
    if found:
        step = -1 if found["before"] else 1
        edge = span.first if step < 0 else span.last
        days = _unit(found["unit"].lower(), edge, step) if found["unit"] else _counted(found, edge, step)
        return replace(span, begin=found.start(), first=days[0], last=days[1])
    if not span.kind:
        return span
    if found := _open_before(before):
        return _opened(replace(span, begin=found.start()), found, today)
    if (found := _open_behind(text[span.end :])) and (not span.is_relative or found[0].startswith(("之", "以"))):
        return _opened(replace(span, end=span.end + found.end()), found, today)
    return span


def _around(span: Span, found: re.Match[str]) -> Span:
    """ "The week of 3 May"."""
    if found["unit"] is None or span.kind != "day" or found["unit"].lower() not in ("week", "weekend"):
        return span
    first, last = (date_spans.week_from if found["unit"].lower() == "week" else date_spans.weekend_from)(span.first, 0)
    return replace(span, first=first, last=last, kind="week")


def _unit(unit: str, edge: dt.date, step: int) -> Days:
    """The next day, week, ... before or behind a day."""
    match unit:
        case "day" | "night" | "evening":
            return edge + DAY * step, edge + DAY * step
        case "week":
            return (edge - 7 * DAY, edge - DAY) if step < 0 else (edge + DAY, edge + 7 * DAY)
        case "month":
            return date_spans.month_from(edge, step)
        case "year":
            return date_spans.year_of(edge.year + step) or (edge, edge)
        case "weekend":
            # A weekend that contains the day is neither before nor behind it.
            away = (edge.weekday() + 2) % 7 or 7 if step < 0 else (5 - edge.weekday()) % 7 or 7
            saturday = edge + DAY * away * step if step > 0 else edge - DAY * (away if edge.weekday() != 6 else 8)
            return saturday, saturday + DAY
        case _:
            number = _WEEKDAYS.index(unit)
            away = (step * (number - edge.weekday())) % 7 or 7
            return edge + DAY * away * step, edge + DAY * away * step


def _counted(found: re.Match[str], edge: dt.date, step: int) -> Days:
    """``two weeks after``: by weeks it is not meant to the day."""
    count, unit = found["count"].lower(), found["counted"].lower()
    number = step * (_NUMBERS.get(count) or int(count))
    if unit == "month":
        return date_spans.month_from(edge, number)
    if unit == "year":
        return date_spans.year_of(edge.year + number) or (edge, edge)
    day, about = (edge + 7 * DAY * number, 2 * DAY) if unit == "week" else (edge + DAY * number, 0 * DAY)
    return day - about, day + about


def _opened(span: Span, found: re.Match[str], today: dt.date) -> Span:
    span = replace(span, kind="")
    if found["since"]:
        return replace(span, last=max(span.last, today))
    if found["after"]:
        return replace(span, first=span.last + DAY, last=max(span.last + DAY, today))
    first = min(EARLIEST, span.first - DAY)
    return replace(span, first=first, last=span.first - DAY if found["before"] else span.last)
