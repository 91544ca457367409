"""Calls that come twice, late, or under the number of another: each is told from the one that is meant."""

import hashlib
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from channels.leader_election import Lease, LeaseTerms
from channels.live_display.draft_message import DraftMessage
from channels.live_display.shown_messages import Begun, DisplayLeader, ShownMessages
from channels.outbox.delivery_state import DeliveryState, NextStep, Place, Step
from daemon.archive import Archive, Shelf
from daemon.archive.archive import TRIM
from daemon.archive.catalogue import listing_of
from daemon.bus import Bus, Script
from daemon.errors import LeaseLost, LockLost
from daemon.events import Reply
from daemon.forget.log_removal import SKIP, STRIKE, SWAP
from daemon.forget.memory_removal import CURRENT
from daemon.memory import HistoryEntry, Memories
from daemon.memory.memory_merge import POINT
from daemon.session import ConsolidationLocks
from daemon.testing import ManualClock
from daemon.transcripts.session_restore import RestoreSource, restore
from tests.conftest import Lab, RecordingBus, an_entry, commit_of

ANN, SCOPE, TIME = "web:ann", "pond:workspace", "2026-11-20T09:00:00.000Z"
REPLY = Reply(id=f"{ANN}#0", session=ANN, turn=0, text="hi", correlation="c")


async def talk(lab: Lab, *messages: str) -> list[bytes]:
    """Turns that are over; the log."""
    for message in messages:
        await lab.publish(message)
        await lab.commit(await lab.claim(), go_on=False)
    found: list[bytes] = await lab.bus.call("LRANGE", lab.bus.keys.log(ANN), 0, -1)
    return found


async def test_a_session_that_is_given_back_twice_tells_the_same_and_changes_nothing(lab: Lab) -> None:
    await lab.publish("m1")
    assert await lab.sessions.park(await lab.claim(), delay_s=9.0)
    before = await lab.dump()

    assert await lab.bus.repeat("release.lua") == b"parked"

    assert await lab.dump() == before


async def test_a_claim_makes_its_session_due_when_the_lease_ends(lab: Lab) -> None:
    await lab.publish("m1")
    await lab.expire()

    await lab.claim()

    assert await lab.due() == int((await lab.fields())["lease"])


async def test_a_commit_that_counts_to_the_same_end_from_another_turn_is_refused(lab: Lab) -> None:
    await lab.publish("m1")
    claim = await lab.claim()
    await lab.sessions.journal(claim, step=0, entries=[an_entry(0)])
    other = replace(claim, begun=replace(claim.begun, head=1))
    before = await lab.dump()

    with pytest.raises(LeaseLost):
        await lab.sessions.commit(other, commit_of(claim, [an_entry(0)]), step=0)

    assert await lab.dump() == before


async def test_a_cursor_does_not_pass_other_messages_than_were_taken_in(lab: Lab) -> None:
    await talk(lab, "m1")
    locks = ConsolidationLocks(lab.bus, lab.queue, worker="worker")
    lock = await locks.take(ANN)
    assert lock is not None
    before = await lab.dump()

    with pytest.raises(LockLost):
        await locks.settle(lock, upto=2, last=b"another", tokens=6, continuity=None, flushed=True)

    assert await lab.dump() == before


async def test_a_lock_is_taken_with_a_fence_above_what_the_memory_has_seen(lab: Lab) -> None:
    await talk(lab, "m1")

    lock = await ConsolidationLocks(lab.bus, lab.queue, worker="worker").take(ANN, above=41)

    assert lock is not None
    assert lock.fence == 42


async def test_a_memory_that_was_set_back_knows_neither_mark_nor_flush_of_what_it_lost(bus: Bus) -> None:
    memories = Memories(bus)
    opened = await memories.open(SCOPE, ANN, fence=1, nonce="n")
    entry = HistoryEntry(time=TIME, session=ANN, first=0, upto=9, kind="summary", text="x")
    opened = (await memories.apply(opened, entry, mark="m")).opened
    opened = (await memories.append(opened, None, cycle=9)).opened
    assert (opened.mark, opened.flushed) == ("m", 9)

    opened = (await memories.set_back(opened, head=5)).opened

    assert (opened.upto, opened.mark, opened.flushed) == (0, "", -1)


async def test_an_edit_of_a_text_that_another_has_taken_the_number_of_is_refused(bus: Bus) -> None:
    recorded = RecordingBus(bus)
    memories = Memories(recorded)
    for version, text in enumerate(("one", "two")):
        await memories.edit(SCOPE, of=version, text=text, by="ann", time=TIME)
    await bus.call("DEL", bus.keys.memory(SCOPE), bus.keys.versions(SCOPE))  # a failover
    await memories.edit(SCOPE, of=0, text="another", by="ann", time=TIME)

    assert (await recorded.repeat("write.lua", back=2))[0] == b"version"

    assert (await memories.current(SCOPE)).text == "another"


