"""Times and repetitions in people's words, against an oracle: each form is built from the time that it means."""

import datetime as dt
from collections.abc import Callable
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st

from daemon.reminders import ReminderRefused, ReminderRequest, following, parsed, planned
from daemon.reminders.recurrence import on_clock
from daemon.reminders.time_phrases import phrase_of
from tests.remindlab import place_of
from tests.tables import each_row

NOW = dt.datetime(2026, 11, 26, 8, 0, tzinfo=dt.UTC)  # a Thursday, 9:00 in Berlin
PLACE = place_of("web:ann")
ZONES = ("UTC", "Europe/Berlin", "Asia/Shanghai", "America/St_Johns")

ENGLISH = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
GERMAN = ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag")
FRENCH = ("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche")
MONTHS = (
    ("January", "Januar", "janvier"), ("February", "Februar", "février"), ("March", "März", "mars"),
    ("April", "April", "avril"), ("May", "Mai", "mai"), ("June", "Juni", "juin"), ("July", "Juli", "juillet"),
    ("August", "August", "août"), ("September", "September", "septembre"), ("October", "Oktober", "octobre"),
    ("November", "November", "novembre"), ("December", "Dezember", "décembre"),
)  # fmt: skip
SIGNS = "零一二三四五六七八九"
CODES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")

Means = Callable[[dt.date, dt.date], bool]
"""Whether a date is meant when today is another one."""


def chinese(number: int) -> str:
    tens, ones = divmod(number, 10)
    if not tens:
        return SIGNS[ones]
    return ("" if tens == 1 else SIGNS[tens]) + "十" + (SIGNS[ones] if ones else "")


@st.composite
def days(draw: st.DrawFn) -> tuple[str, str, Means]:
    """A day in a language, and which dates it can be."""
    language = draw(st.sampled_from(["en", "de", "fr", "zh"]))
    kind = draw(st.sampled_from(["weekday", "next", "ahead", "number", "date"]))
    if kind == "weekday":
        d = draw(st.integers(0, 6))
        sign = "一二三四五六日"[d]
        forms = {
            "en": [ENGLISH[d], f"on {ENGLISH[d].lower()}", ENGLISH[d][:3], f"this {ENGLISH[d]}"],
            "de": [GERMAN[d], f"am {GERMAN[d]}"],
            "fr": [FRENCH[d]],
            "zh": [f"周{sign}", f"星期{sign}", f"礼拜{sign}", f"週{sign}"],
        }
        return draw(st.sampled_from(forms[language])), language, lambda day, _: day.weekday() == d
    if kind == "next":
        d = draw(st.integers(0, 6))
        soon = {"de": f"nächsten {GERMAN[d]}", "fr": f"{FRENCH[d]} prochain"}
        if language in soon:
            return soon[language], language, lambda day, today: day.weekday() == d and day > today
        weeks = draw(st.integers(1, 2)) if language == "zh" else 1
        text = "下" * weeks + f"周{'一二三四五六天'[d]}" if language == "zh" else f"next {ENGLISH[d]}"
        return text, language, lambda day, today: day == today + dt.timedelta(7 * weeks - today.weekday() + d)
    if kind == "ahead":
        names = {
            "en": ["today", "tomorrow", "the day after tomorrow"],
            "de": ["heute", "morgen", "übermorgen"],
            "fr": ["aujourd'hui", "demain", "après-demain"],
            "zh": ["今天", "明天", "后天", "大后天"],
        }[language]
        at = draw(st.integers(0, len(names) - 1))
        return names[at], language, lambda day, today: day == today + dt.timedelta(at)
    number = draw(st.integers(1, 31))
    if kind == "number":
        ending = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}.get(number, "th")
        text = {"en": f"on the {number}{ending}", "de": f"am {number}.", "fr": f"le {number}"}.get(language)
        return text or f"{chinese(number)}号", language, lambda day, _: day.day == number
    month = draw(st.integers(1, 12))
    english, german, french = MONTHS[month - 1]
    text = {"en": f"{english} {number}", "de": f"am {number}. {german}", "fr": f"le {number} {french}"}.get(language)
    meant = (month, number)
    return text or f"{chinese(month)}月{chinese(number)}号", language, lambda day, _: (day.month, day.day) == meant


