"""Workers that die: which of their claims count, how long a message then waits, and that it is tried alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest

from daemon.access import EVERYWHERE, Pauses
from daemon.bus import Bus, Script, reap, take, wake
from daemon.errors import BusUnavailable
from daemon.process import Process
from daemon.session import SUSPECT_DEATHS, MessageEdits, Sessions, standings
from daemon.testing import Gate, ScriptedModel
from tests.conftest import HASTY, QUEUE, Lab, RecordingBus
from tests.integration.test_turns import Bot, replace_queue, until
from tests.limits import HANG_S

pytestmark = pytest.mark.anyio

REASON = "death: 2 workers died while processing this message, so the message is tried alone"


async def suspect(lab: Lab, message_id: str, *, deaths: int = SUSPECT_DEATHS) -> None:
    """Publish a message to a session of its own, with which workers have died."""
    session = f"web:{message_id}"
    await lab.bus.call("HSET", lab.bus.keys.session(session), "deaths", deaths)
    await lab.publish(message_id, session=session)


async def die(lab: Lab, *, deaths: int) -> None:
    """Have the worker of ``web:ann`` die, after ``deaths`` others, and a claim find it out."""
    await suspect(lab, "ann", deaths=deaths)
    await lab.claim()
    await lab.expire()
    assert await lab.sessions.claim("web:ann") is None


async def test_deaths_count_as_attempts_once_a_message_is_tried_alone_after_pauses_that_grow(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.claim()
    rows = [(1, 1, 0), (2, 1, 5), (3, 2, 20), (4, 3, 80), (5, 4, 320), (6, 5, 600), (7, 6, 0)]
    assert rows[-1][1] == lab.queue.attempts_max + 1

    for deaths, attempts, pause_s in rows:
        await lab.expire()
        before = await lab.server_ms()
        claim = await lab.sessions.claim("web:ann")
        if pause_s:
            assert claim is None
            retry_at = int((await lab.fields())["retry_at"])
            assert retry_at - await lab.server_ms() <= pause_s * 1000 <= retry_at - before
            await lab.expire()
            claim = await lab.claim()
        assert claim is not None and (claim.begun.deaths, claim.begun.attempts) == (deaths, attempts)


async def test_a_pause_is_shown_with_its_reason_and_is_no_outage(lab: Lab) -> None:
    await die(lab, deaths=1)

    [standing] = await standings(lab.bus)
    assert (standing.parked, standing.held, standing.parked_at_ms, standing.reason) == (True, False, 0, REASON)

    await lab.expire()
    claim = await lab.claim()
    assert claim.begun.parked_s == 0
    await lab.commit(claim)
    assert not {"deaths", "parked_why"} & set(await lab.fields())


async def test_a_claim_that_arrives_again_counts_no_second_death(lab: Lab) -> None:
    await die(lab, deaths=1)
    before = await lab.dump()

    await lab.bus.repeat("claim.lua")
    assert await lab.dump() == before

    await lab.expire()
    before = await lab.dump()
    await lab.bus.repeat("claim.lua")
    assert await lab.dump() == before


async def test_a_pause_longer_than_any_deadline_is_kept_and_looked_at_meanwhile(lab: Lab) -> None:
    await die(lab, deaths=5)
    longest_ms = 2 * QUEUE.lease_s * 1000
    due, fields = await lab.due(), await lab.fields()
    assert due is not None and due <= await lab.server_ms() + longest_ms < int(fields["retry_at"])

    assert (await reap(lab.bus, lab.queue))[0] == 0
    assert await lab.sessions.claim("web:ann") is None
    assert (await lab.fields())["retry_at"] == fields["retry_at"]

    await lab.clock_set_back()
    assert (await lab.claim()).begun.deaths == 6


async def test_the_end_of_a_bots_pause_does_not_end_the_pause_after_a_death(lab: Lab) -> None:
    await die(lab, deaths=1)

    assert await Pauses(lab.bus, lab.queue).wake(frozenset({"web"}), EVERYWHERE) == 0

    assert await lab.ready() == []
    assert await is_parked(lab, "web:ann")


@pytest.mark.parametrize("first", ["stop", "death"])
async def test_a_stop_ends_the_pause_after_a_death(lab: Lab, first: str) -> None:
    await suspect(lab, "ann")
    await lab.claim()
    await lab.expire()
    if first == "death":
        assert await lab.sessions.claim("web:ann") is None
    await lab.publish("stop", command="stop")

    claim = await lab.claim()

    assert [entry.inbound.id for entry in claim.begun.waiting if entry.inbound] == ["ann", "stop"]


async def test_taking_a_suspect_back_ends_the_pause_and_the_count(lab: Lab) -> None:
    await die(lab, deaths=1)
    await lab.publish("next")

    assert await MessageEdits(lab.bus, lab.queue).withdraw("web:ann", "ann", sender_id="") == "withdrawn"

    assert await lab.ready() == ["web:ann"]
    begun = (await lab.claim()).begun
    assert (begun.attempts, begun.deaths) == (1, 0)


# In a worker


async def is_parked(lab: Lab, session: str) -> bool:
    return "retry_at" in await lab.fields(session)


async def until_idle(lab: Lab, *sessions: str) -> None:
    for session in sessions:
        with anyio.fail_after(HANG_S):
            await until(lambda session=session: lab.is_idle(session))


async def test_nothing_else_is_taken_while_a_suspect_is_at_work(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def take_later(bus: Bus, *, at_most: int) -> list[str]:
        """What follows the suspect is taken when the suspect is at work."""
        if taken == ["web:evil"]:
            await gate.reached()
            await lab.publish("other", session="web:other")
        taken[:] = await take(bus, at_most=at_most)
        return list(taken)

    async def give_back(bus: Bus, sessions: Sequence[str]) -> None:
        given_back.extend(sessions)
        await wake(bus, sessions)

    async def is_dealt_with() -> bool:
        return bool(given_back) or len(model.requests) > 1

    gate, taken, given_back = Gate(), list[str](), list[str]()
    model = ScriptedModel([gate, "one"], then="ok")
    monkeypatch.setattr("workers.session_consumer.take", take_later)
    monkeypatch.setattr("workers.session_consumer.wake", give_back)
    await suspect(lab, "evil")

    async with Bot(process, model).working():
        with anyio.fail_after(HANG_S):
            await until(is_dealt_with)
        await lab.publish("next", session="web:evil")
        assert (given_back, len(model.requests)) == (["web:other"], 1)
        gate.open()
        await until_idle(lab, "web:evil", "web:other")

    assert len(model.requests) == 3
    assert (await lab.state("web:evil")).deaths == 0


async def test_two_suspects_are_never_at_work_in_one_process(process: Process, lab: Lab) -> None:
    gate = Gate()
    model = ScriptedModel([gate, "one"], then="ok")
    for message_id in ("a", "b"):
        await suspect(lab, message_id)

    async with Bot(process, model).working():
        await gate.reached()
        [other] = [session for session in ("web:a", "web:b") if await is_parked(lab, session)]
        state = await lab.state(other)
        assert (state.worker, state.attempts, state.deaths) == ("", 0, SUSPECT_DEATHS)
        assert len(model.requests) == 1
        await lab.expire(other)
        gate.open()
        await until_idle(lab, "web:a", "web:b")


async def test_a_suspect_begins_as_soon_as_nothing_else_is_at_work(process: Process, lab: Lab) -> None:
    async def is_held() -> bool:
        return bool((await lab.state("web:evil")).worker)

    gate = Gate()
    model = ScriptedModel([gate, "one"], then="ok")
    await lab.publish("other", session="web:other")

    async with Bot(replace_queue(process, lease_s=4 * HANG_S), model).working():
        await gate.reached()
        await suspect(lab, "evil")
        with anyio.fail_after(HANG_S):
            await until(is_held)
        assert len(model.requests) == 1
        gate.open()
        await until_idle(lab, "web:other", "web:evil")


async def test_a_suspect_is_put_off_without_counting_and_waits_twice_as_long_each_time(
    process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turns that took longer than half a lease, one after the other, kept a suspect out for ever."""

    def pauses_ms() -> list[int]:
        return [args[3] for script, _, args in lab.bus.scripts if script.name == "release.lua"]

    monkeypatch.setattr("workers.session_consumer.PUT_OFF_S", 0.0)
    gate = Gate()
    model = ScriptedModel([gate, "one"], then="ok")
    await lab.publish("other", session="web:other")
    process = replace(replace_queue(process, lease_s=HASTY.lease_s, renew_s=HASTY.renew_s), bus=lab.bus)

    async with Bot(process, model).working():
        await gate.reached()
        await suspect(lab, "evil")
        for times in range(1, 4):
            await until(lambda times=times: len(pauses_ms()) == times)
            state = await lab.state("web:evil")
            assert (state.attempts, state.deaths, len(model.requests)) == (0, SUSPECT_DEATHS, 1)
            await lab.expire("web:evil")
        gate.open()
        await until_idle(lab, "web:other", "web:evil")

    assert pauses_ms()[:3] == [HASTY.lease_s * 500 * doubled for doubled in (1, 2, 4)]


