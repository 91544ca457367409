"""The days that somebody names who asks for something remembered."""

import datetime as dt
from zoneinfo import ZoneInfo

from hypothesis import example, given, settings
from hypothesis import strategies as st

from daemon.recall import date_spans
from daemon.recall.chinese_dates import number_of
from daemon.recall.date_spans import DAY
from daemon.recall.dates import SPANS_MAX, dates_in, spans_in
from daemon.recall.other_dates import parsed
from daemon.recall.search_terms import query_terms, terms
from tests.tables import each_row

NOW = dt.datetime(2026, 11, 22, 16, 0, tzinfo=ZoneInfo("Asia/Shanghai"))  # a Sunday

PIECES = st.sampled_from(
    (
        *(
            "last", "next", "May", "June", "3", "3rd", "30", "February", "of", "the", "in", "2025", "9999", "0001",
            "2026-05-03",
        ),
        *(
            "ago",
            "days",
            "weeks",
            "friday",
            "weekend",
            "summer",
            "christmas",
            "yesterday",
            "1/2/2026",
            "on",
            "a few",
            "99",
        ),
        *(
            "上",
            "个",
            "周",
            "五",
            "月",
            "三",
            "日",
            "号",
            "年",
            "去",
            "前",
            "天",
            "夏",
            "2026",
            "十",
            "末",
            "几",
            "半年前",
            "国庆",
            "昨天",
        ),
        *("gestern", "3. Mai", "ayer", "3 de mayo", "어제", "先週", "\n", "\0", "\ud800", ","),
    )
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(PIECES, max_size=12).map(" ".join), st.lists(PIECES, max_size=12).map("".join), st.text(max_size=40)
)
TIMES = st.datetimes(timezones=st.sampled_from([dt.UTC, ZoneInfo("Asia/Shanghai"), ZoneInfo("America/New_York")]))


@settings(deadline=None)  # a language that is met for the first time is read in
@given(TEXTS, TIMES)
@example("99 years ago 去年 上个月 last winter 0001-01-01", dt.datetime(1, 1, 1, tzinfo=ZoneInfo("Asia/Shanghai")))
@example("this week christmas this winter", dt.datetime(9999, 12, 31, tzinfo=ZoneInfo("America/New_York")))
def test_whatever_is_said_names_some_days_or_none(text: str, now: dt.datetime) -> None:
    spans, end = spans_in(text, now), 0

    assert len(spans) <= SPANS_MAX
    for span in spans:
        assert end <= span.end <= len(text)
        assert span.begin < span.end
        assert span.first <= span.last
        assert span.first <= now.date()
        end = span.end
    assert all(found.since < found.until for found in dates_in(text, now))


@given(TEXTS)
def test_what_is_asked_stands_in_what_was_said(text: str) -> None:
    query = query_terms(text, NOW)

    assert bool(query.terms or query.dates) == bool(terms(text))
    assert not set(query.terms) & set(query.rest)
    assert query.dates == dates_in(text, NOW)


