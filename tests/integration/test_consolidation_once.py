"""What a consolidation does once, and what it never does: flush a cycle again, follow a log that is another one."""

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace

import msgspec
import pytest
from structlog.testing import capture_logs

from daemon.errors import ModelUnavailable
from daemon.model import Answer, Request
from daemon.process import Process
from tests.conftest import HASTY, Lab
from tests.memorylab import SCOPE, MemoryLab, Summaries, saves, small_window
from workers.consolidation import ConsolidationRequest, grew_reader
from workers.consolidation.grew_reader import GrewReader
from workers.consolidation.summary import summary_calls

FLUSH_POINT, START = 1_536, 1_792
"""Of the small window (section 5 of the specification): 4,096 − 1,024 − 1,536, and halfway to the budget of 2,048."""
QUEUE = msgspec.structs.replace(HASTY, lease_s=60.0, renew_s=5.0)


@pytest.fixture(autouse=True)
def fresh_breakers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary_calls, "_breakers", {})


@pytest.fixture
def memory_of(process: Process, lab: Lab) -> Callable[[Summaries], MemoryLab]:
    return lambda model: MemoryLab(replace(process, config=small_window(process.config)), lab, model)


async def past_the_flush_point(memory: MemoryLab) -> None:
    """Talk until a flush is due and a consolidation is not."""
    while (await memory.state()).tokens + 300 < FLUSH_POINT:
        await memory.talk(1)
    assert (await memory.state()).tokens + 300 < START


@pytest.mark.parametrize(("said", "added"), [("Ann counts.", ["Ann counts."]), ("NO_REPLY", [])])
async def test_a_cycle_is_flushed_once_however_often_it_is_looked_at(
    memory_of: Callable[[Summaries], MemoryLab], said: str, added: list[str]
) -> None:
    model = Summaries(flushes=[Answer(text=said, model="summaries")])
    memory = memory_of(model)
    await past_the_flush_point(memory)

    for _ in range(3):
        await memory.consolidator.consolidate(memory.session)

    assert (len(model.flushes), len(model.requests)) == (1, 0)
    assert [version.added for version in await memory.memories.versions(SCOPE)] == added


async def test_below_the_flush_point_nothing_is_flushed(memory_of: Callable[[Summaries], MemoryLab]) -> None:
    model = Summaries()
    memory = memory_of(model)
    await memory.talk(2)

    await memory.consolidator.consolidate(memory.session)

    assert not model.flushes


async def test_a_flush_may_bring_notes_alone(memory_of: Callable[[Summaries], MemoryLab]) -> None:
    memory = memory_of(Summaries(flushes=[Answer(text="# 2026-11-20.md\nShe began.", model="summaries")]))
    await past_the_flush_point(memory)

    await memory.consolidator.consolidate(memory.session)

    assert [(note.date, note.text) for note in await memory.memories.notes(SCOPE)] == [("2026-11-20", "She began.")]
    assert (await memory.memories.current(SCOPE)).version == 0


async def test_a_turn_that_waits_for_a_consolidation_does_not_wait_for_a_flush(
    memory_of: Callable[[Summaries], MemoryLab],
) -> None:
    model = Summaries()
    memory = memory_of(model)
    await memory.talk(14)

    report = await memory.consolidator.consolidate(memory.session, ConsolidationRequest(at="now"))

    assert report.outcome == "settled"
    assert not model.flushes
    assert (await memory.lab.fields())["unflushed"] == f"0 {report.upto}"


async def test_a_consolidation_flushes_first_what_was_not_flushed(memory_of: Callable[[Summaries], MemoryLab]) -> None:
    asked: list[str] = []
    model = Summaries()
    stream = model.stream

    def noting(request: object) -> object:
        asked.append("summary" if getattr(request, "force_tool", "") == "save_memory" else "flush")
        return stream(request)  # type: ignore[arg-type]

    model.stream = noting  # type: ignore[method-assign,assignment]
    memory = memory_of(model)
    await memory.talk(14)

    await memory.consolidator.consolidate(memory.session)

    assert asked[0] == "flush"
    assert asked[1:] == ["summary"] * len(asked[1:])
    assert "unflushed" not in await memory.lab.fields()


