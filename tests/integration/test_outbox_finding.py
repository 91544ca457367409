"""Parts of which nobody knows whether they arrived, on a platform that can be asked: found, they are not sent again."""

from dataclasses import replace
from typing import Any

import anyio
import msgspec
import pytest
from structlog.testing import capture_logs

from channels.base import Part
from channels.outbox import delivery_state
from channels.outbox.delivery_state import NextStep, UnknownAttempt
from daemon import metrics
from daemon.bus import Bus
from daemon.config import QueueConfig
from daemon.process import Process
from daemon.sessionkey import SessionKey
from daemon.testing import FailingBus
from tests.conftest import RecordingBus
from tests.cut_short import DyingBus, StoppingBus
from tests.fakes.sink import Cut, Fault, Garbled, Hang, Page, Post, Refuse, Sink, sink
from tests.integration.test_outbox import (
    ANN,
    NAME,
    begun,
    marks,
    pushing,
    put,
    replica,
    taken_over,
    unknown,
    until_empty,
)
from tests.integration.test_outbox_cut_short import (
    EXPECTED,
    Platform,
    a_moment,
    at_each_await,
    dispatch,
    end,
    prepare,
    suppress_death,
)

QUEUE = QueueConfig(lease_s=60.0, renew_s=0.3, wakeup_s=0.3, backoff_min_s=0.02, backoff_max_s=0.1, attempts_max=4)


def looking(process: Process, platform: Sink, **more: Any) -> Process:
    """A replica of the process with a push channel whose platform can be asked."""
    return pushing(process, platform, looks=True, **more)


def asked(platform: Sink) -> list[tuple[int, bool]]:
    """What was looked for and answered: parts, and whether as a preview."""
    return [(act["part"], act["preview"]) for act in platform.acts_of("find")]


@pytest.mark.parametrize("fault", [Cut(), Hang()])
async def test_a_send_that_was_cut_after_it_arrived_is_found_and_not_repeated(process: Process, fault: Fault) -> None:
    async with sink([fault]) as platform:
        [reply] = await put(process.bus, "hello")
        await put(process.bus, "next")
        async with replica(looking(process, platform, send_timeout_s=1.0 if fault == Hang() else 20.0)):
            await until_empty(process.bus)

        assert platform.texts() == ["hello", "next"]
        assert asked(platform) == [(0, False)]
    assert await process.bus.call("HGETALL", process.bus.keys.sent(ANN, reply)) == {b"0": b"sent m1"}
    assert await unknown(process.bus) == []


async def test_a_send_that_was_cut_before_it_arrived_is_looked_for_and_sent_again(process: Process) -> None:
    async with sink([Cut(delivered=False)]) as platform:
        [reply] = await put(process.bus, "hello")
        async with replica(looking(process, platform)):
            await until_empty(process.bus)

        assert platform.texts() == ["hello"]
    # It was not there when it was looked for; that it has come since, nobody can rule out.
    assert await unknown(process.bus) == [(reply, "0", "resent")]


async def test_a_part_is_found_in_the_middle_of_a_reply_which_goes_on_behind_it(process: Process) -> None:
    async with sink([None, Cut(), None]) as platform:
        [reply] = await put(process.bus, "one two three")
        async with replica(looking(process, platform, part_max_chars=5)):
            await until_empty(process.bus)

        assert platform.texts() == ["one ", "two ", "three"]
    assert await marks(process.bus, reply) == {"0": "sent m1", "1": "sent m2", "2": "sent m3"}


async def test_what_is_never_there_is_sent_as_often_as_attempts_are_made_and_then_given_up(process: Process) -> None:
    most = process.config.queue.attempts_max
    async with sink([Cut(delivered=False)] * most) as platform:
        [reply] = await put(process.bus, "one two")
        async with replica(looking(process, platform, part_max_chars=4)):
            await until_empty(process.bus)

        assert len(platform.posts) == most + 1
        assert platform.texts() == ["two"]
        assert asked(platform) == [(0, False)] * most
    listed = await unknown(process.bus)
    assert listed == [(reply, "0", "resent")] * (most - 1) + [(reply, "0", "given up")]
    assert (await marks(process.bus, reply))["0"].startswith("unknown")


async def test_the_last_attempt_is_looked_for_too(process: Process) -> None:
    most = process.config.queue.attempts_max
    async with sink([Cut(delivered=False)] * (most - 1) + [Cut()]) as platform:
        [reply] = await put(process.bus, "hello")
        async with replica(looking(process, platform)):
            await until_empty(process.bus)

        assert platform.texts() == ["hello"]
    assert await marks(process.bus, reply) == {"0": "sent m1"}


