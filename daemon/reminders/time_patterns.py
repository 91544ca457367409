"""Parts of the regular expressions with which ``time_phrases`` finds the words of times. Pure."""

import re
from collections.abc import Iterable

from daemon.reminders.time_words import HALF, MONTHS, NUMBERS, PARTS, REPETITIONS, SECONDS, WEEKDAYS


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
NAME, MONTH, WORD = any_of(WEEKDAYS), any_of(MONTHS), any_of(NUMBERS)
LONG_NAME = any_of(name for name in WEEKDAYS if len(name) > 4)
SIGN, WEEK = "[一二三四五六日天]", "(?:周|星期|礼拜)"
ZH = r"(?:\d{1,4}|[零〇一二两三四五六七八九十]{1,3})"
NUMBER = rf"(?P<number>\d{{1,2}}|{WORD})"
DAY, HOUR = r"(?P<day>\d{1,2})", rf"(?P<hour>\d{{1,2}}|{WORD})"
ZH_DAY = f"(?P<day>{ZH})"
TH = r"(?:st|nd|rd|th)"
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
AMOUNT_TEXT = rf"\d{{1,6}} ?{any_latin(SECONDS)}"
ZH_AMOUNT = rf"(?:{ZH} ?个?半?|\d{{5,6}} ?个?|半 ?个?)(?:{any_chinese({*SECONDS} - {'分'})}|分(?=之?后|以后))"
AMOUNT = compiled(rf"({HALF}|{WORD}|\d{{1,6}}|{ZH}|半) ?个?(半?)({any_of(SECONDS)})")
