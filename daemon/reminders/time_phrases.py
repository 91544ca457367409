"""Times and repetitions in people's words: ``next friday at 5pm``, ``每周三早上八点``, ``jeden Montag um 9``. Pure.

A phrase is read from the beginning of a text, piece by piece: at most one repetition, one day and one time of day, or a
delay. The languages are English, Chinese, German and French. ``recurrence`` finds the phrase in the calendar.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from daemon.reminders import phrase_days
from daemon.reminders.phrase_days import Days, Phrase
from daemon.reminders.time_patterns import (
    AMOUNT,
    AMOUNT_TEXT,
    AND,
    AT,
    CLOCK_END,
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
    NUMBER,
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
from daemon.reminders.time_words import (
    ADVERBS,
    AHEAD,
    CODES,
    HALF,
    HOURS,
    MONTHS,
    NTH,
    PARTS,
    REPETITIONS,
    SECONDS,
    WEEKDAY_SIGNS,
    WEEKDAYS,
    number_of,
)

DAY_S = 86_400.0

READ_CHARS = 200
"""So many characters of a text are looked at. The longest phrase has about half of them."""


@dataclass(kw_only=True)
class _Draft:
    """The pieces that were read."""

    rule: dict[str, str] = field(default_factory=dict[str, str])
    days: Days | None = None
    repeated: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the day adds to a repetition of some frequency."""
    weekdays: frozenset[int] = frozenset()
    part: str = ""
    clock: tuple[int, int, int] | None = None
    delay_s: float | None = None

    def phrase(self, end: int) -> Phrase:
        rule = dict(self.rule)
        if rule and not any(name.startswith("BY") for name in rule):
            added = self.repeated.get(rule["FREQ"], "")
            rule |= dict(part.split("=") for part in added.split(";") if part)
        if self.part == "noon" and self.clock is None:
            self.clock = 12, 0, 0
        found = Phrase(end=end, rule=";".join(map("=".join, rule.items())), days=self.days, delay_s=self.delay_s)
        if self.clock is None:
            return found
        hour, minute, second = self.clock
        meant = HOURS[self.part].get(hour)
        if meant is None or minute > 59 or second > 59 or minute < 0:
            return Phrase(end=end, rule=found.rule, days=self.days, is_broken=True)
        days = self.days if self.delay_s is None else partial(phrase_days.ahead, round(self.delay_s / DAY_S))
        time = dt.time(meant % 24, minute, second)
        return Phrase(end=end, rule=found.rule, days=days, time=time, more_days=meant // 24)


# Each reads a piece into a draft.


def _every(draft: _Draft, found: re.Match[str]) -> None:
    named = found.groupdict()
    unit = (named.get("unit") or "day").lower()
    draft.part = PARTS.get(unit, "")
    draft.rule = dict(part.split("=") for part in REPETITIONS.get(unit, "FREQ=DAILY").split(";"))
    _interval(draft, named.get("number"))


def _interval(draft: _Draft, number: str | None) -> None:
    if number and number_of(number) != 1:
        draft.rule["INTERVAL"] = str(number_of(number))


def _list(draft: _Draft, found: re.Match[str]) -> None:
    numbers = [_weekday(name) for name in re.findall(f"{NAME}|{SIGN}", found["names"], re.IGNORECASE)]
    if found["names"] == found.groupdict().get("range"):
        numbers = [day % 7 for day in range(numbers[0], numbers[-1] + 7 * (numbers[-1] < numbers[0]) + 1)]
    draft.rule = {"FREQ": "WEEKLY", "BYDAY": ",".join(CODES[day] for day in sorted({*numbers}))}
    draft.days = partial(phrase_days.weekdays, frozenset(numbers))
    _interval(draft, found.groupdict().get("number"))


def _weekday(name: str) -> int:
    return WEEKDAY_SIGNS[name] if name in WEEKDAY_SIGNS else WEEKDAYS[name.lower()]


def _nth_weekday(draft: _Draft, found: re.Match[str]) -> None:
    draft.days = phrase_days.any_day
    draft.rule = {"FREQ": "MONTHLY", "BYDAY": NTH[found["nth"].lower()] + CODES[_weekday(found["name"])]}


def _last_day(draft: _Draft, _: re.Match[str]) -> None:
    draft.rule, draft.days = {"FREQ": "MONTHLY", "BYMONTHDAY": "-1"}, phrase_days.any_day


def _every_month(draft: _Draft, found: re.Match[str]) -> None:
    _of_month(draft, found)
    draft.rule = {"FREQ": "MONTHLY"}


def _ahead(draft: _Draft, found: re.Match[str]) -> None:
    name = " ".join(found["ahead"].lower().split())
    draft.days = partial(phrase_days.ahead, AHEAD[name])
    draft.part = "evening" if name == "tonight" else ""


def _named_day(draft: _Draft, found: re.Match[str]) -> None:
    which = (found["which"] or "").lower()
    if which == "next" or found["week"] or found["later"]:
        draft.days = partial(phrase_days.of_week, 1, _weekday(found["name"]))
        return
    is_later = which.startswith(("n", "k")) or found["prochain"]
    _day_of_week(draft, found["name"], phrase_days.after_today if is_later else phrase_days.weekdays)


def _signed_day(draft: _Draft, found: re.Match[str]) -> None:
    if weeks := found["weeks"]:
        draft.days = partial(phrase_days.of_week, weeks.count("下"), _weekday(found["name"]))
        return
    _day_of_week(draft, found["name"], phrase_days.weekdays)


def _day_of_week(draft: _Draft, name: str, days: Callable[[frozenset[int], dt.date], Iterable[dt.date]]) -> None:
    draft.weekdays, draft.repeated = frozenset([_weekday(name)]), {"WEEKLY": f"BYDAY={CODES[_weekday(name)]}"}
    draft.days = partial(days, draft.weekdays)


def _date(draft: _Draft, found: re.Match[str]) -> None:
    named = found.groupdict()
    month = MONTHS[found["name"].lower()] if named.get("name") else number_of(found["month"])
    day, year = number_of(found["day"]), found["year"] or ""
    draft.days = partial(phrase_days.of_year, month, day, year)
    draft.repeated = {} if year else {"YEARLY": f"BYMONTH={month};BYMONTHDAY={day}"}
    if draft.weekdays:
        draft.days = partial(phrase_days.among, draft.weekdays, draft.days)


def _of_month(draft: _Draft, found: re.Match[str]) -> None:
    day, months = number_of(found["day"]), found.groupdict().get("months")
    draft.days = partial(phrase_days.of_month, day, None if months is None else months.count("下"))
    draft.repeated = {"MONTHLY": f"BYMONTHDAY={day}"}


def _iso(draft: _Draft, found: re.Match[str]) -> None:
    draft.days = partial(phrase_days.fixed, found["iso"])


def _clock(draft: _Draft, found: re.Match[str]) -> None:
    named = found.groupdict()
    draft.clock = number_of(named["hour"]), number_of(named.get("minute") or "0"), int(named.get("second") or 0)
    if half := named.get("half"):
        draft.part = f"{half.lower()}m"


def _fraction(draft: _Draft, found: re.Match[str]) -> None:
    minutes = {"half past": 30, "halb": -30, "quarter past": 15, "viertel nach": 15}
    at = 60 * number_of(found["hour"]) + minutes.get(" ".join(found["how"].lower().split()), -15)
    draft.clock = (*divmod(at % 1_440, 60), 0)


def _chinese_clock(draft: _Draft, found: re.Match[str]) -> None:
    share = {"半": 30, "一刻": 15, "三刻": 45}.get(found["share"] or "")
    draft.clock = number_of(found["hour"]), share or number_of(found["minute"] or found["bare"] or "0"), 0


def _noon(draft: _Draft, found: re.Match[str]) -> None:
    draft.part, draft.clock = ("evening", (24, 0, 0)) if found["midnight"] else ("noon", (12, 0, 0))


def _part(draft: _Draft, found: re.Match[str]) -> None:
    draft.part = PARTS[found["part"].lower()]


def _delay(draft: _Draft, found: re.Match[str]) -> None:
    amounts = AMOUNT.findall(found["amounts"])
    draft.delay_s = sum(_amount(number, half) * SECONDS[unit.lower()] for number, half, unit in amounts)
    if found.groupdict().get("half"):
        draft.delay_s += SECONDS[amounts[-1][2].lower()] / 2


def _amount(number: str, half: str) -> float:
    return number_of(number) + 0.5 * bool(half) if number_of(number) >= 0 else 0.5


# Patterns and their readers.

_Reader = Callable[[_Draft, re.Match[str]], None]
_Readers = list[tuple[_Reader, re.Pattern[str]]]


def _readers(*pairs: tuple[_Reader, str]) -> _Readers:
    return [(reader, compiled(pattern)) for reader, pattern in pairs]


_RULES = _readers(
    (_last_day, rf"(?:on |am )?(?:the |every |le )?(?:last day|letzten tag|dernier jour) {MONTHLY}{END}"),
    (_last_day, r"每个?月的?(?:最后一[天日]|月?[底末])"),
    (
        _nth_weekday,
        rf"(?:on |am )?(?:the |jeden |le |{EVERY} )?(?P<nth>{any_of(NTH)}) (?P<name>{NAME}) {MONTHLY}{END}",
    ),
    (_every_month, rf"(?:on the|the|le|am) {DAY}(?:{TH}|er|\.)? {EACH_MONTH}{END}"),
    (_every_month, rf"(?:{EVERY} {DAY}(?:{TH}|\.)(?: {MONTHLY})?){END}"),
    (_every_month, rf"tous les {DAY} du mois{END}"),
    (_list, rf"(?:on |les )?(?P<names>{RANGE}){END}"),
    (
        _list,
        rf"(?:{EVERY} (?:{NUMBER} (?:weeks? on )?|week on )?|tous les |weekly on |wöchentlich am )"
        rf"(?P<names>{RANGE}|{LIST}){END}",
    ),
    (_list, rf"(?:on |les )?(?P<names>{LONG_NAME}s(?:{AND}{NAME}s){{0,6}}){END}"),
    (_list, rf"(?:每逢?个?)?{WEEK}(?P<names>{SIGN_RANGE})(?:每天)?"),
    (_list, rf"每(?:逢|个)?{WEEK}(?P<names>{SIGN_LIST})"),
    (_every, rf"{EVERY} (?:{NUMBER} )?(?P<unit>{UNIT}){END}"),
    (_every, rf"(?:alle|tous les|toutes les) (?:{NUMBER} )?(?P<unit>{UNIT}){END}"),
    (_every, rf"(?P<unit>{any_of(ADVERBS)})"),
    (_every, r"(?:每个?)?(?P<unit>工作日)"),
    (_every, r"每个?(?P<unit>周末|双休日)"),
    (_every, r"每?(?P<number>隔一?)个?(?P<unit>天|日|周|星期|月|年)"),
    (_every, rf"每(?P<number>{ZH})?个?(?P<unit>天|日|周|星期|礼拜|月|年|小时|钟头)(?:一次)?"),
    (_every, r"天天|每(?=[早晚])"),
)
_DAYS = _readers(
    (_iso, rf"(?P<iso>\d{{4}}-\d\d-\d\d)(?:(?=T\d)|{END})"),
    (_ahead, rf"(?:the )?(?P<ahead>{any_latin({*AHEAD} - {'this', 'ce'})}){END}"),
    (_ahead, r"(?P<ahead>this(?= (?:morning|afternoon|evening)\b)|ce(?= (?:soir|matin)\b))"),
    (_ahead, r"(?P<ahead>今天|今日|明天|明日|大后天|后天|今(?=[早晚])|明(?=[早晚]))"),
    (
        _named_day,
        r"(?:on |am )?(?:(?P<which>next|this|this coming|coming|nächste[nrs]?|kommende[nrs]?|diese[nrs]?) )?"
        r"(?P<week>(?:week|woche)(?: on| am)? )?"
        rf"(?P<name>{NAME})(?:(?P<later> next week| nächste woche)|(?P<prochain> prochain))?{END}",
    ),
    (_signed_day, rf"(?P<weeks>下{{1,3}}|[这本])?一?个?{WEEK}(?P<name>{SIGN})(?![个次])"),
    (
        _date,
        rf"(?:on |am |le )?(?:the )?{DAY}(?:{TH}|\.|er)? (?:of )?(?P<name>{MONTH})(?:,? (?P<year>\d{{4}}))?"
        rf"(?!:){END}",
    ),
    (
        _date,
        rf"(?:on )?(?P<name>{MONTH}) (?:the )?{DAY}{TH}?(?:,? (?P<year>\d{{4}}))?"
        rf"(?![\d:.]| ?[ap]\.?m){END}",
    ),
    (_date, rf"(?:am |le )?{DAY}\.(?P<month>\d{{1,2}})\.(?P<year>\d{{4}})?(?!\d)"),
    (_date, rf"(?:(?P<year>\d{{4}}|[今明后])年)?(?P<month>{ZH})月{ZH_DAY}[日号]?"),
    (_of_month, rf"(?P<months>下{{1,2}}|[这本])一?个?月{ZH_DAY}[日号]?"),
    (_of_month, rf"{ZH_DAY}[日号](?![线楼])"),
    (_of_month, rf"(?:on the|the|on) {DAY}{TH}{END}"),
    (_of_month, rf"am {DAY}\.(?=\s|$)"),
    (_of_month, rf"le {DAY}(?:er)?(?! ?h){END}"),
)
_CLOCKS = _readers(
    (
        _clock,
        rf"(?:{AT} ?)?(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?: ?(?P<half>[ap])\.?m\b\.?| uhr)?"
        rf"{CLOCK_END}",
    ),
    (_clock, rf"(?:{AT} ?)?(?P<hour>\d{{1,2}}) ?(?P<half>[ap])\.?m\b\.?{CLOCK_END}"),
    (_clock, rf"(?:{AT} )?{HOUR} (?:uhr(?: (?P<minute>\d\d)(?![\d.:]))?|o['’]clock){END}"),
    (_clock, rf"(?:{AT} ?)?(?P<hour>\d{{1,2}}) ?h ?(?P<minute>\d\d){CLOCK_END}"),
    (_clock, rf"(?:à|vers) {HOUR} ?(?:heures?|h)(?: (?P<minute>\d\d|{WORD}))?{END}"),
    (_clock, rf"{AT} ?(?P<hour>\d{{1,2}})(?!\.\d){END}"),
    (_clock, rf"{AT} (?P<hour>{WORD})(?: (?P<minute>fifteen|thirty|forty-five))?{END}"),
    (_fraction, rf"(?:{AT} )?(?P<how>(?:half|quarter) past|quarter to|halb|viertel (?:vor|nach)) {HOUR}{END}"),
    (_noon, rf"(?:{AT} )?(?:(?P<midnight>midnight|mitternacht|minuit)|noon|midday|midi){END}"),
    (
        _chinese_clock,
        # A number without 分 may belong to the words behind it: 八点十个人.
        rf"(?P<hour>{ZH})(?:点钟?|时)(?:(?P<share>半|[一三]刻)(?![个小天年月钟])|(?P<minute>{ZH})分(?!钟)|整"
        r"|(?P<bare>[零〇][一-九]|[二三四五]?十[一二三四五六七八九]?|\d\d)(?![\d个人位名份件块元点分号月天年岁本次多:]))?",
    ),
)
_LATE_CLOCKS = _readers((_clock, rf"(?P<hour>\d{{1,2}}) ?(?:h|heures?){END}"))
"""Without a day, ``9h`` is nine hours from now."""
_PARTS = _readers(
    (_part, rf"(?:in the |at |am |du |this |de l['’])?(?P<part>{any_latin(PARTS)}){END}"),
    (_part, f"(?P<part>{any_chinese(PARTS)})"),
)
_LATE_PARTS = _readers(
    (_part, rf"(?:in the |at |du |de l['’])(?P<part>{any_latin(PARTS)}){END}"),
    (_part, rf"(?P<part>morgens|vormittags|nachmittags|abends|nachts|früh){END}"),
)
_DELAYS = _readers(
    (
        _delay,
        rf"(?P<amounts>(?:in |dans )(?:{HALF}|{WORD}) ?{any_latin(SECONDS)}|half an hour)"
        rf"(?P<half> and a half| et demie)?{END}",
    ),
    (_delay, rf"(?:in |dans )?(?P<amounts>{AMOUNT_TEXT}(?:(?: and | und | et ){AMOUNT_TEXT}|{AMOUNT_TEXT})*){END}"),
    (_delay, rf"过?(?P<amounts>{ZH_AMOUNT}(?:[零又]?{ZH_AMOUNT})*)(?:之?后|以后)?"),
)
_AFTER_CLOCK = compiled(rf"(?:on|am|next|{EVERY}|alle|tous|toutes|today|tomorrow|the day|day after)\b|{LONG_NAME}")
"""How a day or a repetition begins behind a time of day. Other days there belong to the text: 18:30 明天的会议."""

_GAP = re.compile(r"T(?=\d)|[\s,，、的]*")
_TRADITIONAL, _MEANT = "：週後點兩個號禮時鐘隔過這", ":周后点两个号礼时钟隔过这"
_CHARACTERS = str.maketrans(_TRADITIONAL, _MEANT)


def phrase_of(text: str) -> Phrase:
    """The time or repetition with which ``text`` begins."""
    said, draft, end, used = text[:READ_CHARS].translate(_CHARACTERS), _Draft(), 0, set[str]()
    while True:
        gap = _GAP.match(said, end)
        best = _longest(said, gap.end() if gap else end, draft, used)
        if best is None:
            break
        kind, reader, found = best
        reader(draft, found)
        used.add(kind)
        end = found.end()
    if used <= {"part"} and draft.part != "noon":
        return Phrase()
    return draft.phrase(end)


def _longest(said: str, at: int, draft: _Draft, used: set[str]) -> tuple[str, _Reader, re.Match[str]] | None:
    best = None
    for kind, readers in _open(draft, used):
        for reader, pattern in readers:
            found = pattern.match(said, at)
            if found is None or found.end() == at or (best and found.end() <= best[2].end()):
                continue
            if kind in ("rule", "day") and "clock" in used and not _AFTER_CLOCK.match(found[0]):
                continue
            if kind == "day" and "day" in used and reader is not _date:
                continue
            best = kind, reader, found
    return best


def _open(draft: _Draft, used: set[str]) -> Iterable[tuple[str, _Readers]]:
    """The kinds of pieces that may follow those that were ``used``."""
    if "delay" in used:
        if "clock" not in used and draft.delay_s and draft.delay_s % DAY_S == 0:
            yield "clock", _CLOCKS
        return
    if "rule" not in used:
        yield "rule", _RULES
    if "day" not in used or (draft.weekdays and not draft.rule):
        yield "day", _DAYS
    if "clock" not in used:
        yield "clock", _CLOCKS
    if used & {"rule", "day"} and "clock" not in used:
        yield "clock", _LATE_CLOCKS
    if not used & {"day", "clock"}:
        yield "delay", _DELAYS
    if "part" not in used:
        yield "part", _LATE_PARTS if "clock" in used else _PARTS
