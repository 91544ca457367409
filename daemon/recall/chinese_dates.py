"""Chinese expressions for days: ``上周五``, ``五月三日``, ``去年夏天``, ``三天前``. Pure."""

import datetime as dt
import re
from collections.abc import Iterator

from daemon.recall import date_spans, feasts
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
_UNITS: dict[str, Kind] = {"天": "day", "日": "day", "月": "month", "年": "year"}
"""All others are weeks."""
_FEW = frozenset("几幾数數")

_YEAR = "[0-9]{4}|[12一二][0-9零〇○一二三四五六七八九]{3}|(?<![0-9])[0-9]{2}(?=年[0-9]{1,2}月)|大前|[今去前]"
_WEEK = "(?:周|週|星期|礼拜|禮拜)"
_BEGINNINGS = (
    "去今下昨前大最近过這这几幾半数數十上本第的春夏秋冬周週星礼禮月年0-9零〇○一二两兩三四五六七八九"
    + "".join(sorted({name[0] for name in feasts.CHINESE.split("|")}))
)
"""The first characters of all dates. The search for dates is four times as fast if it first looks for them."""
_SPAN = re.compile(
    rf"(?=[{_BEGINNINGS}])(?:(?P<this_time>去年的?(?:今[天日]|这个?时候|同期|此时))"
    rf"|(?:最近|近|过去|[这這])的?(?P<rolling>(?!一天){_NUMBER}|[几幾半])[个個]?(?P<rolling_unit>天|日|周|週|星期|礼拜|年|(?<=[个個])月|(?<=半)年)(?![前初中底末])"
    rf"|(?P<days>大前天|今天|今日|今早|今晚|昨天|昨日|昨晚|昨夜|前天|前晚)"
    rf"|(?P<some>前(?:几|幾|两|兩|些)(?P<some_unit>天|日|周|週|个月|個月|年)|最近(?:几|幾)天)"
    rf"|(?P<half_a_year>半年)多?(?:之|以)?前"
    rf"|(?:半[个個]月|(?P<halves>{_NUMBER})(?:[个個]半(?P<half_unit>月|星期|礼拜)|(?P<half_year>年)半))多?(?P<half_ago>[之以]?前)"
    rf"|(?P<number>{_NUMBER}|十?[几幾数數])[个個]?(?P<unit>天|日|周|週|星期|礼拜|禮拜|年|(?<=[个個])月)多?(?:之|以)?前"
    rf"|(?P<weeks>上{{1,3}}|[这這本])一?[个個]?{_WEEK}(?P<of_week>[一二三四五六日天1-6](?![\d个個])|末)?"
    rf"|(?:(?P<year>{_YEAR})年)?(?P<month>{_NUMBER})月(?:份|(?P<day>{_NUMBER})[日号號]?)?"
    rf"|(?P<months>上{{1,3}}|[这這本])一?[个個]?月(?:份)?(?:(?P<day_of>{_NUMBER})[日号號])?"
    rf"|(?:(?P<season_year>{_YEAR})年)?(?:的)?(?P<season>[春夏秋冬])[天季]"
    rf"|(?:(?P<quarter_year>{_YEAR})年)?(?:的)?第?(?P<quarter>[一二三四1-4])季度"
    rf"|(?P<quarters>[上这這本])一?[个個]?季度"
    rf"|(?:(?P<feast_year>{_YEAR})年)?(?:的)?(?P<feast>{feasts.CHINESE})节?(?:长?假期?|期间|当天|那天)?"
    rf"|(?P<only_year>{_YEAR})年(?P<half>[上下]半年)?|(?P<bare_half>[上下]半年)"
    rf"|(?<![\d一二三四五六七八九十个個本上这這今去前份每年月])(?P<this_unit>[月年])(?=[初底末])"
    rf"|(?<!下)(?<!下[个個])(?P<bare>{_WEEK}(?P<bare_day>[一二三四五六日天](?!个)|末))"
    rf"|(?<![\d月.])(?P<only_day>\d{{1,2}}|{_NUMBER})[号號](?![线線楼樓]))"
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
            has_year = any(map(found.group, ("year", "season_year", "feast_year", "only_year", "quarter_year")))
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
    if found["quarter"]:
        quarter = date_spans.quarter(number_of(found["quarter"]), today, _year(found["quarter_year"], today))
        return "season", quarter, False
    if found["only_year"]:
        return ("" if found["half"] else "year"), _of_year(found, today), found["only_year"] in _YEARS
    if found["feast"] or found["only_day"]:
        number = found["only_day"]
        return "day", date_spans.recent_number(number_of(number), today) if number else _of_feast(found, today), False
    return _kind_of(found), _relative_period(found, today) or _relative(found, today), True


def _kind_of(found: re.Match[str]) -> Kind:
    if found["this_unit"]:
        return _unit(found["this_unit"])
    if found["days"] or found["day_of"]:
        return "day"
    if found["weeks"] or found["bare"]:
        day = found["of_week"] if found["weeks"] else found["bare_day"]
        return "weekend" if day == "末" else "week" if not day else "day" if found["weeks"] else "weekday"
    if found["number"] and found["number"] not in _FEW:
        return _unit(found["unit"])
    return "month" if found["months"] else ""


def _relative_period(found: re.Match[str], today: dt.date) -> Days | None:
    if found["this_time"]:
        that_day, about = date_spans.moved(today, today.year - 1), DAY * (0 if "今" in found[0] else 14)
        return that_day - about, that_day + about
    if found["rolling"]:
        return _rolling(found["rolling"], _unit(found["rolling_unit"]), today)
    if found["quarters"]:
        first, _ = date_spans.month_from(today, -3 if found["quarters"] == "上" else 0)
        return date_spans.quarter((first.month + 2) // 3, today, first.year)
    if found["bare_half"]:
        return _half(today.year - (found["bare_half"] == "下半年" and today.month < 7), found["bare_half"])
    return _this_unit(found, today) if found["this_unit"] else None


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
    return _half(year, found["half"]) if found["half"] else named


def _half(year: int, name: str) -> Days | None:
    first, last = (
        date_spans.month(year, 1 if name == "上半年" else 7),
        date_spans.month(year, 6 if name == "上半年" else 12),
    )
    return (first[0], last[1]) if first and last else None


def _this_unit(found: re.Match[str], today: dt.date) -> Days | None:
    """``月底``: of this month, or of the last one while the end of this one is far away."""
    is_month, is_end = found["this_unit"] == "月", found.string[found.end() : found.end() + 1] in "底末"
    back = is_end and (today.day < 20 if is_month else today.month < 9)
    return date_spans.month_from(today, -back) if is_month else date_spans.year_of(today.year - back)


def _rolling(number: str, unit: Kind, today: dt.date) -> Days:
    if number == "半":
        return date_spans.until_today(6 if unit == "year" else 15, "month" if unit == "year" else "day", today)
    return date_spans.until_today(7 if number in _FEW else max(0, number_of(number)), unit, today)


def _of_feast(found: re.Match[str], today: dt.date) -> Days | None:
    year = _year(found["feast_year"], today)
    return feasts.recent_feast(found["feast"], today) if year is None else feasts.feast(found["feast"], year)


def _before(found: re.Match[str], today: dt.date) -> Days:
    if found["half_a_year"]:
        return date_spans.month_from(today, -7)[0], date_spans.month_from(today, -5)[1]
    if found["half_ago"]:
        unit = "year" if found["half_year"] else "month" if found["half_unit"] in ("月", None) else "week"
        return date_spans.half_ago(number_of(found["halves"] or "零"), unit, today)
    if (number := found["number"]) and number not in _FEW and number[-1] in _FEW:  # 十几天
        return date_spans.ago(19, _unit(found["unit"]), today)[0], date_spans.ago(11, _unit(found["unit"]), today)[1]
    if number and number not in _FEW:
        few, many = _numbers_of(number)
        return date_spans.ago(many, _unit(found["unit"]), today)[0], date_spans.ago(few, _unit(found["unit"]), today)[1]
    # A few of them: somewhere between then and now.
    unit = _unit(found["unit"] or found["some_unit"] or "天")
    return date_spans.ago(7 if unit == "day" else 5, unit, today)[0], today


def _numbers_of(text: str) -> tuple[int, int]:
    """``两三`` are two or three."""
    if len(text) == 2 and number_of(text[1]) == number_of(text[0]) + 1 < 10 and not text.isascii():
        return number_of(text[0]), number_of(text[1])
    return number_of(text), number_of(text)


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
    if text in _YEARS:
        return today.year - _YEARS[text]
    number = number_of(text)
    return number if number > 99 else 2000 + number
