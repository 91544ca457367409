"""Times and repetitions in people's words: ``next friday at 5pm``, ``每周三早上八点``, ``jeden Montag um 9``. Pure.

A phrase is read from the beginning of a text, piece by piece: at most one repetition, one day and one time of day, or a
delay. The languages are English, Chinese, German and French. ``recurrence`` finds the phrase in the calendar.
"""

import re
from collections.abc import Callable, Iterable

from daemon.reminders import phrase_readers as read
from daemon.reminders.phrase_days import Phrase
from daemon.reminders.phrase_readers import Draft
from daemon.reminders.time_patterns import (
    AMOUNTS,
    AND,
    AT,
    CLOCK_END,
    COUNT,
    DAY,
    EACH_MONTH,
    END,
    EVERY,
    HOUR,
    LIST,
    LONG_NAME,
    MONTH,
    MONTHLY,
    NAME,
    NTH_TEXT,
    NUMBER,
    NUMERALS,
    RANGE,
    SIGN,
    SIGN_LIST,
    SIGN_RANGE,
    TH,
    UNIT,
    WEEK,
    WORD,
    ZH,
    ZH_AMOUNT,
    ZH_DAY,
    any_chinese,
    any_latin,
    any_of,
    compiled,
)
from daemon.reminders.time_words import ADVERBS, AHEAD, PARTS

READ_CHARS = 200
"""So many characters of a text are looked at. The longest phrase has about half of them."""

_Reader = Callable[[Draft, re.Match[str]], None]
_Readers = list[tuple[_Reader, re.Pattern[str]]]


def _readers(*pairs: tuple[_Reader, str]) -> _Readers:
    return [(reader, compiled(pattern)) for reader, pattern in pairs]