@each_row(
    ("said", "first", "last"),
    [
        ("What did I do yesterday?", "2026-11-21", "2026-11-21"),
        ("the day before yesterday", "2026-11-20", "2026-11-20"), ("last night", "2026-11-21", "2026-11-21"),
        ("3 days ago", "2026-11-19", "2026-11-19"), ("a couple of days ago", "2026-11-20", "2026-11-20"),
        ("a few days ago", "2026-11-15", "2026-11-22"), ("two weeks ago", "2026-11-05", "2026-11-11"),
        ("a month ago", "2026-10-01", "2026-10-31"), ("on Friday", "2026-11-20", "2026-11-20"),
        ("last week", "2026-11-09", "2026-11-15"), ("this week", "2026-11-16", "2026-11-22"),
        ("last weekend", "2026-11-14", "2026-11-15"), ("over the weekend", "2026-11-21", "2026-11-22"),
        ("last month", "2026-10-01", "2026-10-31"), ("last year", "2025-01-01", "2025-12-31"),
        ("last May", "2026-05-01", "2026-05-31"), ("last November", "2025-11-01", "2025-11-30"),
        ("in December", "2025-12-01", "2025-12-31"), ("June 2025", "2025-06-01", "2025-06-30"),
        ("2025-06", "2025-06-01", "2025-06-30"), ("in 2024", "2024-01-01", "2024-12-31"),
        ("on 3 June", "2026-06-03", "2026-06-03"), ("June 3rd, 2025", "2025-06-03", "2025-06-03"),
        ("the 3rd of June", "2026-06-03", "2026-06-03"), ("on December 3", "2025-12-03", "2025-12-03"),
        ("on 29 February", "2024-02-29", "2024-02-29"), ("on the 3rd", "2026-11-03", "2026-11-03"),
        ("on the 30th", "2026-10-30", "2026-10-30"), ("2026-05-03?", "2026-05-03", "2026-05-03"),
        ("2026/5/3", "2026-05-03", "2026-05-03"), ("30/5/2026", "2026-05-30", "2026-05-30"),
        ("last summer", "2026-06-01", "2026-08-31"), ("in the winter of 2024", "2024-12-01", "2025-02-28"),
        ("last Christmas", "2025-12-24", "2025-12-26"), ("昨天我说了什么", "2026-11-21", "2026-11-21"),
        ("大前天", "2026-11-19", "2026-11-19"), ("上周", "2026-11-09", "2026-11-15"),
        ("上上周", "2026-11-02", "2026-11-08"), ("上周五", "2026-11-13", "2026-11-13"),
        ("上个星期天", "2026-11-15", "2026-11-15"), ("这周三", "2026-11-18", "2026-11-18"),
        ("周五", "2026-11-20", "2026-11-20"), ("周末", "2026-11-21", "2026-11-22"),
        ("上週末", "2026-11-14", "2026-11-15"), ("上个月", "2026-10-01", "2026-10-31"),
        ("上个月5号", "2026-10-05", "2026-10-05"), ("五月", "2026-05-01", "2026-05-31"),
        ("去年五月", "2025-05-01", "2025-05-31"), ("五月三日", "2026-05-03", "2026-05-03"),
        ("5月3號", "2026-05-03", "2026-05-03"), ("十二月二十五日", "2025-12-25", "2025-12-25"),
        ("2025年5月3日", "2025-05-03", "2025-05-03"), ("二十一号", "2026-11-21", "2026-11-21"),
        ("去年", "2025-01-01", "2025-12-31"), ("2024年", "2024-01-01", "2024-12-31"),
        ("去年下半年", "2025-07-01", "2025-12-31"), ("下半年", "2026-07-01", "2026-12-31"),
        ("去年夏天", "2025-06-01", "2025-08-31"),
        ("今年春天", "2026-03-01", "2026-05-31"), ("三天前", "2026-11-19", "2026-11-19"),
        ("两周前", "2026-11-05", "2026-11-11"), ("三个月前", "2026-08-01", "2026-08-31"),
        ("半年前", "2026-04-01", "2026-06-30"), ("前几天", "2026-11-14", "2026-11-22"),
        ("国庆的时候", "2026-10-01", "2026-10-07"), ("國慶的時候", "2026-10-01", "2026-10-07"),
        ("gestern", "2026-11-21", "2026-11-21"),
        ("am 3. Mai", "2026-05-03", "2026-05-03"), ("le 3 mai 2025", "2025-05-03", "2025-05-03"),
        ("el 3 de mayo", "2026-05-03", "2026-05-03"), ("вчера", "2026-11-21", "2026-11-21"),
        ("先週", "2026-11-09", "2026-11-15"), ("5월 3일", "2026-05-03", "2026-05-03"),
    ],
)  # fmt: skip
def test_the_past_is_meant(said: str, first: str, last: str) -> None:
    (span,) = spans_in(said, NOW)

    assert (span.first.isoformat(), span.last.isoformat()) == (first, last)


@each_row(
    "said",
    [
        "This may help",
        *("May I ask?", "you may", "March on", "feb 30", "next Friday", "every summer", "at 5.30", "99999 days ago"),
        *(
            "in 3 cats", "version 2026.5.3.1", "notes/2026-05-03/x.txt", "下周五", "3号线", "十三月", "2999年",
            "三个月", "一天",
        ),
    ],
)  # fmt: skip
def test_no_day_is_read_where_none_is_named(said: str) -> None:
    assert spans_in(said, NOW) == []