class ForgetfulBus(RecordingBus):
    """Loses the first answers to claims, which are carried out."""

    def __init__(self, bus: Bus, *, lost: int) -> None:
        super().__init__(bus)
        self.lost = lost

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        result = await super().run(script, keys, args)
        if script.name == "claim.lua" and self.lost:
            self.lost -= 1
            raise BusUnavailable("the answer was lost")
        return result


async def test_a_claim_whose_answer_is_lost_is_given_back_and_is_no_death(lab: Lab, process: Process) -> None:
    """Such a session waited for the end of its lease, and two such claims made its message a suspect."""
    process = replace_queue(process, lease_s=100 * HANG_S, renew_s=50 * HANG_S)
    bus = ForgetfulBus(lab.bus, lost=SUSPECT_DEATHS)
    await lab.publish("a")

    async with Bot(replace(process, bus=bus), ScriptedModel("ok")).working():
        await until_idle(lab, "web:ann")

    assert bus.lost == 0
    assert (await lab.state()).deaths == 0
    [entry] = [entry for entry in await lab.log() if entry.answers]
    assert entry.answers == ("a",)


async def test_a_claim_that_is_carried_out_after_it_was_given_back_is_given_back_later(lab: Lab) -> None:
    bus = ForgetfulBus(lab.bus, lost=1)
    sessions = Sessions(bus, QUEUE, worker="w")
    await lab.publish("a")
    with pytest.raises(BusUnavailable):
        await sessions.claim("web:ann")
    late = bus.scripts[-1]
    assert (await lab.state()).worker == "w"
    # As if it had not arrived yet.
    await lab.bus.call("HDEL", lab.bus.keys.session("web:ann"), "nonce", "lease", "worker", "since", "attempts")

    await sessions.release_abandoned()
    await lab.bus.arrive(*late)
    assert (await lab.state()).worker == "w"
    await sessions.release_abandoned()

    assert ((await lab.state()).worker, await lab.ready()) == ("", ["web:ann"])
    claim = await lab.claim()
    assert (claim.begun.attempts, claim.begun.deaths) == (1, 0)
    await sessions.release_abandoned()
    assert (await lab.state()).worker == "worker"