@pytest.mark.parametrize("refusal", [Refuse(429, 0.05), Refuse(503), Cut(), Hang(), Page(), Garbled()])
async def test_nothing_is_sent_again_while_it_cannot_be_looked(process: Process, refusal: Fault) -> None:
    looks: list[Post] = []

    def three_times(post: Post) -> Fault | None:
        looks.append(post)
        return refusal if len(looks) <= 3 else None

    async with sink([Cut()], others=three_times) as platform:
        await put(process.bus, "hello", "next")
        async with replica(looking(process, platform, send_timeout_s=0.5 if refusal == Hang() else 20.0, typing=False)):
            await until_empty(process.bus)

        assert platform.texts() == ["hello", "next"]
    assert [look["kind"] for look in looks] == ["find"] * 4
    assert await unknown(process.bus) == []


async def test_where_it_may_not_be_looked_a_part_is_resent_once_as_if_nobody_could(process: Process) -> None:
    async with sink([Cut(delivered=False), Cut(delivered=False)], others=lambda _post: Refuse(403)) as platform:
        [reply] = await put(process.bus, "one two")
        with capture_logs() as lines:
            async with replica(looking(process, platform, part_max_chars=4, typing=False)):
                await until_empty(process.bus)

        assert platform.texts() == ["two"]
    assert await unknown(process.bus) == [(reply, "0", "resent"), (reply, "0", "given up")]
    assert any(line["event"] == "part.unfindable" for line in lines)


@pytest.mark.parametrize("arrived", [False, True])
async def test_what_a_predecessor_has_marked_is_looked_for(process: Process, queue: QueueConfig, arrived: bool) -> None:
    bus = process.bus
    reply = await begun(bus, queue, "asking")

    async with sink() as platform:
        if arrived:
            platform.messages["before"] = {"session": ANN, "reply": reply, "part": 1, "text": "two "}
        async with replica(looking(process, platform, part_max_chars=5)):
            await until_empty(bus)

        assert platform.texts() == (["three"] if arrived else ["two ", "three"])
    assert (await marks(bus, reply))["1"] == ("sent before" if arrived else "sent m1")
    assert await unknown(bus) == ([] if arrived else [(reply, "1", "resent")])


async def test_a_file_is_found_too(process: Process) -> None:
    """What goes as a document is one part, and is looked for as one."""
    async with sink([Cut()]) as platform:
        await put(process.bus, "a long text " * 10)
        async with replica(looking(process, platform, part_max_chars=20, parts_max=2)):
            await until_empty(process.bus)

        [post] = platform.delivered
        assert post["document"]
    assert await unknown(process.bus) == []


async def test_what_was_found_is_counted(process: Process) -> None:
    def count(outcome: str) -> float:
        return metrics.DELIVERIES.labels(NAME, outcome)._value.get()

    outcomes = ("sent", "unknown", "resent", "found", "given_up")
    before = {outcome: count(outcome) for outcome in outcomes}
    async with sink([Cut(), Cut(delivered=False)]) as platform:
        await put(process.bus, "one", "two")
        async with replica(looking(process, platform)):
            await until_empty(process.bus)

    counted = {outcome: count(outcome) - before[outcome] for outcome in outcomes}
    assert counted == {"sent": 1, "unknown": 2, "resent": 1, "found": 1, "given_up": 0}


async def test_asking_about_what_is_in_doubt_changes_nothing(bus: Bus, queue: QueueConfig) -> None:
    _, new, step = await taken_over(bus, queue)
    sent = bus.keys.sent(ANN, step.place.reply.id)
    await bus.call("HSET", sent, "0", "sending 1 0 dead")
    again = msgspec.structs.replace(step, attempt=2)

    async with new.kept():
        assert await new.sending(step, "asking") == 1
        assert [await new.sending(again, "asking") for _ in range(2)] == [UnknownAttempt(1), UnknownAttempt(1)]

        assert await bus.call("HGETALL", sent) == {b"0": b"sending 1 0 dead"}
        assert await new.sending(again, "looked") is NextStep.SEND_AGAIN
        assert await new.sending(again, "asking") is NextStep.SEND_AGAIN, (
            "the same call, repeated, has marked it itself"
        )


