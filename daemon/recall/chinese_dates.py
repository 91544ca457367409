"""Chinese expressions for days: ``上周五``, ``五月三日``, ``去年夏天``, ``三天前``. Pure."""

import datetime as dt
import re
from collections.abc import Iterator

from daemon.recall import date_spans
from daemon.recall.date_spans import DAY, Days, Kind, Span

_NUMERALS = "零〇 一 二两兩 三 四 五 六 七 八 九"
_DIGITS = {sign: number for number, signs in enumerate(_NUMERALS.split()) for sign in signs}
_NUMBER = "[0-9零〇一二两兩三四五六七八九十]{1,4}"
_WEEKDAYS = "一1 二2 三3 四4 五5 六6 日天"
_DAYS = {sign: number for number, signs in enumerate(_WEEKDAYS.split()) for sign in signs}
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_YEARS = {"今": 0, "本": 0, "这": 0, "這": 0, "去": 1, "前": 2, "大前": 3}
_RELATIVE_DAYS = {
    name: number
    for number, names in enumerate(("今天 今日 今早 今晚", "昨天 昨日 昨晚 昨夜", "前天 前晚", "大前天"))
    for name in names.split()
}
_FEASTS = {
    "元旦": (1, 1, 1),
    "情人节": (2, 14, 14),
    "劳动节": (5, 1, 5),
    "五一": (5, 1, 5),
    "儿童节": (6, 1, 1),
    "国庆": (10, 1, 7),
    "万圣节": (10, 31, 31),
    "平安夜": (12, 24, 24),
    "圣诞": (12, 24, 25),
    "跨年": (12, 31, 31),
}
"""Month, first and last day of those that the sun's calendar gives a date."""
_UNITS: dict[str, Kind] = {"天": "day", "日": "day", "月": "month", "年": "year"}
"""All others are weeks."""
_FEW = frozenset("几幾数數")

_WEEK = "(?:周|週|星期|礼拜|禮拜)"
_SPAN = re.compile(
    rf"(?P<days>大前天|今天|今日|今早|今晚|昨天|昨日|昨晚|昨夜|前天|前晚)"
    rf"|(?P<some>前(?:几|幾|两|兩|些)(?P<some_unit>天|日|周|週|个月|個月|年)|最近(?:几|幾)天)"
    rf"|(?P<half_a_year>半年)(?:之|以)?前"
    rf"|(?P<number>{_NUMBER}|[几幾数數])[个個]?(?P<unit>天|日|周|週|星期|礼拜|禮拜|月|年)(?:之|以)?前"
    rf"|(?P<weeks>上{{1,3}}|[这這本])[个個]?{_WEEK}(?P<of_week>[一二三四五六日天1-6](?![\d个個])|末)?"
    rf"|(?:(?P<year>\d{{4}}|大前|[今去前])年)?(?P<month>{_NUMBER})月(?:份|(?P<day>{_NUMBER})[日号號]?)?(?!前)"
    rf"|(?P<months>上{{1,3}}|[这這本])[个個]?月(?:份)?(?:(?P<day_of>{_NUMBER})[日号號])?"
    rf"|(?:(?P<season_year>\d{{4}}|大前|[今去前])年)?(?:的)?(?P<season>[春夏秋冬])[天季]"
    rf"|(?P<only_year>\d{{4}}|大前|[今去前])年(?P<half>[上下]半年)?"
    rf"|(?:(?P<feast_year>\d{{4}}|[今去前])年)?(?:的)?(?P<feast>元旦|情人节|劳动节|五一|儿童节|国庆|圣诞|平安夜|万圣节|跨年)"
    rf"|(?<!下)(?<!下[个個])(?P<bare>{_WEEK}(?P<bare_day>[一二三四五六日天](?!个)|末))"
    rf"|(?<![\d月.])(?P<only_day>\d{{1,2}}|{_NUMBER})[号號](?![线線楼樓])"
)


def number_of(text: str) -> int:
    """The value of digits or of a Chinese number below 100; -1 for any other text."""
    if text.isdigit() and text.isascii():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    if ten:
        return (_DIGITS.get(tens, -9) if tens else 1) * 10 + (_DIGITS.get(ones, -99) if ones else 0)
    number = 0
    for sign in text:
        if (digit := int(sign) if sign.isdecimal() and sign.isascii() else _DIGITS.get(sign)) is None:
            return -1
        number = number * 10 + digit
    return number


