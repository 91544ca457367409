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
from daemon.recall.chinese_characters import simplified
from daemon.recall.chinese_dates import chinese_spans
from daemon.recall.date_spans import DAY, Days, Span
from daemon.recall.english_dates import HINTS, english_spans
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


_TELL_ENGLISH = frozenset(("the", "what", "did", "you", "my", "when", "how", "where", "which", "with", "and"))
"""Who uses one of them writes no other language that is looked for."""

_may_name_day = re.compile(
    r"""\b(?:yesterday|ago|past|weekend)\b
    |\blast\ (?:\w+day|night|week|month|year|spring|summ|autu|fall|wint|eve|few|coup|two|three|four|five|\d)
    |\bthis\ (?:\w+day|morn|noon|after|even|week|month|year|spring|summ|autu|fall|wint|quarter)
    |\bon\ (?:the\ )?
        (?:\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|new\ |christ|east)
    |[昨前]天|(?:[周週]|星期|[礼禮]拜)[一二三四五六日天末前]|[上这這本][个個]?(?:[周週]|星期|[礼禮]拜)|[月号號日]""",
    re.IGNORECASE | re.VERBOSE,
).search
"""Whether a passage may name another day than the one on which it was said; most with "on" or "this" do not."""
_words = re.compile(r"[a-z]+").findall
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
    return ranges_of_days(((span.first, span.last) for span in found), now)


def ranges_of_days(found: Iterable[Days], now: dt.datetime) -> tuple[DateRange, ...]:
    """The ranges from the first to the last of each days, without duplicates."""
    zone = now.tzinfo or dt.UTC
    ranges = dict.fromkeys(found)
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
    if not words.isdisjoint(HINTS) or _has_digit(text):
        yield english_spans(text, now.date())
    if not text.isascii():
        yield chinese_spans(simplified(text), now.date())
    if words.isdisjoint(_TELL_ENGLISH):
        yield other_spans(text, now)
