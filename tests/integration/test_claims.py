"""Claiming, renewing and giving back: one holder at a time, counted attempts, deadlines by the server's clock."""

import msgspec
import pytest

from daemon.bus import Bus, pairs, reap
from daemon.errors import LeaseLost
from daemon.session import Sessions, after
from tests.conftest import QUEUE, Lab, with_nonce
from tests.limits import HANG_S


async def test_a_claim_tells_where_the_turn_begins_and_what_it_answers(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.publish("m2")

    claim = await lab.claim()

    begun = claim.begun
    assert (begun.head, begun.base, begun.start, begun.cursor, begun.tokens, begun.step) == (0, 0, 0, 0, 0, 0)
    assert (claim.fence, begun.claims, begun.attempts, begun.scope) == (1, 1, 1, "pond:workspace")
    assert [waiting.inbound.id for waiting in begun.waiting if waiting.inbound] == ["m1"]


async def test_a_held_session_is_refused_and_leaves_ready_until_the_lease_ends(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.claim()
    await lab.bus.call("ZADD", lab.bus.keys.ready(0), 1, "web:ann")

    assert await lab.sessions.claim("web:ann") is None

    assert await lab.ready() == []
    assert await lab.due() == int((await lab.fields())["lease"])


async def test_an_empty_session_cannot_be_claimed_and_is_due_no_more(lab: Lab) -> None:
    await lab.bus.call("ZADD", lab.bus.keys.ready(0), 1, "web:nobody")
    await lab.bus.call("ZADD", lab.bus.keys.due(0), 1, "web:nobody")

    assert await lab.sessions.claim("web:nobody") is None

    assert await lab.ready() == [] and await lab.due("web:nobody") is None
    assert await lab.bus.call("EXISTS", lab.bus.keys.session("web:nobody")) == 0


async def test_a_claim_that_arrives_twice_gives_the_same_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda _bytes: "same")
    await lab.publish("m1")
    first = await lab.claim()
    before = await lab.dump()

    again = await lab.claim()

    assert again == first
    assert await lab.dump() == before


@pytest.mark.parametrize("ended", ["commit", "hand_over", "back_off", "park"])
async def test_a_claim_that_arrives_again_after_its_turn_holds_nothing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, ended: str
) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda _bytes: "same")
    await lab.publish("m1")
    await lab.publish("m2")
    claim = await lab.claim()
    match ended:
        case "commit":
            await lab.commit(claim, go_on=False)
        case "hand_over":
            await lab.sessions.hand_over(claim)
        case "back_off":
            await lab.sessions.back_off(claim, delay_s=0.0)
        case _:
            await lab.sessions.park(claim, delay_s=0.0)
    before = await lab.dump()

    assert await lab.sessions.claim("web:ann") is None

    assert await lab.dump() == before


async def test_every_claim_has_a_higher_fence_and_a_nonce_of_its_own(lab: Lab) -> None:
    await lab.publish("m1")
    claims = []

    for _ in range(5):
        claims.append(await lab.claim())
        await lab.sessions.hand_over(claims[-1])

    assert [claim.fence for claim in claims] == [1, 2, 3, 4, 5]
    assert [claim.begun.claims for claim in claims] == [1, 2, 3, 4, 5]
    assert len({claim.nonce for claim in claims}) == 5


async def test_who_lost_a_session_can_neither_renew_it_nor_give_it_back(lab: Lab) -> None:
    """Every write of a holder whose session was taken over is refused, and changes nothing."""
    await lab.publish("m1")
    lost = await lab.claim()
    await lab.expire()
    await lab.claim()
    before = await lab.dump()

    with pytest.raises(LeaseLost):
        await lab.sessions.renew(lost)
    assert not await lab.sessions.park(lost, delay_s=1.0)
    await lab.sessions.hand_over(lost)
    await lab.sessions.back_off(lost, delay_s=1.0)

    assert await lab.dump() == before


