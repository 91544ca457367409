"""The words behind a time that belong to the time, although ``time_phrases`` cannot read them. Pure.

Otherwise the words would be the text of a reminder that fires at another time than the one that was meant: ``9:00 UTC``
at nine on the person's clock, ``every month except May`` from now on.
"""

import re

from daemon.reminders.phrase_days import Phrase
from daemon.reminders.time_patterns import MONTH, NAME, NTH_TEXT, WORD, ZH, any_latin, any_of, compiled
from daemon.reminders.time_phrases import phrase_of
from daemon.reminders.time_words import ADVERBS, AHEAD, CALENDAR_MONTHS, SECONDS

_LENGTH = rf"(?:\d{{1,4}}|{WORD}) ?{any_latin({**SECONDS, **CALENDAR_MONTHS})}\b"
_MOMENT = (
    rf"(?:(?:at|um|à|gegen) )?(?:\d{{1,4}}h?\b(?! ?%)"
    rf"|(?:the |le |den |dem |der )?(?:{NAME}s?|{MONTH}|{NTH_TEXT}|{any_latin(AHEAD)})\b"
    rf"|(?:noon|midnight|midday|midi|minuit|mittag|mitternacht|sunrise|sunset)\b|{_LENGTH})"
)
_CONNECTED = compiled(
    r"(?:[-–—~～/.:]\s?\d|[-–—~～至到](?:\d|" + ZH + r"[点时天周月号])"
    rf"|(?:on|at|from|by|until|till|to|through|starting|beginning|and|or|between|before|after|except|but not|without"
    rf"|am|um|ab|von|bis|vom|außer|und|oder|vor|nach|le|à|au|dès|jusqu['’]à|jusqu['’]au|sauf|et|ou|avant|après|moins)"
    rf" ?{_MOMENT}"
    rf"|(?:in|for|within|dans|pendant|pour|für|innerhalb von) (?:the next |les |den nächsten )?{_LENGTH}"
    r"|et (?:demie?|quart)\b"
    r"|(?:from|until|till|bis|except|except for|außer|sauf) (?:next|further|the end|then|weekends?)\b"
    r"|(?:除|直到|截止|差|" + ZH + r"[次遍回]))"
)
_DELAYED = compiled(
    r"(?:ago|before|earlier|after|vor|nach|vorher|avant|après|plus tôt|on|am|le)\b"
    r"|之?前(?![往去])|以[前内]|内(?![容部科存])"
)
"""Behind a delay: the delay counts from or to something else."""
_REPEATED = compiled(
    r"(?:on|at|in|from|by|until|till|to|for|except|but|without|starting|am|um|im|ab|von|bis|außer|le|la|les|à|au|de|du|dès"
    r"|jusqu['’]|sauf|pendant|the|every|each)\b|[的第最早晚]|[上中下]旬|初|每"
)
"""Behind a repetition that has no time: it would begin now."""
_OF_DAY = compiled(r"(?:week|last|dernier|letzten?|en (?:huit|quinze))\b")
"""Behind the name of a day."""
_AGAIN = compiled(r"(?:every|each|jede[nrsm]?|alle|tous les|toutes les|chaque)\b|每(?!个人|日)")
_END = compiled(r"(?:until|till|bis|jusqu['’])\S{0,3}\b|直到|截止")
"""Behind any repetition: its end, in words that nothing above can read."""
_ZONE = re.compile(
    r"(?:[+-]\d\d:?\d\d\b|\(?(?:UTC|GMT|[ECMP][SD]?T|CES?T|MES?Z|BST|IST|JST|KST|HKT|AES?T|Z)\b(?:[+-]\d{1,2})?"
    r"|[A-Z][A-Za-z]+/[A-Z]\w+|(?:[A-Z][a-z]+ ){1,2}time\b|(?:eastern|pacific|central|mountain) time\b"
    r"|(?:北京|东京|伦敦|纽约|柏林|巴黎|当地|本地)时间)"
)
_HOUR = compiled(rf".*\b(?:at|um|à|gegen|ab)\s(?:\d{{1,2}}|{any_of(['eight', 'nine', 'ten'])})")
_MINUTES = re.compile(r"[0-5]\d(?!\S)")
_CALENDAR = compiled(
    rf"(?:{any_of(ADVERBS)}\b|(?:mon|tues?|wed|thur?s?|fri|sat|sun|mo|di|mi|fr|sa|lun|mer|jeu|ven|sam|dim)\b|工作日)"
)
"""Behind a time of day, without a day or a repetition."""
_CLOCK = compiled(r"\d{1,2}(?::\d\d| ?[ap]\.?m\b| ?uhr\b)")


def belongs_to_time(phrase: Phrase, when: str, rest: str) -> bool:
    """Whether ``rest``, the text behind the ``phrase`` that was read from ``when``, begins with a part of the time."""
    if not rest or _CONNECTED.match(rest):
        return bool(rest)
    if phrase.delay_s is not None and phrase.time is None:
        behind = phrase_of(rest)
        return bool(_DELAYED.match(rest) or behind.days or behind.rule or behind.time or behind.delay_s)
    if phrase.rule and phrase.time is None and not phrase.days:
        return bool(_REPEATED.match(rest) or phrase_of(rest).end)
    if phrase.rule and _END.match(rest):
        return True
    behind = phrase_of(rest) if rest.isascii() else Phrase()
    if phrase.time is not None and (
        (behind.days and behind.time) or (not phrase.rule and not phrase.days and _CALENDAR.match(rest))
    ):
        return True
    return bool(
        (phrase.time is not None and (_ZONE.match(rest) or _CLOCK.match(rest)))
        or (phrase.days and when[-1].isalpha() and _OF_DAY.match(rest))
        or (not phrase.rule and _AGAIN.match(rest))
        or (_HOUR.fullmatch(when) and _MINUTES.match(rest))
    )
