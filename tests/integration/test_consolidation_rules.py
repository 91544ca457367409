"""Rules of consolidation that are easily broken: what is owed to a session is done, and once; what counts as failed."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from daemon.archive import Archive
from daemon.archive.archive_breaker import PAUSE_MAX_S, SLOW_S
from daemon.archive.local_storage import LocalStorage
from daemon.config import MemoryFlushConfig, summary_model_of
from daemon.errors import ConfigError, ModelUnavailable
from daemon.memory import Memories
from daemon.model import Answer, Request, Usage
from daemon.process import Process
from daemon.session import Change, Commit, SessionReader
from daemon.testing import ManualClock
from tests.apart import lock_shifted
from tests.conftest import HASTY, Lab
from tests.cut_short import StoppingBus
from tests.integration.test_awaited import answered
from tests.limits import HANG_S, until
from tests.memorylab import SCOPE, MemoryLab, Summaries, messages_of, saves, small_window
from workers.agent.prompt.history_loader import HistoryLoader
from workers.consolidation import ConsolidationRequest, Consolidator, Kits, stand_in, stores_of
from workers.consolidation.service import serve
from workers.consolidation.summary import summary_calls

QUEUE = msgspec.structs.replace(HASTY, lease_s=60.0, renew_s=5.0)


NOW = ConsolidationRequest(at="now")
_numbers = itertools.count()


@pytest.fixture(autouse=True)
def fresh_breakers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary_calls, "_breakers", {})


@pytest.fixture
def small(process: Process) -> Process:
    return replace(process, config=small_window(process.config))


def keeps(text: str) -> Answer:
    return Answer(text=text, model="summaries")


async def hang(_request: Request) -> Answer:
    """A model that does not answer."""
    await anyio.sleep_forever()
    raise AssertionError


async def start_over(memory: MemoryLab) -> None:
    """``/new``."""
    await memory.lab.publish(f"over {next(_numbers)}", session=memory.session)
    claim = await memory.lab.claim(memory.session)
    answered = tuple(entry.stream_id for entry in claim.begun.waiting)
    commit = Commit(entries=(), tokens=0, answered=answered, change=Change(start_over=True))
    await memory.lab.sessions.commit(claim, commit, step=0)


async def forget_memory(memory: MemoryLab, *, upto: int) -> None:
    """The memory's server was set back: it has taken in no more than the messages before ``upto``."""
    key = memory.lab.bus.keys.memory(SCOPE)
    await memory.lab.bus.call("HSET", key, f"upto:{memory.session}", upto)
    await memory.lab.bus.call("HDEL", key, f"applied:{memory.session}")
    entries = await memory.lab.bus.call("LRANGE", memory.lab.bus.keys.history(SCOPE), 0, -1)
    for entry in entries:
        if msgspec.json.decode(entry)["upto"] > upto:
            await memory.lab.bus.call("LREM", memory.lab.bus.keys.history(SCOPE), 1, entry)


async def failures(memory: MemoryLab) -> str:
    return (await memory.lab.fields()).get("failures", "0")


async def sums_are_true(memory: MemoryLab) -> None:
    state, log = await memory.state(), await memory.log()
    assert state.tokens == sum(entry.tokens for entry in log[state.cursor :])
    assert state.tokens_start == sum(entry.tokens for entry in log[state.start :])


async def test_what_a_turn_had_no_time_to_flush_is_flushed_soon_afterwards(small: Process, lab: Lab) -> None:
    model = Summaries(flushes=[keeps("Ann counts questions.")])
    memory = MemoryLab(small, lab, model)
    await memory.talk(14)

    await memory.consolidator.consolidate(memory.session, NOW)
    assert not model.flushes
    assert list(await memory.unsettled(lab.bus)) == [memory.session]
    await memory.consolidator.consolidate(memory.session)

    [asked] = model.flushes
    assert b"question 0 " in asked.messages[1]
    assert "Ann counts questions." in (await memory.memories.current(SCOPE)).text
    assert "unflushed" not in await lab.fields()
    assert await memory.unsettled(lab.bus) == {}


async def test_what_was_not_flushed_comes_before_what_is_to_be_flushed_now(small: Process, lab: Lab) -> None:
    model = Summaries(flushes=[keeps("From before."), keeps("From now.")])
    memory = MemoryLab(small, lab, model)
    await memory.talk(8)
    await memory.consolidator.consolidate(memory.session, NOW)
    await memory.talk(12)

    await memory.consolidator.consolidate(memory.session)

    added = [version.added for version in reversed(await memory.memories.versions(SCOPE)) if version.kind == "flush"]
    assert added == ["From before.", "From now."]


async def test_a_flush_that_was_cut_short_is_no_failure(small: Process, lab: Lab) -> None:
    async def cut_short(request: Request) -> Answer:
        flush.cancel()
        return await hang(request)

    memory = MemoryLab(small, lab, Summaries(flushes=[cut_short]))
    await memory.talk(14)

    with anyio.CancelScope() as flush:
        await memory.consolidator.consolidate(memory.session)

    assert await failures(memory) == "0"
    assert list(await memory.unsettled(lab.bus)) == [memory.session]


async def test_a_flush_that_was_skipped_is_made_up_for_before_the_consolidation(small: Process, lab: Lab) -> None:
    model = Summaries(flushes=[keeps("Ann counts questions.")])
    memory = MemoryLab(small, lab, model)
    await memory.talk(14)
    of_model = summary_calls.breaker_of(summary_model_of(small.config.bots["pond"]), small.config.consolidation)
    for _ in range(5):
        of_model.failed()

    report = await memory.consolidator.consolidate(memory.session)
    assert (report.outcome, await failures(memory)) == ("skipped", "0")
    assert not (model.flushes or model.requests)
    of_model.succeeded()
    await memory.consolidator.consolidate(memory.session)

    assert len(model.flushes) == 1
    assert "Ann counts questions." in (await memory.memories.versions(SCOPE))[-1].text
    await memory.whole()