async def test_a_lease_that_ran_out_and_was_not_taken_can_be_renewed(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.expire()

    assert await lab.sessions.renew(claim) == ""

    lease = int((await lab.fields())["lease"])
    assert 0 < lease - await lab.server_ms() <= lab.queue.lease_s * 1000
    assert await lab.due() == lease
    assert await lab.sessions.claim("web:ann") is None


async def test_renewing_under_another_nonce_is_refused(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()

    with pytest.raises(LeaseLost):
        await lab.sessions.renew(with_nonce(claim, "other"))


async def test_attempts_rise_with_every_claim_that_made_no_progress(lab: Lab) -> None:
    await lab.publish("m1")
    attempts = []

    for _ in range(3):
        claim = await lab.claim()
        attempts.append(claim.begun.attempts)
        await lab.sessions.back_off(claim, delay_s=0.0)

    assert attempts == [1, 2, 3]


async def test_a_hand_over_counts_no_attempt_and_makes_the_session_ready_at_once(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()

    await lab.sessions.hand_over(claim)

    assert (await lab.state()).attempts == 0
    assert await lab.ready() == ["web:ann"]
    assert (await lab.claim()).begun.attempts == 1


async def test_a_back_off_counts_and_keeps_everybody_away_until_its_end(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()

    await lab.sessions.back_off(claim, delay_s=HANG_S)

    assert (await lab.state()).attempts == 1
    assert await lab.ready() == []
    assert await lab.sessions.claim("web:ann") is None
    retry_at = int((await lab.fields())["retry_at"])
    assert 0 < retry_at - await lab.server_ms() <= 1000 * HANG_S
    assert await lab.due() == retry_at


async def test_a_back_off_that_is_over_can_be_claimed(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.sessions.back_off(await lab.claim(), delay_s=0.3)
    await lab.expire()

    claim = await lab.claim()

    assert claim.begun.attempts == 2
    assert "retry_at" not in await lab.fields()


async def test_a_message_does_not_end_a_back_off_and_a_stop_does(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.sessions.back_off(await lab.claim(), delay_s=0.3)

    await lab.publish("m2")
    assert await lab.ready() == []

    await lab.publish("stop", command="stop")
    assert await lab.ready() == ["web:ann"]
    claim = await lab.claim()
    assert [waiting.inbound.id for waiting in claim.begun.waiting if waiting.inbound] == ["m1", "m2", "stop"]
    assert claim.begun.stop_upto == claim.begun.waiting[-1].stream_id


async def test_a_parked_sessions_people_are_told_once_until_a_commit(lab: Lab) -> None:
    await lab.publish("m1")
    told = []
    for _ in range(3):
        told.append(await lab.sessions.park(await lab.claim(), delay_s=0.3))
        await lab.expire()
    assert (await lab.state()).attempts == 0
    await lab.commit(await lab.claim(), go_on=False)
    await lab.publish("m2")
    told.append(await lab.sessions.park(await lab.claim(), delay_s=0.3))

    assert told == [True, False, False, True]


async def test_a_stop_that_came_during_the_turn_lets_no_back_off_begin(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.publish("stop", command="stop")
    assert await lab.sessions.renew(claim) == (await lab.fields())["stop_upto"]

    await lab.sessions.back_off(claim, delay_s=0.3)

    assert await lab.ready() == ["web:ann"]
    assert (await lab.claim()).begun.stop_upto


async def test_a_stop_that_the_turn_knew_of_and_could_not_obey_rests_like_any_failure(lab: Lab) -> None:
    """A message for a bot that is not configured, with a stop behind it, was claimed and parked without a pause."""
    await lab.publish("m1")
    await lab.publish("stop", command="stop")
    claim = await lab.claim()

    assert await lab.sessions.park(claim, delay_s=0.3)

    assert await lab.ready() == []
    assert await lab.sessions.claim("web:ann") is None


async def test_what_waits_up_to_a_stop_is_read_in_order(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.publish("m2")
    await lab.publish("stop", command="stop")
    await lab.publish("m3")

    waiting = await lab.sessions.waiting_upto("web:ann", await lab.sessions.renew(claim))

    assert [entry.inbound.id for entry in waiting if entry.inbound] == ["m1", "m2", "stop"]


@pytest.mark.parametrize("deadline", ["lease", "retry_at"])
async def test_a_deadline_an_hour_ahead_is_overdue_for_the_servers_clock_was_set_back(lab: Lab, deadline: str) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    if deadline == "retry_at":
        await lab.sessions.back_off(claim, delay_s=0.3)
    await lab.clock_set_back()

    woken, _ = await reap(lab.bus, lab.queue)

    assert woken == 1
    assert await lab.ready() == ["web:ann"]
    assert (await lab.claim()).fence == claim.fence + 1


async def test_a_message_wakes_a_session_whose_lease_is_an_hour_ahead(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.claim()
    await lab.clock_set_back()

    await lab.publish("m2")

    assert await lab.ready() == ["web:ann"]


async def test_waiting_messages_deleted_by_hand_are_dropped_and_counted(lab: Lab) -> None:
    for number in range(4):
        await lab.publish(f"m{number}")
    ids = await lab.bus.call("LRANGE", lab.bus.keys.waiting("web:ann"), 0, -1)
    await lab.bus.call("XDEL", lab.bus.keys.inbox(0), ids[0], ids[1], ids[3])

    claim = await lab.claim()

    assert claim.begun.dropped == 2
    assert [waiting.inbound.id for waiting in claim.begun.waiting if waiting.inbound] == ["m2"]
    following = await lab.commit(claim)
    assert following is not None and following.begun.dropped == 1
    assert following.begun.waiting == ()


async def test_it_is_counted_also_when_every_waiting_message_was_deleted(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.bus.call("DEL", lab.bus.keys.inbox(0))

    claim = await lab.claim()

    assert (claim.begun.dropped, claim.begun.waiting) == (1, ())
    await lab.sessions.hand_over(claim)
    assert await lab.sessions.claim("web:ann") is None
    assert await lab.due() is None and await lab.ready() == []


async def test_a_stop_deleted_by_hand_is_forgotten(lab: Lab) -> None:
    """Its mark stayed in the session's hash for ever, and no back-off of that session began any more."""
    await lab.publish("m1")
    await lab.publish("stop", command="stop")
    await lab.bus.call("XDEL", lab.bus.keys.inbox(0), (await lab.fields())["stop_upto"])
    await lab.commit(await lab.claim(), go_on=False)
    await lab.publish("m2")

    claim = await lab.claim()

    assert claim.begun.stop_upto == ""
    assert "stop_upto" not in await lab.fields()


async def test_what_cannot_be_read_is_given_as_it_is(lab: Lab) -> None:
    await lab.publish("m1")
    waiting = lab.bus.keys.waiting("web:ann")
    for payload in (b"\xff\xfe", b"{}", b"[1", b'{"type":"inbound","id":7}'):
        entry = await lab.bus.call(
            "XADD", lab.bus.keys.inbox(0), "*", "session", "web:ann", "id", "x", "message", payload
        )
        await lab.bus.call("DEL", waiting)
        await lab.bus.call("RPUSH", waiting, entry)

        claim = await lab.claim()

        assert [(given.inbound, given.raw) for given in claim.begun.waiting] == [(None, payload)]
        await lab.sessions.hand_over(claim)


async def test_two_workers_never_hold_a_session_together(lab: Lab) -> None:
    other = Sessions(lab.bus, lab.queue, worker="other")
    await lab.publish("m1")

    claims = [await lab.sessions.claim("web:ann"), await other.claim("web:ann")]

    assert [claim is not None for claim in claims] == [True, False]
    assert (await lab.state()).worker == "worker"


async def test_stream_ids_are_compared_as_numbers() -> None:
    assert after("10-0", "9-9") and after("5-10", "5-9") and not after("5-9", "5-9") and not after("9-99", "10-0")


async def test_a_stop_behind_thousands_of_messages_is_claimed_and_committed_with_all_of_them(bus: Bus) -> None:
    count = 4_500
    lab = Lab(bus, msgspec.structs.replace(QUEUE, waiting_max=count, partition_max=2 * count))
    await lab.publish("m0")
    [first] = await lab.bus.call("LRANGE", lab.bus.keys.waiting("web:ann"), 0, -1)
    [[_, fields]] = await lab.bus.call("XRANGE", lab.bus.keys.inbox(0), first, first)
    copy = [part for pair in pairs(fields) for part in pair]
    entries = await lab.bus.each([("XADD", lab.bus.keys.inbox(0), "*", *copy)] * (count - 1))
    await lab.bus.call("RPUSH", lab.bus.keys.waiting("web:ann"), *entries)
    await lab.publish("stop", command="stop")

    claim = await lab.claim()

    assert len(claim.begun.waiting) == count + 1
    assert await lab.commit(claim) is None
    assert (await lab.state()).waiting == 0