def test_words_that_may_mean_one_day_or_another_give_both() -> None:
    assert [span.first.day for span in spans_in("last Friday", NOW)] == [20, 13]
    assert [span.first.isoformat() for span in spans_in("5/3/2026", NOW)] == ["2026-05-03", "2026-03-05"]
    assert [span.first.day for span in spans_in("in late March or early April", NOW)] == [22, 1]


def test_a_day_ends_where_the_person_is() -> None:
    (found,) = dates_in("yesterday", NOW)

    assert (found.since, found.until) == ("2026-11-20T16:00:00.000Z", "2026-11-21T16:00:00.000Z")


@settings(max_examples=50)
@given(
    st.dates(dt.date(1990, 1, 1), dt.date(2030, 12, 31)),
    st.integers(1, 31),
    st.sampled_from(("January", "feb", "May", "sept", "Oct", "december")),
    st.sampled_from(
        ("{day} {month}", "{month} {day}th", "{day}th of {month}", "{month} {day}, 1989", "{day} {month} 1988")
    ),
)
def test_a_day_in_english_is_the_one_that_a_library_for_dates_finds(today: dt.date, day: int, month: str, form: str):
    now, said = dt.datetime.combine(today, dt.time(9), dt.UTC), form.format(day=day, month=month)

    expected = parsed(said.lower(), "en", now)

    assert [(span.first, span.last) for span in spans_in(f"What did I do on {said}?", now)] == (
        [expected] if expected else []
    )


def test_who_names_many_days_means_none() -> None:
    assert dates_in(" ".join(f"2026-05-{day:02}" for day in range(1, 20)), NOW) == ()
    assert dates_in("x " * 4_000 + "yesterday", NOW) == ()


def test_what_only_says_how_long_ago_is_not_looked_for_as_words() -> None:
    query = query_terms("What did Ann buy last week?", NOW)

    assert query.terms == ("ann", "buy")
    assert {"last", "week"} <= set(query.rest)
    assert set(query_terms("那本书是上周买的吗", NOW).terms) <= set(query_terms("那本书是买的吗", NOW).terms)
    assert query_terms("上周我做了什么？", NOW).terms == query_terms("What did I do last week?", NOW).terms == ()
    assert "做" in query_terms("上周我做了什么菜？", NOW).terms


def test_a_date_is_looked_for_as_words_too() -> None:
    assert query_terms("What is on 3 June?", NOW).terms == ("3", "june")
    assert query_terms("What did Ann buy in May?", NOW).terms == ("ann", "buy", "may")
    assert "may" not in query_terms("What may Ann buy?", NOW).terms


@given(st.integers(0, 99))
def test_chinese_numbers(number: int) -> None:
    signs = "零一二三四五六七八九"
    tens, ones = divmod(number, 10)
    written = (signs[tens] if tens > 1 else "") + ("十" if tens else "") + (signs[ones] if ones or not tens else "")

    assert number_of(written) == number_of(str(number)) == number
    assert number_of("".join(signs[int(digit)] for digit in str(number))) == number


@each_row("text", ["", "x", "三十十", "十x", "x十", "²"])
def test_what_is_no_chinese_number(text: str) -> None:
    assert number_of(text) <= 0


MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_GERMAN = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
_FRENCH = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
YEARS = st.integers(2015, 2025)
NUMBERS = st.integers(1, 12)


@given(
    NUMBERS,
    YEARS,
    st.sampled_from(
        (
            *("{en} {y}", "in {en} {y}", "during {en} {y}", "{en}, {y}", "{en} of {y}", "back in {en} {y}"),
            "{y}-{n:02}",
            *("{short} {y}", "{short}. {y}", "in the {en} {y} notes", "{y}年{n}月", "{y}年{n}月份"),
            *("im {de} {y}", "en {fr} {y}"),
        )
    ),
)  # fmt: skip
def test_a_month_of_a_year_is_that_month_in_every_form(number: int, year: int, form: str) -> None:
    assert _days(form, number, year) == (_first(year, number), _last(year, number))