async def test_a_cycle_whose_flush_a_killed_worker_wrote_is_not_flushed_again(small: Process, lab: Lab) -> None:
    model = Summaries(flushes=[keeps("Ann counts questions."), keeps("Ann counts questions again.")])
    memory = MemoryLab(small, lab, model)
    await memory.talk(14)
    await memory.consolidator.consolidate(memory.session)
    flushed = [version for version in await memory.memories.versions(SCOPE) if version.kind == "flush"]
    cursor = (await memory.state()).cursor
    # Killed between the memory and the session: memory knows of the flush, the session does not.
    await lab.bus.call("HSET", lab.bus.keys.memory(SCOPE), f"flushed:{memory.session}", cursor)
    await lab.bus.call("HDEL", lab.bus.keys.session(memory.session), "flushed")
    await memory.talk(12)
    asked = len(model.flushes)
    await memory.consolidator.consolidate(memory.session)

    assert [version for version in await memory.memories.versions(SCOPE) if version.kind == "flush"] == flushed
    assert len(model.flushes) == asked


async def test_a_new_conversation_begun_beside_a_look_at_the_session_is_not_forgotten(small: Process, lab: Lab) -> None:
    memory = MemoryLab(small, lab, Summaries())
    await memory.talk(3)
    lock = await memory.stores.locks.take(memory.session)
    assert lock is not None
    await start_over(memory)

    await memory.stores.locks.give_back(lock, again_in_s=None)

    assert list(await memory.unsettled(lab.bus)) == [memory.session]
    report = await memory.consolidator.consolidate(memory.session)
    assert (report.outcome, report.upto) == ("settled", 6)
    assert await memory.unsettled(lab.bus) == {}


async def test_a_cursor_that_follows_the_memory_over_the_start_keeps_the_sums_true(small: Process, lab: Lab) -> None:
    memory = MemoryLab(small, lab, Summaries())
    await memory.talk(3)
    await start_over(memory)
    await memory.talk(14)
    await memory.consolidator.consolidate(memory.session)
    state, keys = await memory.state(), lab.bus.keys
    log = await memory.log()
    assert state.cursor > 6
    # The session was set back by a failover to the moment after /new: the memory was not.
    await memory.untrim()
    sums = {"tokens": sum(e.tokens for e in log), "tokens_start": sum(e.tokens for e in log[6:])}
    fields = {"cursor": 0, "start": 6, **sums}
    await lab.bus.call("HSET", keys.session(memory.session), *[part for pair in fields.items() for part in pair])
    await lab.bus.call("HDEL", keys.session(memory.session), "settled", "continuity")

    await memory.consolidator.consolidate(memory.session)

    assert (await memory.state()).cursor >= state.cursor
    await sums_are_true(memory)
    await memory.whole()


async def test_a_memory_that_was_set_back_far_is_taken_in_again_and_that_is_no_failure(small: Process, lab: Lab):
    model = Summaries()
    memory = MemoryLab(small, lab, model)
    for _ in range(8):
        await memory.talk(10)
        await memory.consolidator.consolidate(memory.session)
    await forget_memory(memory, upto=0)
    cursor = (await memory.state()).cursor

    for _ in range(10):
        await memory.consolidator.consolidate(memory.session, NOW)

    assert await failures(memory) == "0"
    assert (await memory.state()).cursor >= cursor
    assert {entry.kind for entry in await memory.history()} == {"summary"}
    await memory.whole()


async def test_compacting_does_what_was_asked_for_though_the_memory_was_set_back(small: Process, lab: Lab) -> None:
    memory = MemoryLab(small, lab, Summaries())
    await memory.talk(5)
    await memory.consolidator.consolidate(memory.session, NOW)
    await memory.talk(3)
    await forget_memory(memory, upto=0)

    report = await memory.consolidator.consolidate(memory.session, NOW)

    assert (report.outcome, (await memory.state()).cursor) == ("settled", 12)
    await memory.whole()


async def test_what_nobody_foresaw_lets_the_session_rest(small: Process, lab: Lab) -> None:
    memory = MemoryLab(small, lab, Summaries())
    await memory.talk(14)
    await lab.bus.call("LSET", lab.bus.keys.log(memory.session), 3, "{spoilt by hand")
    events = await lab.bus.call("XLEN", lab.bus.keys.grew(lab.bus.keys.partition(memory.session)))
    before_ms = await lab.server_ms()

    with pytest.raises(msgspec.DecodeError):
        await memory.consolidator.consolidate(memory.session)

    assert await lab.bus.call("XLEN", lab.bus.keys.grew(lab.bus.keys.partition(memory.session))) == events
    assert (await memory.unsettled(lab.bus))[memory.session] > before_ms


async def test_a_full_disk_is_no_failure_of_the_model_and_the_session_rests_long(small: Process, lab: Lab) -> None:
    queue = msgspec.structs.replace(small.config.queue, backoff_max_s=10 * HANG_S)
    small = replace(small, config=msgspec.structs.replace(small.config, queue=queue))
    model = Summaries()
    memory = MemoryLab(small, lab, model)
    await memory.talk(14)
    folder = small.data_dir / "transcripts"
    folder.write_bytes(b"no folder")

    outcomes = [(await memory.consolidator.consolidate(memory.session)).outcome for _ in range(3)]

    assert (outcomes, await failures(memory), (await memory.state()).cursor) == (["failed"] * 3, "0", 0)
    assert await memory.memories.history(SCOPE) == []
    rests_ms = (await memory.unsettled(lab.bus))[memory.session] - await lab.server_ms()
    assert rests_ms > 0.8 * 1000 * small.config.queue.backoff_max_s
    # Only the first time was a summary paid for.
    assert len(model.requests) == 1
    folder.unlink()
    assert (await memory.consolidator.consolidate(memory.session)).outcome == "settled"
    await memory.whole()