_ORDINAL = rf"\d{{1,2}}(?:{TH}|er|\.)?"
_PM = r"(?: ?(?P<half>[ap])\.?m\b\.?)?"
_RULES = _readers(
    (read.last_day, rf"(?:on |am )?(?:the |every |le )?(?:last day|letzten tag|dernier jour) {MONTHLY}{END}"),
    (read.last_day, r"每个?月的?(?:最后一[天日]|月?[底末])"),
    (
        read.first_day,
        rf"(?:on |am )?(?:the |every |le |jeden )?(?:first day|ersten(?: tag)?|premier jour) {MONTHLY}{END}",
    ),
    (
        read.nth_weekday,
        rf"(?:on |am )?(?:the |jeden |le |tous les |{EVERY} )?{NTH_TEXT} (?P<name>{NAME})s? {MONTHLY}{END}",
    ),
    (
        read.nth_weekday,
        rf"(?:{EVERY} (?:month|monat|mois)|tous les mois|monthly|monatlich),? (?:on |am )?(?:the |le )?{NTH_TEXT} "
        rf"(?P<name>{NAME}){END}",
    ),
    (read.nth_weekday, rf"每个?月的?(?P<nth>第[一二三四五]|最后一)个?{WEEK}(?P<name>{SIGN})"),
    (
        read.month_days,
        rf"(?:on the|the|le|am) (?P<names>{_ORDINAL}(?:{AND}(?:the |le |den )?{_ORDINAL}){{1,9}}) {EACH_MONTH}{END}",
    ),
    (
        read.month_days,
        rf"(?:{EVERY} (?:month|monat|mois)|tous les mois|monthly|monatlich),? (?:on the|the|le|am) "
        rf"(?P<names>{_ORDINAL}(?:{AND}(?:the |le |den )?{_ORDINAL}){{1,9}}){END}",
    ),
    (read.month_days, rf"每个?月的?(?P<names>{ZH}[日号]?(?:[、,，和及与]{ZH}[日号]?){{1,9}})(?<=[日号])"),
    (read.every_month, rf"(?:on the|the|le|am) {DAY}(?:{TH}|er|\.)? {EACH_MONTH}{END}"),
    (read.every_month, rf"(?:{EVERY} {DAY}(?:{TH}|\.)(?: {MONTHLY})?){END}"),
    (read.every_month, rf"tous les {DAY} du mois{END}"),
    (read.every_year, rf"{EVERY} {DAY}(?:{TH}|\.)? (?:of )?(?P<name>{MONTH}){END}"),
    (read.every_year, rf"{EVERY} (?P<name>{MONTH}) (?:the )?{DAY}{TH}?(?![\d:.]| ?[ap]\.?m){END}"),
    (read.every_year, rf"tous les {DAY}(?:er)? (?P<name>{MONTH}){END}"),
    (read.every_weekday, rf"(?:on |les |du )?(?P<names>{RANGE}){END}"),
    (
        read.every_weekday,
        rf"(?:{EVERY} (?:{NUMBER} (?:weeks? on )?|(?P<count>\d{{1,2}}) weeks? on |week on )?|tous les |weekly on |"
        rf"wöchentlich am )(?P<names>{RANGE}|{LIST}){END}",
    ),
    (read.every_weekday, rf"(?:on |les )?(?P<names>{LONG_NAME}s(?:{AND}{NAME}s){{0,6}}){END}"),
    (read.every_weekday, rf"(?:每逢?个?)?{WEEK}(?P<names>{SIGN_RANGE})(?:每天)?"),
    (read.every_weekday, rf"每?(?:逢|个)?(?<=[每逢个]){WEEK}(?P<names>{SIGN_LIST})"),
    (read.every, rf"(?:{EVERY}|alle|tous les|toutes les) {COUNT}?(?P<unit>{UNIT}){END}"),
    (read.every, rf"(?:{EVERY}|tous les|toutes les) {NUMBER} (?P<unit>{UNIT}){END}"),
    (read.every, rf"(?P<unit>{any_of(ADVERBS)}){END}"),
    (read.every, r"(?:每个?)?(?P<unit>工作日)"),
    (read.every, r"每个?(?P<unit>周末|双休日)"),
    (read.every, r"每?(?P<number>隔一?)个?(?P<unit>天|日|周|星期|月|年)"),
    (read.every, rf"每隔?(?P<number>{ZH})?个?(?P<unit>小时|钟头|分钟|刻钟|秒钟|秒)(?:一次)?"),
    (read.every, r"每隔?(?P<unit>半小时|半个小时|半个钟头)(?:一次)?"),
    (read.every, rf"每(?P<number>{ZH})?个?(?P<unit>天|日|周|星期|礼拜|月|季度|季|年)(?:一次)?(?!度)"),
    (read.every, r"每(?P<unit>半年)(?:一次)?"),
    (read.every, r"天天|每(?=[早晚])"),
)
_DAYS = _readers(
    (read.iso, rf"(?P<iso>\d{{4}}-\d\d-\d\d)(?:(?=T\d)|{END})"),
    (read.ahead, rf"(?:the )?(?P<ahead>{any_latin({*AHEAD} - {'this', 'ce'})}){END}"),
    (read.ahead, r"(?P<ahead>this(?= (?:morning|afternoon|evening)\b)|ce(?= (?:soir|matin)\b))"),
    (read.ahead, r"(?P<ahead>今天|今日|明天|明日|大后天|后天|今(?=[早晚])|明(?=[早晚]))"),
    (
        read.named_day,
        r"(?:on |am )?(?:(?P<which>next|this|this coming|coming|nächste[nrs]?|kommende[nrs]?|diese[nrs]?) )?"
        r"(?P<week>(?:week|woche)(?: on| am)? )?"
        rf"(?P<name>{NAME})(?:(?P<later> next week| nächste woche)|(?P<prochain> prochain))?"
        rf"(?:{END}|(?=(?:morgen|vormittag|mittag|nachmittag|abend|nacht)\b))",
    ),
    (read.signed_day, rf"(?P<weeks>下{{1,3}}|[这本])?一?个?{WEEK}(?P<name>{SIGN})(?![个次])"),
    (
        read.weekend,
        r"(?:on |am |the |le )?(?:(?P<which>next|this|this coming|coming|nächstes|kommendes|dieses|ce) )?"
        rf"(?:weekend|wochenende|week-end)(?P<prochain> prochain)?{END}",
    ),
    (read.weekend, r"(?P<weeks>下{1,3}|[这本])?一?个?(?:周末|双休日)"),
    (
        read.day_of_year,
        rf"(?:on |am |le )?(?:the )?{DAY}(?:{TH}|\.|er)? (?:of )?(?P<name>{MONTH})(?:,? (?P<year>\d{{4}}))?"
        rf"(?!:){END}",
    ),
    (
        read.day_of_year,
        rf"(?:on )?(?P<name>{MONTH}) (?:the )?{DAY}{TH}?(?:,? (?P<year>\d{{4}}))?"
        rf"(?![\d:.]| ?[ap]\.?m){END}",
    ),
    (read.day_of_year, rf"(?:am |le )?{DAY}\.(?P<month>\d{{1,2}})\.(?P<year>\d{{4}})?(?!\d)"),
    (read.day_of_year, rf"(?:(?P<year>\d{{4}}|[今明后])年)?(?P<month>{ZH})月{ZH_DAY}[日号]?"),
    (read.of_month, rf"(?P<months>下{{1,2}}|[这本])一?个?月{ZH_DAY}[日号]"),
    (read.of_month, rf"{ZH_DAY}[日号](?![线楼])"),
    (read.of_month, rf"(?:on the|the|on) {DAY}{TH}{END}"),
    (read.of_month, rf"(?:on )?(?:the )?{DAY}{TH} of (?P<next>next) month{END}"),
    (
        read.of_month,
        rf"(?P<next>next month|nächsten monat|le mois prochain),? (?:on the |am |le ){DAY}(?:{TH}|er|\.)?{END}",
    ),
    (read.of_month, r"am {DAY}\.(?=\s|$)".replace("{DAY}", DAY)),
    (read.of_month, rf"le {DAY}(?:er)?(?! ?h|/){END}"),
    (read.of_month, rf"le {DAY}(?:er)? du mois (?P<next>prochain){END}"),
    (read.month_end, rf"(?:at |on )?(?:the )?(?:end|last day) of (?:(?:the|this|(?P<next>next)) )?month{END}"),
    (read.month_end, rf"(?:am |zum )?(?:monatsende|ende (?:des monats|(?P<next>nächsten) monats)){END}"),
    (read.month_end, rf"(?:à la )?fin du mois(?P<next> prochain)?{END}"),
    (read.month_end, r"(?:(?P<next>下)|[这本])?个?月(?:的?最后一[天日]|[底末])"),
)
_CLOCKS = _readers(
    (
        read.clock,
        rf"(?:{AT} ?)?(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?: ?(?P<half>[ap])\.?m\b\.?| uhr)?"
        rf"{CLOCK_END}",
    ),
    (read.clock, rf"{AT} ?(?P<hour>\d{{1,2}})\.(?P<minute>\d\d)(?: ?(?P<half>[ap])\.?m\b\.?| uhr)?(?!\.){CLOCK_END}"),
    (read.clock, rf"(?P<hour>\d{{1,2}})\.(?P<minute>\d\d) ?(?:(?P<half>[ap])\.?m\b\.?|uhr){CLOCK_END}"),
    (read.clock, rf"(?:{AT} ?)?(?P<hour>\d{{1,2}}) ?(?P<half>[ap])\.?m\b\.?{CLOCK_END}"),
    (read.clock, rf"(?:{AT} )?{HOUR} (?:uhr(?: (?P<minute>\d\d)(?![\d.:]))?|o['’]clock){END}"),
    (read.clock, rf"(?:{AT} ?)?(?P<hour>\d{{1,2}}) ?h ?(?P<minute>\d\d){CLOCK_END}"),
    (read.clock, rf"{AT} {HOUR} ?(?:heures?|h)(?: (?P<minute>\d\d|{WORD}))?{END}"),
    (read.clock, rf"{HOUR} ?(?:heures?|h)(?= (?:du (?:matin|soir)|de l['’]après-midi){END})"),
    (read.clock, rf"{AT} ?(?P<hour>\d{{1,2}})(?!\.\d){END}"),
    (read.clock, rf"{AT} (?P<hour>{WORD})(?: (?P<minute>fifteen|thirty|forty-five))?{END}"),
    (
        read.fraction,
        rf"(?:{AT} (?P<minutes>\d{{1,2}})|(?:{AT} )?(?P<named>half|(?:a )?quarter|\d{{1,2}}(?= min)|{WORD}))"
        rf"(?: min(?:utes?)?)? (?P<how>past|to) {HOUR}{_PM}{END}",
    ),
    (
        read.fraction,
        rf"(?:{AT} )?(?P<minutes>viertel|\d{{1,2}}|{WORD})(?: minuten)? (?P<how>vor|nach) {HOUR}(?: uhr)?{END}",
    ),
    (read.fraction, rf"(?:{AT} )?(?P<how>halb|dreiviertel) {HOUR}(?: uhr)?{END}"),
    (
        read.fraction,
        rf"(?:à|vers) (?P<hour>midi|\d{{1,2}}|{WORD})(?: ?h(?:eures?)?)? (?P<how>et|moins) (?:le )?"
        rf"(?P<minutes>demie?|quart|\d{{1,2}}|{WORD}){END}",
    ),
    (read.fraction, rf"(?P<how>差)(?P<minutes>一刻|{ZH}分钟?)(?:到)?(?P<hour>{ZH})点"),
    (read.fraction, rf"(?P<hour>{ZH})点(?P<how>差)(?P<minutes>一刻|{ZH}分钟?)"),
    (read.noon, rf"(?:{AT} )?(?:(?P<midnight>midnight|mitternacht|minuit)|noon|midday|midi){END}"),
    (read.noon, r"(?P<midnight>午夜)"),
    (
        read.chinese_clock,
        # A number without 分 may belong to the words behind it: 八点十个人.
        rf"(?P<hour>{ZH})(?:点钟?|时)(?:(?P<share>半|[一三]刻)(?![个小天年月钟])|(?P<minute>{ZH})分(?!钟)|整"
        r"|(?P<bare>[零〇][一-九]|[二三四五]?十[一二三四五六七八九]?|\d\d)(?![\d个人位名份件块元点分号月天年岁本次多:]))?",
    ),
)
_LATE_CLOCKS = _readers((read.clock, rf"(?P<hour>\d{{1,2}}) ?(?:h|heures?){END}"))
"""Without a day, ``9h`` is nine hours from now."""
_LATE_DAYS = _readers((read.days_of_week, rf"(?:(?:on|am|le|les) )?(?P<names>{RANGE}|{NAME}s|{LIST}){END}"))
"""Days behind a repetition: every two weeks on Monday and Friday, toutes les semaines le lundi."""
_PARTS = _readers(
    (read.part, rf"(?:in the |at |am |du |this |de l['’])?(?P<part>{any_latin(PARTS)}){END}"),
    (read.part, f"(?P<part>{any_chinese(PARTS)})"),
)
_LATE_PARTS = _readers(
    (read.part, rf"(?:in the |at |du |de l['’])(?P<part>{any_latin(PARTS)}){END}"),
    (read.part, rf"(?P<part>morgens|vormittags|nachmittags|abends|nachts|früh){END}"),
)
_DELAYS = _readers(
    (read.delay, rf"(?:in |dans )(?P<amounts>{AMOUNTS})(?P<half> and a half| et demie)?(?: from now)?{END}"),
    (read.delay, rf"(?P<amounts>{NUMERALS})(?: from now| later)?{END}"),
    (read.delay, rf"(?P<amounts>{AMOUNTS}) from now{END}"),
    (read.delay, rf"(?P<amounts>half an hour){END}"),
    (read.hours_and_minutes, rf"dans (?P<hour>\d{{1,2}}) ?h ?(?P<minute>\d\d){CLOCK_END}"),
    (read.delay, rf"过?(?P<amounts>{ZH_AMOUNT}(?:[零又]?{ZH_AMOUNT})*)(?:之?后|以后)?"),
)
_AFTER_CLOCK = compiled(
    rf"(?:on|am|next|this|coming|{EVERY}|alle|tous|toutes|today|tonight|tomorrow|the day|day after|heute|morgen"
    rf"|übermorgen|demain|après-demain|aujourd'hui|nächste[nrs]?|kommende[nrs]?|diese[nrs]?)\b|{LONG_NAME}|\d{{4}}-\d\d-\d\d"
    rf"|(?:le )?\d{{1,2}}(?:{TH}|\.|er)? ?(?:of )?{MONTH}\b|\d{{1,2}}\.\d{{1,2}}\.|{MONTH} (?:the )?\d"
)
"""How a day or a repetition begins behind a time of day. Other days there belong to the text: 18:30 明天的会议."""