async def test_what_was_found_is_noted_only_while_nobody_has_sent_again(bus: Bus, queue: QueueConfig) -> None:
    old, new, step = await taken_over(bus, queue)
    sent = bus.keys.sent(ANN, step.place.reply.id)
    await bus.call("HSET", sent, "0", "sending 1 0 dead")
    async with new.kept():
        await new.sending(msgspec.structs.replace(step, attempt=2, mark="new"), "looked")

    async with old.kept():
        old.note(UnknownAttempt(1).of(step), "found", "m1")

    assert await bus.call("HGETALL", sent) == {b"0": b"sending 2 1 new"}


async def test_what_an_old_leader_has_found_is_there_whoever_leads_now(bus: Bus, queue: QueueConfig) -> None:
    old, new, step = await taken_over(bus, queue)
    await bus.call("HSET", bus.keys.sent(ANN, step.place.reply.id), "0", "sending 1 0 dead")

    async with old.kept():
        old.note(UnknownAttempt(1).of(step), "found", "m1")

    async with new.kept():
        assert await new.sending(msgspec.structs.replace(step, attempt=2), "asking") is NextStep.OVER


async def test_every_script_arriving_again_at_the_end_changes_nothing(process: Process) -> None:
    recording = RecordingBus(process.bus)
    script = [None, Refuse(429), Cut(), Cut(delivered=False), Cut(delivered=False), Cut()]
    await process.bus.call("HSET", process.bus.keys.sent(ANN, f"{ANN}#last-1"), "preview", "sending 1 dead")
    async with sink(script) as platform:
        await put(process.bus, "one two three", "last")
        async with replica(looking(replace(process, bus=recording), platform, part_max_chars=5)):
            await until_empty(process.bus)
        assert platform.texts() == ["one ", "two ", "three", "last"]
    keys = process.bus.keys
    reads = [("XRANGE", key, "-", "+") for key in (keys.out(0, NAME), keys.unknown(0))]
    hashes = [("HGETALL", key) for key in await process.bus.call("KEYS", f"{keys.prefix}:*:sent:*")]
    before = [await process.bus.call(*read) for read in (*reads, *hashes)]
    nonce = next(args[0] for script, _, args in recording.scripts if script.name == "lead.lua")
    await process.bus.call("HSET", keys.leader(0, NAME), "nonce", nonce)

    steps = set()
    for call in list(recording.scripts):
        if call[0].name == "marks.lua":
            steps |= set(msgspec.msgpack.decode(call[2][-1])[::8])
            await recording.arrive(*call)

    assert steps >= {"asking", "looked", "sent", "found", "refused", "unseen"}
    assert [await process.bus.call(*read) for read in (*reads, *hashes)] == before


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is noted at the end waits for the task that writes it, and in a process that died there is none."""
    monkeypatch.setattr(delivery_state, "LAST_S", 0.05)


class Remembering(Platform):
    async def find(self, chat: SessionKey, part: Part, *, timeout_s: float) -> str:
        await a_moment()
        there = [(session, reply, number) for session, reply, number, _ in self.arrived]
        name = (str(chat), part.reply, part.number)
        await a_moment()
        return f"m{there.index(name) + 1}" if name in there else ""


async def see_all_is_there_once(process: Process, platform: Platform) -> int:
    """Every part in order and once, whatever is listed; how often something was sent again."""
    assert platform.order() == EXPECTED
    assert set(platform.times().values()) == {1}
    actions = [action for _, _, action in await unknown(process.bus)]
    assert set(actions) <= {"resent"}
    return len(actions)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("carried_out", [False, True])
@pytest.mark.parametrize("kind", [StoppingBus, DyingBus])
async def test_a_dispatch_cut_short_at_any_call_to_redis_doubles_nothing(
    process: Process, kind: type[FailingBus], carried_out: bool
) -> None:
    counting = FailingBus(process.bus, at=0)
    await prepare(process)
    await dispatch(process, Remembering(), counting)

    for at in range(1, counting.calls + 1):
        platform = Remembering()
        await prepare(process)
        with capture_logs(), anyio.CancelScope() as scope, suppress_death():
            cancel = scope if kind is StoppingBus else None
            await dispatch(process, platform, kind(process.bus, at=at, carried_out=carried_out, cancel=cancel))
        await end(process, platform)
        await see_all_is_there_once(process, platform)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("kind", ["cancelled", "failing"])
async def test_a_dispatch_cut_short_at_any_await_doubles_nothing(process: Process, kind: str) -> None:
    await at_each_await(process, kind, Remembering, see_all_is_there_once)