async def test_what_was_cut_short_is_told_and_accounted_for(small: Process, lab: Lab) -> None:
    async def cut_short(request: Request) -> Answer:
        scope.cancel()
        return await hang(request)

    paid = saves("[2026-11-20 09:00] A.", memory="m")
    model = Summaries(msgspec.structs.replace(paid, usage=Usage(tokens_in=1_000, tokens_out=100)), cut_short)
    memory = MemoryLab(small, lab, model)
    await memory.talk(14)

    with capture_logs() as logs, anyio.CancelScope() as scope:
        await memory.consolidator.consolidate(memory.session)

    [done] = [line for line in logs if line["event"] == "consolidation.done"]
    assert (done["status"], done["upto"], done["tokens_in"]) == ("settled", (await memory.state()).cursor, 1_000)


async def test_what_stands_for_raw_entries_grows_no_longer_than_it_may(small: Process, lab: Lab) -> None:
    long = "They spoke of it. " * 2_000
    memory = MemoryLab(small, lab, Summaries(saves("[2026-11-20 09:00] A.", memory="m", continuity=long)))
    await memory.talk(5)
    await memory.consolidator.consolidate(memory.session, NOW)
    sizes = []
    for _ in range(12):
        await memory.talk(2)
        await lab.bus.call("HSET", lab.bus.keys.session(memory.session), "failures", 3)
        await memory.consolidator.consolidate(memory.session, NOW)
        continuity = (await memory.state()).continuity
        assert continuity is not None
        assert "4 messages" in continuity.text[-80:]
        sizes.append(len(continuity.text))

    assert max(sizes) < 1.2 * sizes[0]
    await memory.whole()


async def test_a_digest_that_would_lose_much_is_kept_as_a_rejected_version(small: Process, lab: Lab) -> None:
    facts = "\n".join(f"- fact {number}: Ann said so" for number in range(55))
    model = Summaries(
        saves("[2026-11-20 09:00] A.", memory=facts),
        ModelUnavailable("away"),
        saves("[2026-11-20 09:05] B.", memory=facts),
        saves("[2026-11-20 09:06] C.", memory="- short"),
    )
    memory = MemoryLab(small, lab, model)
    await memory.talk(4)
    await memory.consolidator.consolidate(memory.session, NOW)
    await lab.bus.call("HSET", lab.bus.keys.session(memory.session), "failures", 2)
    await memory.talk(4)
    await memory.consolidator.consolidate(memory.session, NOW)
    assert [entry.kind for entry in await memory.history()] == ["summary", "raw"]

    await start_over(memory)
    await memory.consolidator.consolidate(memory.session)

    newest, *_ = await memory.memories.versions(SCOPE)
    assert (newest.kind, newest.text) == ("rejected", "- short")
    assert (await memory.memories.current(SCOPE)).text == facts


async def test_a_raw_entry_becomes_memory_in_an_idle_chat_when_the_model_is_back(small: Process, lab: Lab) -> None:
    clock = ManualClock()
    model = Summaries(*[ModelUnavailable("away")] * 2, saves("[2026-11-20 09:00] A.", memory="- Ann likes tea"))
    memory = MemoryLab(replace(small, clock=clock), lab, model)
    await memory.talk(5)
    await lab.bus.call("HSET", lab.bus.keys.session(memory.session), "failures", 2)
    await memory.consolidator.consolidate(memory.session, NOW)
    asked = []
    # The first attempt comes after half a minute, and the second after as long as the entry has waited by then.
    for seconds in (0, 29, 2, 29, 5):
        clock.advance(seconds)
        await memory.consolidator.consolidate(memory.session)
        asked.append(len(model.requests))

    assert asked == [1, 1, 2, 2, 3]
    assert (await memory.memories.current(SCOPE)).text == "- Ann likes tea"
    assert [entry.kind for entry in await memory.history()] == ["raw"]
    assert await memory.unsettled(lab.bus) == {}
    assert "digest_at" not in await lab.fields()
    await memory.whole()


async def test_an_agent_consolidates_a_session_for_which_no_consolidation_worker_comes(small: Process, lab: Lab):
    memory = MemoryLab(small, lab, Summaries())
    await memory.talk(14, settle_tokens=0)

    async with anyio.create_task_group() as tg:
        tg.start_soon(partial(stand_in, memory.consolidator, after_s=0.01))
        await until(partial(_is_settled, memory))
        tg.cancel_scope.cancel()

    assert (await memory.state()).cursor > 0
    await memory.whole()


async def _is_settled(memory: MemoryLab) -> bool:
    return await memory.unsettled(memory.lab.bus) == {}


async def test_a_failed_flush_is_tried_again_once_before_its_messages_are_consolidated(small: Process, lab: Lab):
    away, kept = ModelUnavailable("away"), keeps("- Ann counts.\n- Ann likes tea.")
    model = Summaries(flushes=[away, kept])
    memory = MemoryLab(small, lab, model)
    await memory.talk(10, words=55)
    for _ in range(3):
        assert (await memory.consolidator.consolidate(memory.session)).outcome == "nothing"
    tried = len(model.flushes)
    await memory.talk(6, words=55)

    assert (await memory.consolidator.consolidate(memory.session)).outcome == "settled"

    assert (tried, messages_of(model.requests[0])[1][1].count("Ann counts.")) == (1, 1)
    assert "Ann likes tea." in (await memory.memories.versions(SCOPE))[-1].added