@given(NUMBERS, YEARS, st.sampled_from(("since {en} {y}", "{y}年{n}月以来", "seit {de} {y}", "depuis {fr} {y}")))
def test_since_a_month_means_from_its_first_day_until_today(number: int, year: int, form: str) -> None:
    assert _days(form, number, year) == (_first(year, number), NOW.date())


@given(
    NUMBERS,
    YEARS,
    st.sampled_from(("after {en} {y}", "{y}年{n}月之后", "{y}年{n}月以后", "nach {de} {y}", "après {fr} {y}")),
)
def test_after_a_month_means_from_the_day_behind_it_until_today(number: int, year: int, form: str) -> None:
    assert _days(form, number, year) == (_last(year, number) + DAY, NOW.date())


@given(
    NUMBERS,
    YEARS,
    st.sampled_from(
        ("before {en} {y}", "prior to {en} {y}", "{y}年{n}月之前", "{y}年{n}月以前", "vor {de} {y}", "avant {fr} {y}")
    ),
)
def test_before_a_month_means_until_the_day_before_it(number: int, year: int, form: str) -> None:
    assert _days(form, number, year)[1] == _first(year, number) - DAY


@given(
    NUMBERS,
    YEARS,
    st.sampled_from(
        (
            (0, "early {en} {y}"), (0, "in early {en} {y}"), (0, "at the beginning of {en} {y}"), (0, "{y}年{n}月初"),
            (0, "{y}年{n}月上旬"), (0, "Anfang {de} {y}"), (0, "début {fr} {y}"), (1, "mid {en} {y}"),
            (1, "mid-{en} {y}"),
            (1, "in the middle of {en} {y}"), (1, "{y}年{n}月中旬"), (1, "Mitte {de} {y}"), (2, "late {en} {y}"),
            (2, "at the end of {en} {y}"), (2, "{y}年{n}月底"), (2, "{y}年{n}月下旬"), (2, "Ende {de} {y}"),
            (2, "fin {fr} {y}"),
        )
    ),
)  # fmt: skip
def test_a_third_of_a_month_is_early_mid_or_late(number: int, year: int, form: tuple[int, str]) -> None:
    third, said = form
    first, last = _days(said, number, year)

    assert (_first(year, number).toordinal() + 10 * third - first.toordinal()) in (-2, -1, 0, 1)
    assert 9 <= (last - first).days + 1 <= 11
    assert third < 2 or last == _last(year, number)


@given(
    NUMBERS,
    NUMBERS,
    YEARS,
    st.sampled_from(
        (
            "between {en} and {en2} {y}", "from {en} to {en2} {y}", "{en} to {en2} {y}",
            "from {en} {y} until {en2} {y}",
            "{y}年{n}月到{n2}月", "{y}年{n}月至{y}年{n2}月", "zwischen {de} {y} und {de2} {y}",
            "between {en} {y} and {en2} {y}",
        )
    ),
)  # fmt: skip
@example(1, 2, 2016, "{y}年{n}月到{n2}月")
def test_two_months_are_a_period(one: int, other: int, year: int, form: str) -> None:
    first, last = sorted((one, other))

    found = _days(form, first, year, last) if first != last else None

    assert found is None or found == (_first(year, first), _last(year, last))


@given(
    NUMBERS,
    YEARS,
    st.sampled_from(tuple(enumerate(("first", "second", "third", "fourth", "last")))),
    st.sampled_from(tuple(enumerate("一二三四五六日"))),
    st.sampled_from(("the {nth} {weekday} of {en} {y}", "{y}年{n}月{chinese_nth}个星期{sign}")),
)
def test_a_weekday_of_a_month_is_counted_from_its_first_or_last_day(
    number: int, year: int, nth: tuple[int, str], weekday: tuple[int, str], form: str
) -> None:
    (at, word), (wanted, sign) = nth, weekday
    month = [_first(year, number) + DAY * more for more in range((_last(year, number) - _first(year, number)).days + 1)]
    days = [day for day in month if day.weekday() == wanted]
    names = {"nth": word, "weekday": f"{days[0]:%A}", "chinese_nth": "最后一" if at == 4 else f"第{'一二三四'[at]}"}
    said = form.format(en=MONTHS[number - 1], y=year, n=number, sign=sign, **names)

    (span,) = spans_in(said, NOW)

    expected = days[-1] if at == 4 else days[at]
    assert (span.first, span.last) == (expected, expected)