@st.composite
def clocks(draw: st.DrawFn, language: str) -> tuple[str, dt.time]:
    """A time of day in a language."""
    hour, minute = draw(st.integers(0, 23)), draw(st.sampled_from([0, 5, 15, 30, 45, 59]))
    half = f"{(hour - 1) % 12 + 1}:{minute:02}{'am' if hour < 12 else 'pm'}"
    if language == "zh":
        part = (
            ""
            if draw(st.booleans())
            else ("凌晨" if hour < 6 else "上午" if hour < 12 else "下午" if hour < 18 else "晚上")
        )
        shown = hour - 12 if part in ("下午", "晚上") and hour > 12 else hour
        rest = {0: "", 5: "零五分", 15: "一刻", 30: "半"}.get(minute, f"{chinese(minute)}分")
        forms = [f"{part}{chinese(shown)}点{rest}", f"{hour}点{minute:02}分", f"{hour:02}：{minute:02}"]
    else:
        forms = {
            "en": [f"{hour}:{minute:02}", f"at {hour:02}:{minute:02}", half, f"at {half}"],
            "de": [f"um {hour}:{minute:02}", f"um {hour}:{minute:02} Uhr", f"{hour} Uhr {minute:02}"],
            "fr": [f"à {hour}h{minute:02}", f"{hour} h {minute:02}", f"à {hour}:{minute:02}"],
        }[language]
    return draw(st.sampled_from(forms)), dt.time(hour, minute)


def plan(when: str, *, zone: str = "UTC", now: dt.datetime = NOW, **wish: Any) -> Any:
    """The reminder of a wish; the reason when it is refused."""
    try:
        request = ReminderRequest(text="tea", when=when, zone=zone, **wish)
        return planned(request, PLACE, reminder_id="abc", now=now)
    except ReminderRefused as error:
        return error


def searched(means: Means, time: dt.time, zone: ZoneInfo, now: dt.datetime) -> dt.datetime | None:
    """The first date ahead that is meant; None: all of them are past."""
    today = now.astimezone(zone).date()
    for number in range(366 * 9):
        day = today + dt.timedelta(number)
        if means(day, today) and on_clock(dt.datetime.combine(day, time), zone).utc > now:
            return dt.datetime.combine(day, time)
    return None


now_s = st.datetimes(dt.datetime(2026, 1, 1), dt.datetime(2031, 12, 31), timezones=st.just(dt.UTC))  # noqa: DTZ001


@given(st.data(), days(), now_s, st.sampled_from(ZONES))
def test_a_day_and_a_time_in_any_language_are_the_first_ones_ahead_that_are_meant(
    data: st.DataObject, day: tuple[str, str, Means], now: dt.datetime, zone: str
) -> None:
    name, language, means = day
    clock, time = data.draw(clocks(language))
    text = f"{name}{'' if language == 'zh' else ' '}{clock}"
    expected = searched(means, time, ZoneInfo(zone), now)

    command = parsed(f"{text} tea", zone=zone)
    found = plan(text, zone=zone, now=now)

    assert (command.wish.when, command.wish.text) == (text, "tea") if command.wish else False
    if expected is None:
        assert found.key in ("remind_past", "remind_when")  # February has no 30th
    else:
        assert found.local == expected.isoformat()


LISTS = {
    "en": lambda chosen: "every " + " and ".join(ENGLISH[day] for day in chosen),
    "plural": lambda chosen: ", ".join(f"{ENGLISH[day]}s" for day in chosen),
    "de": lambda chosen: "jeden " + " und ".join(GERMAN[day] for day in chosen),
    "fr": lambda chosen: "tous les " + " et ".join(f"{FRENCH[day]}s" for day in chosen),
    "zh": lambda chosen: "每周" + "和周".join("一二三四五六日"[day] for day in chosen),
    "signs": lambda chosen: "每周" + "".join("一二三四五六日"[day] for day in chosen) + " ",
}