async def test_a_flush_that_fails_twice_is_done_without(small: Process, lab: Lab) -> None:
    model = Summaries(flushes=[ModelUnavailable("away")] * 2)
    memory = MemoryLab(small, lab, model)
    await memory.talk(14)

    assert (await memory.consolidator.consolidate(memory.session)).outcome == "settled"

    first, second, *later = (flush.messages for flush in model.flushes)
    assert first == second not in later
    assert "unflushed" not in await lab.fields()


async def test_a_flush_appends_no_line_that_the_memory_contains_already(small: Process, lab: Lab) -> None:
    model = Summaries(flushes=[keeps("# MEMORY.md\n## Ann\n- Ann counts.\n- Ann likes tea."), keeps("* ann counts.")])
    memory = MemoryLab(small, lab, model)
    await memory.stores.memories.edit(SCOPE, of=0, text="# People\n- Ann counts.", by="ann", time="t")
    await memory.talk(10, words=55)
    await memory.consolidator.consolidate(memory.session)

    assert (await memory.memories.current(SCOPE)).text == "# People\n- Ann counts.\n\n## Ann\n- Ann likes tea."


async def test_no_second_round_is_made_for_a_few_tokens_above_the_target(small: Process, lab: Lab) -> None:
    async def rounds_of(session: str, memory_words: int, **limits: int) -> tuple[int, int]:
        model = Summaries(*[saves("[2026-11-20 09:00] A.", memory="tea " * memory_words, continuity="C.")] * 9)
        memory = MemoryLab(replace(small, config=small_window(small.config, **limits)), lab, model, session=session)
        await memory.talk(14, fixed_tokens=240)
        report = await memory.consolidator.consolidate(session)
        after = await memory.consolidator.consolidate(session)
        await lab.bus.call("DEL", lab.bus.keys.memory(SCOPE))
        return report.rounds, after.tokens_before

    _, tokens = await rounds_of("web:ann", 1, rounds_max=1)
    words = 1_024 - tokens  # with so many more, MEMORY.md leaves the prompt at its target

    found = [await rounds_of(session, words + more) for session, more in (("web:bob", 15), ("web:cy", 30))]

    assert [rounds for rounds, _ in found] == [1, 2]


async def test_a_digest_that_kills_its_workers_is_given_up(small: Process, lab: Lab) -> None:
    class Killed(BaseException):
        pass

    async def summed_up(_request: Request) -> Answer:
        return saves("[2026-11-20 09:00] A.", memory="m")

    async def kill(_request: Request) -> Answer:
        raise Killed

    model = Summaries(*[summed_up, kill] * 3)
    memory = MemoryLab(small, lab, model)
    await memory.talk(5)
    await lab.bus.call("HSET", lab.bus.keys.session(memory.session), "failures", 3)
    await memory.consolidator.consolidate(memory.session, NOW)
    for _ in range(3):
        await start_over(memory)
        await memory.talk(2)
        await start_over(memory)
        with pytest.raises(BaseExceptionGroup):
            await memory.consolidator.consolidate(memory.session)
    assert len(await memory.memories.undigested(SCOPE)) == 1

    await memory.talk(2)
    await start_over(memory)
    await memory.consolidator.consolidate(memory.session)

    assert await memory.memories.undigested(SCOPE) == []
    assert "digests" not in await lab.fields()
    await memory.whole()


async def test_what_many_sessions_of_one_scope_come_to_is_all_remembered(small: Process, lab: Lab) -> None:
    names = [f"web:{name}" for name in ("ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal")]
    all_asked = anyio.Event()

    async def adds_who_spoke(request: Request) -> Answer:
        if len(model.requests) == len(names):
            all_asked.set()
        await all_asked.wait()
        return _adds_who_spoke(request)

    model = Summaries(*[adds_who_spoke] * 100)
    sessions = [MemoryLab(small, lab, model, session=name) for name in names]
    for memory in sessions:
        await lab.publish(f"hello {memory.session}", session=memory.session)
        claim = await lab.claim(memory.session)
        entries = [
            msgspec.structs.replace(entry, wire=msgspec.Raw(bytes(entry.wire).replace(b"why", memory.session.encode())))
            for entry in await memory.entries(0, turn=0, words=20)
        ]
        tokens = sum(entry.tokens for entry in entries)
        answered = tuple(entry.stream_id for entry in claim.begun.waiting)
        await lab.sessions.commit(claim, Commit(entries=tuple(entries), tokens=tokens, answered=answered), step=0)
        await start_over(memory)

    async with anyio.create_task_group() as tg:
        for memory in sessions:
            tg.start_soon(memory.consolidator.consolidate, memory.session)
    assert len(model.requests) <= 3 * len(names)
    await sessions[0].talk(3)
    await start_over(sessions[0])
    await sessions[0].consolidator.consolidate(names[0])
    await sessions[0].talk(3)
    await start_over(sessions[0])
    await sessions[0].consolidator.consolidate(names[0])

    remembered = (await sessions[0].memories.current(SCOPE)).text
    assert [name for name in names if name not in remembered] == []


def _adds_who_spoke(request: Request) -> Answer:
    said = msgspec.json.decode(request.messages[1])["content"]
    memory, _, spoken = said.partition("\n\n## Conversation to Process")
    memory = memory.partition("## Current Long-term Memory")[2].partition("\n")[2]
    found = sorted({word for word in spoken.split() if word.startswith("web:")})
    return saves(
        "[2026-11-20 09:00] " + " ".join(found), memory=memory.replace("(empty)", "") + "\n- " + " ".join(found)
    )


