"""Parts of the regular expressions with which ``time_phrases`` finds the words of times. Pure."""

import re
from collections.abc import Iterable

from daemon.reminders.time_words import (
    CALENDAR_MONTHS,
    HALF,
    HALVES,
    MONTHS,
    NTH,
    NUMBERS,
    PARTS,
    REPETITIONS,
    SECONDS,
    SHORT_WEEKDAYS,
    SPANS,
    WEEKDAYS,
)


def any_of(names: Iterable[str]) -> str:
    """A pattern for any of the ``names``; the longest one that fits."""
    return "(?:" + "|".join(sorted(names, key=len, reverse=True)) + ")"


def any_latin(names: Iterable[str]) -> str:
    """The same for the names in English, German and French."""
    return any_of(name for name in names if ord(name[0]) < 0x250)


def any_chinese(names: Iterable[str]) -> str:
    """The same for the names in Chinese."""
    return any_of(name for name in names if ord(name[0]) >= 0x250)


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, in any case; in it a space stands for some white space, and a space with ``?`` for some or none."""
    return re.compile(pattern.replace(" ?", r"\s{0,3}").replace(" ", r"\s{1,3}"), re.IGNORECASE)


END, CLOCK_END = r"(?![\da-z_à-ÿœ'’-])", r"(?![\da-z:])"
_HOUR_NEXT = r"(?:um|gegen|ab|früh|morgens|mittags|nachmittags|abends|à|vers)\b|\d{1,2}(?::\d| ?uhr| ?h\b)"
_SHORT = any_of(SHORT_WEEKDAYS)
_OTHERS = rf"(?:(?:[-–,/&]|\s(?:bis|und|et|à)\s)\s?{_SHORT}\.?){{0,6}}"
SHORT_NAME = rf"{_SHORT}\b\.?(?=(?:{_OTHERS}\s{{1,3}}{_HOUR_NEXT}))"
ANY_NAME = rf"(?<![a-zß-ÿ]){any_of({**WEEKDAYS, **SHORT_WEEKDAYS})}"
NAME, MONTH, WORD = rf"(?:{any_of(WEEKDAYS)}|{SHORT_NAME})", any_of(MONTHS), any_of(NUMBERS)
LONG_NAME = any_of(name for name in WEEKDAYS if len(name) > 4)
SIGN, WEEK = "[一二三四五六日天]", "(?:周|星期|礼拜)"
ZH = r"(?:\d{1,4}|[零〇一二两三四五六七八九十]{1,3})"
NUMBER = rf"(?P<number>\d{{1,2}}(?:st|nd|rd|th|\.)|{WORD})"
COUNT = rf"(?:(?P<number>\d{{1,4}}) ?|(?P<word>{WORD}) )"
DAY, HOUR = r"(?P<day>\d{1,2})", rf"(?P<hour>\d{{1,2}}|{WORD})"
ZH_DAY = f"(?P<day>{ZH})"
TH = r"(?:st|nd|rd|th)"
NTH_TEXT = rf"(?P<nth>{any_latin(NTH)})(?:{TH}|er|e|s|\.)?"
AND = r"(?:, and |, ?| and | und | et | ?& ?|/)"
RANGE = rf"(?P<range>{NAME}s?(?: ?[-–] ?| to | through | bis | à ){NAME}s?)"
LIST = rf"{NAME}s?(?:{AND}{NAME}s?){{0,6}}"
SIGN_RANGE = rf"(?P<range>{SIGN}[到至~—-]{WEEK}?{SIGN})"
# A further sign may belong to the words behind it: 一起, 三点, 日报.
SIGN_LIST = rf"{SIGN}(?![个次])(?:[、,，和及与]?(?:{WEEK}{SIGN}(?![个次])|{SIGN}(?![个点时十:起次定些样直报]))){{0,6}}"
EVERY = "(?:every|each|jede[nrsm]?|chaque)"
MONTHLY = "(?:of (?:the|each|every) month|(?:im|des|jedes) monats?|(?:du|de chaque) mois)"
EACH_MONTH = "(?:of (?:each|every) month|jedes monats|de chaque mois)"
UNIT = any_latin([*REPETITIONS, *PARTS])
AT = "(?:at|um|gegen|ab|à|vers|@)"
_UNIT = any_latin({**SECONDS, **CALENDAR_MONTHS})
_DIGITS = r"\d{1,7}(?:[.,]\d{1,2})?"
_NUMERAL = rf"{_DIGITS} ?{_UNIT}"
_WORDS = rf"(?:{HALF}) ?{_UNIT}|{any_of(HALVES)} {_UNIT}|{any_of(SPANS)}|{WORD} {_UNIT}"
_ALL = rf"(?:{_NUMERAL}|{_WORDS})(?![a-zß-ÿ])"
NUMERALS = rf"{_NUMERAL}(?:(?: and | und | et |, ?| ?){_NUMERAL})*"
AMOUNTS = rf"{_ALL}(?:(?: and | und | et |, ?| ){_ALL})*"
"""Amounts of time, the first one in digits, or any of them in words."""
_LATER = "(?=之?后|以后)"
_ZH_NUMBER = rf"(?:{ZH}|\d{{1,4}}\.\d{{1,2}})"
ZH_AMOUNT = (
    rf"(?:(?:{_ZH_NUMBER} ?个?半?|\d{{5,6}} ?个?|半 ?个?)(?:{any_chinese({*SECONDS} - {'分'})}|分{_LATER})"
    rf"|{ZH} ?个(?:月|季度){_LATER}|(?:{ZH}|半)年{_LATER})"
)
_ANY_UNIT = any_of({**SECONDS, **CALENDAR_MONTHS})
AMOUNT = compiled(
    rf"(?<![a-zß-ÿ])(?:(?P<half>{HALF}) ?(?P<of>{_UNIT})|(?P<span>{any_of(SPANS)})"
    rf"|(?P<word>{any_of(HALVES)}|{WORD}) (?P<named>{_UNIT}))(?![a-zß-ÿ])"
    rf"|(?P<number>半|{_DIGITS}|{ZH}) ?个?(?P<more>半?)(?P<unit>{_ANY_UNIT})(?![a-zß-ÿ])"
)
