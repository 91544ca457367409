"""A consolidation on a real server: from the log into memory, whatever goes wrong on the way."""

import re
from dataclasses import replace

import anyio
import pytest

from daemon.errors import ModelUnavailable
from daemon.model import Answer, Request
from daemon.process import Process
from tests.conftest import Lab
from tests.memorylab import SCOPE, MemoryLab, Summaries, messages_of, saves, small_window
from workers.consolidation import ConsolidationRequest


@pytest.fixture
def small(process: Process) -> Process:
    return replace(process, config=small_window(process.config))


async def test_below_the_start_nothing_is_done(small: Process, lab: Lab) -> None:
    model = Summaries()
    memory = MemoryLab(small, lab, model)
    await memory.talk(3)

    report = await memory.consolidator.consolidate("web:ann")

    assert (report.outcome, report.first, report.upto) == ("nothing", 0, 0)
    assert not model.requests


async def test_a_long_conversation_is_consolidated_down_to_its_target(small: Process, lab: Lab) -> None:
    model = Summaries(saves("[2026-11-20 09:00] They talked.", memory="Ann asks a lot.", continuity="Still asking."))
    memory = MemoryLab(small, lab, model)
    await memory.talk(14)

    report = await memory.consolidator.consolidate("web:ann")

    state = await memory.state()
    assert report.outcome == "settled"
    assert 0 < state.cursor == state.start < state.head
    assert report.tokens_after <= 1_024 < report.tokens_before
    entries = await memory.history()
    assert (entries[0].text, entries[0].kind) == ("[2026-11-20 09:00] They talked.", "summary")
    assert entries[-1].upto == state.cursor
    assert b"Ann asks a lot." in b"".join(model.requests[1].messages)
    assert b"Still asking." in b"".join(model.requests[1].messages)
    assert state.continuity is not None
    assert state.continuity.transcript.startswith("transcript_")
    assert await memory.unsettled(lab.bus) == {}
    await memory.whole()


async def test_what_fails_three_times_goes_in_as_it_is(small: Process, lab: Lab) -> None:
    memory = MemoryLab(small, lab, Summaries(*[ModelUnavailable("away")] * 3))
    await memory.talk(14)

    outcomes = [(await memory.consolidator.consolidate("web:ann")).outcome for _ in range(3)]

    assert outcomes == ["failed", "failed", "settled"]
    first, *_ = await memory.history()
    assert first.kind == "raw"
    assert "[RAW]" in first.text
    await memory.whole()


async def test_compacting_leaves_the_newest_turns(small: Process, lab: Lab) -> None:
    model = Summaries()
    memory = MemoryLab(small, lab, model)
    await memory.talk(5)

    report = await memory.consolidator.consolidate("web:ann", ConsolidationRequest(at="now", focus="the numbers"))

    assert (report.outcome, report.upto) == ("settled", 6)
    assert b"the numbers" in b"".join(model.requests[0].messages)
    await memory.whole()


async def test_a_flush_that_is_cut_short_by_a_stop_is_no_failure(small: Process, lab: Lab) -> None:
    begun = anyio.Event()

    async def hang(_request: Request) -> Answer:
        begun.set()
        await anyio.sleep_forever()
        raise AssertionError

    memory = MemoryLab(small, lab, Summaries(flushes=[hang]))
    await memory.talk(14)

    async with anyio.create_task_group() as tg:
        tg.start_soon(memory.consolidator.consolidate, "web:ann")
        await begun.wait()
        noted = await lab.bus.call("HGET", lab.bus.keys.session("web:ann"), "failures")
        tg.cancel_scope.cancel()

    assert noted == b"1"
    assert await lab.bus.call("HGET", lab.bus.keys.session("web:ann"), "failures") == b"0"
    assert (await memory.consolidator.consolidate("web:ann")).outcome == "settled"
    await memory.whole()


async def test_a_log_that_nobody_ever_consolidated_is_taken_piece_by_piece(small: Process, lab: Lab) -> None:
    memory = MemoryLab(small, lab, Summaries())
    await memory.bulk(400, words=40)

    report = await memory.consolidator.consolidate("web:ann")

    state, entries = await memory.state(), await memory.history()
    assert (report.outcome, state.head) == ("settled", 800)
    assert report.rounds > 1
    assert all(entry.upto % 2 == 0 for entry in entries)
    assert state.head - state.cursor < 20
    await memory.whole()


