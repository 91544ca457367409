"""Feasts and school holidays, and the days of a year on which they fall. Pure."""

import datetime as dt
from collections.abc import Iterable

from daemon.recall.date_spans import DAY, Days, day

_FIXED = {
    "christmas": (12, 24, 3),
    "christmas eve": (12, 24, 1),
    "christmas day": (12, 25, 1),
    "boxing day": (12, 26, 1),
    "halloween": (10, 31, 1),
    "valentine": (2, 14, 1),
    "valentine's": (2, 14, 1),
    "valentine's day": (2, 14, 1),
    "new year": (12, 31, 2),
    "new year's": (12, 31, 2),
    "new year's eve": (12, 31, 1),
    "new year's day": (1, 1, 1),
    "nye": (12, 31, 1),
    "nyd": (1, 1, 1),
    "xmas": (12, 24, 3),
    "x-mas": (12, 24, 3),
    "xmas eve": (12, 24, 1),
    "xmas day": (12, 25, 1),
    "st patrick's day": (3, 17, 1),
    "st. patrick's day": (3, 17, 1),
    "cinco de mayo": (5, 5, 1),
    "juneteenth": (6, 19, 1),
    "veterans day": (11, 11, 1),
    "independence day": (7, 4, 1),
    "fourth of july": (7, 4, 1),
    "元旦": (1, 1, 1),
    "情人节": (2, 14, 1),
    "妇女节": (3, 8, 1),
    "清明": (4, 4, 2),
    "劳动节": (5, 1, 5),
    "五一": (5, 1, 5),
    "儿童节": (6, 1, 1),
    "暑假": (7, 1, 62),
    "教师节": (9, 10, 1),
    "国庆": (10, 1, 7),
    "万圣节": (10, 31, 1),
    "双十一": (11, 11, 1),
    "双11": (11, 11, 1),
    "双十二": (12, 12, 1),
    "平安夜": (12, 24, 1),
    "圣诞": (12, 24, 2),
    "跨年": (12, 31, 1),
    "weihnachten": (12, 24, 3),
    "heiligabend": (12, 24, 1),
    "silvester": (12, 31, 1),
    "neujahr": (1, 1, 1),
    "noël": (12, 24, 2),
    "nouvel an": (12, 31, 2),
}
"""The month, the first day, and the number of days."""

_BY_WEEKDAY = {
    "thanksgiving": (11, 3, 22, 0),
    "thanksgiving day": (11, 3, 22, 0),
    "感恩节": (11, 3, 22, 0),
    "black friday": (11, 3, 22, 1),
    "黑色星期五": (11, 3, 22, 1),
    "mother's day": (5, 6, 8, 0),
    "母亲节": (5, 6, 8, 0),
    "father's day": (6, 6, 15, 0),
    "父亲节": (6, 6, 15, 0),
    "cyber monday": (11, 3, 22, 4),
    "mlk day": (1, 0, 15, 0),
    "presidents' day": (2, 0, 15, 0),
    "memorial day": (5, 0, 25, 0),
    "labor day": (9, 0, 1, 0),
}
"""The month, the weekday (Monday is 0), the earliest day of the month that it may be, and the days after it."""

_BY_EASTER = {
    "easter": (-2, 4),
    "easter sunday": (0, 1),
    "easter monday": (1, 1),
    "good friday": (-2, 1),
    "复活节": (0, 1),
    "ostern": (-2, 4),
    "karfreitag": (-2, 1),
    "pfingsten": (49, 2),
    "pâques": (0, 2),
    "pentecôte": (49, 2),
}
"""The days between Easter Sunday and the first day, and the number of days."""