async def test_a_cursor_follows_its_memory_only_over_the_messages_that_were_taken_in(
    memory_of: Callable[[Summaries], MemoryLab],
) -> None:
    """A failover sets a session back, and other messages come in the place of those that were consolidated."""
    memory = memory_of(Summaries())
    bus, session = memory.lab.bus, memory.session
    await memory.talk(14)
    upto = (await memory.consolidator.consolidate(session)).upto
    await memory.untrim()
    log = await memory.log()
    other = msgspec.structs.replace(log[upto - 1], time="2026-11-20T10:00:00.000Z")
    await bus.call("LSET", bus.keys.log(session), upto - 1, msgspec.json.encode(other))
    tokens = sum(entry.tokens for entry in log)
    await bus.call(
        *("HSET", bus.keys.session(session), "cursor", 0, "start", 0, "tokens", tokens, "tokens_start", tokens),
        *("settled", ""),
    )

    with capture_logs() as logs:
        await memory.consolidator.consolidate(session)

    events = [each["event"] for each in logs]
    assert "memory.set_back" in events
    assert "cursor.followed" not in events
    assert [entry.upto for entry in await memory.memories.history(SCOPE) if entry.lost]
    await memory.whole()


async def test_a_cursor_follows_its_memory_when_only_the_session_was_set_back(
    memory_of: Callable[[Summaries], MemoryLab],
) -> None:
    memory = memory_of(Summaries())
    bus, session = memory.lab.bus, memory.session
    await memory.talk(14)
    upto = (await memory.consolidator.consolidate(session)).upto
    await memory.untrim()
    tokens = sum(entry.tokens for entry in await memory.log())
    await bus.call(
        *("HSET", bus.keys.session(session), "cursor", 0, "start", 0, "tokens", tokens, "tokens_start", tokens),
        *("settled", ""),
    )

    with capture_logs() as logs:
        await memory.consolidator.consolidate(session)

    assert "cursor.followed" in [each["event"] for each in logs]
    assert (await memory.state()).cursor >= upto
    await memory.whole()


async def test_a_model_is_asked_again_twice_at_most_when_others_write_the_memory(
    memory_of: Callable[[Summaries], MemoryLab],
) -> None:
    asked = 0

    async def edited_meanwhile(_request: Request) -> Answer:
        nonlocal asked
        asked += 1
        await memory.memories.edit(
            SCOPE, of=asked - 1, text=f"Edit {asked}.", by="ann", time="2026-11-20T09:00:00.000Z"
        )
        return saves("[2026-11-20 09:00] A.", memory=f"- summary {asked}")

    memory = memory_of(Summaries(*[edited_meanwhile] * 5))
    await memory.talk(5)

    await memory.consolidator.consolidate(memory.session, ConsolidationRequest(at="now"))

    assert asked == 3
    assert (await memory.memories.current(SCOPE)).text == "Edit 3."
    assert [entry.text for entry in await memory.history()] == ["[2026-11-20 09:00] A."]
    assert len(await memory.memories.undigested(SCOPE)) == 1, "MEMORY.md is to learn later what the entry says"
    await memory.whole()


async def test_a_session_whose_call_was_skipped_rests_no_longer_than_any(process: Process, lab: Lab) -> None:
    config = small_window(process.config, breaker_failures=1)
    memory = MemoryLab(replace(process, config=config), lab, Summaries(*[ModelUnavailable("away")] * 2))
    await memory.talk(14)

    outcomes = [(await memory.consolidator.consolidate(memory.session)).outcome for _ in range(2)]

    assert outcomes == ["failed", "skipped"]
    due_ms = (await memory.unsettled(lab.bus))[memory.session]
    assert due_ms <= await lab.server_ms() + config.queue.backoff_max_s * 1000


async def test_an_event_whose_reader_died_is_taken_over(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grew_reader, "ABANDONED_MS", 0)
    await lab.bus.call("XADD", lab.bus.keys.grew(0), "*", "event", "x")

    async with (
        aclosing(GrewReader(lab.bus, consumer="dead")) as dead,
        aclosing(GrewReader(lab.bus, consumer="heir")) as heir,
    ):
        first, second = await dead.read(), await heir.read()

    assert first == second
    assert [event for _, _, event in first] == [b"x"]
