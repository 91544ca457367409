"""Bursts: what comes within a channel's debounce window is answered by one turn, each message its own log entry."""

import msgspec
import pytest

from daemon.events import LogEntry
from daemon.process import Process
from daemon.testing import Gate, ScriptedModel
from tests.conftest import Lab
from tests.fakes.said import said as words_of
from tests.integration.test_turns import Bot, said, worked_off
from tests.limits import until

WINDOW_S = 60.0


async def the_window_ends(lab: Lab, session: str = "web:ann") -> None:
    """Let the window of the message that waits first end with the one that waits last."""
    ids = await lab.bus.call("LRANGE", lab.bus.keys.waiting(session), 0, -1)
    first, last = (int(stream_id.split(b"-")[0]) for stream_id in (ids[0], ids[-1]))
    long_ms = max(1, last - first)
    await lab.bus.call("HSET", lab.bus.keys.session(session), "debounce", long_ms)
    while await lab.server_ms() < first + long_ms:
        """It is a millisecond at most."""
    await lab.expire(session)


async def test_a_burst_becomes_one_turn_that_lists_what_it_answers(process: Process, lab: Lab) -> None:
    model = ScriptedModel("all at once")
    async with Bot(process, model).working():
        for message_id in ("a", "b", "c"):
            await lab.publish(message_id, debounce_s=WINDOW_S)
        await the_window_ends(lab)
        await until(lab.is_idle)

    log = await lab.log()
    assert said(log) == [*(("user", f"text of {m}") for m in "abc"), ("assistant", "all at once")]
    assert [entry.id for entry in log] == ["a", "b", "c", ""]
    assert log[-1].answers == ("a", "b", "c")
    assert log[-1].tokens + sum(entry.tokens for entry in log[:-1]) == (await lab.state()).tokens
    (asked,) = [msgspec.json.decode(m) for m in model.requests[0].messages[1:]]
    assert (asked["role"], words_of(asked["content"])) == ("user", "text of a\n\ntext of b\n\ntext of c")


async def test_what_comes_after_the_window_is_a_turn_of_its_own(process: Process, lab: Lab) -> None:
    async with Bot(process, ScriptedModel("one", "two")).working():
        for message_id in ("a", "b"):
            await lab.publish(message_id, debounce_s=WINDOW_S)
            await the_window_ends(lab)
            await until(lab.is_idle)

    assert [entry.answers for entry in await lab.log() if entry.answers] == [("a",), ("b",)]


async def test_nothing_is_claimed_before_the_window_is_over_not_even_after_a_turn(process: Process, lab: Lab) -> None:
    gate = Gate()
    async with Bot(process, ScriptedModel([gate, "one"], "two")).working():
        await lab.publish("a", debounce_s=WINDOW_S)
        await the_window_ends(lab)
        await gate.reached()
        await lab.publish("b", debounce_s=WINDOW_S)
        gate.open()
        await until(lambda: answered(lab, ("a",)))
        await lab.publish("c", debounce_s=WINDOW_S)
        await the_window_ends(lab)
        await until(lab.is_idle)

    assert [entry.answers for entry in await lab.log() if entry.answers] == [("a",), ("b", "c")]


async def answered(lab: Lab, ids: tuple[str, ...]) -> bool:
    return any(entry.answers == ids for entry in await lab.log())


async def test_a_claim_judges_the_window_whoever_woke_the_session(lab: Lab) -> None:
    await lab.publish("a", debounce_s=30)
    await lab.bus.call("ZADD", lab.bus.keys.ready(0), 1, "web:ann")

    assert await lab.sessions.claim("web:ann") is None
    assert await lab.ready() == []
    [waiting] = await lab.bus.call("LRANGE", lab.bus.keys.waiting("web:ann"), 0, -1)
    assert await lab.due() == int(waiting.split(b"-")[0]) + 30_000


async def test_a_stop_waits_for_no_window(lab: Lab) -> None:
    await lab.publish("a", debounce_s=30)
    await lab.publish("s", command="stop", debounce_s=30)

    claim = await lab.claim()

    assert [waiting.inbound.id for waiting in claim.begun.waiting if waiting.inbound] == ["a", "s"]


@pytest.mark.parametrize("first_attempt", ["died", "failed"])
async def test_from_the_second_attempt_on_a_turn_without_a_journal_takes_the_first_message_only(
    lab: Lab, first_attempt: str
) -> None:
    for message_id in ("a", "b"):
        await lab.publish(message_id, debounce_s=WINDOW_S)
    await the_window_ends(lab)
    first = await lab.claim()
    if first_attempt == "died":
        await lab.expire()
    else:
        await lab.sessions.back_off(first, delay_s=0.0)

    second = await lab.claim()

    assert len(first.begun.waiting) == 2
    assert [waiting.inbound.id for waiting in second.begun.waiting if waiting.inbound] == ["a"]


async def test_a_successor_answers_the_set_that_the_journal_fixed(process: Process, lab: Lab) -> None:
    for message_id in ("a", "b"):
        await lab.publish(message_id, debounce_s=WINDOW_S)
    await the_window_ends(lab)
    claim = await lab.claim()
    users = [user_entry(claim.begun.head, message_id) for message_id in ("a", "b")]
    await lab.sessions.journal(claim, step=0, entries=users)
    await lab.expire()

    await worked_off(process, lab, ScriptedModel("both"))

    log = await lab.log()
    assert [entry.id for entry in log] == ["a", "b", ""]
    assert log[-1].answers == ("a", "b")


def user_entry(turn: int, message_id: str) -> LogEntry:
    wire = msgspec.Raw(msgspec.json.encode({"role": "user", "content": f"text of {message_id}"}))
    return LogEntry(time="2026-11-20T09:00:00.000Z", turn=turn, tokens=5, id=message_id, wire=wire)