LUNAR_FIRST = 2010
"""The first year of the tables below, which are calculated from the Chinese calendar for 31 years."""
_NEW_YEAR = """
0214 0203 0123 0210 0131 0219 0208 0128 0216 0205 0125 0212 0201 0122 0210 0129 0217 0206 0126 0213 0203 0123 0211 0131
0219 0208 0128 0215 0204 0124 0212
"""
_DRAGON_BOAT = """
0616 0606 0623 0612 0602 0620 0609 0530 0618 0607 0625 0614 0603 0622 0610 0531 0619 0609 0528 0616 0605 0624 0612 0601
0620 0610 0530 0618 0607 0527 0614
"""
_SEVENTH_EVENING = """
0816 0806 0823 0813 0802 0820 0809 0828 0817 0807 0825 0814 0804 0822 0810 0829 0819 0808 0826 0816 0805 0824 0812 0801
0820 0810 0828 0817 0807 0826 0814
"""
_MID_AUTUMN = """
0922 0912 0930 0919 0908 0927 0915 1004 0924 0913 1001 0921 0910 0929 0917 1006 0925 0915 1003 0922 0912 1001 0919 0908
0927 0916 1004 0924 0913 1002 0920
"""
_LUNAR = {
    **dict.fromkeys(
        ("春节", "过年", "新春", "cny", "chinese new year", "lunar new year", "spring festival"), (_NEW_YEAR, -1, 9)
    ),
    **dict.fromkeys(("除夕", "年三十", "大年夜"), (_NEW_YEAR, -1, 1)),
    "大年初一": (_NEW_YEAR, 0, 1),
    "寒假": (_NEW_YEAR, -20, 40),
    "元宵": (_NEW_YEAR, 14, 1),
    **dict.fromkeys(("端午", "dragon boat festival"), (_DRAGON_BOAT, 0, 1)),
    "七夕": (_SEVENTH_EVENING, 0, 1),
    **dict.fromkeys(("中秋", "mid-autumn festival"), (_MID_AUTUMN, 0, 1)),
}
"""A table, the days between its day and the first day, and the number of days."""

_OTHERS = (
    *("weihnachten", "heiligabend", "silvester", "neujahr", "ostern", "karfreitag", "pfingsten"),
    *("noël", "nouvel an", "pâques", "pentecôte"),
)
"""In German and French."""
_ALL = (*_FIXED, *_BY_WEEKDAY, *_BY_EASTER, *_LUNAR)


def _pattern(names: Iterable[str]) -> str:
    """A regular expression for the mode ``re.VERBOSE``; apostrophes may be missing."""
    longest_first = sorted(names, key=len, reverse=True)
    return "|".join(name.replace(".", r"\.").replace("'", "['’]?").replace(" ", r"\ ") for name in longest_first)


ENGLISH_NAMES = tuple(name for name in _ALL if name.isascii() and name not in _OTHERS)
ENGLISH = _pattern(ENGLISH_NAMES)
CHINESE = _pattern(name for name in _ALL if name[0] >= "一")
OTHERS = _pattern(_OTHERS)


def feast(name: str, year: int) -> Days | None:
    """The days of a feast in a year; None if the tables do not contain it."""
    return _find(_WITHOUT_APOSTROPHE[name.lower().translate(_NO_APOSTROPHE)], year)


def recent_feast(name: str, today: dt.date) -> Days | None:
    """The last time of a feast that has begun; None if the tables do not contain it."""
    times = (feast(name, year) for year in (today.year, today.year - 1) if year >= dt.MINYEAR)
    return next((days for days in times if days and days[0] <= today), None)


_NO_APOSTROPHE = str.maketrans("", "", "'’")
_WITHOUT_APOSTROPHE = {name.replace("'", ""): name for name in _ALL}


def _find(name: str, year: int) -> Days | None:
    if name in _FIXED:
        month, number, count = _FIXED[name]
        first = day(year, month, number)
    elif name in _BY_WEEKDAY:
        month, weekday, earliest, after = _BY_WEEKDAY[name]
        count, first = 1, day(year, month, earliest)
        first = first and _on_weekday(first[0], weekday, after)
    elif name in _BY_EASTER:
        away, count = _BY_EASTER[name]
        first = _moved(_easter(year), away)
    else:
        table, away, count = _LUNAR[name]
        first = _moved(_in_table(table, year), away)
    return (first[0], first[0] + DAY * (count - 1)) if first else None


def _on_weekday(earliest: dt.date, weekday: int, after: int) -> Days:
    found = earliest + DAY * ((weekday - earliest.weekday()) % 7 + after)
    return found, found


def _moved(days: Days | None, away: int) -> Days | None:
    return days and (days[0] + DAY * away, days[1] + DAY * away)


def _in_table(table: str, year: int) -> Days | None:
    written = table.split()
    at = year - LUNAR_FIRST
    return day(year, int(written[at][:2]), int(written[at][2:])) if 0 <= at < len(written) else None


def _easter(year: int) -> Days | None:
    """Easter Sunday of the Gregorian calendar, by the algorithm of Meeus, Jones and Butcher."""
    golden, century, rest = year % 19, year // 100, year % 100
    epact = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    to_sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - epact - rest % 4) % 7
    late = (golden + 11 * epact + 22 * to_sunday) // 451
    month, number = divmod(epact + to_sunday - 7 * late + 114, 31)
    return day(year, month, number + 1)
