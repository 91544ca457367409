"""Accepting a message: once per id, in order, within limits, and never half."""

from pathlib import Path

import anyio
import msgspec
import pytest

from daemon.bus import Bus, open_bus, pairs, publish
from daemon.config import RedisConfig
from daemon.errors import BusUnavailable, InboundError, MessageTooLarge, SessionFull
from daemon.events import Stop
from daemon.process import Process
from daemon.session import SessionReader
from daemon.sessionkey import SessionKey
from daemon.testing import FailingBus
from tests.conftest import Lab, an_inbound, next_heard
from tests.limits import HANG_S


async def waiting_ids(lab: Lab, session: str = "web:ann") -> list[str]:
    """The ids that wait in a session, in order, each with its entry in the stream."""
    keys = lab.bus.keys
    ids = []
    for stream_id in await lab.bus.call("LRANGE", keys.waiting(session), 0, -1):
        [(_, fields)] = await lab.bus.call("XRANGE", keys.inbox(keys.partition(session)), stream_id, stream_id)
        ids.append(dict(pairs(fields))[b"id"].decode())
    return ids


async def test_an_accepted_message_waits_is_due_and_ready(lab: Lab) -> None:
    accepted = await lab.publish("m1")

    assert (accepted.status, accepted.id) == ("accepted", "m1")
    assert await waiting_ids(lab) == ["m1"]
    assert await lab.ready() == ["web:ann"]
    assert 0 < (await lab.due() or 0) - await lab.server_ms() <= lab.queue.wakeup_s * 1000
    fields = await lab.fields()
    assert fields == {"head": "0", "scope": "pond:workspace"}


async def test_a_session_is_listed_after_its_publisher_has_gone(redis: tuple[RedisConfig, Path], prefix: str, lab: Lab):
    config, data_dir = redis
    async with open_bus(msgspec.structs.replace(config, prefix=prefix), data_dir) as bus:
        await publish(bus, an_inbound("m1"), scope="pond:workspace", config=lab.queue)

    assert [session for session, _ in await SessionReader(lab.bus).sessions()] == ["web:ann"]


async def test_the_same_id_published_a_hundred_times_at_once_is_one_message(lab: Lab) -> None:
    statuses = []

    async def one(number: int) -> None:
        try:
            statuses.append((await lab.publish("m1", correlation=f"c{number}")).status)
        except SessionFull:
            statuses.append("full")

    async with anyio.create_task_group() as tg:
        for number in range(100):
            tg.start_soon(one, number)

    assert sorted(statuses) == ["accepted"] + ["duplicate"] * 99
    assert await waiting_ids(lab) == ["m1"]
    assert await lab.bus.call("XLEN", lab.bus.keys.inbox(0)) == 1
    assert await lab.ready() == ["web:ann"]


async def test_a_repeat_after_a_lost_reply_is_accepted_again_and_changes_nothing(lab: Lab) -> None:
    inbound = an_inbound("m1")
    bus = FailingBus(lab.bus, at=1, carried_out=True)
    with pytest.raises(BusUnavailable):
        await publish(bus, inbound, scope="s", config=lab.queue)
    before = await lab.dump()

    again = await publish(bus, inbound, scope="s", config=lab.queue)

    assert (again.status, again.id) == ("accepted", "m1")
    assert await lab.dump() == before


async def test_a_message_whose_script_never_ran_leaves_no_trace_and_is_accepted_later(lab: Lab) -> None:
    before = await lab.dump()
    bus = FailingBus(lab.bus, at=1)
    with pytest.raises(BusUnavailable):
        await publish(bus, an_inbound("m1"), scope="s", config=lab.queue)

    assert await lab.dump() == before
    assert (await publish(bus, an_inbound("m1"), scope="s", config=lab.queue)).status == "accepted"


async def test_a_duplicate_names_the_id_it_was_accepted_under(lab: Lab) -> None:
    await lab.publish("first id", seen_as="update-7")

    duplicate = await lab.publish("other", seen_as="update-7")

    assert (duplicate.status, duplicate.id) == ("duplicate", "first id")
    assert await waiting_ids(lab) == ["first id"]


@pytest.mark.parametrize("correlation", ["", "two words", " ", "我"])
async def test_any_correlation_tells_a_lost_reply_from_a_duplicate(lab: Lab, correlation: str) -> None:
    await lab.publish("m 1", correlation=correlation)

    again = await lab.publish("m 1", correlation=correlation)
    other = await lab.publish("m 1", correlation="another")

    assert (again.status, again.id) == ("accepted", "m 1")
    assert (other.status, other.id) == ("duplicate", "m 1")


async def test_an_id_is_remembered_in_its_session_as_long_as_configured(lab: Lab) -> None:
    assert (await lab.publish("m1")).status == "accepted"
    assert (await lab.publish("m1", session="web:bob")).status == "accepted"

    ttl_ms = await lab.bus.call("PTTL", lab.bus.keys.seen("web:ann", "m1"))

    assert lab.queue.seen_ttl_s * 1000 - 10_000 < ttl_ms <= lab.queue.seen_ttl_s * 1000


async def test_messages_wait_in_the_order_of_their_acceptance(lab: Lab) -> None:
    for number in range(5):
        await lab.publish(f"m{number}")

    assert await waiting_ids(lab) == [f"m{number}" for number in range(5)]
    assert await lab.ready() == ["web:ann"]


async def fill(lab: Lab) -> None:
    for number in range(lab.queue.waiting_max):
        await lab.publish(f"m{number}")


