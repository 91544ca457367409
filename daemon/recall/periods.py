"""Periods that a text names by dates and words around them: ``early March``, ``since May``, ``3 to 10 June``. Pure.

The dates are found before (``daemon.recall.dates``). Here the words beside them are read: those of English and
Chinese, and the most common ones of German and French.
"""

import calendar
import datetime as dt
import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from daemon.recall import date_spans
from daemon.recall.beside_dates import AFTER, BEFORE, beside
from daemon.recall.date_spans import DAY, Days, Span
from daemon.recall.period_parts import with_part

EARLIEST = dt.date(1970, 1, 1)
"""Where a period begins that names only its end. Stored times are later."""

_THE, _DASH = date_spans.THE, date_spans.DASH
_to = re.compile(rf"\s*(?:{_DASH}|{date_spans.ROMANCE_DASH})\s*{_THE}", re.IGNORECASE | re.VERBOSE).fullmatch
_and = re.compile(rf"\s*(?:{date_spans.AND}|和|与|跟)\s*{_THE}", re.IGNORECASE).fullmatch
_or = re.compile(r"\s*(?:and|or|und|oder|et|ou|和|或)\s*(?:in\s+)?", re.IGNORECASE).fullmatch
_between = re.compile(rf"\b(?:between|zwischen|entre|tra|fra)\s+{_THE}$|在\s*$", re.IGNORECASE).search
_between_behind = re.compile(r"\s*(?:之间|期间|中间)").match
_but = re.compile(r"\s*[,，]?\s*(?:and|but|und|aber|et|mais|但是?|[而并]?且|和)?\s*", re.IGNORECASE).fullmatch
_open_before = re.compile(
    rf"""\b(?:(?P<since>since|seit|depuis|desde|dal|a\ partire?\ d[ae]l?)
    |(?P<after>{AFTER}|nach|après|(?:después|depois)\ del?|dopo)
    |(?P<before>{BEFORE}|vor|avant|antes\ del?|prima\ d(?:i|el?))
    |(?P<until>until|till|by|up\ to|through|bis|jusqu'en|jusqu'au|hasta|até|fino\ al?))\s+{_THE}$""",
    re.IGNORECASE | re.VERBOSE,
).search
_open_behind = re.compile(
    r"\s*(?:(?P<since>以来|以來|起|开始|開始|onwards?\b)|(?P<after>[之以过]?[后後])|(?P<before>[之以]?前(?![面往期]))|(?P<until>为止))",
    re.IGNORECASE,
).match
_within = re.compile(rf"\s*,?\s*(?:(?:of|in|on|'s|’s|的(?:[某一]个)?|im|en|am)\s*)?{_THE}", re.IGNORECASE).fullmatch
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
        span if begins.count(span.begin) > 1 else with_part(span, text[end : span.begin], text[span.end :])
        for span, end in zip(found, ends, strict=False)
    ]
    done = list[Span]()
    while left:
        span = left.pop(0)
        while left and (both := _joined(text, span, left[0])):
            span = both
            left.pop(0)
        if left and _or(text[span.end : left[0].begin]) and left[0].has_year and not span.has_year:
            span = _in_year_of(span, left[0])
        span = beside(text, span) or _with_end(text, span, today)
        while left and span.begin < left[0].begin < span.end:
            left.pop(0)  # the weekend of "4月10日前的周末"
        if (
            done
            and done[-1].end <= span.begin
            and done[-1].kind == span.kind == "open"
            and _but(text[done[-1].end : span.begin])
        ):
            span = _within_both(done.pop(), span)
        done = [*(each for each in done if each.end <= span.begin or each.end == span.end), span]
    yield from done


# Two dates as one: "from May to June", "Friday of last week", "last year in March"


def _joined(text: str, one: Span, other: Span) -> Span | None:
    gap = text[one.end : other.begin]
    if _to(gap) or (_and(gap) and (_between(text[: one.begin]) or _between_behind(text[other.end :]))):
        # Mostly only one of the dates names its year.
        if one.has_year and not other.has_year and not other.is_relative:
            lasts = [_last_moved(other, one.first.year + more) for more in (0, 1)]
            other = replace(other, last=next((last for last in lasts if last >= one.first), other.last))
        firsts = [date_spans.moved(one.first, year) for year in (one.first.year, other.last.year, other.last.year - 1)]
        first = next((first for first in firsts if first <= other.last), None)
        return replace(one, end=other.end, first=first, last=other.last, is_relative=True, kind="") if first else None
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
    if small.kind == "weekday" and large.kind in ("day", "day number"):
        return large.first, large.last  # "Friday, 3 May"
    if small.kind == "day number" and large.kind == "month":
        return date_spans.day(large.first.year, large.first.month, small.first.day)
    if small.kind in ("weekday", "weekend") and large.kind in ("month", "season", "year"):
        return large.first, large.last  # "a Monday in March 2025" may be any of them
    if small.kind == "weekday" and large.kind == "week":
        day = large.first + DAY * ((small.first.weekday() - large.first.weekday()) % 7)
        return day, day
    if large.kind == "year" and not small.has_year and small.kind in ("day", "month", "season"):
        more = small.last.year - small.first.year
        return date_spans.moved(small.first, large.first.year), _last_moved(small, large.first.year + more)
    return None


def _in_year_of(span: Span, other: Span) -> Span:
    """ "May and June 2025": only the second date names the year."""
    first, more = date_spans.moved(span.first, other.first.year), span.last.year - span.first.year
    return replace(span, first=first, last=_last_moved(span, first.year + more), has_year=True)


def _last_moved(span: Span, year: int) -> dt.date:
    """The last day of a date in another year: the last day of February if it is a month or season."""
    last = date_spans.moved(span.last, year)
    is_end = span.first != span.last and (span.last + DAY).day == 1
    return last.replace(day=calendar.monthrange(year, last.month)[1]) if is_end else last


def _within_both(one: Span, other: Span) -> Span:
    """ "After May but before July": the days in both periods, or the second one if there are none."""
    first, last = max(one.first, other.first), min(one.last, other.last)
    return replace(other, begin=one.begin, first=first, last=last) if first <= last else other


# Periods with one end: "since March"


def _with_end(text: str, span: Span, today: dt.date) -> Span:
    """The date, or the period that has it as its only end."""
    if not span.kind:
        return span
    is_from = span.first != span.last and span.kind == "day"  # "dal 3 al 9 marzo"
    if (found := _open_before(text[: span.begin])) and not (found["since"] and is_from):
        return _opened(replace(span, begin=found.start()), found, today)
    if (found := _open_behind(text[span.end :])) and (not span.is_relative or found[0].startswith(("之", "以"))):
        return _opened(replace(span, end=span.end + found.end()), found, today)
    return span


def _opened(span: Span, found: re.Match[str], today: dt.date) -> Span:
    span = replace(span, is_relative=True, kind="open")
    if found["since"]:
        return replace(span, last=max(span.last, today))
    if found["after"]:
        return replace(span, first=span.last + DAY, last=max(span.last + DAY, today))
    first = min(EARLIEST, span.first - DAY)
    return replace(span, first=first, last=span.first - DAY if found["before"] else span.last)
