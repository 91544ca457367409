"""Dates beside another date or an event: ``the weekend before 10 April``, ``three days after my party``. Pure."""

import datetime as dt
import re

import msgspec
from msgspec.structs import replace

from daemon.recall import date_spans
from daemon.recall.chinese_dates import number_of
from daemon.recall.date_spans import DAY, WEEKDAYS, Days, Span

BEFORE = "before|prior\\ to|preceding|leading\\ up\\ to|vor|avant"
AFTER = "after|following|nach|après"
_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {"a": 1, "an": 1, "couple of": 2} | {name: number for number, name in enumerate(_COUNTS, 1)}
_OTHER_UNITS = {"wochenende": "weekend", "week-end": "weekend", "woche": "week", "semaine": "week", "tag": "day"}
_UNITS = "|".join(("weekend|week|month|year|day|night|evening", *WEEKDAYS, *_OTHER_UNITS))
_BESIDE = rf"""\b(?:
    (?:(?:the|last|on|that|first|very|next|am|der|le|la)\ )*(?P<unit>{_UNITS})
    |(?:a\ )?(?P<count>\d{{1,2}}|{"|".join(_NUMBERS)}|few|couple\ of)\ (?P<counted>day|week|month|year)s?
        (?P<half>\ and\ a\ half)?
    |the\ (?P<several>day|week)s
    )\ (?:(?P<before>{BEFORE})|(?P<of>of|beginning|starting)|{AFTER})\s+(?:on\s+)?"""
_beside_before = re.compile(rf"{_BESIDE}{date_spans.THE}$", re.IGNORECASE | re.VERBOSE).search
_event = re.compile(
    rf"""{_BESIDE}(?!last|this|tomorrow|yesterday|today|now|that)
    (?P<event>(?:I|we|he|she|they)?[^,;.!?\n]+?)(?=[,;.!?\n]|$|\ (?:I|we|did|do|what|where|who|when|how|which)\b)""",
    re.IGNORECASE | re.VERBOSE,
).search
_BEHIND = (
    r"(?P<of>[之以])?(?P<side>[前后])的?(?:那个?|这个?|第)?(?:(?P<count>[一两二三四五六七八九十几]{1,2}|\d{1,2})个?"
    r"(?P<unit>天|日|周(?!末)|星期|礼拜|月|年)|一?个?(?:(?P<weekend>周末)|(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])))"
)
_beside_behind = re.compile(_BEHIND).match
_CHINESE_DAYS = {"天": 1, "日": 1, "月": 30, "年": 365}
"""Of each unit. All others are weeks."""


def beside(text: str, span: Span) -> Span | None:
    """The date beside the one of ``span``, if the text means that one."""
    if (found := _beside_before(text[: span.begin])) and found["of"]:
        return _around(replace(span, begin=found.start()), found)
    if found:
        first, last = _english_beside(span.first, span.last, found)
        return replace(span, begin=found.start(), first=first, last=last, is_relative=True)
    if (found := _beside_behind(text[span.end :])) and (not span.is_relative or found["of"]):
        first, last = _chinese_beside(span.first, span.last, found)
        return replace(span, end=span.end + found.end(), first=first, last=last, is_relative=True)
    return None


def _english_beside(first: dt.date, last: dt.date, found: re.Match[str]) -> Days:
    step = -1 if found["before"] else 1
    edge = first if step < 0 else last
    unit = found["unit"] and found["unit"].lower()
    return _unit(_OTHER_UNITS.get(unit, unit), edge, step) if unit else _counted(found, edge, step)


def _chinese_beside(first: dt.date, last: dt.date, found: re.Match[str]) -> Days:
    """``前两天`` are the two days before it, ``后的周末`` is the weekend behind it."""
    step = -1 if found["side"] == "前" else 1
    edge = first if step < 0 else last
    if found["weekday"] or found["weekend"]:
        unit = WEEKDAYS["一二三四五六日".index(found["weekday"].replace("天", "日"))] if found["weekday"] else "weekend"
        return _unit(unit, edge, step)
    return _chinese_window(edge, step, found["count"], found["unit"])


def _chinese_window(edge: dt.date, step: int, count: str, unit: str) -> Days:
    days = (5 if count == "几" else max(1, number_of(count))) * _CHINESE_DAYS.get(unit, 7)
    first, last = sorted((edge + DAY * step, edge + DAY * step * days))
    return first, last


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
            number = WEEKDAYS.index(unit)
            away = (step * (number - edge.weekday())) % 7 or 7
            return edge + DAY * away * step, edge + DAY * away * step


def _counted(found: re.Match[str], edge: dt.date, step: int) -> Days:
    """``two weeks after``: by weeks it is not meant to the day."""
    count, unit = (found["count"] or "few").lower(), (found["counted"] or found["several"]).lower()
    if count == "few":
        first, last = sorted((edge + DAY * step, edge + DAY * step * (7 if unit == "day" else 28)))
        return first, last
    number: float = step * (_NUMBERS.get(count) or int(count))
    if unit == "month":
        return date_spans.month_from(edge, int(number))
    if unit == "year":
        return date_spans.year_of(edge.year + int(number)) or (edge, edge)
    number += step * 0.5 if found["half"] else 0
    day, about = (edge + 7 * DAY * number, 2 * DAY) if unit == "week" else (edge + DAY * number, 0 * DAY)
    return day - about, day + about


# Dates beside an event

_is_named = re.compile(r"(?:the|on|that|very|first)\ |[之以]", re.IGNORECASE).match
"""The day of an event is "the day of …". "Opening night of …" is an event itself."""
_chinese_event = re.compile(
    rf"(?P<event>[\u4e00-\u9fff]{{2,16}}?)(?:{_BEHIND}"
    r"|(?P<days>[一两二三四五六七八九十几]{1,2}|\d{1,2})个?(?P<days_unit>天|周|星期|礼拜|月)[之以]?后)"
).search


class EventDate(msgspec.Struct, frozen=True, kw_only=True):
    """Days beside an event, such as "three days after my party". Only a search tells when the event was."""

    event: str
    """Its words."""
    rest: str
    """The text without the words for the days and the event."""
    found: re.Match[str]

    def days(self, day: dt.date) -> Days:
        """The days, if the event was on ``day``.

        Raises:
            OverflowError: the calendar does not have them.
        """
        groups = self.found.groupdict()
        if groups.get("days"):
            return _chinese_window(day, 1, groups["days"], groups["days_unit"])
        if "side" in groups:
            return _chinese_beside(day, day, self.found)
        if self.found["of"]:
            unit = (self.found["unit"] or "day").lower()
            return {"week": date_spans.week_from, "weekend": date_spans.weekend_from}.get(unit, _same)(day, 0)
        return _english_beside(day, day, self.found)


def event_date(text: str) -> EventDate | None:
    """The days beside an event that ``text`` names, for a text without other dates."""
    found = _event(text) or (None if text.isascii() else _chinese_event(text))
    if not found or (found.groupdict().get("unit") and found["of"] and not _is_named(found[0])):
        return None
    rest = f"{text[: found.start()]} {text[found.end() :]}"
    return EventDate(event=found["event"], rest=rest, found=found)


def _same(day: dt.date, _: int) -> Days:
    return day, day
