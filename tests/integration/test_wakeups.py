"""Wake-ups are hints: whatever gets lost, doubled or deleted, what waits is due, and what is due becomes ready."""

import sys
from pathlib import Path

import pytest

from daemon.bus import mend, open_bus, reap, take, wake
from daemon.config import RedisConfig, Secret
from daemon.errors import ConfigError
from daemon.server import Address
from tests.conftest import Lab, check_and_remove_keys


async def test_ready_sessions_are_taken_oldest_first_and_once(lab: Lab) -> None:
    for name in "abc":
        await lab.publish("m1", session=f"web:{name}")
        await lab.publish("m2", session=f"web:{name}")

    assert await take(lab.bus, at_most=2) == ["web:a", "web:b"]
    assert await take(lab.bus, at_most=2) == ["web:c"]


async def test_a_session_stands_in_ready_once_however_often_it_is_woken(lab: Lab) -> None:
    await lab.publish("m1")
    for _ in range(3):
        await wake(lab.bus, ["web:ann"])
        await lab.expire()
        await reap(lab.bus, lab.queue)

    assert await lab.ready() == ["web:ann"]


async def test_what_was_taken_and_not_used_can_be_given_back(lab: Lab) -> None:
    await lab.publish("m1")
    taken = await take(lab.bus, at_most=1)

    await wake(lab.bus, taken)

    assert await lab.ready() == ["web:ann"]


async def test_where_nothing_waits_nothing_is_taken_or_due(lab: Lab) -> None:
    assert await take(lab.bus, at_most=1) == []
    assert await reap(lab.bus, lab.queue) == (0, None)


