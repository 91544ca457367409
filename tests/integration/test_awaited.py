"""Turns whose conversations have grown: what they wait for, what their models see, what people ask for."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import msgspec
import pytest
from structlog.testing import capture_logs

from daemon.errors import ModelUnavailable
from daemon.events import Notice
from daemon.model import Answer, Request, ToolCall
from daemon.process import Process
from daemon.session import ConsolidationLock, ConsolidationLocks
from tests.conftest import Lab
from tests.limits import HANG_S, until
from tests.memorylab import WINDOW_TOKENS, MemoryLab, Summaries, messages_of, saves, small_window
from workers.agent.service import serve
from workers.consolidation import ConsolidationRequest
from workers.consolidation.lock_holder import unless_wanted

BUDGET_TOKENS = WINDOW_TOKENS // 2


@pytest.fixture
def small(process: Process) -> Process:
    """A process whose bot has a small window, and whose turns wait for as long as it takes."""
    return replace(process, config=small_window(process.config, turn_wait_s=10 * HANG_S))


@pytest.fixture
def hasty(process: Process) -> Process:
    return replace(process, config=small_window(process.config, turn_wait_s=0.3))


@asynccontextmanager
async def working(memory: MemoryLab) -> AsyncGenerator[None]:
    process = replace(memory.process, stopping=anyio.Event())

    async def run(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        await serve(process, task_status=task_status)

    async with anyio.create_task_group() as tg:
        await tg.start(run)
        yield
        process.stopping.set()


async def answered(memory: MemoryLab, message_id: str, **more: Any) -> None:
    await memory.lab.publish(message_id, session=memory.session, **more)
    async with working(memory):
        await until(lambda: _nobody_waits(memory))


async def _nobody_waits(memory: MemoryLab) -> bool:
    state = await memory.state()
    return state.waiting == 0 and not state.worker


async def notices(memory: MemoryLab) -> list[Notice]:
    found = await memory.lab.bus.call("XRANGE", memory.lab.bus.keys.notices(memory.session), "-", "+")
    return [msgspec.json.decode(fields[b"notice"], type=Notice) for _, fields in _fields(found)]


def _fields(found: Any) -> list[tuple[bytes, dict[bytes, bytes]]]:
    return [
        (entry_id, fields if isinstance(fields, dict) else dict(zip(fields[::2], fields[1::2], strict=True)))
        for entry_id, fields in found
    ]


async def test_a_turn_whose_prompt_does_not_fit_consolidates_first(small: Process, lab: Lab) -> None:
    model = Summaries(saves("[2026-11-20 09:00] They talked.", memory="Ann asks.", continuity="Ann wants to know why."))
    memory = MemoryLab(small, lab, model)
    await memory.talk(25)

    await answered(memory, "now")

    state = await memory.state()
    [prompt] = model.prompts
    (_, system), (_, head), (_, understood), *rest = messages_of(prompt)
    assert prompt.tokens <= BUDGET_TOKENS
    assert 0 < state.cursor < state.head
    assert "# Memory\n\n" in system
    assert head.startswith("[Conversation compressed. Transcript: transcript_")
    assert understood == "Understood. I have the context from the summary. Continuing."
    assert rest[0][0] == "user"
    assert f"question {state.cursor // 2} " in rest[0][1]
    await memory.whole()


async def test_a_turn_waits_no_longer_than_its_deadline_and_takes_the_failure_back(hasty: Process, lab: Lab) -> None:
    model = Summaries(hang)
    memory = MemoryLab(hasty, lab, model)
    await memory.talk(25)

    await answered(memory, "now")

    [prompt] = model.prompts
    assert prompt.tokens <= BUDGET_TOKENS
    assert "question 24 " in messages_of(prompt)[-3][1]
    assert (await lab.fields()).get("failures", "0") == "0"
    assert await lab.bus.call("HGET", lab.bus.keys.lock("web:ann"), "nonce") is None
    assert "web:ann" in await memory.unsettled(lab.bus)
    assert (await memory.consolidator.consolidate("web:ann")).outcome == "settled"
    await memory.whole()


async def test_after_a_wait_that_brought_nothing_turns_send_what_fits_until_the_cursor_moves(
    hasty: Process, small: Process, lab: Lab
) -> None:
    model = Summaries(hang)
    memory = MemoryLab(hasty, lab, model)
    await memory.talk(25)

    async with working(memory):
        with capture_logs() as logs:
            for number in range(4):
                await memory.lab.publish(f"hung {number}", session="web:ann")
                await until(lambda: _nobody_waits(memory))
        paid = len(model.requests)
    await memory.consolidator.consolidate("web:ann")
    await memory.talk(25)
    memory.process = replace(memory.process, config=small_window(hasty.config, turn_wait_s=HANG_S))
    with capture_logs() as later:
        await answered(MemoryLab(small, lab, model), "later")

    statuses = [[line["status"] for line in each if line["event"] == "turn.waited"] for each in (logs, later)]
    assert statuses == [["skipped"], ["settled"]]
    # The request that the first turn made goes on behind the turns: no turn cancels a request, or makes another.
    assert paid == 1
    assert all(prompt.tokens <= BUDGET_TOKENS for prompt in model.prompts)
    assert "question 24 " in messages_of(model.prompts[3])[-9][1]
    await memory.whole()


async def test_a_consolidation_for_which_a_turn_waited_in_vain_is_finished(hasty: Process, lab: Lab) -> None:
    sent = anyio.Event()

    async def slow(_request: Request) -> Answer:
        await sent.wait()
        return saves("[2026-11-20 09:00] They talked.", memory="Ann asks.")

    model = Summaries(slow)
    memory = MemoryLab(hasty, lab, model)
    await memory.talk(25)

    async with working(memory):
        await memory.lab.publish("now", session="web:ann")
        await until(lambda: _nobody_waits(memory))
        before = await memory.state()
        sent.set()
        await until(lambda: _settled(memory))

    assert (before.cursor, len(model.prompts)) == (0, 1)
    [entry, *_] = await memory.history()
    assert entry.text == "[2026-11-20 09:00] They talked."
    await memory.whole()


async def _settled(memory: MemoryLab) -> bool:
    return (await memory.state()).cursor > 0 and await memory.lab.bus.call(
        "HGET", memory.lab.bus.keys.lock(memory.session), "nonce"
    ) is None


@pytest.mark.parametrize("is_before_a_consolidation", [True, False])
async def test_a_flush_gives_way_to_a_turn_that_waits(
    small: Process, lab: Lab, is_before_a_consolidation: bool
) -> None:
    flushing = anyio.Event()

    async def flush(request: Request) -> Answer:
        flushing.set()
        return await hang(request)

    model = Summaries(flushes=[flush])
    memory = MemoryLab(small, lab, model)
    await memory.talk(14 if is_before_a_consolidation else 10, words=50 if is_before_a_consolidation else 55)
    background = MemoryLab(small, lab, model).consolidator

    async with anyio.create_task_group() as tg:
        tg.start_soon(background.consolidate, "web:ann")
        await flushing.wait()
        await memory.talk(12)
        with anyio.fail_after(HANG_S):
            report = await memory.consolidator.awaited("web:ann", ConsolidationRequest(at="budget"), within_s=HANG_S)

    fields = await lab.fields()
    assert (report.outcome in ("settled", "nothing"), fields["failures"]) == (True, "0")
    assert (await memory.state()).cursor > 0
    # It is made up for afterwards.
    assert fields["unflushed"].startswith("0 ")
    await memory.whole()


async def test_a_flush_is_not_begun_while_a_turn_waits(small: Process, lab: Lab) -> None:
    memory = MemoryLab(small, lab, Summaries())
    await memory.talk(1)
    locks = memory.consolidator.stores.locks
    lock = await locks.take("web:ann")
    assert lock is not None
    assert await locks.take("web:ann", waits=True) is None
    begun = anyio.Event()

    async def flush() -> bool:
        begun.set()
        return True

    assert (await unless_wanted(locks, lock, flush), begun.is_set()) == (None, False)


async def hang(_request: Request) -> Answer:
    await anyio.sleep_forever()
    raise AssertionError


async def test_a_model_that_gives_no_summary_leaves_the_newest_messages_in_sight(small: Process, lab: Lab) -> None:
    model = Summaries(ModelUnavailable("away"))
    memory = MemoryLab(small, lab, model)
    await memory.talk(25)

    await answered(memory, "now")

    [prompt] = model.prompts
    assert prompt.tokens <= BUDGET_TOKENS
    assert "answer 24 " in messages_of(prompt)[-2][1]
    assert (await lab.fields())["failures"] == "1"
    assert (await memory.state()).cursor == 0


async def test_turns_make_no_request_for_a_consolidation_that_rests_after_a_failure(small: Process, lab: Lab) -> None:
    queue = msgspec.structs.replace(small.config.queue, backoff_min_s=3_600.0, backoff_max_s=3_600.0)
    model = Summaries(ModelUnavailable("away"))
    memory = MemoryLab(replace(small, config=msgspec.structs.replace(small.config, queue=queue)), lab, model)
    await memory.talk(25)

    async with working(memory):
        for number in range(4):
            await memory.lab.publish(f"away {number}", session="web:ann")
            await until(lambda: _nobody_waits(memory))

    assert (len(model.requests), (await memory.state()).cursor) == (1, 0)


@pytest.mark.parametrize("ends", [True, False])
async def test_a_consolidation_under_way_elsewhere_is_waited_for_until_the_deadline(
    small: Process, hasty: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch, ends: bool
) -> None:
    async def take(locks: ConsolidationLocks, session: str, **more: Any) -> ConsolidationLock | None:
        nonlocal times
        times += 1
        if times == 3 and ends:
            await locks.give_back(lock, again_in_s=None)
        return await real(locks, session, **more)

    real, times = ConsolidationLocks.take, 0
    model = Summaries()
    memory = MemoryLab(small if ends else hasty, lab, model)
    await memory.talk(25)
    lock = await memory.stores.locks.take("web:ann")
    assert lock is not None
    monkeypatch.setattr(ConsolidationLocks, "take", take)
    monkeypatch.setattr("workers.consolidation.consolidator.LOOK_S", 0.01)

    with capture_logs() as logs:
        await answered(memory, "now")

    [waited] = [line for line in logs if line["event"] == "turn.waited"]
    assert waited["status"] == ("settled" if ends else "busy")
    assert model.prompts[0].tokens <= BUDGET_TOKENS
    await memory.stores.locks.give_back(lock, again_in_s=None)


async def test_the_model_can_have_the_conversation_compacted_within_its_turn(small: Process, lab: Lab) -> None:
    call = ToolCall(id="c1", name="compact", arguments=json.dumps({"focus": "the numbers"}))
    model = Summaries(
        saves("[2026-11-20 09:00] Talk.", memory="", continuity="Numbers matter."),
        answers=[Answer(text="", tool_calls=(call,)), Answer(text="done")],
    )
    config = small.config
    bot = msgspec.structs.replace(config.bots["pond"], tools=("compact",))
    small = replace(small, config=msgspec.structs.replace(config, bots={"pond": bot}))
    memory = MemoryLab(small, lab, model)
    await memory.talk(6)

    await answered(memory, "now")

    first, second = model.prompts
    assert not any("Conversation compressed" in text for _, text in messages_of(first))
    assert "Numbers matter." in messages_of(second)[1][1]
    assert [role for role, _ in messages_of(second)[-3:]] == ["user", "assistant", "tool"]
    assert "older messages were replaced with a summary" in messages_of(second)[-1][1]
    assert "the numbers" in messages_of(model.requests[0])[1][1]
    assert (await memory.state()).cursor == 8
    await memory.whole()


async def test_people_can_have_a_conversation_compacted(small: Process, lab: Lab) -> None:
    model = Summaries()
    memory = MemoryLab(small, lab, model)
    await memory.talk(6)

    await answered(memory, "now", command="compact", text="/compact what we decided")

    [notice] = await notices(memory)
    assert notice.text.startswith("8 older messages were replaced")
    assert "what we decided" in messages_of(model.requests[0])[1][1]
    assert ((await memory.state()).cursor, (await memory.state()).head) == (8, 12)
    await answered(memory, "again", command="compact", text="/compact")
    assert (await notices(memory))[-1].text.startswith("There was nothing to summarize")


async def test_a_new_conversation_is_settled_in_the_background_and_not_carried_over(small: Process, lab: Lab) -> None:
    model = Summaries()
    memory = MemoryLab(small, lab, model)
    await memory.talk(3)
    await answered(memory, "over", command="new", text="/new")
    assert list(await memory.unsettled(lab.bus)) == ["web:ann"]

    report = await memory.consolidator.consolidate("web:ann")

    state = await memory.state()
    assert (report.outcome, state.cursor, state.start, state.continuity) == ("settled", 6, 6, None)
    await answered(memory, "fresh")
    system, *rest = messages_of(model.prompts[0])
    assert len(rest) == 1
    assert "fact 1" in system[1]
    await memory.whole()


async def test_a_turn_that_ends_above_the_threshold_signals_it(small: Process, lab: Lab) -> None:
    memory = MemoryLab(small, lab, Summaries())
    await answered(memory, "short")
    assert await memory.unsettled(lab.bus) == {}
    await memory.talk(11, settle_tokens=100_000)

    await answered(memory, "long")

    assert list(await memory.unsettled(lab.bus)) == ["web:ann"]
    assert 200 < int((await lab.fields())["fixed"]) < 1_500
