"""Micro-compaction: old tool results in the prompt."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from daemon.config import MicroCompactConfig
from daemon.events import LogEntry
from workers.message_format import MARK, cut_result, encode, least_tokens, message, old_upto


def result(content: object) -> bytes:
    return encode({"role": "tool", "content": content, "tool_call_id": "a"})


def content(wire: bytes) -> str:
    return msgspec.json.decode(wire)["content"]


@given(st.text(max_size=600), st.integers(1, 300))
def test_cutting_twice_is_cutting_once_and_never_makes_longer(text, most):
    once = cut_result(result(text), most)

    assert cut_result(once, most) == once
    assert len(content(once)) <= len(text)
    if len(text) > most + len(MARK):
        assert content(once) == text[:most] + "... [truncated]"
    else:
        assert once == result(text)


def test_pictures_of_an_old_result_become_a_word():
    parts = [{"type": "text", "text": "a pond"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,x"}}]

    assert content(cut_result(result(parts), 20)) == "a pond\n[image]"


def entry(role: str, tokens: int = 10) -> LogEntry:
    return LogEntry(time="t", turn=0, tokens=tokens, wire=msgspec.Raw(message(role, "x")))  # type: ignore[arg-type]


@given(st.integers(0, 30), st.lists(st.sampled_from(["assistant", "tool"]), max_size=20), st.integers(1, 10))
def test_the_newest_messages_and_unseen_results_are_never_old(history, roles, keep):
    current = [entry("user"), *(entry(role) for role in roles)]

    old = old_upto(history, current, MicroCompactConfig(keep_messages=keep), uncut_tokens=lambda: 0)

    answers = [at for at, role in enumerate(["user", *roles]) if role == "assistant"]
    assert 0 <= old <= max(0, history + len(current) - keep)
    assert old <= history + (answers[-1] if answers else 0)


def test_history_is_read_until_what_is_left_of_it_when_cut_fills_the_budget():
    config = MicroCompactConfig()

    assert least_tokens(entry("tool", 5_000), config) == 40
    assert least_tokens(entry("tool", 8), config) == 8
    assert least_tokens(entry("assistant", 5_000), config) == 5_000
    assert least_tokens(entry("tool", 5_000), MicroCompactConfig(enabled=False)) == 5_000
