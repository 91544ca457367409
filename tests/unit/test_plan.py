"""What is consolidated and when: the examples of the specification, and properties over all that can be configured."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import anyio
import msgspec
from hypothesis import given
from hypothesis import strategies as st

from daemon.config import MemoryFlushConfig, MicroCompactConfig, ModelConfig
from daemon.config.config_rules import MIN_BUDGET_TOKENS
from daemon.events import LogEntry
from daemon.tokens import Calibration, Tokenizer, load
from tests.tables import each_row
from workers.agent.prompt.history_messages import HistoryMemo, View
from workers.agent.prompt.message_shortening import Piece, Shares
from workers.agent.prompt.prompt_builder import MERGE_TOKENS, Rules, Scene, prompt
from workers.consolidation.consolidation_plan import (
    Estimate,
    Plan,
    Thresholds,
    Unsettled,
    boundaries,
    clamp,
    head_messages,
    pick,
    plan,
    seen_tokens,
)
from workers.message_format import in_steps, message, old_upto, role_of, shown_result

TOKENIZER: Tokenizer = anyio.run(load, "gpt-4o")
DEFAULT = Thresholds.of(ModelConfig(), MemoryFlushConfig())
KEEP = 2
ANY_NUMBER = 10**9


def entry(
    turn: int, wire: dict[str, Any], tokens: int | None = None, *, sender: str = "", dead: bool = False
) -> LogEntry:
    encoded = msgspec.json.encode(wire)
    return LogEntry(
        time="2026-11-20T09:00:00Z",
        turn=turn,
        tokens=TOKENIZER.count_message(shown_result(encoded)) if tokens is None else tokens,
        sender=sender,
        dead=("m",) if dead else (),
        wire=msgspec.Raw(encoded),
    )


def user(turn: int, tokens: int | None = None, text: str = "heron", sender: str = "Ann") -> LogEntry:
    return entry(turn, {"role": "user", "content": text}, tokens, sender=sender)


def answer(turn: int, tokens: int | None = None, text: str = "It fishes.", *, dead: bool = False) -> LogEntry:
    return entry(turn, {"role": "assistant", "content": text}, tokens, dead=dead)


def calls(turn: int, *ids: str, tokens: int | None = None) -> LogEntry:
    made = [{"id": i, "function": {"name": "look", "arguments": "{}"}, "type": "function"} for i in ids]
    return entry(turn, {"role": "assistant", "tool_calls": made}, tokens)


def result(turn: int, call: str, tokens: int | None = None, text: str = "a pond") -> LogEntry:
    return entry(turn, {"role": "tool", "content": text, "tool_call_id": call}, tokens)


def talk(*tokens: int) -> list[LogEntry]:
    """Turns of two messages; a turn is named by the index of its first."""
    return [user(at, count) if at % 2 == 0 else answer(at - 1, count) for at, count in enumerate(tokens)]


def unsettled(entries: Sequence[LogEntry], *, cursor: int = 0, start: int = 0) -> Unsettled:
    return Unsettled(cursor=cursor, start=start, entries=entries, seen=[each.tokens for each in entries])


def test_the_default_window_gives_the_numbers_of_the_specification() -> None:
    default = Thresholds.of(ModelConfig(), MemoryFlushConfig())

    assert default == Thresholds(
        target_tokens=28_160, flush_point_tokens=45_152, consolidation_start_tokens=50_736, budget_tokens=56_320
    )


@each_row(("tokens", "flushes"), [(175_000, False), (176_000, True), (180_000, True)])
def test_a_window_of_200_000_is_flushed_from_176_000_on(tokens: int, flushes: bool) -> None:
    thresholds = Thresholds.of(ModelConfig(context_window_tokens=200_000), MemoryFlushConfig())

    assert thresholds.needs_flush(tokens) == flushes


@each_row(
    ("parts", "tokens", "waits"),
    [((6_000, 7_300, 10, 3_200), 16_510, False), ((6_000, 52_000, 500, 3_200), 61_700, True)],
)
def test_a_turn_waits_for_a_consolidation_when_the_whole_prompt_reaches_the_budget(parts, tokens, waits) -> None:
    system, history, current, tools = parts

    estimate = Estimate(
        fixed_tokens=system + tools, memory_tokens=0, head_tokens=0, history_tokens=history, current_tokens=current
    )

    assert estimate.tokens == tokens
    assert DEFAULT.overflows(estimate.tokens) == waits


def test_each_threshold_is_passed_by_what_reaches_it() -> None:
    assert [DEFAULT.needs_consolidation(tokens) for tokens in (50_735, 50_736)] == [False, True]
    assert [DEFAULT.overflows(tokens) for tokens in (56_319, 56_320)] == [False, True]


@given(
    st.integers(4_096, 10**7),
    st.integers(1, 10**7),
    st.integers(0, 10**7),
    st.integers(0, 10**7),
    st.integers(0, 10**7),
    st.floats(0.1, 3.0),
)
def test_the_thresholds_are_in_order_for_all_that_the_configuration_admits(
    window, completion, buffer, reserve, soft, provider_counts
) -> None:
    # The largest buffer that ``daemon.config.config_rules`` admits for this window.
    free = ModelConfig(context_window_tokens=window, max_completion_tokens=completion, safety_buffer_tokens=0)
    buffer = min(buffer, free.budget_tokens - MIN_BUDGET_TOKENS)
    model = msgspec.structs.replace(free, safety_buffer_tokens=buffer)
    flush = MemoryFlushConfig(reserve_floor_tokens=reserve, soft_threshold_tokens=soft)
    provider = Calibration()
    provider.learn(10_000, int(10_000 * provider_counts))

    for lowered in (int, provider.lowered):
        at = Thresholds.of(model, flush, lowered=lowered)

        assert 0 < at.flush_point_tokens < at.consolidation_start_tokens < at.budget_tokens <= model.budget_tokens
        assert at.flush_point_tokens <= at.budget_tokens - at.budget_tokens // 16
        assert at.target_tokens == at.budget_tokens // 2 < at.consolidation_start_tokens


@given(st.integers(4_096, 10**6))
def test_reserve_and_soft_threshold_are_capped_by_the_window(window) -> None:
    model = ModelConfig(context_window_tokens=window, max_completion_tokens=1, safety_buffer_tokens=0)
    greedy = MemoryFlushConfig(reserve_floor_tokens=10**9, soft_threshold_tokens=10**9)

    left = window - window // 4

    assert Thresholds.of(model, greedy).flush_point_tokens == left - left // 2


def test_a_provider_that_counts_more_lowers_all_thresholds_alike() -> None:
    at = Thresholds.of(ModelConfig(), MemoryFlushConfig(), lowered=lambda tokens: int(tokens / 1.6))

    assert at == Thresholds(
        target_tokens=17_600, flush_point_tokens=28_220, consolidation_start_tokens=31_710, budget_tokens=35_200
    )


def sixty() -> list[LogEntry]:
    """Sixty messages of 52,000 tokens, the first 36 of which have 34,100."""
    return talk(*[947] * 35, 955, *[745] * 23, 765)


def test_the_walk_through_of_the_specification() -> None:
    log = sixty()
    assert sum(each.tokens for each in log) == 52_000
    estimate = Estimate(fixed_tokens=9_200, memory_tokens=0, head_tokens=0, history_tokens=52_000, current_tokens=500)
    assert DEFAULT.overflows(estimate.tokens)
    assert estimate.tokens - DEFAULT.target_tokens == 33_540
    assert pick(log, 33_540) == 36

    first = plan(unsettled(log), estimate.tokens, DEFAULT, keep_turns=KEEP)

    assert first == Plan(first=0, upto=36, tokens=34_100)
    after = unsettled(log[36:], cursor=36, start=36)
    left = Estimate(
        fixed_tokens=9_200,
        memory_tokens=450,
        head_tokens=sum(TOKENIZER.count_message(wire) for wire in head_messages("", "transcript")),
        history_tokens=after.history_tokens,
        current_tokens=500,
    )
    assert left.tokens == 28_050 == 61_700 - 34_100 + 450
    assert plan(after, left.tokens, DEFAULT, keep_turns=KEEP) is None
    assert len(log) == 60


def test_the_boundary_is_the_first_with_enough_before_it_else_the_last() -> None:
    log = talk(10, 10, 10, 10, 10, 10)

    assert [pick(log, tokens) for tokens in (1, 20, 21, 40, 41, 1_000)] == [2, 2, 4, 4, 4, 4]


def test_a_log_of_one_turn_or_none_has_no_boundary() -> None:
    assert pick([], 1) is None
    assert pick([user(0, 10)], 1) is None
    assert pick([user(0, 10), user(0, 10), calls(0, "a", tokens=10), result(0, "a", 10), answer(0, 10)], 1) is None


def test_a_turn_that_begins_with_several_messages_is_cut_before_the_first_of_them() -> None:
    log = [*talk(10, 10), user(2, 10), user(2, 10), user(2, 10), answer(2, 10), user(6, 10), answer(6, 10)]

    assert list(boundaries(log)) == [2, 6]
    assert pick(log, 30) == 6


def test_messages_are_weighed_as_the_model_sees_them() -> None:
    looked = [user(0, 10), calls(0, "a", tokens=10), result(0, "a", 5_000), answer(0, 10)]
    log = [*looked, user(4, 500), answer(4, 500), user(6, 10), answer(6, 10)]

    assert pick(log, 600) == 4
    assert pick(log, 600, seen=[10, 10, 50, 10, 500, 500, 10, 10]) == 6


def test_the_newest_turns_stay_however_little_that_leaves_to_remove() -> None:
    log = talk(10, 10, 10, 10, 10_000, 10_000, 10_000, 10_000)

    assert pick(log, 5_000) == 6
    assert clamp(log, 6, keep_turns=2) == 4
    assert clamp(log, 6, keep_turns=1) == 6
    assert clamp(log, 2, keep_turns=2) == 2
    assert clamp(log, 6, keep_turns=4) is None


def test_the_latest_reply_stays_though_later_turns_brought_none() -> None:
    failed = [user(4, 10), answer(4, 10, dead=True), user(6, 10), answer(6, 10, dead=True), user(8, 10)]
    log = [*talk(10, 10, 10, 10), *failed, calls(8, "a", tokens=10), result(8, "a", 10)]

    assert clamp(log, len(log), keep_turns=2) == 2


def test_a_reply_about_tool_calls_is_a_reply() -> None:
    log = [*talk(10, 10), user(2, 10), answer(2, 10, text='I would send "tool_calls".'), user(4, 10), user(5, 10)]

    assert clamp(log, len(log), keep_turns=1) == 2


def test_what_the_bot_never_answered_is_clamped_by_turns_alone() -> None:
    assert clamp([user(0, 10), user(1, 10), user(2, 10)], 3, keep_turns=2) == 1


def test_what_lies_before_the_start_goes_whole_and_alone_whatever_the_prompt_counts() -> None:
    log = talk(10, 20, 30, 40, 50, 60)

    assert plan(unsettled(log, cursor=100, start=104), 0, DEFAULT, keep_turns=KEEP) == Plan(
        first=100, upto=104, tokens=100
    )
    everything = unsettled(log, cursor=100, start=106)
    assert plan(everything, ANY_NUMBER, DEFAULT, keep_turns=KEEP) == Plan(first=100, upto=106, tokens=210)
    assert everything.history_tokens == 0
    assert unsettled(log, cursor=100, start=104).history_tokens == 110


def test_a_plan_never_passes_the_messages_that_it_was_given() -> None:
    assert plan(unsettled(talk(10, 20), start=8), 0, DEFAULT, keep_turns=KEEP) == Plan(first=0, upto=2, tokens=30)
    assert plan(unsettled([], start=8), 0, DEFAULT, keep_turns=KEEP) is None


def test_below_the_target_only_a_person_or_the_model_can_have_it_done() -> None:
    log = unsettled(talk(*[10] * 10), cursor=40, start=40)

    assert plan(log, DEFAULT.target_tokens, DEFAULT, keep_turns=KEEP) is None
    assert plan(log, 100, DEFAULT, keep_turns=KEEP, force=True) == Plan(first=40, upto=46, tokens=60)
    kept = unsettled(log.entries[6:], cursor=46, start=46)
    assert plan(kept, 40, DEFAULT, keep_turns=KEEP, force=True) is None


@st.composite
def turns(draw: st.DrawFn, first: int, sizes: st.SearchStrategy[int]) -> list[LogEntry]:
    found = [user(first, draw(sizes)) for _ in range(draw(st.integers(1, 3)))]
    for number in range(draw(st.integers(0, 2))):
        ids = [f"{first}-{number}-{at}" for at in range(draw(st.integers(1, 2)))]
        found.append(calls(first, *ids, tokens=draw(sizes)))
        found += [result(first, each, draw(sizes)) for each in draw(st.permutations(ids))]
    return [*found, answer(first, draw(sizes), dead=draw(st.booleans()))]


@st.composite
def logs(draw: st.DrawFn) -> list[LogEntry]:
    found: list[LogEntry] = []
    for _ in range(draw(st.integers(0, 8))):
        found += draw(turns(len(found), st.integers(1, 3_000)))
    return found


@given(logs(), st.integers(0, 40_000), st.integers(1, 4), st.booleans())
def test_a_plan_takes_whole_turns_from_the_cursor_on_and_leaves_the_newest(log, rest, keep_turns, force) -> None:
    before = unsettled(log, cursor=70, start=70)

    made = plan(before, rest + before.history_tokens, DEFAULT, keep_turns=keep_turns, force=force)

    if made is None:
        return
    cut = made.upto - made.first
    assert made.first == 70
    assert made.tokens == sum(each.tokens for each in log[:cut])
    assert log[cut - 1].turn != log[cut].turn
    assert role_of(bytes(log[cut].wire)) == "user"
    assert len({each.turn for each in log[cut:]}) >= keep_turns
    made_before = {call for each in log[:cut] for call in ids_of(each, "tool_calls")}
    assert made_before == {call for each in log[:cut] for call in ids_of(each, "tool_call_id")}
    replies = [at for at, each in enumerate(log) if is_answer(each) and not each.dead]
    assert not replies or replies[-1] >= cut


def ids_of(each: LogEntry, field: str) -> list[str]:
    found = msgspec.json.decode(bytes(each.wire)).get(field) or []
    return [found] if isinstance(found, str) else [call["id"] for call in found]


def is_answer(each: LogEntry) -> bool:
    return role_of(bytes(each.wire)) == "assistant" and not ids_of(each, "tool_calls")


@given(logs(), st.integers(0, 60_000), st.integers(1, 4), st.booleans(), st.integers(0, 8))
def test_rounds_come_to_an_end_at_which_nothing_more_is_planned(log, rest, keep_turns, force, before_start) -> None:
    starts = [0, *boundaries(log)] if log else [0]
    start = starts[min(before_start, len(starts) - 1)]
    cursor, planned = 0, 0
    while True:
        now = unsettled(log[cursor:], cursor=cursor, start=max(cursor, start))
        made = plan(now, rest + now.history_tokens, DEFAULT, keep_turns=keep_turns, force=force)
        if made is None:
            break
        assert made.first == cursor < made.upto
        assert cursor >= start or made.upto == start
        cursor, planned = made.upto, planned + 1

    assert planned <= 3  # what lies before the start, what is enough, and nothing is left after that
    assert cursor >= start
    assert (
        force
        or rest + now.history_tokens <= DEFAULT.target_tokens
        or clamp(now.entries, ANY_NUMBER, keep_turns=keep_turns) is None
    )


@given(logs(), st.integers(1, 30_000))
def test_the_pick_removes_enough_where_that_can_be_and_no_turn_more(log, remove) -> None:
    found = list(boundaries(log))

    at = pick(log, remove)

    if at is None:
        assert not found
        return
    removed = {boundary: sum(each.tokens for each in log[:boundary]) for boundary in found}
    assert at == next((boundary for boundary in found if removed[boundary] >= remove), found[-1])


TEXTS = st.one_of(
    st.text(max_size=40),
    st.builds(
        lambda words, times: " ".join(words) * times,
        st.lists(st.sampled_from(["pond", "一只苍鹭站在池塘边", "🐸", "\n\n", "x = {'a': 1}", " "]), max_size=6),
        st.integers(1, 60),
    ),
)
SENDERS = st.sampled_from(["Ann", "李雷", "[x] \n y", ""])


@st.composite
def spoken_logs(draw: st.DrawFn) -> list[LogEntry]:
    found: list[LogEntry] = []
    for _ in range(draw(st.integers(0, 6))):
        turn = len(found)
        found += [user(turn, text=draw(TEXTS), sender=draw(SENDERS)) for _ in range(draw(st.integers(1, 3)))]
        for call in range(draw(st.integers(0, 3))):
            found += [calls(turn, f"{turn}-{call}"), result(turn, f"{turn}-{call}", text=draw(TEXTS))]
        found.append(answer(turn, text=draw(TEXTS)))
    return found


@given(spoken_logs(), TEXTS, st.booleans(), st.integers(1, 8), st.booleans())
def test_an_estimate_counts_every_part_of_the_prompt_that_is_sent(log, said, names, keep, compacted) -> None:
    micro = MicroCompactConfig(keep_messages=keep, max_chars=20)
    view = View(count=TOKENIZER.count_message, max_chars=micro.max_chars, remembered=HistoryMemo())
    system, context = message("system", "You are a bot."), "[Runtime context]\n\n"
    head = head_messages("They look for herons." if compacted else "", "transcript_1.jsonl.gz")
    pieces = [Piece(wire, TOKENIZER.count_message(wire)) for wire in head]
    current = [user(len(log), text=said)]
    old = in_steps(old_upto(len(log), current, micro, uncut_tokens=lambda: 0), micro)
    seen = seen_tokens(log, old=old, result_max_chars=20, names=names, count=TOKENIZER.count_message)

    estimate = Estimate(
        fixed_tokens=TOKENIZER.count_message(system) + 321,
        memory_tokens=0,
        head_tokens=sum(piece.tokens for piece in pieces),
        history_tokens=sum(seen),
        current_tokens=TOKENIZER.count_message(message("user", context))
        + MERGE_TOKENS
        + sum(seen_tokens(current, old=0, result_max_chars=20, names=names, count=TOKENIZER.count_message)),
    )

    rules = Rules(budget_tokens=ANY_NUMBER, context_budget_tokens=0, micro=micro, shares=Shares(), view=view)
    scene = Scene(
        system=system,
        system_tokens=TOKENIZER.count_message(system),
        tools_tokens=321,
        context=context,
        names=names,
        history=log,
        head=pieces,
    )
    built = prompt(rules, scene, current)
    assert built.system_tokens + built.tools_tokens == estimate.fixed_tokens
    assert built.history_tokens <= estimate.head_tokens + estimate.history_tokens
    assert built.tokens <= estimate.tokens <= built.tokens + 40 + 5 * len(log)


def test_only_what_differs_from_what_is_stored_is_counted() -> None:
    long, short = "heron " * 200, "pond"
    log = [user(0), calls(0, "a", "b"), result(0, "a", text=long), result(0, "b", text=short), answer(0)]
    counted: list[bytes] = []

    def count(wire: bytes) -> int:
        counted.append(wire)
        return TOKENIZER.count_message(wire)

    whole = seen_tokens(log, old=0, result_max_chars=200, names=False, count=count)
    cut = seen_tokens(log * 2, old=5, result_max_chars=200, names=False, count=count)

    assert whole == [each.tokens for each in log]
    assert cut == [*whole[:2], cut[2], *whole[3:], *whole]
    assert cut[2] < whole[2]
    assert len([wire for wire in counted if role_of(wire) == "tool"]) == 1


def test_each_name_is_counted_once_and_weighs_on_each_of_its_messages() -> None:
    log = [user(at, text="Hello.", sender="Ann" if at % 2 else "Bea Quill-Featherstone") for at in range(100)]
    counted: list[bytes] = []

    def count(wire: bytes) -> int:
        counted.append(wire)
        return TOKENIZER.count_message(wire)

    seen = seen_tokens(log, old=100, result_max_chars=200, names=True, count=count)

    assert len(counted) == 3
    assert all(tokens > each.tokens for tokens, each in zip(seen, log, strict=True))
    assert seen[0] > seen[1]


def test_the_head_messages_read_as_specified() -> None:
    wires = head_messages("They look for {herons}.", "transcript_1795190400_web:a_0-36.jsonl.gz")

    said, understood = [msgspec.json.decode(wire) for wire in wires]
    assert said == {
        "role": "user",
        "content": "[Conversation compressed. Transcript: transcript_1795190400_web:a_0-36.jsonl.gz]\n\n"
        "They look for {herons}.",
    }
    assert understood == {
        "role": "assistant",
        "content": "Understood. I have the context from the summary. Continuing.",
    }


def test_without_a_continuity_there_are_no_head_messages() -> None:
    assert head_messages("", "transcript_1.jsonl.gz") == ()


def test_thresholds_rise_with_the_window() -> None:
    windows = [4_096, 8_192, 32_768, 65_536, 131_072, 200_000, 1_000_000]

    found = [Thresholds.of(ModelConfig(context_window_tokens=window), MemoryFlushConfig()) for window in windows]

    assert all(a.flush_point_tokens < b.flush_point_tokens for a, b in pairwise(found))