@given(
    st.dates(dt.date(2016, 1, 10), dt.date(2026, 10, 20)),
    st.sampled_from(("{d} {en} {y}", "{en} {d}, {y}", "{y}-{n:02}-{d:02}", "{y}年{n}月{d}日")),
    st.sampled_from(
        (
            ("the day before {}", -1, 0), ("two days before {}", -2, 0), ("the day after {}", 1, 0),
            ("the {weekday} before {}", -7, 0), ("the {weekday} after {}", 7, 0), ("{weekday}, {}", 0, 0),
            ("{}之前", None, -1), ("before {}", None, -1), ("until {}", None, 0), ("since {}", 0, None),
            ("from {} until today", 0, None),
        )
    ),
)  # fmt: skip
def test_a_day_with_words_beside_it(day: dt.date, written: str, form: tuple[str, int | None, int | None]) -> None:
    said, first, last = form
    weekday = f"{day:%A}"
    date = written.format(d=day.day, en=MONTHS[day.month - 1], y=day.year, n=day.month)

    (span,) = spans_in(said.replace("{weekday}", weekday).replace("{}", date), NOW)

    if first is not None and last == 0:
        assert (span.first, span.last) == (day + DAY * first, day + DAY * first)
    elif first is not None:
        assert (span.first, span.last) == (day, NOW.date())
    else:
        assert span.last == day + DAY * (last or 0)