async def test_what_is_not_consolidated_any_more_is_not_trimmed(lab: Lab, tmp_path: Path) -> None:
    """A failover has set the cursor back since it was looked at."""
    raws = await talk(lab, "m1", "m2")
    shelf, keys = Shelf.log(ANN), lab.bus.keys
    await Archive(lab.bus, tmp_path, clock=ManualClock()).write(shelf, 0, raws)
    await lab.bus.call("HSET", keys.session(ANN), "cursor", 2)
    listing = await listing_of(lab.bus, shelf)
    own = [shelf.hash_key(keys), shelf.list_key(keys), shelf.segments_key(keys), shelf.guard_key(keys)]

    assert await lab.bus.run(TRIM, own, [4, "log", listing.digest, shelf.base_field]) == [b"done", 2]


async def test_a_restored_session_whose_scripts_all_arrive_twice_is_made_once(bus: Bus) -> None:
    class Twice(RecordingBus):
        async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
            await super().run(script, keys, args)
            return await self.arrive(script, keys, args)

    async def read() -> AsyncGenerator[Sequence[bytes]]:
        yield [b'{"tokens":1}', b'{"tokens":2}']
        yield [b'{"tokens":3}']

    made = await restore(Twice(bus), Memories(bus), RestoreSource(session=ANN, scope=SCOPE, first=0), read)

    log = await bus.call("LRANGE", bus.keys.log(made.session), 0, -1)
    assert log == [b'{"tokens":1}', b'{"tokens":2}', b'{"tokens":3}']


async def test_a_part_is_pointed_elsewhere_only_from_where_its_own_job_has_put_it(bus: Bus) -> None:
    key = bus.keys.memory(SCOPE)
    for joined, by, status, after in (
        ("home", "job", b"done", b"new home"),
        ("home", "later job", b"stale", b"home"),
        ("elsewhere", "job", b"stale", b"elsewhere"),
    ):
        await bus.call("HSET", key, "joined", joined, "joined_by", by)

        assert await bus.run(POINT, [key], ["home", "new home", "job"]) == status

        assert await bus.call("HGET", key, "joined") == after


async def test_what_is_another_by_now_is_not_forgotten(bus: Bus) -> None:
    key, versions = bus.keys.memory(SCOPE), bus.keys.versions(SCOPE)
    read = hashlib.sha1(b"as it was read").hexdigest()
    await bus.call("HSET", key, "field", "another", "version", 1, "text", "another", "checksum", "another", "upto:s", 9)

    assert await bus.run(SWAP, [key], ["field", read, ""]) == b"moved"
    assert await bus.run(CURRENT, [key, versions], [1, read, b'{"kind":"forget"}', "forgotten"]) == b"moved"
    assert await bus.run(SKIP, [key], ["s", 1, "nonce", 8, "mark"]) == b"done"

    found = await bus.call("HMGET", key, "field", "text", "upto:s")
    assert found == [b"another", b"another", b"9"]


async def test_a_stream_that_is_put_together_anew_never_gives_an_id_twice(bus: Bus) -> None:
    out = bus.keys.out(0, "web")
    await bus.call("XADD", out, "1-0", "reply", "a")
    await bus.call("XADD", out, "9999999999999-0", "reply", "b")  # of a clock that was ahead

    assert await bus.run(STRIKE, [out, out, out], [10, "", "9999999999999-0"]) == [1, 1]

    assert await bus.call("XADD", out, "*", "reply", "c") > b"9999999999999-0"


async def leading(bus: Bus) -> Lease:
    lease = Lease(
        bus=bus, terms=LeaseTerms(key=bus.keys.leader(0, "web"), lease_s=600.0, renew_s=500.0, worker="worker")
    )
    assert await lease.ask() == 0.0
    return lease


async def test_the_outcome_of_an_attempt_is_noted_by_whoever_made_it(bus: Bus) -> None:
    nonce = (await leading(bus)).nonce
    ledger = DeliveryState(bus, partition=0, channel="web", nonce=nonce, attempts_max=5)
    place = Place(stream_id=b"1-0", reply=REPLY, part=0, last=False)
    ours, theirs = (Step(place=place, attempt=1, mark=mark) for mark in ("ours", "theirs"))
    async with ledger.kept():
        assert await ledger.sending(ours) is NextStep.SEND
        ledger.note(theirs, "refused")
        ledger.note(theirs, "sent", "p2")
        await ledger.written()
        assert await ledger.sending(ours) is NextStep.SEND
        ledger.note(ours, "sent", "p1")
        await ledger.written()

    assert await bus.call("HGET", bus.keys.sent(ANN, REPLY.id), 0) == b"sent p1"