def chinese_spans(text: str, today: dt.date) -> Iterator[Span]:
    """The dates in ``text``, in order.

    Raises:
        OverflowError: a day is meant that the calendar does not have.
    """
    for found in _SPAN.finditer(text):
        kind, named, is_relative = _days_of(found, today)
        if named:
            has_year = bool(found["year"] or found["season_year"] or found["feast_year"] or found["only_year"])
            yield Span(found.start(), found.end(), *named, is_relative=is_relative, kind=kind, has_year=has_year)


def _days_of(found: re.Match[str], today: dt.date) -> tuple[Kind, Days | None, bool]:
    if found["month"]:
        return ("day" if found["day"] else "month"), _of_month(found, today), False
    if found["season"]:
        year, name = _year(found["season_year"], today), _SEASONS[found["season"]]
        return (
            "season",
            (date_spans.recent_season(name, today) if year is None else date_spans.season(name, year)),
            False,
        )
    if found["only_year"]:
        return ("" if found["half"] else "year"), _of_year(found, today), not found["only_year"].isdigit()
    if found["feast"]:
        return "day", _of_feast(found, today), False
    if found["only_day"]:
        return "day", date_spans.recent_number(number_of(found["only_day"]), today), False
    return _kind_of(found), _relative(found, today), True


def _kind_of(found: re.Match[str]) -> Kind:
    if found["days"] or found["day_of"]:
        return "day"
    if found["weeks"] or found["bare"]:
        day = found["of_week"] if found["weeks"] else found["bare_day"]
        return "weekend" if day == "末" else "week" if not day else "day" if found["weeks"] else "weekday"
    if found["number"] and found["number"] not in _FEW:
        return _unit(found["unit"])
    return "month" if found["months"] else ""


def _relative(found: re.Match[str], today: dt.date) -> Days | None:
    if found["days"]:
        return date_spans.ago(_RELATIVE_DAYS[found["days"]], "day", today)
    if found["weeks"]:
        return _of_week(today, -len(found["weeks"]) if found["weeks"].startswith("上") else 0, found["of_week"])
    if found["months"]:
        first, last = date_spans.month_from(today, -len(found["months"]) if found["months"].startswith("上") else 0)
        return date_spans.day(first.year, first.month, number_of(found["day_of"])) if found["day_of"] else (first, last)
    return _of_bare_week(found["bare_day"], today) if found["bare"] else _before(found, today)


def _of_month(found: re.Match[str], today: dt.date) -> Days | None:
    year, number = _year(found["year"], today), number_of(found["month"])
    if not 1 <= number <= 12:
        return None
    if not found["day"]:
        return date_spans.recent_month(number, today) if year is None else date_spans.month(year, number)
    day = number_of(found["day"])
    return date_spans.recent_day(number, day, today) if year is None else date_spans.day(year, number, day)


def _of_year(found: re.Match[str], today: dt.date) -> Days | None:
    year = _year(found["only_year"], today)
    if year is None or not (named := date_spans.year_of(year)):
        return None
    if found["half"] == "上半年":
        return named[0], named[0].replace(month=6, day=30)
    return (named[0].replace(month=7), named[1]) if found["half"] else named


def _of_feast(found: re.Match[str], today: dt.date) -> Days | None:
    month, first, last = _FEASTS[found["feast"]]
    year = _year(found["feast_year"], today)
    named = date_spans.recent_day(month, first, today) if year is None else date_spans.day(year, month, first)
    return (named[0], named[0] + DAY * (last - first)) if named else None


def _before(found: re.Match[str], today: dt.date) -> Days:
    if found["half_a_year"]:
        return date_spans.month_from(today, -7)[0], date_spans.month_from(today, -5)[1]
    if found["number"] and found["number"] not in _FEW:
        return date_spans.ago(number_of(found["number"]), _unit(found["unit"]), today)
    # A few of them: somewhere between then and now.
    unit = _unit(found["unit"] or found["some_unit"] or "天")
    return date_spans.ago(7 if unit == "day" else 5, unit, today)[0], today


def _unit(sign: str) -> Kind:
    return _UNITS.get(sign.strip("个個"), "week")


def _of_week(today: dt.date, weeks: int, day: str | None) -> Days:
    if day == "末":
        return date_spans.weekend_from(today, weeks)
    return date_spans.weekday_from(today, weeks, _DAYS[day]) if day else date_spans.week_from(today, weeks)


def _of_bare_week(day: str, today: dt.date) -> Days:
    if day == "末":
        return date_spans.weekend_from(today, 0 if today.weekday() >= 5 else -1)
    return date_spans.recent_weekday(_DAYS[day], today)


def _year(text: str | None, today: dt.date) -> int | None:
    if text is None:
        return None
    return int(text) if text.isdigit() else today.year - _YEARS[text]