_GAP = re.compile(r"T(?=\d)|[\s,，、的]*")
_TRADITIONAL, _MEANT = "：’週後點兩個號禮時鐘隔過這後", ":'周后点两个号礼时钟隔过这后"
_CHARACTERS = str.maketrans(_TRADITIONAL, _MEANT)


def phrase_of(text: str) -> Phrase:
    """The time or repetition with which ``text`` begins."""
    said, draft, end, used = text[:READ_CHARS].translate(_CHARACTERS), Draft(), 0, set[str]()
    while True:
        gap = _GAP.match(said, end)
        best = _longest(said, gap.end() if gap else end, draft, used)
        if best is None:
            break
        kind, reader, found = best
        reader(draft, found)
        used.add(kind)
        end = found.end()
    if used <= {"part"} and "noon" not in draft.parts:
        return Phrase()
    return draft.phrase(end)


def _longest(said: str, at: int, draft: Draft, used: set[str]) -> tuple[str, _Reader, re.Match[str]] | None:
    best = None
    for kind, readers in _open(draft, used):
        for reader, pattern in readers:
            found = pattern.match(said, at)
            if found is None or found.end() == at or (best and found.end() <= best[2].end()):
                continue
            if kind in ("rule", "day") and "clock" in used and not _AFTER_CLOCK.match(found[0]):
                continue
            if kind == "day" and "day" in used and reader is not read.day_of_year:
                continue
            best = kind, reader, found
    return best


def _open(draft: Draft, used: set[str]) -> Iterable[tuple[str, _Readers]]:
    """The kinds of pieces that may follow those that were ``used``."""
    if "delay" in used:
        if "clock" not in used and draft.has_whole_days:
            yield "clock", _CLOCKS
        return
    if "rule" not in used:
        yield "rule", _RULES
    if "day" not in used or (draft.weekdays and not draft.rule):
        yield "day", _DAYS
    if "rule" in used and "day" not in used:
        yield "day", _LATE_DAYS
    if "clock" not in used:
        yield "clock", _CLOCKS
    if used & {"rule", "day"} and "clock" not in used:
        yield "clock", _LATE_CLOCKS
    if not used & {"day", "clock"}:
        yield "delay", _DELAYS
    if "part" not in used:
        yield "part", _LATE_PARTS if "clock" in used else _PARTS