async def test_what_a_person_writes_while_the_model_sums_up_stays_and_the_model_is_asked_again(
    small: Process, lab: Lab
) -> None:
    memory = MemoryLab(small, lab, Summaries())

    async def edited_meanwhile(request: Request) -> Answer:
        await memory.memories.edit(SCOPE, of=0, text="Ann is a vet.", by="ann", time="2026-11-20T09:00:00.000Z")
        return saves("[2026-11-20 09:00] A.", memory="- talked")

    async def with_the_edit(request: Request) -> Answer:
        assert b"Ann is a vet." in request.messages[1]
        return saves("[2026-11-20 09:00] A.", memory="Ann is a vet.\n- talked")

    model = Summaries(edited_meanwhile, with_the_edit)
    memory = MemoryLab(small, lab, model)
    await memory.talk(5)

    await memory.consolidator.consolidate(memory.session, NOW)

    assert (await memory.memories.current(SCOPE)).text == "Ann is a vet.\n- talked"
    assert len(await memory.history()) == 1
    await memory.whole()


async def test_what_lies_before_a_new_conversation_is_taken_whole_and_alone(small: Process, lab: Lab) -> None:
    model = Summaries(saves("[2026-11-20 09:00] A.", memory="m", continuity="Before."))
    memory = MemoryLab(small, lab, model)
    await memory.talk(5)
    await memory.consolidator.consolidate(memory.session, NOW)
    await start_over(memory)
    await memory.talk(2)

    report = await memory.consolidator.consolidate(memory.session)

    # The newest turns before it too, without what stood where, and nothing from behind it.
    state, asked = await memory.state(), model.requests[-1].messages[1]
    assert (report.outcome, state.cursor, state.start, state.continuity) == ("settled", 10, 10, None)
    assert b"Before." not in asked
    assert b"answer 4 " in asked
    assert b"question 5 " not in asked
    await sums_are_true(memory)
    await memory.whole()


async def test_a_model_with_a_smaller_window_is_shown_as_much_of_the_summary_as_fits(small: Process, lab: Lab) -> None:
    model = Summaries()
    memory = MemoryLab(small, lab, model)
    await memory.talk(4)
    await memory.consolidator.consolidate(memory.session, NOW)
    # Made for a window sixteen times as large.
    continuity = msgspec.json.encode({"transcript": "transcript_1", "text": "They spoke of it again. " * 400})
    await lab.bus.call("HSET", lab.bus.keys.session(memory.session), "continuity", continuity)

    await answered(memory, "now")

    [prompt] = model.prompts
    state = await memory.state()
    assert prompt.tokens <= 2_048
    assert "[Conversation compressed. Transcript: transcript_1]" in messages_of(prompt)[1][1]
    assert "answer 3 " in messages_of(prompt)[-2][1]
    assert state.cursor == 4


@pytest.mark.parametrize(
    ("scope", "second", "named"),
    [("pond:workspace", "ann", b""), ("pond:workspace", "bob", b"[bob] "), ("pond:group:web%3Aann", "ann", b"[ann] ")],
)
async def test_in_a_group_the_summary_is_asked_for_with_names(
    small: Process, lab: Lab, scope: str, second: str, named: bytes
) -> None:
    model = Summaries()
    memory = MemoryLab(small, lab, model)
    await memory.talk(4)
    await lab.bus.call("HSET", lab.bus.keys.session(memory.session), "scope", scope)
    said = msgspec.json.encode(msgspec.structs.replace((await memory.log())[2], sender=second))
    await lab.bus.call("LSET", lab.bus.keys.log(memory.session), 2, said)

    await memory.consolidator.consolidate(memory.session, NOW)

    assert b"USER: " + named + b"question 1 " in model.requests[0].messages[1]


async def test_a_memory_file_of_a_megabyte_stops_nothing(small: Process, lab: Lab) -> None:
    model = Summaries()
    memory = MemoryLab(small, lab, model)
    text = "".join(f"- fact {number} of many, each as long as this one\n" for number in range(20_000))
    await memory.memories.edit(SCOPE, of=0, text=text, by="ann", time="2026-11-20T09:00:00.000Z")
    await memory.talk(14)

    report = await memory.consolidator.consolidate(memory.session)

    assert report.outcome == "settled"
    assert all(request.tokens <= 2_048 for request in (*model.requests, *model.flushes))
    assert (await memory.memories.current(SCOPE)).text.startswith(text[:1000])
    await memory.whole()


async def test_a_session_whose_bot_is_not_configured_here_rests(small: Process, lab: Lab) -> None:
    memory = MemoryLab(small, lab, Summaries())
    await memory.talk(14)
    await lab.bus.call("HSET", lab.bus.keys.session(memory.session), "scope", "gone:workspace")
    stream = lab.bus.keys.grew(lab.bus.keys.partition(memory.session))
    events = await lab.bus.call("XLEN", stream)
    before_ms = await lab.server_ms()

    with pytest.raises(ConfigError):
        await memory.consolidator.consolidate(memory.session)

    assert await lab.bus.call("XLEN", stream) == events
    assert (await memory.unsettled(lab.bus))[memory.session] > before_ms
    assert await lab.bus.call("HGET", lab.bus.keys.lock(memory.session), "nonce") is None