async def test_a_full_session_refuses_and_changes_nothing_but_that_its_sender_was_told(lab: Lab) -> None:
    await fill(lab)
    before = await lab.dump()

    with pytest.raises(SessionFull):
        await lab.publish("more")

    after = await lab.dump()
    assert after[lab.bus.keys.session("web:ann")].pop(b"told_full") == b"1"
    assert after == before


async def test_the_sender_of_a_full_session_is_told_once_until_a_message_is_accepted_again(lab: Lab) -> None:
    await fill(lab)

    told = [await first_refusal(lab, f"x{number}") for number in range(3)]
    await lab.commit(await lab.claim(), go_on=False)
    await lab.publish("accepted")
    told += [await first_refusal(lab, f"y{number}") for number in range(2)]

    assert told == [True, False, False, True, False]


async def first_refusal(lab: Lab, message_id: str) -> bool:
    with pytest.raises(SessionFull) as refused:
        await lab.publish(message_id)
    return refused.value.first


async def test_a_refused_message_may_be_sent_again_under_its_id(lab: Lab) -> None:
    await fill(lab)
    with pytest.raises(SessionFull):
        await lab.publish("late")

    await lab.commit(await lab.claim(), go_on=False)

    assert (await lab.publish("late")).status == "accepted"


async def test_duplicates_and_stops_get_into_a_full_session_but_stops_not_without_end(lab: Lab) -> None:
    await fill(lab)

    assert (await lab.publish("m0", correlation="another")).status == "duplicate"
    for number in range(16):
        assert (await lab.publish(f"s{number}", command="stop")).status == "accepted"

    with pytest.raises(SessionFull):
        await lab.publish("s16", command="stop")


async def test_a_full_partition_refuses_sessions_that_are_not_full(lab: Lab) -> None:
    for number in range(lab.queue.partition_max):
        await lab.publish(f"m{number}", session=f"web:{number % 20}")
    before = await lab.dump()

    with pytest.raises(SessionFull) as refused:
        await lab.publish("more", session="web:new")

    assert refused.value.retry_after_s > 0
    assert await lab.dump() == before


async def test_a_debounced_message_becomes_ready_only_when_its_time_has_come(lab: Lab) -> None:
    await lab.publish("m1", debounce_s=HANG_S)
    await lab.publish("m2", debounce_s=HANG_S)

    assert await lab.ready() == []
    assert 0 < (await lab.due() or 0) - await lab.server_ms() <= 1000 * HANG_S


async def test_a_message_without_debounce_and_a_stop_end_the_wait_for_more(lab: Lab) -> None:
    await lab.publish("m1", debounce_s=0.2)
    await lab.publish("m1", session="web:bob", debounce_s=0.2)

    await lab.publish("m2")
    await lab.publish("stop", session="web:bob", command="stop", debounce_s=0.2)

    assert sorted(await lab.ready()) == ["web:ann", "web:bob"]


async def test_a_message_to_a_held_session_wakes_nobody(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.claim()
    due = await lab.due()

    await lab.publish("m2")

    assert await lab.ready() == []
    assert await lab.due() == due


async def test_a_message_to_a_session_whose_holder_died_wakes_it(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.claim()
    await lab.expire()

    await lab.publish("m2")

    assert await lab.ready() == ["web:ann"]


async def test_a_stop_nudges_every_process_and_names_its_place(lab: Lab, process: Process) -> None:
    async with process.listener.hear(lab.bus.keys.nudges) as nudges:
        await lab.subscribed(lab.bus.keys.nudges)
        await lab.publish("m1")
        await lab.publish("s1", command="stop")
        heard = await next_heard(nudges)

    stop = msgspec.json.decode(heard, type=Stop)
    assert (stop.session, stop.upto) == ("web:ann", (await lab.fields())["stop_upto"])


async def test_a_message_without_a_usable_text_or_id_is_refused(lab: Lab) -> None:
    for text in ("", "  \n", "\ud800"):
        with pytest.raises(InboundError):
            await lab.publish("m1", text=text)
    for message_id in ("", "x" * 257, "\udcff"):
        with pytest.raises(InboundError):
            await lab.publish(message_id, correlation="c")

    assert [key for key in await lab.dump() if not key.endswith(":meta")] == []


async def test_the_largest_message_is_accepted_and_one_byte_more_is_not(lab: Lab) -> None:
    text = "我" * (lab.queue.message_max_bytes // 3) + "x"
    await lab.publish("m1", text=text)

    with pytest.raises(MessageTooLarge) as refused:
        await lab.publish("m2", text=text + "x")

    assert refused.value.size_bytes == refused.value.max_bytes + 1


async def test_names_beyond_ascii_reach_the_claim_unharmed(bus: Bus, lab: Lab) -> None:
    inbound = an_inbound(
        "标识 1", session=str(SessionKey(channel="web", chat="我{1}:", thread="线程 %")), text="你好 🦆\x00"
    )
    session = str(inbound.session)
    await publish(bus, inbound, scope="pond:person:web:%E6%88%91", config=lab.queue, seen_as="é:{}")

    claim = await lab.claim(session)

    assert claim.begun.waiting[0].inbound == inbound
    assert claim.begun.scope == "pond:person:web:%E6%88%91"
    assert (await lab.publish("x", session="web:bob")).status == "accepted"
    assert [name for name, _ in await lab.reader.sessions()][::-1] == [session, "web:bob"]
