"""Parts of a date or period, named by words beside it: ``early May``, ``the first weekend of May``, ``月底``. Pure."""

import re

from msgspec.structs import replace

from daemon.recall import date_spans
from daemon.recall.date_spans import DAY, WEEKDAYS, Days, Span

_THE = date_spans.THE
_NUMBER = r"(\d{1,2})(?:st|nd|rd|th|日|号|號|\.)?"
_first_day = re.compile(
    rf"(?<![\w/.-]){_NUMBER}\s*(?:{date_spans.DASH}|{date_spans.ROMANCE_DASH}|{date_spans.AND})\s*{_THE}$",
    re.IGNORECASE | re.VERBOSE,
).search
_last_day = re.compile(rf"\s*(?:{date_spans.DASH}|and)\s*{_THE}{_NUMBER}(?![\w:.-])", re.IGNORECASE | re.VERBOSE).match

_BEGIN = ("principios", "inicios", "inizio", "início", "começo")
_MIDDLE = ("mediados", "metà", "meados")
_END = ("finales", "fines", "fine", "fim", "final")
_PARTS: dict[str, tuple[float, float]] = {
    **dict.fromkeys(
        ("early", "beginning", "start", "anfang", "début", *_BEGIN, "初", "月初", "年初", "上旬"), (0, 1 / 3)
    ),
    **dict.fromkeys(("mid", "middle", "mitte", "mi", *_MIDDLE, "中旬", "中", "月中", "年中"), (1 / 3, 2 / 3)),
    **dict.fromkeys(
        ("late", "end", "ende", "fin", *_END, "下旬", "底", "末", "月底", "月末", "年底", "年末"), (2 / 3, 1)
    ),
    "first half": (0, 1 / 2),
    "second half": (1 / 2, 1),
}
"""Where a part of a month, season or year begins and ends."""
_ASCII_PARTS = "|".join(part.replace(" ", "\\ ") for part in _PARTS if ord(part[0]) < 0x3000)
_part_before = re.compile(
    rf"""\b{_THE}(?P<part>{_ASCII_PARTS})(?!(?<=fine|inal)\ in)[\s-]+  # "it was fine in May"
    (?:(?:of|in|d[ei]|des|du|de\ l')\s*\b)?{_THE}$""",
    re.IGNORECASE | re.VERBOSE,
).search
_part_behind = re.compile(rf"的?(?P<part>{'|'.join(part for part in _PARTS if ord(part[0]) > 0x3000)})(?!次)").match

_NTH_WORDS = ("first 1st 一 1", "second 2nd 二 2", "third 3rd 三 3", "fourth 4th 四 4", "fifth 5th 五 5")
_NTH = {name: number for number, names in enumerate(_NTH_WORDS) for name in names.split()}
_ENGLISH_NTH = "|".join(name for name in _NTH if len(name) > 1)
_nth_before = re.compile(
    rf"""\b{_THE}(?:very\ )?(?:(?P<nth>{_ENGLISH_NTH})|last|final)\ (?:(?P<many>few|two|three)\ )?(?:long\ )?
    (?P<unit>day|weekend|week|month|quarter|{"|".join(WEEKDAYS)})(?P<several>s)?\ (?:of|in)\ {_THE}$""",
    re.IGNORECASE | re.VERBOSE,
).search
_nth_behind = re.compile(
    r"的?(?:第(?P<nth>[一二三四五1-5])|最后|(?P<first>头))(?P<many>[两三几](?=[个天]))?(?:一(?=[个天周]))?个?"
    r"(?:(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])|(?P<unit>周末|天|周|星期|礼拜|月|季度))"
).match
_CHINESE_UNITS = {"天": "day", "周末": "weekend", "月": "month", "季度": "quarter"}
"""All others are weeks."""
_MANY = {"few": 5, "two": 2, "three": 3, "几": 5, "两": 2, "三": 3}
"""Days; a few of them are not counted."""


def with_part(span: Span, before: str, behind: str) -> Span:
    """The date with the words before and behind it taken into account.

    Raises:
        OverflowError: the calendar does not have a day that is meant.
    """
    if span.kind in ("day", "day number") and not span.is_relative:
        return _with_other_day(span, before, behind)
    return _part_of_period(span, before, behind) if span.kind in ("week", "month", "season", "year") else span


def _part_of_period(span: Span, before: str, behind: str) -> Span:
    if nth := _nth_before(before):
        many = nth["many"] or (nth["several"] and "few")
        first, last = _nth_of(span, nth["nth"], nth["unit"].lower(), many)
        return replace(span, begin=span.begin - len(before) + nth.start(), first=first, last=last)
    if nth := _nth_behind(behind):
        number = "一" if nth["first"] else nth["nth"]
        first, last = _nth_of(span, number, _chinese_unit(nth), nth["many"])
        return replace(span, end=span.end + nth.end(), first=first, last=last)
    if part := _part_before(before):
        first, last = _part_of(span, part["part"].lower())
        return replace(span, begin=span.begin - len(before) + part.start(), first=first, last=last)
    if part := _part_behind(behind):
        first, last = _part_of(span, part["part"])
        return replace(span, end=span.end + part.end(), first=first, last=last)
    return span


def _chinese_unit(nth: re.Match[str]) -> str:
    if nth["weekday"]:
        return WEEKDAYS["一二三四五六日".index(nth["weekday"].replace("天", "日"))]
    return _CHINESE_UNITS.get(nth["unit"], "week")


def _nth_of(span: Span, nth: str | None, unit: str, many: str | None) -> Days:
    """The first, second, ... or last of the units in ``span``; ``nth`` None: the last."""
    number = _NTH[nth.lower()] if nth else -1
    return _units(span, number, unit, _MANY[many.lower()] if many else 1)


def _units(span: Span, number: int, unit: str, many: int) -> Days:
    begins = span.last + DAY if number < 0 else span.first
    match unit:
        case "day" | "week":
            days = many if unit == "day" else 7 * many
            first = begins + DAY * (number * days)
            return first, first + DAY * (days - 1)
        case "month" | "quarter":
            months = 1 if unit == "month" else 3
            first = date_spans.month_from(begins, number * months)[0]
            return first, date_spans.month_from(first, months - 1)[1]
        case _:
            weekday = 5 if unit == "weekend" else WEEKDAYS.index(unit)
            day = begins + DAY * ((weekday - begins.weekday()) % 7 + 7 * number)
            return day, day + DAY * (unit == "weekend")


def _part_of(span: Span, part: str) -> Days:
    length = (span.last - span.first).days + 1
    begin, end = _PARTS[part]
    return span.first + DAY * round(length * begin), span.first + DAY * (round(length * end) - 1)


def _with_other_day(span: Span, before: str, behind: str) -> Span:
    year, month = span.first.year, span.first.month
    if (first := _first_day(before)) and (days := date_spans.day(year, month, int(first[1]))) and days[0] < span.first:
        return replace(span, begin=span.begin - len(before) + first.start(), first=days[0], is_relative=True)
    if (last := _last_day(behind)) and (days := date_spans.day(year, month, int(last[1]))) and days[0] > span.last:
        return replace(span, end=span.end + last.end(), last=days[0], is_relative=True)
    return span