@pytest.mark.parametrize("scope", ["pond:person:web:%E5%90%B4%3A1%25", "pond:group:slack%3Ateam:C1:17.2"])
async def test_any_scope_and_session_will_do(small: Process, lab: Lab, scope: str) -> None:
    memory = MemoryLab(small, lab, Summaries(), session="web:%E5%90%B4%3A%25:2")
    await memory.talk(14)
    await lab.bus.call("HSET", lab.bus.keys.session(memory.session), "scope", scope)

    report = await memory.consolidator.consolidate(memory.session)

    assert report.outcome == "settled"
    assert (await memory.memories.history(scope))[-1].upto == (await memory.state()).cursor
    [segment, *_] = await memory.stores.archive.segments(memory.session)
    assert len(await memory.stores.archive.read(segment)) == segment.upto


async def test_a_worker_that_stops_gives_its_session_to_the_next_at_once(small: Process, lab: Lab) -> None:
    asked = anyio.Event()

    async def hangs(request: Request) -> Answer:
        asked.set()
        return await hang(request)

    config = msgspec.structs.replace(small.config, run=msgspec.structs.replace(small.config.run, grace_s=0.2))
    model = Summaries(hangs)
    memory = MemoryLab(replace(small, config=config), lab, model)
    await memory.talk(14, settle_tokens=0)
    process = replace(memory.process, stopping=anyio.Event())
    async with anyio.create_task_group() as tg:
        await tg.start(lambda *, task_status: serve(process, task_status=task_status))
        with anyio.fail_after(HANG_S):
            await asked.wait()
        process.stopping.set()

    assert (await failures(memory), len(model.requests)) == ("0", 1)
    assert await lab.bus.call("HGET", lab.bus.keys.lock(memory.session), "nonce") is None
    await serve_until_settled(memory)
    assert await failures(memory) == "0"
    await memory.whole()


async def test_events_that_are_lost_doubled_or_garbage_change_nothing(small: Process, lab: Lab) -> None:
    model = Summaries()
    memory = MemoryLab(small, lab, model)
    await memory.talk(14, settle_tokens=0)
    stream = lab.bus.keys.grew(lab.bus.keys.partition(memory.session))
    await lab.bus.call("DEL", stream)

    await serve_until_settled(memory)  # by the sweep
    asked = len(model.requests)
    event = msgspec.json.encode({"type": "session-grew", "session": memory.session, "head": 1})
    nobody = msgspec.json.encode({"type": "session-grew", "session": "web:nobody", "head": 1})
    for garbage in (event, event, b"{}", b"[1]", b"\xff", nobody):
        await lab.bus.call("XADD", stream, "*", "event", garbage)
    await serve_until_settled(memory)

    assert len(model.requests) == asked
    assert await lab.bus.call("EXISTS", lab.bus.keys.session("web:nobody")) == 0
    await memory.whole()


async def test_a_session_that_rests_after_a_failure_is_not_asked_for_again_by_whatever_is_said(
    small: Process, lab: Lab
) -> None:
    memory = MemoryLab(small, lab, Summaries(ModelUnavailable("away")))
    locks = memory.stores.locks
    await memory.talk(14, settle_tokens=0)
    assert await locks.wants(memory.session)
    assert (await memory.consolidator.consolidate(memory.session)).outcome == "failed"

    await memory.talk(3, settle_tokens=0)

    assert not await locks.wants(memory.session)
    with anyio.fail_after(HANG_S):
        while memory.session not in await locks.due(_at(memory)):  # noqa: ASYNC110 - its rest ends on the server
            await anyio.sleep(0.02)


def _at(memory: MemoryLab) -> int:
    return memory.lab.bus.keys.partition(memory.session)


async def test_no_more_sessions_are_consolidated_at_a_time_than_there_are_slots(small: Process, lab: Lab) -> None:
    at_once = most = 0
    two = anyio.Event()

    async def slow(_request: Request) -> Answer:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        if at_once == 2:
            await anyio.sleep(0.05)  # time for a third one
            two.set()
        await two.wait()
        at_once -= 1
        return saves("[2026-11-20 09:00] A.", memory="m")

    config = small_window(small.config, slots=2)
    sessions = [
        MemoryLab(replace(small, config=config), lab, Summaries(*[slow] * 9), session=f"web:{at}") for at in range(5)
    ]
    for memory in sessions:
        await memory.talk(14, settle_tokens=0)

    await serve_until_settled(*sessions[:1])

    assert most == 2


async def serve_until_settled(memory: MemoryLab) -> None:
    """A worker until nothing is to be settled, and nothing is to be heard."""
    process = replace(memory.process, stopping=anyio.Event())
    keys = memory.lab.bus.keys
    async with anyio.create_task_group() as tg:
        await tg.start(lambda *, task_status: serve(process, task_status=task_status))
        with anyio.fail_after(HANG_S):
            while await memory.unsettled(memory.lab.bus) or await memory.lab.bus.call(  # noqa: ASYNC110 - on the server
                "XLEN", keys.grew(keys.partition(memory.session))
            ):
                await anyio.sleep(0.02)
        process.stopping.set()


async def test_a_turn_misses_nothing_that_moves_into_memory_while_it_reads(small: Process, lab: Lab) -> None:
    # What is still to be flushed would stay in Redis.
    config = msgspec.structs.replace(small.config, memory_flush=MemoryFlushConfig(enabled=False))
    small = replace(small, config=config)
    left = 0
    for moment in range(6):
        memory = MemoryLab(small, lab, Summaries(*[_lists_questions] * 9), session=f"web:{moment}")
        await memory.talk(14)
        claimed = await memory.state()
        bus = _Interrupted(lab.bus, moment, partial(memory.consolidator.consolidate, memory.session, NOW))
        reader = HistoryLoader(SessionReader(bus), Memories(bus), small.config.micro_compact)

        past, _ = await reader.read(memory.session, claimed, upto=claimed.head, budget_tokens=100_000)

        shown = b"".join(bytes(entry.wire) for entry in past.history).decode() + past.memory
        assert [number for number in range(14) if f"question {number} " not in shown] == []
        left += past.continuity is not None
        await lab.bus.call("DEL", lab.bus.keys.memory(SCOPE))
    assert left, "at some moment what it wanted to read had left Redis"


