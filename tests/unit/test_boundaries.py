"""Numbers at which something changes: one below it, at it, one above it."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from daemon.config import BootstrapConfig, ConsolidationConfig, MicroCompactConfig, ModelConfig, QueueConfig
from daemon.events import LogEntry
from tests.tables import each_row
from workers import session_consumer
from workers.agent.prompt.history_messages import history_room
from workers.agent.prompt.message_shortening import Piece, Shares, fitted
from workers.agent.prompt.workspace import JOIN, bootstrap
from workers.consolidation.consolidation_plan import Thresholds, Unsettled, boundaries, plan
from workers.consolidation.summary.flush_request import newest
from workers.consolidation.summary.log_rendering import Line
from workers.consolidation.summary.summary_calls import breaker_of
from workers.message_format import message, old_upto


def entry(turn: int, role: str, tokens: int = 10) -> LogEntry:
    wire = msgspec.Raw(msgspec.json.encode({"role": role, "content": "x"}))
    return LogEntry(time="2026-11-20T09:00:00Z", turn=turn, tokens=tokens, wire=wire)


def turns(count: int) -> list[LogEntry]:
    """Turns of 20 tokens each."""
    return [entry(2 * number, role) for number in range(count) for role in ("user", "assistant")]


@each_row(
    "budget, iteration, room",
    [
        *((0, iteration, 9_000) for iteration in (1, 2, 3)),
        *((budget, 1, 9_000) for budget in (1, 500, 4_000)),
        *((budget, 2, 500) for budget in (1, 499, 500)),
        *((budget, 2, budget) for budget in (501, 4_000, 8_999, 9_000)),
        (9_001, 2, 9_000),
    ],
)
def test_a_context_budget_holds_from_the_second_call_on_and_is_500_at_least(budget: int, iteration: int, room: int):
    assert history_room(9_000, budget, iteration=iteration) == room


@each_row("excess, upto", [(-1, None), (0, None), (1, 2), (20, 2), (21, 4), (40, 4), (41, 6)])
def test_a_plan_removes_just_what_is_above_the_target(excess: int, upto: int | None) -> None:
    entries = turns(8)
    at = Thresholds(
        target_tokens=1_000, flush_point_tokens=1_400, consolidation_start_tokens=1_500, budget_tokens=2_000
    )
    unsettled = Unsettled(cursor=0, start=0, entries=entries, seen=[each.tokens for each in entries])

    found = plan(unsettled, 1_000 + excess, at, keep_turns=2)

    assert (found.upto if found else None) == upto


def test_a_turn_that_begins_without_a_person_is_not_cut_off_the_one_before() -> None:
    entries = [*turns(1), entry(2, "assistant"), entry(3, "user"), entry(3, "assistant")]

    assert list(boundaries(entries)) == [3]


@each_row("room, names", [(63, ["A"]), (64, ["A", "B"]), (65, ["A", "B"])])
def test_a_bootstrap_file_needs_the_least_room_and_no_more(room: int, names: list[str]) -> None:
    first = "## A\n\nx"
    parts = bootstrap(
        [("A", "x"), ("B", "y")], BootstrapConfig(min_budget_chars=64), total_chars=len(first) + len(JOIN) + room
    )

    assert [part.name for part in parts if part.text] == names


def piece(role: str, chars: int) -> Piece:
    wire = message(role, "x" * chars)
    return Piece(wire, len(wire))


@each_row(
    "roles, shortened",
    [
        # What the person says now stands first.
        (("user", "assistant"), [1]),
        (("user", "user"), [1]),
        (("user", "assistant", "tool"), [2]),
        (("user", "tool", "user", "tool"), [1, 3]),
        (("user",), [0]),
    ],
)
def test_tool_results_give_way_first_then_other_messages_and_last_what_is_said_now(
    roles: Sequence[str], shortened: list[int]
) -> None:
    pieces = [piece(role, 2_000) for role in roles]
    room = sum(each.tokens for each in pieces) - 1_000

    found = fitted(pieces, room, len, Shares())

    assert [at for at, (before, after) in enumerate(zip(pieces, found, strict=True)) if before != after] == shortened
    assert sum(each.tokens for each in found) <= room


@each_row("tokens, upto", [(99, 0), (100, 4), (101, 4)])
def test_results_are_cut_from_the_least_prompt_on(tokens: int, upto: int) -> None:
    config = MicroCompactConfig(min_prompt_tokens=100, keep_messages=6)

    assert old_upto(10, [], config, uncut_tokens=lambda: tokens) == upto


@each_row("history, upto", [(5, 0), (6, 0), (7, 1), (10, 4)])
def test_the_last_six_messages_stay_whole(history: int, upto: int) -> None:
    assert old_upto(history, [], MicroCompactConfig(), uncut_tokens=lambda: 0) == upto


def test_a_switched_off_micro_compaction_cuts_nothing() -> None:
    assert old_upto(10, [], MicroCompactConfig(enabled=False), uncut_tokens=lambda: 0) == 0


@each_row("room, count", [(10, 2), (14, 2), (15, 3), (16, 3)])
def test_a_flush_is_shown_as_many_of_the_newest_lines_as_fit(room: int, count: int) -> None:
    lines = [Line(str(number), 5) for number in range(3)]

    assert newest(lines, room) == lines[3 - count :]


@each_row("tokens, is_whole", [(50, True), (51, False)])
def test_a_flush_is_shown_a_mark_for_a_line_above_half_of_the_room(tokens: int, is_whole: bool) -> None:
    assert (newest([Line("x", tokens)], 100) == [Line("x", tokens)]) is is_whole


@pytest.fixture
def evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_consumer, "_jittered", float)


QUEUE = QueueConfig(backoff_min_s=1.0, backoff_max_s=30.0)


@each_row("attempts, rest_s", [(0, 1), (1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 30), (60, 30)])
def test_a_rest_doubles_with_each_attempt_up_to_the_longest(evenly: None, attempts: int, rest_s: float) -> None:
    assert session_consumer.after_attempts(attempts, QUEUE) == rest_s


@each_row(
    "parked_s, at_least_s, rest_s",
    [(0, 0, 1), (4, 0, 1), (8, 0, 2), (60, 0, 15), (61, 0, 15), (0, 7, 7), (40, 7, 10), (0, 30, 30), (0, 3_600, 30)],
)
def test_a_parked_message_rests_for_a_quarter_of_its_time_or_as_long_as_told(
    evenly: None, parked_s: float, at_least_s: float, rest_s: float
) -> None:
    assert session_consumer.after_waiting(parked_s, QUEUE, at_least_s=at_least_s) == rest_s


def test_a_rest_is_no_shorter_than_half_and_no_longer_than_meant() -> None:
    rests = [session_consumer.after_attempts(3, QUEUE) for _ in range(100)]

    assert all(2 <= rest_s <= 4 for rest_s in rests)
    assert len(set(rests)) > 1


def test_each_model_has_a_breaker_of_its_own() -> None:
    def breaker(**model: Any) -> Any:
        return breaker_of(ModelConfig(**model), ConsolidationConfig())

    first = breaker(base_url="http://a", name="a")
    assert breaker(base_url="http://a", name="a") is first
    assert breaker(base_url="http://a", name="b") is not first
    assert breaker(base_url="http://b", name="a") is not first
