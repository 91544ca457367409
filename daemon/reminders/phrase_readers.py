"""Readers of the pieces of a phrase: each reads what a pattern of ``time_phrases`` found into a draft. Pure."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, time
from functools import partial

from daemon.reminders import phrase_days
from daemon.reminders.phrase_days import Days, Phrase
from daemon.reminders.time_patterns import AMOUNT, ANY_NAME, SIGN
from daemon.reminders.time_words import (
    AHEAD,
    CALENDAR_MONTHS,
    CODES,
    HALVES,
    HOURS,
    MONTHS,
    NTH,
    PARTS,
    REPETITIONS,
    SECONDS,
    SHORT_WEEKDAYS,
    SPANS,
    WEEKDAY_SIGNS,
    WEEKDAYS,
    number_of,
)

DAY_S = 86_400.0

_SHARES = {
    **dict.fromkeys(("half", "demie", "demi"), 30),
    **dict.fromkeys(("quarter", "a quarter", "viertel", "quart", "一刻"), 15),
    "halb": -30,
    "dreiviertel": -15,
}
"""Minutes after, or before, a full hour."""

WEEKS_OF_DAYS = {"quinze jours": 14, "huit jours": 7}
"""Days that a French number of days stands for: fifteen days are two weeks."""


@dataclass(kw_only=True)
class Draft:
    """The pieces that were read."""

    rule: dict[str, str] = field(default_factory=dict[str, str])
    days: Days | None = None
    repeated: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the day adds to a repetition of some frequency."""
    weekdays: frozenset[int] = frozenset()
    parts: list[str] = field(default_factory=list[str])
    """Parts of the day. Each one says which hour is meant, and all must say the same one."""
    clock: tuple[int, int, int] | None = None
    delay_s: float | None = None
    months: float = 0

    @property
    def has_whole_days(self) -> bool:
        """Whether a time of day may follow the delay."""
        return self.delay_s is not None and (self.delay_s % DAY_S == 0 and self.delay_s + self.months > 0)

    def phrase(self, end: int) -> Phrase:
        """The meaning of all pieces, the last of which ends at ``end``."""
        rule, is_broken = dict(self.rule), self.months % 1 != 0
        if rule and self.repeated:
            added = self.repeated.get(rule["FREQ"], "") if not any(name.startswith("BY") for name in rule) else ""
            rule |= dict(part.split("=") for part in added.split(";") if part)
            # A date may be the first one of any repetition, but no day of the week is one of a month.
            is_broken = is_broken or not (added or "YEARLY" in self.repeated)
        if "noon" in self.parts and self.clock is None:
            self.clock = 12, 0, 0
        text, months = ";".join(map("=".join, rule.items())), int(self.months)
        if self.clock is None or is_broken:
            return Phrase(
                end=end,
                rule=text,
                days=self.days,
                has_part=bool(self.parts),
                delay_s=self.delay_s,
                months=months,
                is_broken=is_broken,
            )
        hour, minute, second = self.clock
        hours = {HOURS[part].get(hour) for part in self.parts or ("",)}
        meant = hours.pop()
        if hours or meant is None or minute > 59 or second > 59 or minute < 0:
            return Phrase(end=end, rule=text, days=self.days, is_broken=True)
        days = self.days
        if self.delay_s is not None:
            days = partial(phrase_days.months_ahead, months, round(self.delay_s / DAY_S))
        return Phrase(end=end, rule=text, days=days, time=time(meant % 24, minute, second), more_days=meant // 24)


def plain(text: str) -> str:
    """``text`` in small letters, with single spaces."""
    return " ".join(text.lower().split())


# Repetitions.


def every(draft: Draft, found: re.Match[str]) -> None:
    """A unit, and how many of them: every two hours."""
    named = found.groupdict()
    unit = plain(named.get("unit") or "day")
    draft.parts += [PARTS[unit]] if unit in PARTS else []
    draft.rule = dict(part.split("=") for part in REPETITIONS.get(unit, "FREQ=DAILY").split(";"))
    number = named.get("number") or named.get("word") or ""
    _interval(draft, WEEKS_OF_DAYS.get(f"{number.lower()} {unit}") or _number(number))


def _number(text: str) -> int:
    """The number of ``2``, ``2nd`` or ``two``; 1 if there is none."""
    return number_of(re.sub(r"(?<=\d)\D+", "", text)) if text else 1


def _interval(draft: Draft, number: int) -> None:
    if number != 1:
        draft.rule["INTERVAL"] = str(number * int(draft.rule.get("INTERVAL", "1")))


def every_weekday(draft: Draft, found: re.Match[str]) -> None:
    """Days of the week, each week or each so many weeks."""
    numbers, named = _weekdays(draft, found), found.groupdict()
    draft.rule = {"FREQ": "WEEKLY", "BYDAY": ",".join(CODES[day] for day in sorted({*numbers}))}
    _interval(draft, _number(named.get("number") or named.get("count") or ""))


def _weekdays(draft: Draft, found: re.Match[str]) -> list[int]:
    numbers = [_weekday(name) for name in re.findall(f"{ANY_NAME}|{SIGN}", found["names"], re.IGNORECASE)]
    if found["names"] == found.groupdict().get("range"):
        numbers = [day % 7 for day in range(numbers[0], numbers[-1] + 7 * (numbers[-1] < numbers[0]) + 1)]
    draft.days = partial(phrase_days.weekdays, frozenset(numbers))
    return numbers


def _weekday(name: str) -> int:
    name = name.lower().rstrip(".")
    return WEEKDAY_SIGNS[name] if name in WEEKDAY_SIGNS else {**SHORT_WEEKDAYS, **WEEKDAYS}[name]


def nth_weekday(draft: Draft, found: re.Match[str]) -> None:
    """The first Monday of each month."""
    draft.days = phrase_days.any_day
    draft.rule = {"FREQ": "MONTHLY", "BYDAY": NTH[found["nth"].lower()] + CODES[_weekday(found["name"])]}


def last_day(draft: Draft, _: re.Match[str]) -> None:
    """The last day of each month."""
    draft.rule, draft.days = {"FREQ": "MONTHLY", "BYMONTHDAY": "-1"}, phrase_days.any_day


def first_day(draft: Draft, _: re.Match[str]) -> None:
    """The first day of each month."""
    draft.rule, draft.days = {"FREQ": "MONTHLY", "BYMONTHDAY": "1"}, phrase_days.any_day


def every_month(draft: Draft, found: re.Match[str]) -> None:
    """A day of each month."""
    of_month(draft, found)
    draft.rule = {"FREQ": "MONTHLY"}


def month_days(draft: Draft, found: re.Match[str]) -> None:
    """Several days of each month."""
    numbers = sorted({number_of(each) for each in re.findall(r"\d+|[零〇一二三四五六七八九十]+", found["names"])})
    draft.days = phrase_days.any_day
    draft.rule = {"FREQ": "MONTHLY", "BYMONTHDAY": ",".join(map(str, numbers))}


def every_year(draft: Draft, found: re.Match[str]) -> None:
    """A date of each year."""
    day_of_year(draft, found)
    draft.rule = {"FREQ": "YEARLY"}


# Days.


def ahead(draft: Draft, found: re.Match[str]) -> None:
    """Today, tomorrow."""
    name = plain(found["ahead"])
    draft.days = partial(phrase_days.ahead, AHEAD[name])
    draft.parts += ["evening"] if name == "tonight" else []


def named_day(draft: Draft, found: re.Match[str]) -> None:
    """A day of the week, of this or the next week, or the first one."""
    which = (found["which"] or "").lower()
    if which == "next" or found["week"] or found["later"]:
        draft.days = partial(phrase_days.of_week, 1, _weekday(found["name"]))
        return
    is_later = which.startswith(("n", "k")) or found["prochain"]
    _day_of_week(draft, found["name"], phrase_days.after_today if is_later else phrase_days.weekdays)


def signed_day(draft: Draft, found: re.Match[str]) -> None:
    """The same in Chinese."""
    if weeks := found["weeks"]:
        draft.days = partial(phrase_days.of_week, weeks.count("下"), _weekday(found["name"]))
        return
    _day_of_week(draft, found["name"], phrase_days.weekdays)


def _day_of_week(draft: Draft, name: str, days: Callable[[frozenset[int], date], Iterable[date]]) -> None:
    draft.weekdays, draft.repeated = frozenset([_weekday(name)]), {"WEEKLY": f"BYDAY={CODES[_weekday(name)]}"}
    draft.days = partial(days, draft.weekdays)


def days_of_week(draft: Draft, found: re.Match[str]) -> None:
    """Days of the week behind a repetition: every two weeks on Monday and Friday."""
    numbers = sorted({*_weekdays(draft, found)})
    added = f"BYDAY={','.join(CODES[day] for day in numbers)}"
    draft.repeated = {"WEEKLY": added, **({"DAILY": added} if len(numbers) > 1 else {})}


def weekend(draft: Draft, found: re.Match[str]) -> None:
    """Saturday, or Sunday once Saturday's time has passed."""
    named = found.groupdict()
    which = (named.get("which") or "").lower()
    weeks = (named.get("weeks") or "").count("下") + (which == "next")
    if weeks:
        draft.days = partial(phrase_days.of_week, weeks, 5)
    elif which.startswith(("n", "k")) or named.get("prochain"):
        draft.days = partial(phrase_days.after_today, frozenset({5}))
    else:
        draft.days = partial(phrase_days.weekdays, frozenset({5, 6}))


def day_of_year(draft: Draft, found: re.Match[str]) -> None:
    """A date, with or without a year."""
    named = found.groupdict()
    month = MONTHS[found["name"].lower()] if named.get("name") else number_of(found["month"])
    day, year = number_of(found["day"]), named.get("year") or ""
    draft.days = partial(phrase_days.of_year, month, day, year)
    draft.repeated = {} if year else {"YEARLY": f"BYMONTH={month};BYMONTHDAY={day}"}
    if draft.weekdays:
        draft.days = partial(phrase_days.among, draft.weekdays, draft.days)


def of_month(draft: Draft, found: re.Match[str]) -> None:
    """A day of this or the next month, or of the first one that has it."""
    named = found.groupdict()
    day, months = number_of(found["day"]), named.get("months")
    ahead = 1 if named.get("next") else None if months is None else months.count("下")
    draft.days = partial(phrase_days.of_month, day, ahead)
    draft.repeated = {"MONTHLY": f"BYMONTHDAY={day}"}


def month_end(draft: Draft, found: re.Match[str]) -> None:
    """The last day of this or the next month."""
    draft.days = partial(phrase_days.month_ends, range(1, 2) if found["next"] else range(2))


def iso(draft: Draft, found: re.Match[str]) -> None:
    """A date of ISO 8601."""
    draft.days = partial(phrase_days.fixed, found["iso"])


# Times of day.


def clock(draft: Draft, found: re.Match[str]) -> None:
    """An hour, and minutes or none."""
    named = found.groupdict()
    draft.clock = number_of(named["hour"]), number_of(named.get("minute") or "0"), int(named.get("second") or 0)
    if half := named.get("half"):
        draft.parts.append(f"{half.lower()}m")


def fraction(draft: Draft, found: re.Match[str]) -> None:
    """Half past eight, ten to nine, halb neun, neuf heures moins le quart, 差一刻九点."""
    named = found.groupdict()
    how, half = named["how"].lower(), (named.get("half") or "").lower()
    number = plain(named.get("minutes") or named.get("named") or how).rstrip("分钟")
    minutes = _SHARES.get(number, number_of(number))
    if how in ("to", "vor", "moins", "差"):
        minutes = -minutes
    said = "12" if found["hour"].lower() == "midi" else found["hour"]
    hour = HOURS[half and f"{half}m"].get(number_of(said))
    is_broken = hour is None or abs(minutes) > 59
    draft.clock = (99, 0, 0) if hour is None or is_broken else (*divmod((60 * hour + minutes) % 1_440, 60), 0)


def chinese_clock(draft: Draft, found: re.Match[str]) -> None:
    """三点半, 八点二十分."""
    share = {"半": 30, "一刻": 15, "三刻": 45}.get(found["share"] or "")
    draft.clock = number_of(found["hour"]), share or number_of(found["minute"] or found["bare"] or "0"), 0


def noon(draft: Draft, found: re.Match[str]) -> None:
    """Noon and midnight."""
    part_of_day, draft.clock = ("evening", (24, 0, 0)) if found["midnight"] else ("noon", (12, 0, 0))
    draft.parts.append(part_of_day)


def part(draft: Draft, found: re.Match[str]) -> None:
    """A part of the day."""
    draft.parts.append(PARTS[found["part"].lower()])


# Delays.


def delay(draft: Draft, found: re.Match[str]) -> None:
    """Amounts of time from now."""
    draft.delay_s, draft.months = 0.0, 0.0
    unit = ""
    for amount in AMOUNT.finditer(found["amounts"]):
        unit = plain(amount["of"] or amount["named"] or amount["unit"] or "")
        _add(draft, 0.5 if amount["half"] else _quantity(amount), unit, span=amount["span"])
    if found.groupdict().get("half"):
        _add(draft, 0.5, unit)


def _add(draft: Draft, quantity: float, unit: str, *, span: str | None = None) -> None:
    if unit in CALENDAR_MONTHS:
        draft.months += quantity * CALENDAR_MONTHS[unit]
    else:
        draft.delay_s = (draft.delay_s or 0.0) + (SPANS[plain(span)] if span else quantity * SECONDS[unit])


def _quantity(amount: re.Match[str]) -> float:
    number = plain(amount["word"] or amount["number"] or "").replace(",", ".")
    if number == "半" or number in HALVES:
        return HALVES.get(number, 0.5)
    return (float(number) if "." in number else number_of(number)) + 0.5 * bool(amount["more"])


def hours_and_minutes(draft: Draft, found: re.Match[str]) -> None:
    """Dans 1h30."""
    draft.delay_s = 3_600.0 * int(found["hour"]) + 60.0 * int(found["minute"])