@each_row(
    ("said", "first", "last"),
    [
        ("last weekend before April 10", "2026-04-04", "2026-04-05"), ("the week of May 3", "2026-04-27", "2026-05-03"),
        ("two weeks after 3 May", "2026-05-15", "2026-05-19"), ("3-10 June 2025", "2025-06-03", "2025-06-10"),
        ("from June 3 to 10", "2026-06-03", "2026-06-10"), ("5月3日到10日", "2026-05-03", "2026-05-10"),
        ("Friday last week", "2026-11-13", "2026-11-13"), ("last week on Friday", "2026-11-13", "2026-11-13"),
        ("March last year", "2025-03-01", "2025-03-31"), ("last year in March", "2025-03-01", "2025-03-31"),
        ("last year's summer", "2025-06-01", "2025-08-31"), ("Christmas last year", "2025-12-24", "2025-12-26"),
        ("the month before last", "2026-09-01", "2026-09-30"), ("at the end of last year", "2025-09-01", "2025-12-31"),
        ("between 2023 and 2025", "2023-01-01", "2025-12-31"), ("since 2023", "2023-01-01", "2026-11-22"),
        ("上个月底", "2026-10-22", "2026-10-31"), ("去年三月到五月", "2025-03-01", "2025-05-31"),
        ("去年底", "2025-09-01", "2025-12-31"), ("两年前的三月", "2024-03-01", "2024-03-31"),
        ("上周五到周日", "2026-11-13", "2026-11-15"), ("letzten Sommer", "2026-06-01", "2026-08-31"),
        ("vendredi dernier", "2026-11-20", "2026-11-20"), ("in the summer of 2025", "2025-06-01", "2025-08-31"),
        ("early last month", "2026-10-01", "2026-10-10"), ("by Monday", "1970-01-01", "2026-11-16"),
        ("the first weekend of May", "2026-05-02", "2026-05-03"),
        ("the last Friday of October", "2026-10-30", "2026-10-30"),
        ("the second Sunday in March 2026", "2026-03-08", "2026-03-08"),
        ("the last week of August", "2026-08-25", "2026-08-31"), ("the last days of May", "2026-05-27", "2026-05-31"),
        ("the second quarter of 2026", "2026-04-01", "2026-06-30"), ("Q3 2025", "2025-07-01", "2025-09-30"),
        ("last quarter", "2026-07-01", "2026-09-30"), ("the last three months", "2026-08-22", "2026-11-22"),
        ("in the past month", "2026-10-22", "2026-11-22"), ("two weekends ago", "2026-11-07", "2026-11-08"),
        ("half a year ago", "2026-04-01", "2026-06-30"), ("a fortnight ago", "2026-11-05", "2026-11-11"),
        ("the Monday before last", "2026-11-09", "2026-11-09"), ("this time last year", "2025-11-08", "2025-12-06"),
        ("since the beginning of October", "2026-10-01", "2026-11-22"),
        ("by the end of March", "1970-01-01", "2026-03-31"),
        ("beginning of the year", "2026-01-01", "2026-05-02"),
        ("since the start of the year", "2026-01-01", "2026-11-22"),
        ("after 10 May 2025 and before 20 May 2025", "2025-05-11", "2025-05-19"),
        ("before July but after May", "2026-06-01", "2026-06-30"),
        ("the 3rd of last month", "2026-10-03", "2026-10-03"),
        ("between the 3rd and the 10th", "2026-11-03", "2026-11-10"), ("Tuesday the 3rd", "2026-11-03", "2026-11-03"),
        ("Mar-Apr 2025", "2025-03-01", "2025-04-30"), ("May '25", "2025-05-01", "2025-05-31"),
        ("on New Year's Eve", "2025-12-31", "2025-12-31"), ("the week after Easter", "2026-04-07", "2026-04-13"),
        ("a few days before Thanksgiving 2025", "2025-11-20", "2025-11-26"), ("on Tue", "2026-11-17", "2026-11-17"),
        ("三月第一个周末", "2026-03-07", "2026-03-08"), ("三月的第二个星期天", "2026-03-08", "2026-03-08"),
        ("上个月的最后一天", "2026-10-31", "2026-10-31"), ("去年第三季度", "2025-07-01", "2025-09-30"),
        ("过去三个月", "2026-08-22", "2026-11-22"), ("最近一周", "2026-11-09", "2026-11-22"),
        ("两三天前", "2026-11-19", "2026-11-20"), ("半个月前", "2026-11-02", "2026-11-12"),
        ("五月以前", "1970-01-01", "2026-04-30"), ("四月十日之前的那个周末", "2026-04-04", "2026-04-05"),
        ("国庆节前一周", "2026-09-24", "2026-09-30"), ("4月10日后两天", "2026-04-11", "2026-04-12"),
        ("二〇二五年三月", "2025-03-01", "2025-03-31"), ("去年这个时候", "2025-11-08", "2025-12-06"),
        ("月初", "2026-11-01", "2026-11-10"), ("去年春节", "2025-01-28", "2025-02-05"),
        ("中秋节那天", "2026-09-25", "2026-09-25"), ("去年暑假", "2025-07-01", "2025-08-31"),
        ("letztes Wochenende", "2026-11-14", "2026-11-15"), ("Ende letzten Monats", "2026-10-22", "2026-10-31"),
        ("letztes Jahr im März", "2025-03-01", "2025-03-31"), ("vom 3. bis 10. Mai", "2026-05-03", "2026-05-10"),
        ("am Wochenende vor dem 10. April", "2026-04-04", "2026-04-05"), ("zu Ostern", "2026-04-03", "2026-04-06"),
        ("le week-end avant le 10 avril", "2026-04-04", "2026-04-05"), ("cette semaine", "2026-11-16", "2026-11-22"),
        ("on a Monday in March 2025", "2025-03-01", "2025-03-31"), ("三月的一个周末", "2026-03-01", "2026-03-31"),
        ("2025年3月的星期一", "2025-03-01", "2025-03-31"), ("in the last week of May", "2026-05-25", "2026-05-31"),
        ("during the last month of 2025", "2025-12-01", "2025-12-31"), ("on NYE 2024", "2024-12-31", "2024-12-31"),
        ("at xmas", "2025-12-24", "2025-12-26"), ("on Cyber Monday", "2025-12-01", "2025-12-01"),
        ("St Patrick's Day 2025", "2025-03-17", "2025-03-17"), ("MLK Day 2025", "2025-01-20", "2025-01-20"),
        ("on CNY 2025", "2025-01-28", "2025-02-05"), ("¿Qué comí en marzo?", "2026-03-01", "2026-03-31"),
        ("desde marzo de 2025", "2025-03-01", "2026-11-22"), ("dal marzo 2025", "2025-03-01", "2026-11-22"),
        ("¿Qué hice entre el 3 y el 9 de marzo?", "2026-03-03", "2026-03-09"), ("oggi", "2026-11-22", "2026-11-22"),
        ("tra il 3 e il 9 marzo", "2026-03-03", "2026-03-09"), ("dal 3 al 9 marzo", "2026-03-03", "2026-03-09"),
        ("de 3 a 9 de março", "2026-03-03", "2026-03-09"), ("entre le 3 et le 9 mars", "2026-03-03", "2026-03-09"),
        ("zwischen dem 3. und dem 9. März", "2026-03-03", "2026-03-09"), ("hace tres días", "2026-11-19", "2026-11-19"),
        ("hace dos semanas", "2026-11-05", "2026-11-11"), ("2 giorni fa", "2026-11-20", "2026-11-20"),
        ("há um mês", "2026-10-01", "2026-10-31"), ("três dias atrás", "2026-11-19", "2026-11-19"),
        ("después del 5 de mayo", "2026-05-06", "2026-11-22"), ("dopo il 5 maggio", "2026-05-06", "2026-11-22"),
        ("antes de 10 de junho", "1970-01-01", "2026-06-09"), ("prima del 10 giugno", "1970-01-01", "2026-06-09"),
        ("hasta mayo", "1970-01-01", "2026-05-31"), ("a partir de abril", "2026-04-01", "2026-11-22"),
        ("entre março e maio", "2026-03-01", "2026-05-31"), ("el lunes pasado", "2026-11-16", "2026-11-16"),
        ("na segunda-feira", "2026-11-16", "2026-11-16"), ("l'estate scorsa", "2026-06-01", "2026-08-31"),
        ("el fin de semana pasado", "2026-11-14", "2026-11-15"), ("questa settimana", "2026-11-16", "2026-11-22"),
        ("lo scorso mese", "2026-10-01", "2026-10-31"), ("a principios de marzo", "2026-03-01", "2026-03-10"),
        ("I was fine in May", "2026-05-01", "2026-05-31"), ("el año pasado en marzo", "2025-03-01", "2025-03-31"),
    ],
)  # fmt: skip
def test_periods(said: str, first: str, last: str) -> None:
    (span,) = spans_in(said, NOW)

    assert (span.first.isoformat(), span.last.isoformat()) == (first, last)