@given(st.data(), st.sampled_from(sorted(LISTS)), st.sets(st.integers(0, 6), min_size=1), now_s)
def test_a_repetition_on_days_of_the_week_fires_on_each_of_them_and_on_no_other(
    data: st.DataObject, form: str, chosen: set[int], now: dt.datetime
) -> None:
    language = {"plural": "en", "signs": "zh"}.get(form, form)
    clock, time = data.draw(clocks(language))
    text = f"{LISTS[form](sorted(chosen))}{'' if language == 'zh' else ' '}{clock}"

    reminder = plan(text, now=now)

    assert reminder.rule == "FREQ=WEEKLY;BYDAY=" + ",".join(CODES[day] for day in sorted(chosen))
    for _ in range(8):
        expected = searched(lambda day, _: day.weekday() in chosen, time, ZoneInfo("UTC"), now)
        assert reminder.local == expected.isoformat() if expected else False
        now = dt.datetime.fromisoformat(reminder.due)
        reminder = following(reminder, now=now)


UNITS = {
    "minutes": ("minutes", "Minuten", "minutes", "分钟"),
    "hours": ("hours", "Stunden", "heures", "个小时"),
    "days": ("days", "Tagen", "jours", "天"),
    "weeks": ("weeks", "Wochen", "semaines", "周"),
}


@given(st.integers(1, 99), st.sampled_from(sorted(UNITS)), st.integers(0, 3))
def test_a_delay_counts_from_now(number: int, unit: str, language: int) -> None:
    name = UNITS[unit][language]
    word = [f"in {number} {name}", f"in {number} {name}", f"dans {number} {name}", f"{chinese(number)}{name}后"][
        language
    ]

    reminder = plan(word)

    assert dt.datetime.fromisoformat(reminder.due) == NOW + dt.timedelta(**{unit: number})


