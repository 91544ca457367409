"""Session keys: one text for Redis, URLs and the command line, and back again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.errors import BadSessionKey
from daemon.sessionkey import MAX_KEY_CHARS, SessionKey, encode_part
from tests.tables import each_row

parts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
keys = st.builds(
    lambda channel, chat, thread: SessionKey(channel=channel, chat=chat, thread=thread),
    parts,
    parts,
    st.one_of(st.just(""), parts),
)


@given(keys)
def test_a_key_is_read_back_as_it_was_written(key: SessionKey) -> None:
    assert SessionKey.parse(str(key)) == key


@given(keys)
def test_a_written_key_holds_nothing_that_redis_or_a_url_could_misread(key: SessionKey) -> None:
    assert set(str(key)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~%:")
    assert str(key).count(":") == (2 if key.thread else 1)


@given(st.text(max_size=40))
def test_any_text_is_a_key_or_refused_in_words(text: str) -> None:
    try:
        key = SessionKey.parse(text)
    except BadSessionKey as error:
        assert len(str(error)) > 10
    else:
        assert SessionKey.parse(str(key)) == key


@given(parts.filter(lambda name: ":" not in name), parts)
def test_a_bare_name_is_a_chat_of_the_channel_asked(name: str, channel: str) -> None:
    assert SessionKey.of_channel(name, channel) == SessionKey(channel=channel, chat=name)


def test_escapes_may_be_left_out_where_they_are_not_needed() -> None:
    assert SessionKey.parse("web:我 & du") == SessionKey(channel="web", chat="我 & du")
    assert SessionKey.parse("web:a%3Ab") == SessionKey(channel="web", chat="a:b")


def test_a_percent_sign_in_a_bare_name_is_just_a_percent_sign() -> None:
    assert SessionKey.of_channel("100%", "web").chat == "100%"


@each_row("text", ["", "web", ":", "web:", ":ann", "web:ann:", "web::7", "a:b:c:d"])
def test_too_few_too_many_or_empty_parts_are_refused(text: str) -> None:
    with pytest.raises(BadSessionKey):
        SessionKey.parse(text)


@each_row(
    "text",
    [
        "web:%",
        "web:%4",
        "web:%zz",
        "web:%ff",
        "web:a\nb",
        "web:a%00b",
        "web:\ud800",
        "web:" + "x" * 512,
        "web:" + "我" * 60,
    ],
)
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(BadSessionKey):
        SessionKey.parse(text)


def test_the_longest_key_is_accepted() -> None:
    text = "web:" + "x" * (MAX_KEY_CHARS - 4)

    assert str(SessionKey.parse(text)) == text


def test_encoding_leaves_only_unreserved_characters() -> None:
    assert encode_part("a/b?{c}:~-_.") == "a%2Fb%3F%7Bc%7D%3A~-_."
