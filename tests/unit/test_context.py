"""What a prompt holds: properties of the pure functions that choose it."""

from itertools import groupby

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from daemon.events import LogEntry
from workers.agent.context import message, newest_turns, prompt, shorten_to_fit, shortened


def entry(turn: int, tokens: int, text: str = "x", role: str = "user") -> LogEntry:
    return LogEntry(time="2026-11-20T09:00:00Z", turn=turn, tokens=tokens, wire=msgspec.Raw(message(role, text)))


def count(wire: bytes) -> int:
    return 4 + len(msgspec.json.decode(wire)["content"])


@st.composite
def histories(draw: st.DrawFn) -> list[LogEntry]:
    turns = draw(st.lists(st.lists(st.integers(1, 500), min_size=1, max_size=5), max_size=12))
    return [entry(turn, tokens) for turn, sizes in enumerate(turns) for tokens in sizes]


@given(histories(), st.integers(-100, 3_000))
def test_history_is_the_newest_whole_turns_that_fit_and_no_more_would(history: list[LogEntry], budget: int) -> None:
    kept = newest_turns(history, budget)

    assert kept == history[len(history) - len(kept) :]
    assert sum(e.tokens for e in kept) <= max(budget, 0)
    turns = [list(group) for _, group in groupby(history, key=lambda e: e.turn)]
    whole = [list(group) for _, group in groupby(kept, key=lambda e: e.turn)]
    assert whole == turns[len(turns) - len(whole) :]
    if len(whole) < len(turns):
        assert sum(e.tokens for e in kept) + sum(e.tokens for e in turns[-len(whole) - 1]) > budget


@given(histories(), st.lists(st.text(max_size=2_000), min_size=1, max_size=4), st.integers(400, 4_000))
def test_a_prompt_never_exceeds_its_budget_and_always_holds_the_current_turn(
    history: list[LogEntry], texts: list[str], budget: int
) -> None:
    current = [entry(99, count(message("user", text)), text) for text in texts]

    fitted = shorten_to_fit(current, budget - 50, count)
    built = prompt(message("system", "s"), history, fitted, fixed_tokens=50, budget_tokens=budget)

    assert built.tokens <= budget
    assert built.messages[-len(current) :] == tuple(bytes(e.wire) for e in fitted)
    assert built.tokens == 50 + sum(
        count(wire) if i >= len(built.messages) - len(current) else 0 for i, wire in enumerate(built.messages)
    ) + sum(e.tokens for e in history[len(history) - (len(built.messages) - 1 - len(current)) :])


@given(st.text(max_size=3_000), st.integers(0, 3_000))
def test_shortening_keeps_the_head_and_the_tail_and_says_how_much_is_missing(text: str, keep: int) -> None:
    result = shortened(text, keep)

    head, tail = int(keep * 0.7), int(keep * 0.2)
    if head + tail >= len(text):
        assert result == text
    else:
        assert result.startswith(text[:head])
        assert result.endswith(text[len(text) - tail :])
        assert f"{len(text) - head - tail:,} characters left out" in result


def test_what_fits_is_not_touched() -> None:
    entries = [entry(1, 10, "short"), entry(1, 20, "also short")]

    assert shorten_to_fit(entries, 30, count) == entries


def test_the_longest_text_is_shortened_first() -> None:
    short, long = entry(1, 14, "s" * 10), entry(1, 1_004, "l" * 1_000)

    fitted = shorten_to_fit([short, long], 300, count)

    assert fitted[0] == short
    assert fitted[1].tokens < long.tokens


def test_a_message_without_a_text_to_shorten_stays_as_it_is() -> None:
    calls = LogEntry(time="t", turn=1, tokens=900, wire=msgspec.Raw(b'{"role":"assistant","content":null}'))

    assert shorten_to_fit([calls], 100, count) == [calls]
