"""Times of reminders: on the clock of a zone, where an hour may be missing or come twice; what is refused says why."""

import datetime as dt
from functools import lru_cache
from itertools import count, islice, pairwise
from zoneinfo import ZoneInfo, available_timezones

from hypothesis import example, given
from hypothesis import strategies as st

from daemon.reminders import (
    ReminderRefused,
    ReminderRequest,
    confirmed,
    following,
    is_late,
    parsed,
    planned,
    reminder_from,
    resumed,
)
from daemon.reminders.recurrence import first_of, occurrences, on_clock, rule_from
from tests.remindlab import place_of
from tests.tables import each_row
from workers.agent.reminder_delays import quiet_until, tomorrow

NOW = dt.datetime(2026, 11, 26, 8, 0, tzinfo=dt.UTC)
PLACE = place_of("web:ann")
ZONES = ("UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Shanghai", "Pacific/Apia")

zones = st.sampled_from(ZONES).map(ZoneInfo)
locals_ = st.datetimes(dt.datetime.fromisoformat("2026-12-01"), dt.datetime.fromisoformat("2034-12-31"))
rules = st.one_of(
    st.sampled_from(
        ["daily", "weekdays", "weekly", "monthly", "yearly", "每天", "工作日", "every other friday", "每月底"]
    ),
    st.builds(
        lambda freq, every, day: f"FREQ={freq};INTERVAL={every}{day}",
        st.sampled_from(["MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"]),
        st.integers(1, 40),
        st.sampled_from(["", ";BYDAY=MO,FR", ";BYMONTHDAY=31", ";BYHOUR=2,14"]),
    ),
    st.builds(
        lambda minute, hour, day, week: f"cron {minute} {hour} {day} * {week}",
        st.integers(0, 59),
        st.sampled_from(["2", "*/2", "8,20"]),
        st.sampled_from(["*", "1", "31"]),
        st.sampled_from(["*", "1-5", "0"]),
    ),
)


def plan(**wish: object) -> str:
    """What is confirmed of a wish, or the reason why it is refused."""
    fields = {"text": "tea", "when": "", "zone": "Europe/Berlin", **wish}
    try:
        reminder = planned(ReminderRequest(**fields), PLACE, reminder_id="abc", now=NOW)  # type: ignore[arg-type]
    except ReminderRefused as error:
        assert error.said("zh") != str(error)
        return str(error)
    assert reminder_from(reminder.raw) == reminder
    return confirmed(reminder, "en", when=str(fields["when"]))


