"""Conversations that nobody had look as those that somebody had."""

import re
from itertools import groupby

import anyio
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.errors import InboundError
from daemon.events import LogEntry
from daemon.session.artificial_session import LARGEST_TOKENS, Plot, synthetic
from daemon.tokens import Tokenizer, estimate, load

COUNT = Tokenizer("estimate", estimate)  # fast, and as good here


def role(entry: LogEntry) -> str:
    return msgspec.json.decode(entry.wire)["role"]


@settings(max_examples=40, deadline=None)
@given(messages=st.integers(2, 80), seed=st.integers(0, 1_000))
def test_it_has_as_many_messages_as_asked_for_in_whole_turns_with_every_call_answered(messages: int, seed: int) -> None:
    entries = synthetic(Plot(messages=messages, seed=seed), COUNT, sender="ann")

    assert len(entries) == messages
    first = 0
    for turn, found in groupby(entries, key=lambda entry: entry.turn):
        whole = list(found)
        assert turn == first
        assert [role(whole[0]), role(whole[-1])] == ["user", "assistant"]
        assert whole[-1].answers == tuple(entry.id for entry in whole if entry.id)
        assert not [entry for entry in whole[:-1] if entry.answers]
        wires = [msgspec.json.decode(entry.wire) for entry in whole]
        calls = [call["id"] for wire in wires for call in wire.get("tool_calls", ())]
        assert calls == [wire["tool_call_id"] for wire in wires if wire["role"] == "tool"]
        first += len(whole)
    times = [entry.time for entry in entries]
    assert times == sorted(times)
    assert all(entry.tokens == COUNT.count_message(entry.wire) for entry in entries)


def test_the_same_seed_gives_the_same_conversation_and_another_another() -> None:
    made = [synthetic(Plot(messages=30, seed=seed), COUNT, sender="ann") for seed in (1, 1, 2)]

    assert made[0] == made[1] != made[2]


def test_it_is_in_both_languages_of_all_sizes_and_as_many_are_oversized_as_asked_for() -> None:
    tokenizer = anyio.run(load, "offline")
    plot = Plot(messages=200, oversized=3, oversized_tokens=2 * LARGEST_TOKENS, seed=7)

    entries = synthetic(plot, tokenizer, sender="ann")

    sizes = sorted(entry.tokens for entry in entries)
    assert sizes[0] < 20
    assert sizes[-4] > LARGEST_TOKENS / 2
    assert [size >= 2 * LARGEST_TOKENS for size in sizes[-4:]] == [False, True, True, True]
    text = b"".join(entry.wire for entry in entries).decode()
    assert re.search("[\u4e00-\u9fff]{9}", text) and re.search("[a-z]{5} [a-z]{3}", text)
    assert {role(entry) for entry in entries} == {"user", "assistant", "tool"}


def test_more_oversized_messages_than_there_are_messages_are_refused() -> None:
    with pytest.raises(InboundError, match="Choose fewer"):
        synthetic(Plot(messages=2, oversized=3), COUNT, sender="ann")
