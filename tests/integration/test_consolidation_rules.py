"""Rules of consolidation that are easily broken: what is owed to a session is done, and once; what counts as failed."""

from dataclasses import replace
from typing import Any

import anyio
import msgspec
import pytest

from daemon.config import summary_model_of
from daemon.errors import ArchiveError, ModelUnavailable
from daemon.model import Answer, Request
from daemon.process import Process
from daemon.session import Change, Commit
from tests.conftest import Lab
from tests.memorylab import SCOPE, MemoryLab, Summaries, saves, small_window
from workers.consolidation import Want, breaker

pytestmark = pytest.mark.anyio

NOW = Want(at="now")


@pytest.fixture(autouse=True)
def fresh_breakers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests let fail opens no breaker here."""
    monkeypatch.setattr(breaker, "_breakers", {})


@pytest.fixture
def small(process: Process) -> Process:
    """A process whose bot has a small window."""
    return replace(process, config=small_window(process.config))


def keeps(text: str) -> Answer:
    """The answer of a silent turn that has something to store."""
    return Answer(text=text, model="summaries")


async def hang(_request: Request) -> Answer:
    """A model that does not answer."""
    await anyio.sleep(60)
    raise AssertionError


async def start_over(memory: MemoryLab) -> None:
    """``/new``."""
    await memory.lab.publish("over", session=memory.session)
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
    """The session's token sums are those of its messages."""
    state, log = await memory.state(), await memory.lab.log(memory.session)
    assert state.tokens == sum(entry.tokens for entry in log[state.cursor :])
    assert state.tokens_start == sum(entry.tokens for entry in log[state.start :])


# Flush


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
    memory = MemoryLab(small, lab, Summaries(flushes=[hang]))
    await memory.talk(14)

    with anyio.move_on_after(0.3):
        await memory.consolidator.consolidate(memory.session)

    assert await failures(memory) == "0"
    assert list(await memory.unsettled(lab.bus)) == [memory.session]


async def test_a_flush_that_was_skipped_is_made_up_for_before_the_consolidation(small: Process, lab: Lab) -> None:
    model = Summaries(flushes=[keeps("Ann counts questions.")])
    memory = MemoryLab(small, lab, model)
    await memory.talk(14)
    of_model = breaker.breaker_of(summary_model_of(small.config.bots["pond"]), small.config.consolidation)
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


# /new


async def test_a_new_conversation_begun_beside_a_look_at_the_session_is_not_forgotten(small: Process, lab: Lab) -> None:
    memory = MemoryLab(small, lab, Summaries())
    await memory.talk(3)
    lock = await memory.rooms.locks.take(memory.session)
    assert lock is not None
    await start_over(memory)

    await memory.rooms.locks.give_back(lock, again_in_s=None)

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
    log = await lab.log(memory.session)
    assert state.cursor > 6
    # The session was set back by a failover to the moment after /new: the memory was not.
    sums = {"tokens": sum(e.tokens for e in log), "tokens_start": sum(e.tokens for e in log[6:])}
    fields = {"cursor": 0, "start": 6, **sums}
    await lab.bus.call("HSET", keys.session(memory.session), *[part for pair in fields.items() for part in pair])
    await lab.bus.call("HDEL", keys.session(memory.session), "settled", "continuity")

    await memory.consolidator.consolidate(memory.session)

    assert (await memory.state()).cursor >= state.cursor
    await sums_are_true(memory)
    await memory.whole()


# Failures


async def test_a_memory_that_was_set_back_far_is_taken_in_again_and_that_is_no_failure(
    small: Process, lab: Lab
) -> None:
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

    with pytest.raises(msgspec.DecodeError):
        await memory.consolidator.consolidate(memory.session)

    assert await lab.bus.call("XLEN", lab.bus.keys.grew(lab.bus.keys.partition(memory.session))) == events
    assert (await memory.unsettled(lab.bus))[memory.session] > await lab.server_ms()


async def test_a_full_disk_is_no_failure_of_the_model_and_the_session_rests_long(
    small: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = MemoryLab(small, lab, Summaries())
    await memory.talk(14)

    async def full(*_args: Any) -> None:
        raise ArchiveError("no room")

    monkeypatch.setattr(memory.rooms.archive, "write", full)
    report = await memory.consolidator.consolidate(memory.session)

    assert (report.outcome, await failures(memory), (await memory.state()).cursor) == ("failed", "0", 0)
    assert await memory.memories.history(SCOPE) == []
    rests_ms = (await memory.unsettled(lab.bus))[memory.session] - await lab.server_ms()
    assert rests_ms > 0.8 * 1000 * small.config.queue.backoff_max_s


# Raw entries


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