@each_row(
    "wish, sentence",
    [
        ({"when": "09:30"}, "Reminder abc is set. It fires on 2026-11-26 09:30 (Europe/Berlin, UTC+0100)."),
        ({"when": "09:00"}, "It fires on 2026-11-27 09:00"),
        ({"when": "tomorrow 9:00"}, "It fires on 2026-11-27 09:00"),
        ({"when": "明天 09:00"}, "It fires on 2026-11-27 09:00"),
        ({"when": "90m"}, "It fires on 2026-11-26 10:30"),
        ({"when": "2026-12-24T18:00"}, "It fires on 2026-12-24 18:00"),
        ({"when": "2026-12-24T18:00Z"}, "It fires on 2026-12-24 19:00"),
        ({"when": "2027-03-28 02:30"}, "The time 2027-03-28 02:30 does not exist"),
        ({"when": "2027-03-28 02:30"}, "It fires on 2027-03-28 03:30 (Europe/Berlin, UTC+0200)."),
        ({"when": "2027-10-31 02:30"}, "The time 2027-10-31 02:30 occurs twice"),
        ({"when": "2027-10-31 02:30"}, "It fires on 2027-10-31 02:30 (Europe/Berlin, UTC+0200)."),
        (
            {"when": "2020-01-01 10:00"},
            "2020-01-01 10:00 (Europe/Berlin, UTC+0100) has already passed. The current time is",
        ),
        ({"when": "today 08:00"}, "has already passed."),
        ({"when": "2099-01-01 10:00"}, "This time is more than ten years in the future."),
        ({"when": "soon"}, "“soon” is not a time. Use a format such as 20m"),
        ({"when": "2026-02-30 10:00"}, "“2026-02-30 10:00” is not a time."),
        ({"when": "25:00"}, "“25:00” is not a time."),
        ({"when": "tomorrow"}, "“tomorrow” specifies a day but no time. Add a time, for example tomorrow 09:00."),
        ({"when": "2026-12-24"}, "“2026-12-24” specifies a day but no time."),
        ({"when": "明天 09：00"}, "It fires on 2026-11-27 09:00"),
        ({"when": "每天早上七点 和晚上九点"}, "is not a time."),
        ({"when": "daily at 7 and 9pm"}, "is not a time."),
        ({"when": "大后天 09:30"}, "It fires on 2026-11-29 09:30"),
        ({"when": "tomorrow 9am"}, "It fires on 2026-11-27 09:00"),
        ({"when": "12:05 PM"}, "It fires on 2026-11-26 12:05"),
        ({"when": "12am"}, "It fires on 2026-11-27 00:00"),
        ({"when": "13pm"}, "“13pm” is not a time."),
        ({"when": "in 2 weeks"}, "It fires on 2026-12-10 09:00"),
        ({"when": "半个小时后"}, "It fires on 2026-11-26 09:30"),
        ({"when": "1.5h"}, "It fires on 2026-11-26 10:30"),
        ({"when": "9h"}, "“9h” means 9 hours from now. If you mean the time of day, write 9:00."),
        ({"when": "21 heures"}, "“21 heures” means 21 hours from now. If you mean the time of day, write 21:00."),
        ({"when": "2026-W48-5"}, "“2026-W48-5” specifies a day but no time."),
        ({"when": "10:00", "count": 3}, "Only repeating reminders can have an end date"),
        ({"when": "10:00", "until": "2026-12-01"}, "Only repeating reminders can have an end date"),
        ({"rule": "daily", "count": -1}, "The number of repetitions must be between 1 and 10000."),
        ({"rule": "daily", "count": 10**24}, "The number of repetitions must be between 1 and 10000."),
        ({"rule": "FREQ=DAILY;COUNT=0"}, "“FREQ=DAILY;COUNT=0” is not a valid recurrence rule."),
        ({"rule": "FREQ=DAILY;COUNT=-3"}, "“FREQ=DAILY;COUNT=-3” is not a valid recurrence rule."),
        ({"rule": "FREQ=DAILY;COUNT=99999999999999999999"}, "is not a valid recurrence rule."),
        ({"rule": "FREQ=DAILY;FREQ=YEARLY"}, "“FREQ=DAILY;FREQ=YEARLY” is not a valid recurrence rule."),
        ({"rule": "FREQ=DAILY;BYMONTHDAY=0"}, "“FREQ=DAILY;BYMONTHDAY=0” is not a valid recurrence rule."),
        ({"rule": "FREQ=HOURLY;INTERVAL=9999;BYHOUR=3;BYDAY=SU;BYMONTH=5"}, "more than ten years in the future."),
        (
            {"rule": "FREQ=HOURLY;INTERVAL=9999;BYHOUR=3;BYDAY=SU;BYMONTH=5;COUNT=2"},
            "more than ten years in the future.",
        ),
        ({"rule": f"cron {','.join(['0'] * 200)} 8 * * *"}, "is not a valid recurrence rule."),
        ({"rule": "yearly", "when": "2028-02-29 09:00"}, "The reminder fires only in leap years"),
        ({"rule": "cron 0 9 29 2 *"}, "The reminder fires only in leap years"),
        ({"rule": "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU", "when": "9:00"}, "It fires on 2026-12-08 09:00"),
        ({"rule": "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "when": "9:00"}, "It fires on 2026-11-30 09:00"),
        ({"rule": "daily", "when": "10:00", "until": "2026-12-01"}, ", until 2026-12-01 23:59"),
        ({"when": "9" * 40 + "d"}, "is not a time."),
        ({"when": "20m", "zone": "Europe/Berln"}, "The time zone “Europe/Berln” was not found. Use a name such as"),
        ({"when": "20m", "zone": "asia/shanghai"}, "It fires on 2026-11-26 16:20 (Asia/Shanghai, UTC+0800)."),
        ({"when": "20m", "zone": "localtime"}, "The time zone “localtime” was not found."),
        ({"when": "20m", "zone": "Factory"}, "The time zone “Factory” was not found."),
        ({"when": "20m", "zone": "../../etc/passwd"}, "was not found."),
        ({"when": "20m", "zone": ""}, "was not found."),
        ({"when": "20m", "text": " \n"}, "The reminder has no text."),
        ({"when": "20m", "text": "x" * 4_001}, "The text has 4001 characters, but reminders are limited to 4000."),
        ({"rule": "weekdays", "when": "08:00"}, "It fires on 2026-11-27 08:00 (Europe/Berlin, UTC+0100), repeated by "),
        (
            {"rule": "cron 0 8 * * 6"},
            "It fires on 2026-11-28 08:00 (Europe/Berlin, UTC+0100), repeated by cron 0 8 *",
        ),
        ({"rule": "RRULE:FREQ=DAILY;COUNT=2", "when": "10:00"}, "repeated by FREQ=DAILY, 2 more times."),
        ({"rule": "daily", "when": "10:00", "until": "2026-12-01 12:00"}, ", until 2026-12-01 12:00 (Europe/Berlin, "),
        (
            {"rule": "monthly", "when": "2027-01-31 09:00"},
            "The reminder does not fire in months that do not have this day. To be reminded on ",
        ),
        ({"rule": "cron 0 9 31 * *"}, "The reminder does not fire in months that do not have this day."),
        ({"rule": "FREQ=MONTHLY;BYMONTHDAY=-1", "when": "09:00"}, "FREQ=MONTHLY;BYMONTHDAY=-1."),
        ({"rule": "cron */5 * * * *"}, "A reminder can fire at most once every 15 minutes."),
        ({"rule": "FREQ=DAILY;BYMINUTE=0,5"}, "A reminder can fire at most once every 15 minutes."),
        ({"rule": "FREQ=MINUTELY;INTERVAL=14"}, "A reminder can fire at most once every 15 minutes."),
        ({"rule": "FREQ=MINUTELY;INTERVAL=30"}, "It fires on 2026-11-26 09:30"),
        ({"rule": "FREQ=YEARLY;INTERVAL=11"}, "more than ten years in the future."),
        ({"rule": "FREQ=MONTHLY;BYMONTHDAY=1,40"}, "is not a valid recurrence rule."),
        ({"when": "on the 1st and 31st of every month at 9"}, "does not fire in months that do not have this day."),
        ({"when": "the fifth friday of every month at 9"}, "does not fire in months that do not have this day."),
        ({"when": "every morning"}, "“every morning” specifies a day but no time. Add a time, for example every"),
        ({"rule": "FREQ=MINUTELY"}, "A reminder can fire at most once every 15 minutes."),
        ({"rule": "FREQ=DAILY;INTERVAL=0"}, "“FREQ=DAILY;INTERVAL=0” is not a valid recurrence rule."),
        (
            {"rule": "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30"},
            "This recurrence rule does not match any date in the given period.",
        ),
        (
            {"rule": "daily", "until": "2026-11-26 09:30", "when": "10:00"},
            "This recurrence rule does not match any date in the given",
        ),
        (
            {"rule": "FREQ=HOURLY;INTERVAL=2;BYHOUR=2", "when": "11:00"},
            "This recurrence rule does not match any date in",
        ),
        ({"rule": "sometimes"}, "“SOMETIMES” is not a valid recurrence rule."),
        ({"rule": "cron 0 8 * *"}, "“0 8 * *” is not a valid cron expression ("),
        ({"rule": "cron 0 0 30 2 *"}, "“0 0 30 2 *” is not a valid cron expression ("),
    ],
)
def test_a_wish_is_confirmed_with_its_time_or_refused_with_a_remedy(wish: dict[str, object], sentence: str) -> None:
    assert sentence in plan(**wish)


@given(locals_, zones)
def test_a_time_that_the_clocks_skip_moves_forward_and_one_that_comes_twice_is_the_first(
    local: dt.datetime, zone: ZoneInfo
) -> None:
    found = on_clock(local, zone)
    shown = found.utc.astimezone(zone).replace(tzinfo=None)

    assert shown == local if found.clock != "missing" else shown > local
    if found.clock == "twice":
        earlier = found.utc - dt.timedelta(hours=2)
        assert earlier.astimezone(zone).replace(tzinfo=None) != local


@given(rules, locals_, zones)
def test_occurrences_rise_and_are_a_quarter_of_an_hour_apart_in_every_zone(
    text: str, local: dt.datetime, zone: ZoneInfo
) -> None:
    start = on_clock(local.replace(microsecond=0), zone)
    try:
        rule = rule_from(text)
        first = first_of(rule, start, zone)
    except ReminderRefused:
        return
    found = [first, *islice(occurrences(rule.text, first, zone), 20)]

    assert first.utc >= start.utc
    assert all(late.utc - soon.utc >= dt.timedelta(minutes=15) for soon, late in pairwise(found))


def test_two_occurrences_that_a_skipped_hour_puts_at_the_same_time_are_one() -> None:
    zone = ZoneInfo("Europe/Berlin")
    before = on_clock(dt.datetime.fromisoformat("2027-03-27T12:00"), zone)

    found = [f"{each.utc:%d %H:%M}" for each in islice(occurrences("cron 0 2,3 * * *", before, zone), 3)]

    assert found == ["28 01:00", "29 00:00", "29 01:00"]


@given(st.sampled_from(["daily", "weekdays", "cron 30 7 * * *"]), zones)
def test_every_day_at_a_time_is_that_time_on_the_clock_in_summer_and_in_winter(text: str, zone: ZoneInfo) -> None:
    start = on_clock(dt.datetime.fromisoformat("2027-01-04T07:30"), zone)
    rule = rule_from(text).text

    clocks = {f"{found.utc.astimezone(zone):%H:%M}" for found in islice(occurrences(rule, start, zone), 400)}

    assert clocks == {"07:30"}


@given(rules, st.integers(0, 400 * 24), st.integers(0, 5))
def test_the_next_occurrence_lies_ahead_however_long_an_outage_was(text: str, hours: int, count: int) -> None:
    wish = ReminderRequest(text="tea", when="", rule=text, count=count, zone="Europe/Berlin")
    try:
        reminder = planned(wish, PLACE, reminder_id="abc", now=NOW)
    except ReminderRefused:
        return
    due = dt.datetime.fromisoformat(reminder.due)
    now = due + dt.timedelta(hours=hours)

    after = following(reminder, now=now)

    if after is not None:
        assert dt.datetime.fromisoformat(after.due) > now
        assert (after.rule, after.id, after.text) == (reminder.rule, "abc", "tea")
        assert not count or 0 < after.left < count
    assert resumed(reminder, NOW) == reminder
    assert is_late(reminder.due, now) == (hours > 0)


def test_a_text_that_is_no_reminder_is_read_as_none() -> None:
    for raw in (b"", b"{", b"[]", b'{"id":"a"}', b"\xff", b"[" * 100_000):
        assert reminder_from(raw) is None


@given(st.text(max_size=60))
def test_whatever_is_written_after_remind_is_read(text: str) -> None:
    command = parsed(text, zone="UTC")

    assert (command.wish is None) == (command.action != "set")


@each_row(
    "text, when, rule, said, kind",
    [
        ("20m tea", "20m", "", "tea", "text"),
        ("18:30 dinner at 19:00", "18:30", "", "dinner at 19:00", "text"),
        ("18:30 明天的会议", "18:30", "", "明天的会议", "text"),
        ("2026-12-24 18:00 gifts", "2026-12-24 18:00", "", "gifts", "text"),
        ("Weekdays 08:00 standup", "Weekdays 08:00", "", "standup", "text"),
        ("cron 0 8 * * 1-5 standup", "", "cron 0 8 * * 1-5", "standup", "text"),
        ("cron 0 8 * * 1-5 2026-12-24 18:00 x", "2026-12-24 18:00", "cron 0 8 * * 1-5", "x", "text"),
        ("ask daily 08:00 What is new?", "daily 08:00", "", "What is new?", "prompt"),
        ("me tomorrow at nine to call", "tomorrow at nine", "", "to call", "text"),
        ("明天 09:00 给牙医打电话", "明天 09:00", "", "给牙医打电话", "text"),
        ("20分钟后喝茶", "20分钟后", "", "喝茶", "text"),
        ("每天08:00起床", "每天08:00", "", "起床", "text"),
        ("18：30 喝茶", "18：30", "", "喝茶", "text"),
        ("daily tea", "daily", "", "tea", "text"),
        ("每天天气预报", "每天", "", "天气预报", "text"),
        ("每月31号 09:00 房租", "每月31号 09:00", "", "房租", "text"),
        ("每周一 9:00 开会", "每周一 9:00", "", "开会", "text"),
        ("每天早上8点 喝茶", "每天早上8点", "", "喝茶", "text"),
        ("八点十个人开会", "八点", "", "十个人开会", "text"),
        ("八点二十分钟的会", "八点", "", "二十分钟的会", "text"),
        ("每天八点一起吃饭", "每天八点", "", "一起吃饭", "text"),
        ("9am tomorrow call Ann", "9am tomorrow", "", "call Ann", "text"),
        ("9am tomorrow's agenda", "9am", "", "tomorrow's agenda", "text"),
        # Times that cannot be read are refused as times: the reminder would begin now otherwise.
        ("每天早上七点和晚上九点 吃药", "每天早上七点 和晚上九点", "", "吃药", "text"),
        ("daily at 7 and 9pm pills", "daily at 7 and 9pm", "", "pills", "text"),
        ("at 7 and later tea", "at 7", "", "and later tea", "text"),
        ("weekends 9:00 run", "weekends 9:00", "", "run", "text"),
        ("monthly 31 09:00 rent", "monthly 31", "", "09:00 rent", "text"),
        ("daily meeting at 9:00", "daily meeting", "", "at 9:00", "text"),
        ("9:00pm tea", "9:00pm", "", "tea", "text"),
        ("tomorrow 9am tea", "tomorrow 9am", "", "tea", "text"),
        ("in 90 minutes tea", "in 90 minutes", "", "tea", "text"),
        ("半小时后喝茶", "半小时后", "", "喝茶", "text"),
        ("1h30m tea", "1h30m", "", "tea", "text"),
        ("9amazing things", "9amazing", "", "things", "text"),
        ("sun cream", "sun", "", "cream", "text"),
    ],
)
def test_a_command_names_the_time_and_the_text(text: str, when: str, rule: str, said: str, kind: str) -> None:
    wish = parsed(text, zone="UTC").wish

    assert wish == ReminderRequest(text=said, when=when, rule=rule, kind=kind, zone="UTC")  # type: ignore[arg-type]


@each_row(
    "hours, local, ends",
    [
        ("", "03:00", None),
        ("22:00-07:00", "21:59", None),
        ("22:00-07:00", "22:00", "2026-11-27 07:00"),
        ("22:00-07:00", "06:59", "2026-11-26 07:00"),
        ("22:00-07:00", "07:00", None),
        ("12:00-14:00", "13:00", "2026-11-26 14:00"),
        ("12:00-12:00", "12:00", None),
    ],
)
def test_quiet_hours_end_on_the_clock_of_the_person(hours: str, local: str, ends: str | None) -> None:
    zone = ZoneInfo("Asia/Shanghai")
    now = dt.datetime.fromisoformat(f"2026-11-26 {local}").replace(tzinfo=zone)

    until = quiet_until(hours, now, zone)

    assert (until and f"{until.astimezone(zone):%Y-%m-%d %H:%M}") == ends
    assert f"{tomorrow(now, zone).astimezone(zone):%Y-%m-%d %H:%M}" == "2026-11-27 00:00"


@lru_cache
def changes(name: str) -> list[dt.datetime]:
    """The days from 2026 to 2029 in which the clocks of a zone change, else the first day."""
    zone, days = ZoneInfo(name), [dt.datetime(2026, 1, 1, tzinfo=dt.UTC) + dt.timedelta(each) for each in range(1_461)]
    found = [
        day for day, after in pairwise(days) if day.astimezone(zone).utcoffset() != after.astimezone(zone).utcoffset()
    ]
    return found or days[:1]


@given(
    st.data(),
    st.sampled_from(sorted(available_timezones() - {"Factory", "localtime", "posixrules"})),
    st.times().map(lambda time: f"{time:%H:%M}"),
    st.integers(0, 16).map(lambda quarters: f"{quarters // 4:02}:{quarters % 4 * 15:02}"),
    st.integers(-720, 2 * 1_440),
)
@example(None, "Europe/Berlin", "22:00", "02:30", 0)  # skipped, so at 3:00 it is over
def test_quiet_hours_end_with_the_first_minute_whose_clock_shows_none_in_every_zone_and_night(
    data: st.DataObject | None, name: str, begin: str, end: str, minutes: int
) -> None:
    zone, hours = ZoneInfo(name), f"{begin}-{end}"
    day = data.draw(st.sampled_from(changes(name))) if data else dt.datetime(2027, 3, 27, 23, tzinfo=dt.UTC)
    now = day + dt.timedelta(minutes=minutes, seconds=30)

    until = quiet_until(hours, now, zone)

    quiet = {f"{hour:02}:{minute:02}" for hour in range(24) for minute in range(60)}
    quiet = {
        each for each in quiet if (begin <= each < end if begin < end else begin != end and not end <= each < begin)
    }
    if until is None:
        assert f"{now.astimezone(zone):%H:%M}" not in quiet
        return
    first = next(
        each for each in count() if f"{(now + dt.timedelta(minutes=each)).astimezone(zone):%H:%M}" not in quiet
    )
    assert until == now.replace(second=0) + dt.timedelta(minutes=first)
    assert quiet_until(hours, until, zone) is None
    assert now < tomorrow(now, zone) <= now + dt.timedelta(hours=25)