async def test_a_blocking_read_just_before_a_tick_ends_on_every_server(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis before 7.2 truncates a wait of 0.001 s to 0, which means for ever."""
    monkeypatch.setattr("daemon.concurrency.until_tick", lambda every_s: 1e-6)

    assert await take(lab.bus, at_most=1) == []


async def test_a_session_without_messages_is_not_given_back(lab: Lab) -> None:
    await wake(lab.bus, ["web:nobody"])

    assert await lab.ready() == []


async def test_a_wakeup_that_its_taker_never_used_is_given_again(lab: Lab) -> None:
    await lab.publish("m1")
    await take(lab.bus, at_most=1)
    assert await reap(lab.bus, lab.queue) == (0, pytest.approx(lab.queue.wakeup_s, abs=lab.queue.wakeup_s))
    await lab.expire()

    woken, nearest_s = await reap(lab.bus, lab.queue)

    assert woken == 1 and nearest_s is not None and 0 < nearest_s <= lab.queue.wakeup_s
    assert await lab.ready() == ["web:ann"]


async def test_the_session_of_a_dead_worker_is_woken_when_its_lease_ends(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.claim()
    assert (await reap(lab.bus, lab.queue))[0] == 0
    await lab.expire()

    assert (await reap(lab.bus, lab.queue))[0] == 1
    assert await lab.ready() == ["web:ann"]


async def test_one_pass_wakes_a_bounded_number_and_the_next_follows_at_once(lab: Lab, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.modules["daemon.bus.wakeups"], "REAP_MOST", 3)
    for number in range(5):
        await lab.publish("m1", session=f"web:{number}")
        await lab.expire(f"web:{number}")

    assert await reap(lab.bus, lab.queue) == (3, 0.0)
    assert (await reap(lab.bus, lab.queue))[0] == 2


async def test_a_ready_set_deleted_by_hand_heals_by_the_deadlines(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.bus.call("DEL", lab.bus.keys.ready(0))
    await lab.expire()

    await reap(lab.bus, lab.queue)

    assert await lab.ready() == ["web:ann"]


async def test_deadlines_deleted_by_hand_come_back_with_the_next_message_claim_or_renewal(lab: Lab) -> None:
    """Until then nothing wakes the session: the deadlines are what everything else is healed from."""
    due = lab.bus.keys.due(0)
    await lab.publish("m1")
    await lab.bus.call("DEL", due)
    await lab.publish("m2")
    assert await lab.due() is not None

    await lab.bus.call("DEL", due)
    claim = await lab.claim()
    assert await lab.due() is not None

    await lab.bus.call("DEL", due)
    await lab.sessions.renew(claim)
    assert await lab.due() is not None

    await lab.bus.call("DEL", due)
    await lab.sessions.back_off(claim, delay_s=0.3)
    assert await lab.due() is not None


@pytest.mark.parametrize("partitions", [1, 64])
@pytest.mark.parametrize("protocol", [2, 3])
async def test_all_of_it_works_over_both_protocols_and_many_partitions(
    address: Address, prefix: str, lab: Lab, partitions: int, protocol: int
) -> None:
    url = f"unix://{address.socket}?password={address.password.reveal()}&protocol={protocol}"
    config = RedisConfig(url=Secret(url), prefix=f"{prefix}x", partitions=partitions)
    async with open_bus(config, Path("/nowhere")) as bus:
        other = Lab(bus, lab.queue)
        names = [f"web:{number}" for number in range(12)]
        for name in names:
            await other.publish("m1", session=name)
            await other.publish("m2", session=name)
            await other.expire(name)
        assert (await reap(bus, lab.queue))[0] == len(names)
        taken = set()
        while sessions := await take(bus, at_most=5):
            taken.update(sessions)
            for session in sessions:
                claim = await other.sessions.claim(session)
                while claim is not None:
                    await other.sessions.renew(claim)
                    assert len(await other.sessions.waiting_upto(session, claim.begun.waiting[0].stream_id)) == 1
                    claim = await other.commit(claim)

        for name in names:
            state = await other.state(name)
            if state.waiting:  # another session was ready when its first turn ended
                assert await other.commit(await other.claim(name)) is None
            assert [entry.id for entry in await other.log(name) if entry.id] == ["m1", "m2"]
        assert taken == set(names)
        assert {name for name, _ in await other.reader.sessions()} == set(names)
        await check_and_remove_keys(bus)


async def test_no_partition_starves_while_another_never_runs_dry(address: Address, prefix: str, lab: Lab) -> None:
    """A blocking pop looks at its keys in order: the first partition's flood kept all others waiting."""
    url = f"unix://{address.socket}?password={address.password.reveal()}"
    async with open_bus(RedisConfig(url=Secret(url), prefix=f"{prefix}x", partitions=2), Path("/nowhere")) as bus:
        flood, quiet = (bus.keys.ready(partition) for partition in (0, 1))
        await bus.call("ZADD", quiet, 1, "web:quiet")
        for number in range(200):
            await bus.call("ZADD", flood, number, f"web:{number}")

        taken: list[str] = []
        while "web:quiet" not in taken and len(taken) < 100:
            taken += await take(bus, at_most=1)

        await bus.call("DEL", flood, quiet)
        assert "web:quiet" in taken
        await check_and_remove_keys(bus)


async def test_a_database_keeps_its_number_of_partitions(address: Address, prefix: str, lab: Lab) -> None:
    url = Secret(f"unix://{address.socket}?password={address.password.reveal()}")

    with pytest.raises(ConfigError, match="1 partitions"):
        async with open_bus(RedisConfig(url=url, prefix=prefix, partitions=64), Path("/nowhere")):
            pass


async def test_a_session_whose_deadline_was_deleted_by_hand_is_given_one(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.publish("m1", session="web:bob")
    held = await lab.claim("web:bob")
    await lab.bus.call("DEL", lab.bus.keys.ready(0), lab.bus.keys.due(0))

    assert await mend(lab.bus) == 2
    assert await mend(lab.bus) == 0
    await reap(lab.bus, lab.queue)

    assert sorted(await lab.ready()) == ["web:ann", "web:bob"]
    assert await lab.sessions.claim("web:bob") is None
    assert await lab.due("web:bob") == int((await lab.fields("web:bob"))["lease"])
    await lab.commit(held, go_on=False)
    await lab.commit(await lab.claim(), go_on=False)
    assert (await lab.due(), await lab.due("web:bob")) == (None, None)