async def test_a_shown_text_is_begun_and_noted_once_by_its_number_and_mark(bus: Bus) -> None:
    book, key = ShownMessages(bus, "web", looks=False), bus.keys.sent(ANN, REPLY.id)
    async with anyio.create_task_group() as sends:
        lead = DisplayLeader(partition=0, lease=await leading(bus), sends=sends, holds=lambda _: False)
        draft = DraftMessage(session=ANN, turn=0, heard_at=0.0, every_s=1.0, number=7)

        assert await book.begin(lead, draft, "ours") == Begun(send=True)
        assert draft.number == 1  # the first there is, whatever was asked for
        assert await book.begin(lead, draft, "ours") == Begun(send=True)
        assert await bus.call("HGET", key, "preview") == b"sending 1 ours"
        assert not await book.shown(lead, draft, "theirs", "p2")
        assert await book.shown(lead, draft, "ours", "p1")
        assert await bus.call("HGET", key, "preview") == b"shown 1 p1"

        await bus.call("HSET", key, "preview", "gone 1")
        draft.number = 2
        await bus.call("HSET", key, "0", "sending 1 0 mark")
        assert await book.begin(lead, draft, "ours") == Begun()
    assert await bus.call("HGET", key, "preview") == b"gone 1"


async def test_what_becomes_of_a_preview_is_noted_by_its_id_and_number(bus: Bus) -> None:
    ledger = DeliveryState(bus, partition=0, channel="web", nonce=(await leading(bus)).nonce, attempts_max=5)
    place = Place(stream_id=b"1-0", reply=REPLY, part=0, last=False)
    key, step = bus.keys.sent(ANN, REPLY.id), Step(place=place, attempt=1, mark="mark")
    async with ledger.kept():
        for outcome, platform_id, before, after in (
            ("edited", "p2", ("", "shown 1 p1"), ("", "shown 1 p1")),
            ("dropped", "p2", ("", "shown 1 p1"), ("", "shown 1 p1")),
            ("edited", "p1", ("", "shown 1 p1"), ("sent p1", "shown 1 p1")),
            ("edited", "p1", ("sending 1 0 mark", "shown 1 p1"), ("sending 1 0 mark", "shown 1 p1")),
            ("dropped", "p1", ("sent p1", "shown 1 p1"), ("sent p1", "shown 1 p1")),
            ("dropped", "p1", ("", "shown 1 p1"), ("", "gone 1")),
            ("seen", "p1", ("", "sending 2 mark"), ("", "sending 2 mark")),
            ("unseen", "", ("", "sending 2 mark"), ("", "sending 2 mark")),
            ("seen", "p1", ("", "sending 1 mark"), ("", "shown 1 p1")),
        ):
            await bus.call("DEL", key)
            for field, value in zip(("0", "preview"), before, strict=True):
                if value:
                    await bus.call("HSET", key, field, value)
            await bus.call("PEXPIRE", key, 60_000)
            ledger.note(step, outcome, platform_id)
            await ledger.written()

            found = await bus.call("HMGET", key, "0", "preview")
            assert tuple((each or b"").decode() for each in found) == after, (outcome, platform_id, before)


async def test_an_old_leader_says_what_is_there_and_not_what_is_missing(bus: Bus) -> None:
    old, key = await leading(bus), bus.keys.sent(ANN, REPLY.id)
    await bus.call("HSET", old.terms.key, "nonce", "another")
    ledger, book = (
        DeliveryState(bus, partition=0, channel="web", nonce=old.nonce, attempts_max=5),
        ShownMessages(bus, "web", looks=True),
    )
    step = Step(place=Place(stream_id=b"1-0", reply=REPLY, part=0, last=False), attempt=1, mark="mark")
    async with anyio.create_task_group() as sends, ledger.kept():
        lead = DisplayLeader(partition=0, lease=old, sends=sends, holds=lambda _: False)
        draft = DraftMessage(session=ANN, turn=0, heard_at=0.0, every_s=1.0, number=1)
        await bus.call("HSET", key, "preview", "sending 1 mark")
        ledger.note(step, "unseen")
        await ledger.written()
        await book.missing(lead, draft)
        assert await bus.call("HGET", key, "preview") == b"sending 1 mark"
        assert await book.found(lead, draft, "p1")
        await bus.call("HSET", key, "preview", "sending 1 mark")
        ledger.note(step, "seen", "p1")
        await ledger.written()
    assert await bus.call("HGET", key, "preview") == b"shown 1 p1"
