"""The days that somebody names who asks for something remembered."""

import datetime as dt
from zoneinfo import ZoneInfo

from hypothesis import example, given, settings
from hypothesis import strategies as st

from daemon.recall.chinese_dates import number_of
from daemon.recall.dates import SPANS_MAX, dates_in, spans_in
from daemon.recall.other_dates import parsed
from daemon.recall.words import query_terms, terms
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

    assert bool(query.terms) == bool(terms(text))
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
        ("去年下半年", "2025-07-01", "2025-12-31"), ("去年夏天", "2025-06-01", "2025-08-31"),
        ("今年春天", "2026-03-01", "2026-05-31"), ("三天前", "2026-11-19", "2026-11-19"),
        ("两周前", "2026-11-05", "2026-11-11"), ("三个月前", "2026-08-01", "2026-08-31"),
        ("半年前", "2026-04-01", "2026-06-30"), ("前几天", "2026-11-14", "2026-11-22"),
        ("国庆的时候", "2026-10-01", "2026-10-07"), ("gestern", "2026-11-21", "2026-11-21"),
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