async def lost_memory(memory: MemoryLab, lab: Lab) -> int:
    """A long conversation whose memory has lost what it knew of it in a failover; the cursor."""
    await memory.talk(25)
    await memory.consolidator.consolidate(memory.session)
    state = await memory.state()
    assert 0 < state.base == state.cursor
    for key in (lab.bus.keys.memory, lab.bus.keys.history, lab.bus.keys.versions):
        await lab.bus.call("DEL", key(SCOPE))
    return state.cursor


async def test_what_a_memory_has_lost_is_taken_in_again_from_the_archive(small: Process, lab: Lab) -> None:
    memory = MemoryLab(small, lab, Summaries())
    cursor = await lost_memory(memory, lab)

    for _ in range(4):
        await memory.consolidator.consolidate(memory.session)

    entries = [entry for entry in await memory.history() if entry.upto <= cursor]
    assert (entries[0].first, entries[-1].upto) == (0, cursor)
    assert {entry.kind for entry in entries} == {"summary"}
    await memory.whole()


async def test_what_can_be_read_back_from_nowhere_is_said_in_the_history_and_passed_over(small: Process, lab: Lab):
    memory = MemoryLab(small, lab, Summaries())
    await lost_memory(memory, lab)
    first, *_ = await memory.stores.archive.segments(memory.session)
    first.path(small.data_dir).unlink()

    with capture_logs() as logs:
        for _ in range(4):
            await memory.consolidator.consolidate(memory.session)

    lost = [entry for entry in await memory.history() if "cannot be read back" in entry.text]
    assert [(entry.first, entry.upto, entry.kind) for entry in lost] == [(0, first.upto, "raw")]
    assert [line["upto"] for line in logs if line["event"] == "memory.unrepeated"] == [first.upto]
    joined = sorted(await memory.history(), key=lambda entry: entry.first)
    assert [entry.first for entry in joined] == [0, *(entry.upto for entry in joined[:-1])]


async def test_while_the_archive_is_away_nothing_is_passed_over(small: Process, lab: Lab) -> None:
    memory = MemoryLab(small, lab, Summaries())
    await lost_memory(memory, lab)
    (small.data_dir / "transcripts").rename(small.data_dir / "unmounted")

    report = await memory.consolidator.consolidate(memory.session)

    assert (report.outcome, await memory.history()) == ("failed", [])
    (small.data_dir / "unmounted").rename(small.data_dir / "transcripts")
    for _ in range(4):
        await memory.consolidator.consolidate(memory.session)
    assert {entry.kind for entry in await memory.history()} == {"summary"}


