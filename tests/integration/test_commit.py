"""The commit: everything a turn leaves behind in one step, once, by the holder, at its place; or nothing."""

import anyio
import msgspec
import pytest
from msgspec.structs import replace

from daemon.errors import BusError, BusUnavailable, LeaseLost
from daemon.events import Moved, Reply, SessionGrew
from daemon.process import Process
from daemon.session import Claim, Commit, Sessions
from daemon.testing import FailingBus
from daemon.traces.trace_records import Trace
from tests.conftest import Lab, an_entry, commit_of, everywhere, next_heard, with_nonce
from tests.limits import HANG_S

SESSIONS = "daemon.session.sessions"


async def test_a_commit_moves_the_head_and_answers_what_it_names(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()

    assert await lab.commit(claim) is None

    log = await lab.log()
    assert [(entry.id, entry.answers) for entry in log] == [("m1", ()), ("", ("m1",))]
    state = await lab.state()
    assert (state.head, state.tokens, state.waiting, state.attempts, state.worker) == (2, 6, 0, 0, "")
    assert await lab.bus.call("XLEN", lab.bus.keys.inbox(0)) == 0
    assert await lab.ready() == [] and await lab.due() is None
    assert await lab.bus.call("EXISTS", lab.bus.keys.waiting("web:ann")) == 0


async def test_a_commit_signals_that_the_session_grew(lab: Lab, process: Process) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    async with process.listener.hear(lab.bus.keys.events("web:ann")) as events:
        await lab.subscribed(lab.bus.keys.events("web:ann"))

        await lab.commit(claim)

        heard = await next_heard(events)
    assert msgspec.json.decode(heard, type=Moved) == Moved(session="web:ann", head=2, cursor=0)
    [(_, fields)] = await lab.bus.call("XRANGE", lab.bus.keys.grew(0), "-", "+")
    assert msgspec.json.decode(fields[b"event"], type=SessionGrew) == SessionGrew(session="web:ann", head=2)


async def test_a_reply_goes_out_with_the_commit_and_only_for_push_channels(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    reply = Reply(id="web:ann#0", session="web:ann", turn=0, text="你好", correlation="c")

    await lab.sessions.commit(claim, replace(commit_of(claim), reply=reply), step=0, out_channel="web")
    await lab.publish("m2")
    await lab.commit(await lab.claim())

    [(_, fields)] = await lab.bus.call("XRANGE", lab.bus.keys.out(0, "web"), "-", "+")
    assert msgspec.json.decode(fields[b"reply"], type=Reply) == reply


async def test_a_turn_goes_on_with_the_sessions_next_message_under_the_same_lease(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.publish("m2")

    following = await lab.commit(claim)

    assert following is not None
    assert (following.nonce, following.fence) == (claim.nonce, claim.fence)
    begun = following.begun
    assert (begun.claims, begun.attempts, begun.head, begun.step, begun.tokens) == (2, 1, 2, 0, 6)
    assert [waiting.inbound.id for waiting in begun.waiting if waiting.inbound] == ["m2"]
    assert await lab.sessions.claim("web:ann") is None


async def test_a_turn_does_not_go_on_while_other_sessions_are_ready(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.publish("m2")
    await lab.publish("other", session="web:bob")

    assert await lab.commit(claim) is None

    # Behind the other, or beside it when both became ready in one millisecond.
    assert sorted(await lab.ready()) == ["web:ann", "web:bob"]


async def test_a_process_that_stops_lets_the_session_go_ready_for_others(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.publish("m2")

    assert await lab.commit(claim, go_on=False) is None

    assert await lab.ready() == ["web:ann"] and await lab.due() is not None
    assert (await lab.claim()).begun.attempts == 1


async def test_a_commit_after_the_successors_commit_changes_nothing(lab: Lab) -> None:
    await lab.publish("m1")
    stale = await lab.claim()
    await lab.expire()
    await lab.commit(await lab.claim())
    before = await lab.dump()

    with pytest.raises(LeaseLost):
        await lab.commit(stale)

    assert await lab.dump() == before


@pytest.mark.parametrize("wrong", ["nonce", "head", "claims", "step"])
async def test_a_commit_that_names_another_position_changes_nothing(lab: Lab, wrong: str) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    journalled = [an_entry(0)]
    await lab.sessions.journal(claim, step=0, entries=journalled)
    named = {
        "nonce": with_nonce(claim, "other"),
        "head": at(claim, head=1),
        "claims": at(claim, claims=2),
        "step": claim,
    }[wrong]
    before = await lab.dump()

    with pytest.raises(LeaseLost):
        await lab.sessions.commit(named, commit_of(claim, journalled), step=0 if wrong == "step" else 1)

    assert await lab.dump() == before


def at(claim: Claim, **positions: int) -> Claim:
    return replace(claim, begun=replace(claim.begun, **positions))


@pytest.mark.parametrize("go_on", [True, False])
async def test_a_commit_that_arrives_twice_gives_the_same_and_changes_nothing(lab: Lab, go_on: bool) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.publish("m2")
    first = await lab.commit(claim, go_on=go_on)
    before = await lab.dump()

    assert await lab.commit(claim, go_on=go_on) == first

    assert await lab.dump() == before


async def test_a_commit_sent_again_after_its_reply_was_lost_is_known(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    away = Sessions(FailingBus(lab.bus, at=1, carried_out=True), lab.queue, worker="worker")
    with pytest.raises(BusUnavailable):
        await away.commit(claim, commit_of(claim), step=0)
    before = await lab.dump()

    assert await away.commit(claim, commit_of(claim), step=0) is None

    assert await lab.dump() == before


async def test_a_commit_sent_again_by_a_process_that_stops_meanwhile_can_give_the_session_back(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.publish("m2")
    await lab.commit(claim, go_on=True)

    following = await lab.commit(claim, go_on=False)

    assert following is not None
    await lab.sessions.hand_over(following)
    assert await lab.ready() == ["web:ann"]


async def test_a_commit_that_arrives_after_the_next_one_changes_nothing(lab: Lab) -> None:
    """A copy of the first of three commits under one lease arrives after the second."""
    for number in range(3):
        await lab.publish(f"m{number}")
    second = await lab.commit(await lab.claim())
    assert second is not None
    await lab.commit(second)
    before = await lab.dump()

    assert await lab.bus.repeat("commit.lua", back=2) == [[b"stale"]]

    assert await lab.dump() == before
    assert [entry.id for entry in await lab.log() if entry.id] == ["m0", "m1"]


async def test_a_commit_without_entries_that_arrives_late_changes_nothing(lab: Lab) -> None:
    """It leaves the head where it is: only the claim number tells it from the next turn's."""
    for number in range(3):
        await lab.publish(f"m{number}")
    claim = await lab.claim()
    aside = Commit(entries=(), tokens=0, answered=(claim.begun.waiting[0].stream_id,))
    second = await lab.sessions.commit(claim, aside, step=0)
    assert second is not None and second.begun.head == claim.begun.head
    again = await lab.sessions.commit(claim, aside, step=0)
    third = await lab.sessions.commit(second, replace(aside, answered=(second.begun.waiting[0].stream_id,)), step=0)
    before = await lab.dump()

    assert await lab.bus.repeat("commit.lua", back=2) == [[b"stale"]]

    assert again == second and third is not None
    assert await lab.dump() == before


async def test_a_commit_that_fails_when_the_reply_is_out_is_not_answered_anew(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    reply = Reply(id="web:ann#0", session="web:ann", turn=0, text="hi", correlation="c")
    trace = Trace(turn=0, fence=claim.fence, received_ms=1, claimed_ms=2, worker="w", outcome="done")
    await lab.bus.call("SET", lab.bus.keys.traces("web:ann"), "spoilt")

    with pytest.raises(BusError, match="wrong type"):
        await lab.sessions.commit(claim, replace(commit_of(claim), reply=reply, trace=trace), step=0, out_channel="web")

    assert await lab.bus.call("XLEN", lab.bus.keys.out(0, "web")) == 1
    assert await lab.bus.call("LLEN", lab.bus.keys.waiting("web:ann")) == 0
    assert await lab.bus.call("XLEN", lab.bus.keys.inbox(0)) == 0
    await lab.bus.call("DEL", lab.bus.keys.traces("web:ann"))


async def test_a_server_without_memory_takes_commits_which_give_some_back(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await everywhere(lab.bus, "CONFIG", "SET", "maxmemory", "1")
    try:
        with anyio.fail_after(HANG_S):
            await lab.commit(claim)
    finally:
        await everywhere(lab.bus, "CONFIG", "SET", "maxmemory", "0")

    assert (await lab.state()).head == 2


async def test_a_commit_answers_all_up_to_a_stop_and_clears_it(lab: Lab) -> None:
    for number in range(3):
        await lab.publish(f"m{number}")
    await lab.publish("stop", command="stop")

    claim = await lab.claim()
    assert await lab.commit(claim) is None

    fields = await lab.fields()
    assert "stop_upto" not in fields and len(claim.begun.waiting) == 4
    assert (await lab.state()).waiting == 0


async def test_an_earlier_answer_leaves_a_later_stop_standing(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.publish("stop", command="stop")

    following = await lab.commit(claim)

    assert following is not None
    assert following.begun.stop_upto == following.begun.waiting[0].stream_id
    assert await lab.commit(following) is None
    assert "stop_upto" not in await lab.fields()


async def test_what_could_not_be_answered_goes_to_the_dead_letters_with_its_reason(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    raw = claim.begun.waiting[0].raw

    await lab.sessions.commit(claim, replace(commit_of(claim), dead_reason="attempts"), step=0)
    await lab.bus.repeat("commit.lua")

    [(_, fields)] = await lab.bus.call("XRANGE", lab.bus.keys.dead(0), "-", "+")
    assert (fields[b"id"], fields[b"reason"], fields[b"attempts"]) == (b"m1", b"attempts", b"1")
    assert fields[b"message"] == raw
    assert (await lab.state()).waiting == 0


async def test_a_commit_ends_parking_and_attempts(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.sessions.park(await lab.claim(), delay_s=0.3)
    await lab.expire()
    await lab.claim()
    await lab.expire()

    await lab.commit(await lab.claim())

    fields = await lab.fields()
    assert fields["attempts"] == "0"
    assert not {"retry_at", "parked_at", "nonce", "lease", "worker"} & set(fields)


async def test_tokens_add_up_over_turns_and_journals(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.publish("m2")
    claim = await lab.claim()
    journalled = [an_entry(0, tokens=7), an_entry(0, tokens=11)]
    await lab.sessions.journal(claim, step=0, entries=journalled)
    following = await lab.commit(claim, journalled=journalled)
    assert following is not None
    await lab.commit(following)

    assert (await lab.state()).tokens == sum(entry.tokens for entry in await lab.log()) == 27
    assert (await lab.fields())["tokens_start"] == "27"


async def test_the_live_text_ends_with_the_commit(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.bus.call("SET", lab.bus.keys.live("web:ann"), "{}", "PX", 1000)

    await lab.commit(claim)

    assert await lab.reader.live("web:ann") is None
