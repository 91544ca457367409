"""Dates in texts: ``last May``, ``on 3 June``, ``yesterday``, ``上周``, ``2026-05-03``. Pure.

Few characters can name a day; they are looked for here, and what they mean in English and Chinese is worked out here.
Only what was found in other languages is given to ``dateparser``, which knows many and is slow.
Who asks for something remembered means the past: the last 3 June, not the next.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from daemon.clock import stamp
from daemon.recall import date_spans
from daemon.recall.chinese_characters import simplified
from daemon.recall.chinese_dates import chinese_spans
from daemon.recall.date_spans import DAY, Days, Kind, Span
from daemon.recall.other_dates import other_spans
from daemon.recall.periods import periods

SPANS_MAX = 8
"""Of a text; who names more days means none of them in particular."""

TEXT_MAX_CHARS = 8_000
"""A longer text is no question about a day; what is pasted in holds many."""


LONG_DAYS = 31


QUICK_MAX_CHARS = 400
"""Of a passage whose days are looked for while a query waits: 50 µs."""

FOLLOWING = dt.timedelta(days=8)
"""So long after a day people still speak of it as "yesterday", "on Friday" or "last week"."""


class DateRange(msgspec.Struct, frozen=True, kw_only=True):
    """A range of times in the stored format, ISO 8601 in UTC with milliseconds, which can be compared as text."""

    since: str
    until: str
    """The first moment after it."""
    is_long: bool = False
    """Whether it is longer than ``LONG_DAYS``: too much was written then to show it without words of the query."""


_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
_WEEKDAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_NUMBER_OF_DAY: dict[str, int] = {name: number for number, name in enumerate(_WEEKDAYS.split("|"))}
_SEASON = "spring|summer|autumn|fall|winter"
_UNIT = "weekend|week|month|year"
_COUNTS = "one|two|three|four|five|six|seven|eight|nine|ten"
_NUMBERS = {"a": 1, "an": 1, "couple": 2, "few": 0, "several": 0} | {
    name: number for number, name in enumerate(_COUNTS.split("|"), 1)
}
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_FEASTS = {"christmas": (12, 24, 26), "halloween": (10, 31, 31), "valentine": (2, 14, 14), "new year": (12, 31, 32)}
_BEFORE_MONTH = (
    "in|last|this|past|since|during|of|early|late|mid|by|until|till|before|after|from|between|around|through|throughout"
)
_REL_YEAR = r"(?:last|this|previous)\ year"
_ENGLISH = re.compile(
    rf"""(?<![\w/.@-])(?:
    (?P<iso>\d{{4}}([-/.])(?:1[0-2]|0?[1-9])\2(?:3[01]|[12]\d|0?[1-9]))(?![\w/-]|\.\d)
    |(?P<iso_year>\d{{4}})-(?P<iso_month>1[0-2]|0[1-9])(?![\w/-])
    |(?P<slashed>\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{4}})(?!\d)
    |(?:{_DAY}-)?(?P<absolute>(?:{_DAY}\ (?:of\ )?(?:{_MONTHS})|(?:{_MONTHS})\.?\ (?:the\ )?{_DAY}(?![\d:]))
        (?:,?\ \d{{4}})?)(?!\w)
    |(?:mid-)?(?P<month>{_MONTHS})\.?,?\ (?:of\ )?(?P<month_year>\d{{4}})(?!\w)
    |(?:{_BEFORE_MONTH}|and|to|or)[\ -](?P<named_month>{_MONTHS})(?![\w']|\.?,?\ \d|\ (?:the\ )?{_DAY}(?!\w))
    |(?P<possible_month>(?<=year's\ )(?:{_MONTHS})(?!\w)
        |(?:{_MONTHS})(?=(?:,|\ in|\ of)?\ {_REL_YEAR}|\ (?:to|through|until|and|or|-)\ (?:{_MONTHS})(?!\w)))
    |(?P<plain_month>january|february|july|september|october|november|december)(?!\w)
    |(?:{_BEFORE_MONTH}|year)\ (?P<year>(?:19|20)\d\d)(?![\w.,-]\d|\w)
    |(?<=and\ |.to\ )(?P<last_year>(?:19|20)\d\d)(?=[?.!,]?$)
    |(?P<day>(?:the\ day\ before\ )?yesterday|today|tonight|last\ night|this\ (?:morning|afternoon|evening))(?!\w)
    |(?:next|coming|every|each)\ (?:{_UNIT}|{_MONTHS}|{_WEEKDAYS}|{_SEASON})(?!\w)  # names no day that was
    |(?:the\ )?(?P<before_last>{_UNIT})\ before\ last(?!\w)
    |(?P<which>last|past|previous|this)\ (?P<unit>{_UNIT})(?!\w)
    |(?:(?P<season_which>last|this|past|in|during|of|early|late|mid|since|before|after|in\ the|during\ the)[\ -])?
        (?P<season>{_SEASON})
        (?:\ (?:of\ )?(?P<season_year>\d{{4}})|(?P<season_rel>(?=,?(?:\ of|\ in)?\ {_REL_YEAR})))?(?!\w)
    |(?:the|on\ the|over\ the|at\ the)\ (?P<weekend>weekend)(?!\w)
    |(?:a\ )?(?P<number>\d{{1,3}}|an?|{_COUNTS}|couple|few|several)\ (?:of\ )?
        (?P<ago>day|week|month|year)s?\ (?:ago|back|earlier|before)(?!\w)
        (?!\ (?:the\ )?(?:{_DAY}|{_MONTHS}|\d|christmas))
    |(?:(?P<weekday_which>last|this|on|past)\ )?(?P<weekday>{_WEEKDAYS})(?!\w)
    |(?:on|since|of)\ the\ (?P<number_of_month>(?:3[01]|[12]\d|[1-9])(?:st|nd|rd|th))(?!\w|\ \w+\ of)
    |(?P<feast>christmas|halloween|valentine|new\ year)(?:'?s)?(?:\ (?:eve|day))?(?:\ (?P<feast_year>\d{{4}}))?(?!\w)
    )""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,  # ASCII: a Chinese word may follow at once
)


_HINTS = frozenset(
    f"{_MONTHS}|{_WEEKDAYS}|{_SEASON}|{_UNIT}|weeks|months|years|day|days|yesterday|today|tonight|night|morning|afternoon"
    "|evening|christmas|halloween|valentine|valentines|new|sep|sept".split("|")
)
"""One of them, or a digit, stands in all that names a day in English."""
_TELL_ENGLISH = frozenset(("the", "what", "did", "you", "my", "when", "how", "where", "which", "with", "and"))
"""Who uses one of them writes no other language that is looked for."""

_OF_YEAR = ("year's ", "year in ", "year in the ")
_WHICH = ("last", "this", "past")
_KINDS: dict[str, Kind] = {"day": "day", "week": "week", "weekend": "weekend", "month": "month", "year": "year"}
_may_name_day = re.compile(
    r"\b(?:yesterday|last|ago|on|this|past|weekend)\b|[昨前今]天|上个?[周星礼週月]|[月号日]", re.IGNORECASE
).search
_AROUND_DAY = frozenset(("st", "nd", "rd", "th", "of", "the"))
_numbers = re.compile(r"\d+").findall
_words = re.compile(r"[a-z]+").findall
_ends_with_month = re.compile(rf"(?:{_MONTHS})\.?(?:,?\ \d{{4}})?\s$", re.IGNORECASE | re.VERBOSE).search
_has_digit = re.compile(r"[0-9]").search


def spans_in(text: str, now: dt.datetime) -> list[Span]:
    """The dates in ``text``, in order. They do not overlap, except for words with two meanings.

    Args:
        text: what somebody says; of a long one nothing is read.
        now: when it is said, in the time zone of whoever says it.
    """
    if len(text) > TEXT_MAX_CHARS:
        return []
    today, found = now.date(), list[Span]()
    for some in _readings(text, now):
        try:
            found += (span for span in some if span.first <= today)
        except (OverflowError, ValueError):
            # A day before the year 1: nobody remembers it.
            continue
    kept = list[Span]()
    for span in sorted(found, key=lambda span: (span.begin, -span.end)):
        # Words that can mean one day or another stand here twice.
        last = kept[-1] if kept else None
        is_other = last and (span.begin, span.end) == (last.begin, last.end) and span.first != last.first
        if not last or span.begin >= last.end or is_other:
            kept.append(span)
    try:
        kept = [span for span in periods(simplified(text), kept, today) if span.first <= min(today, span.last)]
    except OverflowError:
        return []
    return kept if len(kept) <= SPANS_MAX else []


def dates_in(text: str, now: dt.datetime) -> tuple[DateRange, ...]:
    """As ``spans_in``, as ranges that can be compared with stored times."""
    return ranges_of(spans_in(text, now), now)


def names_any(text: str, said: dt.datetime, dates: Iterable[DateRange]) -> bool:
    """Whether a text that was written at ``said`` names a day in one of ``dates``: "yesterday" on the day after it."""
    if len(text) > QUICK_MAX_CHARS or not _may_name_day(text):
        return False
    named = [each for each in dates_in(text, said) if not each.is_long]
    return any(each.since < date.until and date.since < each.until for each in named for date in dates)


def with_following(date: DateRange) -> DateRange:
    """The range and the days in which people still speak of it as of yesterday."""
    if date.is_long:
        return date
    until = dt.datetime.fromisoformat(date.until)
    return replace(date, until=stamp(until + FOLLOWING if until.year < dt.MAXYEAR else until))


def ranges_of(found: list[Span], now: dt.datetime) -> tuple[DateRange, ...]:
    """The ranges of spans, without duplicates."""
    zone = now.tzinfo or dt.UTC
    ranges = dict.fromkeys((span.first, span.last) for span in found)
    return tuple(
        DateRange(
            since=_midnight(first, zone),
            until=_midnight(last, zone, days=1),
            is_long=(last - first).days >= LONG_DAYS,
        )
        for first, last in ranges
    )


def _midnight(date: dt.date, zone: dt.tzinfo, *, days: int = 0) -> str:
    try:
        return stamp(dt.datetime.combine(date + DAY * days, dt.time(), zone))
    except OverflowError:
        return stamp(
            dt.datetime(1, 1, 1, tzinfo=dt.UTC) if date.year < 5_000 else dt.datetime.max.replace(tzinfo=dt.UTC)
        )


def _readings(text: str, now: dt.datetime) -> Iterator[Iterator[Span]]:
    """In which languages it is worth to look for days: most of what is said names none."""
    words = set(_words(text.lower()))
    if not words.isdisjoint(_HINTS) or _has_digit(text):
        yield _english(text, now)
    if not text.isascii():
        yield chinese_spans(simplified(text), now.date())
    if words.isdisjoint(_TELL_ENGLISH):
        yield other_spans(text, now)


def _english(text: str, now: dt.datetime) -> Iterator[Span]:
    today = now.date()
    for found in _ENGLISH.finditer(text):
        for kind, days, has_year in _calendar(found, today):
            if days:
                yield Span(_begin(found), found.end(), *days, is_relative=False, kind=kind, has_year=has_year)
        for kind, days in _relative(found, today):
            if days:
                yield Span(found.start(), found.end(), *days, kind=kind)


def _begin(found: re.Match[str]) -> int:
    """Where a date begins, without the word before it that shows that it is one."""
    if found["season"] and (found["season_which"] or "").lower() not in _WHICH:
        return found.start("season")
    if found["named_month"] and not found[0].lower().startswith(_WHICH):
        return found.start("named_month")
    groups = ("year", "month", "absolute")
    return next((found.start(group) for group in groups if found[group]), found.start())


def _calendar(found: re.Match[str], today: dt.date) -> Iterator[tuple[Kind, Days | None, bool]]:
    """Days that a calendar names, whenever somebody says it; whether the year is among them."""
    if found["iso"]:
        yield "day", date_spans.day(*map(int, re.split(r"[-/.]", found["iso"]))), True
    elif found["iso_year"]:
        yield "month", date_spans.month(int(found["iso_year"]), int(found["iso_month"])), True
    elif found["slashed"]:
        one, other, year = map(int, re.split(r"[/.]", found["slashed"]))
        # In America the month comes first.
        for days in dict.fromkeys((date_spans.day(year, one, other), date_spans.day(year, other, one))):
            yield "day", days, True
    elif found["absolute"]:
        yield "day", _absolute(found["absolute"].lower(), today), bool(re.search(r"\d{4}", found["absolute"]))
    elif name := found["month"] or found["named_month"] or found["possible_month"] or found["plain_month"]:
        if not found["named_month"] or _is_month(found):
            yield "month", _month(found, _month_number(name), today), bool(found["month_year"])
    elif found["year"] or found["last_year"]:
        yield "year", date_spans.year_of(int(found["year"] or found["last_year"])), True
    elif found["season"]:
        yield "season", _season(found, today), bool(found["season_year"])
    elif found["feast"]:
        yield "day", _feast(found, today), bool(found["feast_year"])
    elif found["number_of_month"]:
        yield "day", date_spans.recent_number(int(found["number_of_month"][:-2]), today), False


def _is_month(found: re.Match[str]) -> bool:
    """Whether what stands behind ``and``, ``to`` or ``or`` is a month: another month stands before it."""
    word = found[0].split()[0].lower()
    return word not in ("and", "to", "or") or bool(_ends_with_month(found.string[: found.start()]))


def _relative(found: re.Match[str], today: dt.date) -> Iterator[tuple[Kind, Days | None]]:
    if found["day"]:
        low = found["day"].lower()
        yield "day", date_spans.ago(2 if "before" in low else low in ("yesterday", "last night"), "day", today)
    elif unit := found["unit"] or found["before_last"]:
        back = 2 if found["before_last"] else 0 if found["which"].lower() == "this" else 1
        yield _KINDS[unit.lower()], _unit(unit.lower(), back, today)
    elif found["weekend"]:
        yield "weekend", date_spans.weekend_from(today, 0 if today.weekday() >= 5 else -1)
    elif found["ago"]:
        number, unit = found["number"].lower(), found["ago"].lower()
        count = int(number) if number.isdigit() else _NUMBERS[number]
        days = date_spans.ago(count, unit, today) if count else (date_spans.ago(6, unit, today)[0], today)
        yield _KINDS[unit], days
    elif found["weekday"]:
        number = _NUMBER_OF_DAY[found["weekday"].lower()]
        yield "weekday", date_spans.recent_weekday(number, today)
        if (found["weekday_which"] or "").lower() == "last":
            # Said on a Sunday, "last Friday" is two days ago, or nine.
            yield "weekday", date_spans.weekday_from(today, -1, number)


def _absolute(text: str, today: dt.date) -> Days | None:
    """``3rd of may``, ``may the 3rd, 2026``."""
    (name,) = (word for word in _words(text) if word not in _AROUND_DAY)
    number, *year = map(int, _numbers(text))
    month_number = _month_number(name)
    return date_spans.day(year[0], month_number, number) if year else date_spans.recent_day(month_number, number, today)


def _month(found: re.Match[str], number: int, today: dt.date) -> Days | None:
    if found["month_year"]:
        return date_spans.month(int(found["month_year"]), number)
    return date_spans.recent_month(number, today, ended=found[0].lower().startswith("last"))


def _season(found: re.Match[str], today: dt.date) -> Days | None:
    name, which = found["season"].lower(), found["season_which"]
    if found["season_year"]:
        return date_spans.season(name, int(found["season_year"]))
    is_named = which or found["season_rel"] is not None or found.string[: found.start()].endswith(_OF_YEAR)
    return date_spans.recent_season(name, today, ended=(which or "").lower() == "last") if is_named else None


def _unit(unit: str, back: int, today: dt.date) -> Days | None:
    if unit == "week":
        return date_spans.week_from(today, -back)
    if unit == "weekend":
        return date_spans.weekend_from(today, -back)
    return date_spans.month_from(today, -back) if unit == "month" else date_spans.year_of(today.year - back)


def _feast(found: re.Match[str], today: dt.date) -> Days | None:
    month, first, last = _FEASTS[found["feast"].lower()]
    year = found["feast_year"]
    named = date_spans.day(int(year), month, first) if year else date_spans.recent_day(month, first, today)
    return (named[0], named[0] + DAY * (last - first)) if named else None


def _month_number(name: str) -> int:
    return [month[:3] for month in _MONTHS.split("|")[:12]].index(name[:3].lower()) + 1
