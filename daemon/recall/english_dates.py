"""English expressions for days: ``last May``, ``on 3 June``, ``the first weekend of May``, ``Q3 2025``. Pure."""

import datetime as dt
import re
from collections.abc import Iterator

from daemon.recall import date_spans, feasts
from daemon.recall.date_spans import DAY, Days, Kind, Span

_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
)
_WEEKDAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_NUMBER_OF_DAY: dict[str, int] = {name: number for number, name in enumerate(_WEEKDAYS.split("|"))}
_NUMBER_OF_SHORT_DAY = {name[:3]: number for name, number in _NUMBER_OF_DAY.items()}
_SEASON = "spring|summer|autumn|fall|winter"
_UNIT = "weekend|week|month|year"
_COUNTS = "one|two|three|four|five|six|seven|eight|nine|ten"
_NUMBERS = {"a": 1, "an": 1, "couple": 2, "few": 0, "several": 0} | {
    name: number for number, name in enumerate(_COUNTS.split("|"), 1)
}
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?:\d{4}|['’]\d\d)"
_NTH = "first|second|third|fourth|fifth|last|final|1st|2nd|3rd|4th|5th"
_EVENT = r"\ (?:the|my|our|your|his|her|their|i|we|you|he|she|they)(?!\w)"
"""Behind "before": no date follows, except for one that is found by itself."""
_NUMBERED = "floor|street|avenue|row|place|try|time|page|grade|day|week|month"
"""After an ordinal, they show that it is no day of a month."""
_ABOUT_NUMBER = "on|since|of|before|after|between|by|until|till|from"
_BEFORE_MONTH = (
    "in|last|this|past|since|during|of|early|late|mid|by|until|till|before|after|from|between|around|through|throughout"
)
_REL_YEAR = r"(?:last|this|previous)\ year"
_ENGLISH = re.compile(
    rf"""(?<![\w/.@-])(?:
    (?P<iso>\d{{4}}([-/.])(?:1[0-2]|0?[1-9])\2(?:3[01]|[12]\d|0?[1-9]))(?![\w/-]|\.\d)
    |(?P<iso_year>(?:19|20)\d\d)[-/](?P<iso_month>1[0-2]|0[1-9])(?![\w/-])
    |(?P<compact>20\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))(?!\w)
    |(?P<slashed>\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{4}}|\d{{1,2}}/\d{{1,2}}/\d\d)(?![\d/])
    |(?P<month_slashed>1[0-2]|0?[1-9])/(?P<slashed_year>(?:19|20)\d\d)(?![\d/])
    |(?:on|since|until|before|after)\ (?P<short_slashed>\d{{1,2}}/\d{{1,2}})(?![\w/.])
    |(?P<pair>(?:{_MONTHS})\.?\ ?[-/–]\ ?(?:{_MONTHS}))(?:\.?\ (?P<pair_year>{_YEAR}))?(?!\w)
    |(?:{_NTH})\ (?:(?:few|two|three)\ )?(?:days?|(?:long\ )?weekends?|weeks?|months?|half|quarter|{_WEEKDAYS})
        (?=\ of\ |\ in\ (?:{_MONTHS}|\d{{4}}|(?:last|this)\ (?:month|year|{_SEASON})))  # of a period behind it
    |(?:{_DAY}-)?(?P<absolute>(?:{_DAY}\ (?:of\ )?(?:{_MONTHS})|(?:{_MONTHS})\.?\ (?:the\ )?{_DAY}(?![\d:]))
        (?:,?\ {_YEAR})?)(?!\w)
    |(?:mid-)?(?P<month>{_MONTHS})\.?,?\ (?:of\ )?(?P<month_year>{_YEAR})(?!\w)
    |(?:{_BEFORE_MONTH}|and|to|or)[\ -](?P<named_month>{_MONTHS})(?![\w']|\.?,?\ \d|\ (?:the\ )?{_DAY}(?!\w))
    |(?P<possible_month>(?<=year's\ )(?:{_MONTHS})(?!\w)
        |(?:{_MONTHS})(?=(?:,|\ in|\ of)?\ {_REL_YEAR}|\ (?:to|through|until|and|or|-)\ (?:{_MONTHS})(?!\w)))
    |(?P<plain_month>january|february|july|september|october|november|december)(?!\w)
    |(?:{_BEFORE_MONTH}|year)\ (?P<year>(?:19|20)\d\d)(?![\w.,-]\d|\w)
    |(?<=and\ |.to\ )(?P<last_year>(?:19|20)\d\d)(?=[?.!,]?$)
    |(?P<day>(?:the\ day\ before\ )?yesterday|today|tonight|last\ night|this\ (?:morning|afternoon|evening))(?!\w)
    |(?P<this_time>this\ time|around\ this\ time|the\ same\ time|the\ same\ day)\ {_REL_YEAR}(?!\w)
    |(?:next|coming|every|each)\ (?:{_UNIT}|{_MONTHS}|{_WEEKDAYS}|{_SEASON})(?!\w)  # names no day that was
    |(?:the\ )?(?P<before_last>{_UNIT}|{_WEEKDAYS})\ before\ last(?!\w)
    |(?:last|past|previous|recent)\ (?P<past_number>\d{{1,3}}|{_COUNTS}|(?:couple|few|several)(?:\ of)?)
        \ (?P<past_unit>day|night|week|weekend|month|year)s?(?!\w)
    |(?:in|over|within|during|throughout)\ the\ (?:last|past)\ (?P<rolling>week|month|year)(?!\w|\ (?:of|in)\ )
    |(?P<which>last|past|previous|this)\ (?P<unit>{_UNIT}|quarter)(?!\w)
    |(?:(?:the\ )?(?:start|beginning|end|middle|rest|course|early\ part)|(?:first|second)\ half)\ of\ the
        \ (?P<this_unit>year|month|week)(?!\w)
    |q(?P<quarter>[1-4])(?:(?:\ of)?\ (?P<quarter_year>\d{{4}}))?(?!\w)
    |(?:(?P<season_which>last|this|past|in|during|of|early|late|mid|since|before|after|in\ the|during\ the)[\ -])?
        (?P<season>{_SEASON})
        (?:\ (?:of\ )?(?P<season_year>\d{{4}})|(?P<season_rel>(?=,?(?:\ of|\ in)?\ {_REL_YEAR})))?(?!\w)
    |(?:the|on\ the|over\ the|at\ the)\ (?P<weekend>weekend)(?!\w|\ (?:before|after){_EVENT})
    |(?:a\ )?(?P<number>\d{{1,3}}|half\ an?|an?|{_COUNTS}|couple|few|several|some)\ (?:of\ )?
        (?P<ago>day|night|week|weekend|fortnight|month|year)s?(?P<and_half>\ and\ a\ half)?
        \ (?:ago|back|earlier|before)(?!\w)
        (?!\ (?:the\ )?(?:{_DAY}|{_MONTHS}|\d|christmas)|{_EVENT})
    |the\ (?P<other_day>other\ (?:day|night|evening))(?!\w)
    |(?:(?P<weekday_which>last|this|on|past)\ )?(?P<weekday>{_WEEKDAYS})(?!\w)
    |(?:on|last)\ (?P<weekday_short>mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)(?!\w)
    |(?:(?:{_ABOUT_NUMBER})\ the\ |(?<=day\ )(?:the\ )?|(?<=day,\ )the\ |the\ (?=\d+\w\w\ of\ (?:last|this)\ month))
        (?P<number_of_month>(?:3[01]|[12]\d|[1-9])(?:st|nd|rd|th))
        (?!\w
        |\ (?!last|this)\w+\ of|\ (?:{_NUMBERED})(?!\w)|\ and\ (?:the\ )?\d+\w\w\ of)
    |(?P<feast>{feasts.ENGLISH})(?:['’]s)?(?:\ (?P<feast_year>\d{{4}}))?(?!\w)
    )""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,  # ASCII: a Chinese word may follow at once
)


_OF_YEAR = ("year's ", "year in ", "year in the ")
_WHICH = ("last", "this", "past")
_KINDS: dict[str, Kind] = {
    "day": "day",
    "quarter": "season",
    "week": "week",
    "weekend": "weekend",
    "month": "month",
    "year": "year",
}
_AROUND_DAY = frozenset(("st", "nd", "rd", "th", "of", "the"))
_numbers = re.compile(r"\d+").findall
_words = re.compile(r"[a-z]+").findall
_ends_with_month = re.compile(rf"(?:{_MONTHS})\.?(?:,?\ \d{{4}})?\s$", re.IGNORECASE | re.VERBOSE).search


HINTS = frozenset(
    f"{_MONTHS}|{_WEEKDAYS}|{_SEASON}|{_UNIT}|weekends|weeks|months|years|day|days|yesterday|today|tonight|night|nights"
    "|morning|afternoon|evening|fortnight|quarter|sep|sept|mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun".split("|")
) | {
    word.replace("'", "")
    for name in feasts.ENGLISH_NAMES
    for word in (name.split()[0], name.split()[0].removesuffix("'s"))
}
"""One of them, or a digit, stands in all that names a day in English."""


def english_spans(text: str, today: dt.date) -> Iterator[Span]:
    """The dates in ``text``, in order.

    Raises:
        OverflowError: a day is meant that the calendar does not have.
    """
    for found in _ENGLISH.finditer(text):
        for kind, days, has_year in _calendar(found, today):
            if days:
                yield Span(_begin(found), found.end(), *days, is_relative=False, kind=kind, has_year=has_year)
        for kind, days in _relative(found, today):
            if days:
                yield Span(_begin(found) if found["this_unit"] else found.start(), found.end(), *days, kind=kind)


def _begin(found: re.Match[str]) -> int:
    """Where a date begins, without the word before it that shows that it is one."""
    if found["season"] and (found["season_which"] or "").lower() not in _WHICH:
        return found.start("season")
    if found["named_month"] and not found[0].lower().startswith(_WHICH):
        return found.start("named_month")
    groups = ("year", "month", "absolute", "short_slashed", "number_of_month", "weekday_short", "this_unit")
    return next((found.start(group) for group in groups if found[group]), found.start())


def _calendar(found: re.Match[str], today: dt.date) -> Iterator[tuple[Kind, Days | None, bool]]:
    """Days that a calendar names, whenever somebody says it; whether the year is among them."""
    yield from _in_digits(found, today)
    if found["absolute"]:
        yield "day", _absolute(found["absolute"].lower(), today), bool(re.search(rf"{_YEAR}$", found["absolute"]))
    elif name := found["month"] or found["named_month"] or found["possible_month"] or found["plain_month"]:
        if not found["named_month"] or _is_month(found):
            yield "month", _month(found, _month_number(name), today), bool(found["month_year"])
    elif found["year"] or found["last_year"]:
        yield "year", date_spans.year_of(int(found["year"] or found["last_year"])), True
    elif found["pair"]:
        yield "", _pair(found, today), bool(found["pair_year"])
    elif found["quarter"]:
        year = found["quarter_year"]
        yield "season", date_spans.quarter(int(found["quarter"]), today, int(year) if year else None), bool(year)
    elif found["season"]:
        yield "season", _season(found, today), bool(found["season_year"])
    elif found["feast"]:
        year = found["feast_year"]
        named = feasts.feast(found["feast"], int(year)) if year else feasts.recent_feast(found["feast"], today)
        yield "day", named, bool(year)
    elif found["number_of_month"]:
        yield "day number", date_spans.recent_number(int(found["number_of_month"][:-2]), today), False


def _in_digits(found: re.Match[str], today: dt.date) -> Iterator[tuple[Kind, Days | None, bool]]:
    if found["iso"]:
        yield "day", date_spans.day(*map(int, re.split(r"[-/.]", found["iso"]))), True
    elif found["iso_year"]:
        yield "month", date_spans.month(int(found["iso_year"]), int(found["iso_month"])), True
    elif written := found["compact"]:
        yield "day", date_spans.day(int(written[:4]), int(written[4:6]), int(written[6:])), True
    elif found["slashed"]:
        one, other, year = re.split(r"[/.]", found["slashed"])
        # In America the month comes first.
        for month, day in dict.fromkeys(((int(one), int(other)), (int(other), int(one)))):
            yield "day", date_spans.day(_year_number(year), month, day), True
    elif found["short_slashed"]:
        one, other = map(int, found["short_slashed"].split("/"))
        for month, day in dict.fromkeys(((one, other), (other, one))):
            yield "day", date_spans.recent_day(month, day, today), False
    elif found["month_slashed"]:
        yield "month", date_spans.month(int(found["slashed_year"]), int(found["month_slashed"])), True


def _is_month(found: re.Match[str]) -> bool:
    """Whether what stands behind ``and``, ``to`` or ``or`` is a month: another month stands before it.

    "This may" is no month.
    """
    word = found[0].split()[0].lower()
    if word == "this" and found["named_month"] == "may":
        return False
    return word not in ("and", "to", "or") or bool(_ends_with_month(found.string[: found.start()]))


def _relative(found: re.Match[str], today: dt.date) -> Iterator[tuple[Kind, Days | None]]:
    if found["day"]:
        low = found["day"].lower()
        yield "day", date_spans.ago(2 if "before" in low else low in ("yesterday", "last night"), "day", today)
    elif found["this_time"]:
        year_before = date_spans.moved(today, today.year - 1)
        about = DAY * (0 if "day" in found["this_time"].lower() else 14)
        yield "day", (year_before - about, year_before + about)
    elif unit := found["unit"] or found["before_last"]:
        back = 2 if found["before_last"] else 0 if found["which"].lower() == "this" else 1
        yield _KINDS.get(unit.lower(), "weekday"), _unit(unit.lower(), back, today)
    elif found["past_unit"] or found["rolling"]:
        yield "", _rolling(found, today)
    elif found["this_unit"]:
        yield _KINDS[found["this_unit"].lower()], _this_unit(found, today)
    elif found["other_day"]:
        yield "", (today - 10 * DAY, today)
    elif found["weekday_short"]:
        yield "weekday", date_spans.recent_weekday(_NUMBER_OF_SHORT_DAY[found["weekday_short"][:3].lower()], today)
    elif found["weekend"]:
        yield "weekend", date_spans.weekend_from(today, 0 if today.weekday() >= 5 else -1)
    elif found["ago"]:
        yield _KINDS.get(found["ago"].lower(), ""), _ago(found, today)
    elif found["weekday"]:
        number = _NUMBER_OF_DAY[found["weekday"].lower()]
        yield "weekday", date_spans.recent_weekday(number, today)
        if (found["weekday_which"] or "").lower() == "last":
            # Said on a Sunday, "last Friday" is two days ago, or nine.
            yield "weekday", date_spans.weekday_from(today, -1, number)


def _absolute(text: str, today: dt.date) -> Days | None:
    """``3rd of may``, ``may the 3rd, 2026``."""
    (name,) = (word for word in _words(text) if word not in _AROUND_DAY)
    number, *year = _numbers(text)
    month_number = _month_number(name)
    return (
        date_spans.day(_year_number(year[0]), month_number, int(number))
        if year
        else date_spans.recent_day(month_number, int(number), today)
    )


def _month(found: re.Match[str], number: int, today: dt.date) -> Days | None:
    if found["month_year"]:
        return date_spans.month(_year_number(found["month_year"]), number)
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
    if unit in _NUMBER_OF_DAY:
        return date_spans.recent_weekday(_NUMBER_OF_DAY[unit], today - 7 * DAY * (back - 1))
    if unit == "quarter":
        first, _ = date_spans.month_from(today, -3 * back)
        return date_spans.quarter((first.month + 2) // 3, today, first.year)
    return date_spans.month_from(today, -back) if unit == "month" else date_spans.year_of(today.year - back)


def _pair(found: re.Match[str], today: dt.date) -> Days | None:
    """Two months with a dash or a slash between: ``Mar-Apr 2025``."""
    one, other = (_month_number(name) for name in _words(found["pair"].lower()))
    if year := found["pair_year"]:
        first, last = (
            date_spans.month(_year_number(year) - (one > other), one),
            date_spans.month(_year_number(year), other),
        )
    else:
        first = date_spans.recent_month(one, today)
        last = first and date_spans.month(first[0].year + (other < one), other)
    return (first[0], last[1]) if first and last else None


def _rolling(found: re.Match[str], today: dt.date) -> Days:
    """``the last three weeks``, ``in the past month``: until today."""
    unit, number = (found["past_unit"] or found["rolling"]).lower(), (found["past_number"] or "one").lower().split()[0]
    count = int(number) if number.isdigit() else _NUMBERS[number] or 6
    return date_spans.until_today(count, unit, today)


def _this_unit(found: re.Match[str], today: dt.date) -> Days | None:
    """``the end of the year``: of this one, or of the last one while the end of this one is far away."""
    unit = found["this_unit"].lower()
    days = _unit(unit, 0, today)
    is_ahead = days and "end" in found[0].lower().split() and (days[1] - today) > (days[1] - days[0]) / 3
    return _unit(unit, 1, today) if is_ahead else days


def _ago(found: re.Match[str], today: dt.date) -> Days:
    number, unit = found["number"].lower(), found["ago"].lower()
    if unit == "weekend":
        return date_spans.weekend_from(today, -(int(number) if number.isdigit() else _NUMBERS.get(number, 1) or 6))
    half = number.startswith("half") or found["and_half"]
    count = int(number) if number.isdigit() else _NUMBERS.get(number, 0)
    if half:
        return date_spans.half_ago(count, unit, today)
    if unit == "fortnight":
        unit, count = "week", 2 * count
    unit = "day" if unit == "night" else unit
    return date_spans.ago(count, unit, today) if count else (date_spans.ago(6, unit, today)[0], today)


def _year_number(text: str) -> int:
    """``2025``, ``'25`` or ``25``."""
    number = int(text.lstrip("'’"))
    return number if number > 99 else 2000 + number


def _month_number(name: str) -> int:
    return [month[:3] for month in _MONTHS.split("|")[:12]].index(name[:3].lower()) + 1