@each_row(
    "when, local, rule",
    [
        ("monday 9:00", "2026-11-30 09:00", ""),
        ("thursday 9:00", "2026-12-03 09:00", ""),  # it is nine o'clock on a Thursday
        ("thursday 9:01", "2026-11-26 09:01", ""),
        ("next friday at 5pm", "2026-12-04 17:00", ""),
        ("Friday, 27 November 9am", "2026-11-27 09:00", ""),
        ("tomorrow at nine", "2026-11-27 09:00", ""),
        ("tomorrow evening at 8", "2026-11-27 20:00", ""),
        ("tonight at half past nine", "2026-11-26 21:30", ""),
        ("tonight at midnight", "2026-11-27 00:00", ""),
        ("8 in the evening", None, None),
        ("at 8 in the evening", "2026-11-26 20:00", ""),
        ("at 5 on friday", "2026-11-27 05:00", ""),
        ("noon", "2026-11-26 12:00", ""),
        ("in half an hour", "2026-11-26 09:30", ""),
        ("in an hour and a half", "2026-11-26 10:30", ""),
        ("1h30m", "2026-11-26 10:30", ""),
        ("in 2 days at 9", "2026-11-28 09:00", ""),
        ("29 February 9:00", "2028-02-29 09:00", ""),
        ("30 February 9:00", None, None),
        ("monday 27 November 9:00", "2028-11-27 09:00", ""),
        ("every other monday 9:00", "2026-11-30 09:00", "FREQ=WEEKLY;BYDAY=MO;INTERVAL=2"),
        ("every 2 weeks on friday 9:00", "2026-11-27 09:00", "FREQ=WEEKLY;BYDAY=FR;INTERVAL=2"),
        ("monday to friday at 8", "2026-11-27 08:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("every day at 8", "2026-11-27 08:00", "FREQ=DAILY"),
        ("every morning at 8", "2026-11-27 08:00", "FREQ=DAILY"),
        ("every month on the 31st at 9", "2026-12-31 09:00", "FREQ=MONTHLY;BYMONTHDAY=31"),
        ("the 15th of every month at 9", "2026-12-15 09:00", "FREQ=MONTHLY;BYMONTHDAY=15"),
        ("the last day of the month 18:00", "2026-11-30 18:00", "FREQ=MONTHLY;BYMONTHDAY=-1"),
        ("every first monday of the month at 9", "2026-12-07 09:00", "FREQ=MONTHLY;BYDAY=1MO"),
        ("every year on 24 December 18:00", "2026-12-24 18:00", "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24"),
        ("every weekend at 10", "2026-11-28 10:00", "FREQ=WEEKLY;BYDAY=SA,SU"),
        ("下周一九点", "2026-11-30 09:00", ""),
        ("这周三九点", None, None),  # has passed
        ("周三九点", "2026-12-02 09:00", ""),
        ("下下周五下午三点半", "2026-12-11 15:30", ""),
        ("明早九点半", "2026-11-27 09:30", ""),
        ("今晚十二点", "2026-11-27 00:00", ""),
        ("明天中午", "2026-11-27 12:00", ""),
        ("二十号下午三点", "2026-12-20 15:00", ""),
        ("下个月5号上午十点", "2026-12-05 10:00", ""),
        ("明年一月一号八点", "2027-01-01 08:00", ""),
        ("三十分钟后", "2026-11-26 09:30", ""),
        ("一个半小时后", "2026-11-26 10:30", ""),
        ("两小时三十分钟后", "2026-11-26 11:30", ""),
        ("一刻钟后", "2026-11-26 09:15", ""),
        ("三天后九点", "2026-11-29 09:00", ""),
        ("每周三早上八点", "2026-12-02 08:00", "FREQ=WEEKLY;BYDAY=WE"),
        ("每周一三五三点", "2026-11-27 03:00", "FREQ=WEEKLY;BYDAY=MO,WE,FR"),
        ("周一到周五早上八点", "2026-11-27 08:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("每月十五号九点", "2026-12-15 09:00", "FREQ=MONTHLY;BYMONTHDAY=15"),
        ("每月最后一天18点", "2026-11-30 18:00", "FREQ=MONTHLY;BYMONTHDAY=-1"),
        ("每年12月24日18点", "2026-12-24 18:00", "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24"),
        ("每晚十点", "2026-11-26 22:00", "FREQ=DAILY"),
        ("隔天八点", "2026-11-27 08:00", "FREQ=DAILY;INTERVAL=2"),
        ("每两周周一9点", "2026-11-30 09:00", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO"),
        ("每個星期三早上八點", "2026-12-02 08:00", "FREQ=WEEKLY;BYDAY=WE"),
        ("morgen früh um 8", "2026-11-27 08:00", ""),
        ("heute Abend um halb neun", "2026-11-26 20:30", ""),
        ("montags um 7", "2026-11-30 07:00", "FREQ=WEEKLY;BYDAY=MO"),
        ("jeden Werktag um 8 Uhr", "2026-11-27 08:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("24.12. um 18 Uhr", "2026-12-24 18:00", ""),
        ("ce soir à 8h", "2026-11-26 20:00", ""),
        ("tous les mois le 15 à 9h", "2026-12-15 09:00", "FREQ=MONTHLY;BYMONTHDAY=15"),
        ("dans une demi-heure", "2026-11-26 09:30", ""),
    ],
)
def test_people_say_times_in_many_ways(when: str, local: str | None, rule: str | None) -> None:
    found = plan(when, zone="Europe/Berlin")

    if local is None:
        assert isinstance(found, ReminderRefused)
    else:
        assert (found.local, found.rule) == (f"{local.replace(' ', 'T')}:00", rule)


@each_row(
    "when, key",
    [
        ("monday", "remind_day"), ("every monday", "remind_day"), ("下周一", "remind_day"), ("每月5号", "remind_day"),
        ("the last day of the month", "remind_day"), ("tomorrow morning", "remind_day"), ("am Montag", "remind_day"),
        ("monday 25:00", "remind_when"), ("tomorrow 13pm", "remind_when"), ("明天二十五点", "remind_when"),
        ("早上十五点", "remind_when"), ("monday 9:75", "remind_when"), ("tomorrow's 9:00", "remind_when"),
        ("daily meeting", "remind_when"), ("2月30号九点", "remind_when"), ("today 8:00", "remind_past"),
        ("2020年1月1日九点", "remind_past"), ("今天八点", "remind_past"), ("2099-01-01 9:00", "remind_far"),
        ("every monday 25:00", "remind_when"), ("9999 weeks", "remind_far"), ("每小时", ""), ("every 2 hours", ""),
    ],
)  # fmt: skip
def test_a_phrase_without_a_time_ahead_is_refused_with_a_reason(when: str, key: str) -> None:
    assert getattr(plan(when, zone="Europe/Berlin"), "key", "") == key


def test_a_time_that_the_clocks_skip_or_show_twice_is_told_for_words_too() -> None:
    before = dt.datetime(2027, 3, 26, 12, 0, tzinfo=dt.UTC)
    autumn = dt.datetime(2027, 10, 29, 12, 0, tzinfo=dt.UTC)

    skipped, twice = (
        plan("sunday at 2:30", zone="Europe/Berlin", now=before),
        plan("周日凌晨两点半", zone="Europe/Berlin", now=autumn),
    )

    assert (skipped.local, skipped.due) == ("2027-03-28T02:30:00", "2027-03-28T01:30:00.000Z")
    assert (twice.local, twice.due) == ("2027-10-31T02:30:00", "2027-10-31T00:30:00.000Z")


def test_a_repetition_in_words_has_an_end_and_a_number_of_times() -> None:
    reminder = plan("every monday 9:00", count=3)

    assert (reminder.rule, reminder.left, reminder.until) == ("FREQ=WEEKLY;BYDAY=MO", 3, "")
    assert plan("every friday 9:00", count=3, until="friday").until == "2026-11-27T23:59:59.000Z"


PIECES = st.sampled_from([
    "monday", "next", "every", "other", "tuesday and thursday", "the 31st", "of every month", "last day", "at", "nine",
    "9", "9:00", "25:00", "pm", "in", "half an hour", "1h30m", "2026-02-30", "2026-12-24T", "on 24 December", "daily",
    "下", "周", "一", "三", "每", "月", "十", "号", "早上", "九点", "半", "后", "明", "天", "隔", "小时", "九〇", "年",
    "jeden", "Montag", "um", "Uhr", "halb", "morgen", "am 31.", "tous les", "lundis", "à 9h", "prochain", "le 1er", ",",
    "999999", "weeks", "'", "-", "\n", "\0", "\ud800", "٣", "²", "tea",
])  # fmt: skip
TEXTS = st.one_of(
    st.lists(PIECES, max_size=8).map(" ".join), st.lists(PIECES, max_size=8).map("".join), st.text(max_size=40)
)
TIMES = st.datetimes(timezones=st.just(dt.UTC), max_value=dt.datetime(9000, 1, 1))  # noqa: DTZ001


@given(TEXTS, TIMES, st.sampled_from(ZONES))
@example("next monday 9:00", dt.datetime(1, 1, 1, tzinfo=dt.UTC), "America/St_Johns")
def test_any_text_is_a_time_ahead_or_refused(text: str, now: dt.datetime, zone: str) -> None:
    phrase, command = phrase_of(text), parsed(text, zone=zone)
    found = plan(text, zone=zone, now=now)

    assert 0 <= phrase.end <= len(text)
    assert phrase_of(text[: phrase.end]).end == phrase.end
    if phrase.days is not None:
        try:
            assert len([*islice(phrase.days(now.date()), 20)]) <= 20
        except (ValueError, OverflowError):
            assert now.year < 2 or "2026-02-30" in text
    if not isinstance(found, ReminderRefused):
        assert dt.datetime.fromisoformat(found.due) > now.replace(microsecond=0)
    if command.wish is not None:
        plan(command.wish.when, zone=zone, now=now, rule=command.wish.rule)