async def test_an_archive_that_hangs_costs_one_turn_its_wait_and_no_further_summary(
    small: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, calls, clock = Summaries(), list[str](), ManualClock()
    memory = MemoryLab(replace(small, clock=clock), lab, model)
    await memory.talk(25)

    async def hangs(*_args: object) -> object:
        calls.append("call")
        clock.advance(SLOW_S)
        turn.cancel()  # it waited as long as it may
        return await anyio.sleep(HANG_S)

    with monkeypatch.context() as patch:
        patch.setattr(LocalStorage, "_run", hangs)
        with anyio.CancelScope() as turn:
            await memory.consolidator.awaited(memory.session, NOW, within_s=HANG_S)
        paid = len(model.requests)
        later = await memory.consolidator.awaited(memory.session, NOW, within_s=HANG_S)
        paid_later = len(model.requests)
    clock.advance(PAUSE_MAX_S)
    back = await memory.consolidator.consolidate(memory.session, NOW)

    assert (turn.cancelled_caught, later.outcome, back.outcome) == (True, "failed", "settled")
    assert (len(calls), paid_later) == (1, paid)
    await memory.whole()


async def test_what_a_worker_that_died_had_no_time_to_trim_leaves_with_the_next_consolidation(
    small: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = MemoryLab(small, lab, Summaries())
    await memory.talk(25)
    with monkeypatch.context() as patch:

        async def dies(*_args: object) -> int:
            return 0

        patch.setattr(Archive, "trim", dies)
        await memory.consolidator.consolidate(memory.session)
    state = await memory.state()
    assert (state.base, state.cursor > 0) == (0, True)

    await memory.consolidator.consolidate(memory.session)

    assert (await memory.state()).base == state.cursor
    await memory.whole()


async def test_what_is_said_and_begun_anew_while_the_model_sums_up_keeps_the_sums_true(small: Process, lab: Lab):
    async def talks(_request: Request) -> Answer:
        await memory.talk(2)
        return saves("[2026-11-20 09:00] A.", memory="m", continuity="Talking.")

    async def starts_over(_request: Request) -> Answer:
        await start_over(memory)
        return saves("[2026-11-20 09:01] B.", memory="m", continuity="Talking still.")

    memory = MemoryLab(small, lab, Summaries(talks, starts_over))
    await memory.talk(5)

    await memory.consolidator.consolidate(memory.session, NOW)
    await sums_are_true(memory)
    assert [(await memory.state()).cursor, (await memory.state()).head] == [6, 14]
    await memory.consolidator.consolidate(memory.session, NOW)

    # The second range ended before the new start: what is said of it is nobody's continuity.
    state = await memory.state()
    assert (state.cursor, state.start, state.head, state.continuity) == (14, 14, 14, None)
    await sums_are_true(memory)
    await memory.whole()


async def test_a_turn_in_progress_goes_on_over_a_cursor_that_moves(small: Process, lab: Lab) -> None:
    memory = MemoryLab(small, lab, Summaries())
    await memory.talk(6)
    await lab.publish("now", session=memory.session)
    claim = await lab.claim(memory.session)
    question, answer = await memory.entries(6, turn=claim.begun.head, words=20)
    await lab.sessions.journal(claim, step=0, entries=[question])

    await memory.consolidator.consolidate(memory.session, NOW)
    answered_ids = tuple(entry.stream_id for entry in claim.begun.waiting)
    commit = Commit(entries=(answer,), tokens=question.tokens + answer.tokens, answered=answered_ids)
    await lab.sessions.commit(claim, commit, step=1)

    state = await memory.state()
    assert (state.cursor, state.head) == (8, 14)
    await sums_are_true(memory)
    await memory.whole()


async def test_a_turn_whose_consolidation_is_skipped_waits_for_nothing_and_nobody_has_failed(small: Process, lab: Lab):
    model = Summaries()
    small = replace(small, config=small_window(small.config, turn_wait_s=10 * HANG_S))
    memory = MemoryLab(small, lab, model)
    await memory.talk(25)
    of_model = summary_calls.breaker_of(summary_model_of(small.config.bots["pond"]), small.config.consolidation)
    for _ in range(5):
        of_model.failed()

    with capture_logs() as logs:
        await answered(memory, "now")

    [waited] = [line for line in logs if line["event"] == "turn.waited"]
    assert (waited["status"], await failures(memory)) == ("skipped", "0")
    [prompt] = model.prompts
    assert prompt.tokens <= 2_048
    assert "answer 24 " in messages_of(prompt)[-2][1]
    assert not model.requests


async def test_all_models_are_closed_that_a_process_connected_to(small: Process, lab: Lab) -> None:
    connected: list[Summaries] = []
    closed: list[Summaries] = []

    class Connected(Summaries):
        async def aclose(self) -> None:
            closed.append(self)

    async def connect(_config: object, *, language: str) -> Summaries:
        connected.append(Connected())
        return connected[-1]

    memory = MemoryLab(small, lab, Summaries())
    memory.process = replace(memory.process, connect_model=connect)
    await memory.talk(25)

    await answered(memory, "now")

    assert len(connected) == 2
    assert closed == connected


async def test_a_turn_that_could_not_wait_tells_a_worker(small: Process, lab: Lab) -> None:
    memory = MemoryLab(small, lab, Summaries(hang))
    await memory.talk(25)
    stream = lab.bus.keys.grew(lab.bus.keys.partition(memory.session))
    await lab.bus.call("DEL", stream)

    report = await memory.consolidator.awaited(memory.session, ConsolidationRequest(at="budget"), within_s=0.3)

    assert (report.outcome, await failures(memory)) == ("skipped", "0")
    assert await lab.bus.call("XLEN", stream) == 1
    await serve_until_settled(memory)
    assert (await memory.state()).cursor > 0
    await memory.whole()


async def _lists_questions(request: Request) -> Answer:
    said = messages_of(request)[1][1]
    memory = "".join(f"question {number} .\n" for number in range(14) if f"question {number} " in said)
    return saves("[2026-11-20 09:00] A.", memory=memory)


class _Interrupted:
    """A bus at whose ``moment``-th call, counted from 0, something else comes first."""

    def __init__(self, bus: Any, moment: int, first: Callable[[], Any]) -> None:
        self._bus = bus
        self._left = moment
        self._first = first

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bus, name)

    async def call(self, *parts: Any) -> Any:
        if self._left == 0:
            await self._first()
        self._left -= 1
        return await self._bus.call(*parts)

    async def run(self, *parts: Any) -> Any:
        if self._left == 0:
            await self._first()
        self._left -= 1
        return await self._bus.run(*parts)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.sampled_from(["talk", "long", "new", "compact", "settle", "cut", "raw"]), max_size=14))
async def test_sums_and_entries_are_true_whatever_happens(small: Process, lab: Lab, steps: list[str]) -> None:
    memory = MemoryLab(small, lab, Summaries(), session=f"web:{next(_numbers)}")
    await memory.talk(1)
    for step in steps:
        await _step(memory, step)
        await sums_are_true(memory)
    await memory.consolidator.consolidate(memory.session)
    await sums_are_true(memory)
    state = await memory.state()
    entries = [entry for entry in await memory.history() if entry.session == memory.session]
    assert [entry.first for entry in entries] == [0, *(entry.upto for entry in entries)][: len(entries)]
    assert state.cursor == (entries[-1].upto if entries else 0)
    assert state.cursor >= state.start or state.head == 0


async def _step(memory: MemoryLab, step: str) -> None:
    if step in ("talk", "long"):
        await memory.talk(2, words=20 if step == "talk" else 300)
    elif step == "new":
        await start_over(memory)
    elif step == "cut":
        with anyio.CancelScope() as scope:
            bus = StoppingBus(memory.process.bus, at=5, cancel=scope)
            stores = stores_of(replace(memory.process, bus=bus))
            await Consolidator(stores, Kits(memory.process)).consolidate(memory.session, NOW)
        # Cut while it took the lock, it holds it under a name that nobody knows.
        await lock_shifted(memory.lab.bus, memory.session, -3_600_000)
    else:
        if step == "raw":
            await memory.lab.bus.call("HSET", memory.lab.bus.keys.session(memory.session), "failures", 3)
        await memory.consolidator.consolidate(memory.session, NOW if step == "compact" else ConsolidationRequest())