ROMANCE_MONTHS = {
    "en {} de {}": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "em {} de {}": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "nel {} {}": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
}


@given(st.integers(1, 12), st.integers(2015, 2025), st.sampled_from(sorted(ROMANCE_MONTHS)))
def test_a_month_of_a_year_is_that_month_in_spanish_portuguese_and_italian(number: int, year: int, form: str) -> None:
    (span,) = spans_in(form.format(ROMANCE_MONTHS[form].split()[number - 1], year), NOW)

    assert (span.first, span.last) == date_spans.month(year, number)


def _days(form: str, number: int, year: int, other: int = 1) -> tuple[dt.date, dt.date]:
    """The only date in a form, filled in with months and a year."""
    names = {"en": MONTHS, "de": _GERMAN.split(), "fr": _FRENCH.split()}
    values = {name: months[number - 1] for name, months in names.items()}
    others = {f"{name}2": months[other - 1] for name, months in names.items()}
    short = MONTHS[number - 1][:3]
    (span,) = spans_in(form.format(y=year, n=number, n2=other, short=short, **values, **others), NOW)
    return span.first, span.last


def _first(year: int, number: int) -> dt.date:
    return dt.date(year, number, 1)


def _last(year: int, number: int) -> dt.date:
    return dt.date(year + number // 12, number % 12 + 1, 1) - DAY