async def test_what_was_paid_for_counts_whatever_fails_after_it(small: Process, lab: Lab) -> None:
    model = Summaries(*[summed_up] * 2, ModelUnavailable("away"))
    memory = MemoryLab(small, lab, model)
    await memory.bulk(60, words=40)

    failed = await memory.consolidator.consolidate("web:ann")
    pieces, state = await memory.history(), await memory.state()
    settled = await memory.consolidator.consolidate("web:ann")

    assert (failed.outcome, failed.rounds, len(pieces), pieces[-1].upto) == ("failed", 0, 2, state.cursor)
    assert b"fact 2" in b"".join(model.requests[2].messages)
    shown = [re.findall(r"question (\d+) ", messages_of(request)[1][1]) for request in model.requests]
    again = shown[:2] + shown[3:]
    assert [int(number) for numbers in again for number in numbers] == list(range(sum(map(len, again))))
    assert settled.outcome == "settled"
    assert len(model.flushes) == 1
    await memory.whole()


async def test_the_finished_parts_of_a_turn_that_no_request_holds_are_not_paid_for_again(
    small: Process, lab: Lab
) -> None:
    model = Summaries(*[summed_up] * 2, ModelUnavailable("away"))
    memory = MemoryLab(small, lab, model)
    await memory.long_turn(30)
    await memory.talk(3)

    failed = await memory.consolidator.consolidate("web:ann")
    stored = await lab.fields()
    settled = await memory.consolidator.consolidate("web:ann")

    parts = [int(messages_of(request)[1][1].partition("(part ")[2].partition(" ")[0]) for request in model.requests]
    assert (failed.outcome, failed.upto, settled.outcome) == ("failed", 0, "settled")
    assert parts == [1, 2, 3, *range(3, parts[-1] + 1)]
    assert "summary 1" in stored["parts"]
    [entry] = await memory.history()
    assert [f"summary {number}" in entry.text for number in (1, 2)] == [True, True]
    assert "parts" not in await lab.fields()
    await memory.whole()


async def summed_up(request: Request) -> Answer:
    facts = re.findall(r"^fact \d+$", messages_of(request)[1][1], re.MULTILINE)
    facts.append(f"fact {len(facts) + 1}")
    return saves(f"[2026-11-20 09:00] summary {len(facts)}.", memory="\n".join(facts))


async def test_what_a_turn_could_not_wait_for_is_flushed_afterwards_over_the_original_messages(
    small: Process, lab: Lab
) -> None:
    model = Summaries(flushes=[Answer(text="- Ann counts.\n# 2026-11-20.md\nShe began today.")])
    memory = MemoryLab(small, lab, model)
    await memory.talk(25)
    assert (await memory.consolidator.consolidate("web:ann", ConsolidationRequest(at="budget"))).outcome == "settled"
    assert not model.flushes
    assert list(await memory.unsettled(lab.bus)) == ["web:ann"]
    cursor = (await memory.state()).cursor

    await memory.consolidator.consolidate("web:ann")
    await memory.consolidator.consolidate("web:ann")

    [flush] = model.flushes
    shown = b"".join(flush.messages)
    assert f"question {cursor // 2 - 1} ".encode() in shown
    assert f"question {cursor // 2} ".encode() not in shown
    assert (await memory.memories.current(SCOPE)).text.endswith("- Ann counts.")
    assert [(note.date, note.text) for note in await memory.memories.notes(SCOPE)] == [
        ("2026-11-20", "She began today.")
    ]
    assert await memory.unsettled(lab.bus) == {}
    await memory.whole()


async def test_a_cycle_is_flushed_once_and_before_it_is_consolidated(small: Process, lab: Lab) -> None:
    model = Summaries(flushes=[Answer(text="- Ann counts.")])
    memory = MemoryLab(small, lab, model)
    await memory.talk(10, words=55)

    for _ in range(3):
        assert (await memory.consolidator.consolidate("web:ann")).outcome == "nothing"
    assert len(model.flushes) == 1
    await memory.talk(6, words=55)
    report = await memory.consolidator.consolidate("web:ann")

    # Each round but the first begins a cycle of its own.
    assert (report.outcome, len(model.flushes)) == ("settled", report.rounds)
    assert "- Ann counts." in messages_of(model.requests[0])[1][1]
    await memory.whole()


@pytest.mark.parametrize(("turns", "rounds"), [(0, 2), (2, 2), (12, 4)])
async def test_what_is_said_meanwhile_is_left_to_the_next_consolidation_unless_that_is_due_already(
    small: Process, lab: Lab, turns: int, rounds: int
) -> None:
    """One that goes on was chased for five rounds, two calls of the model each, a few turns at a time."""

    async def meanwhile(_request: Request) -> Answer:
        await memory.talk(turns)
        return saves("[2026-11-20 09:00] They talked.", memory="Ann asks a lot.")

    model = Summaries(*[meanwhile] * 5)
    memory = MemoryLab(small, lab, model)
    await memory.talk(14)

    report = await memory.consolidator.consolidate("web:ann")

    assert (report.outcome, report.rounds) == ("settled", rounds)
    assert report.tokens_after >= (await memory.state()).tokens
    await memory.whole()
