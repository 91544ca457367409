"""Memories on a real server: what goes in, what is refused, and that whatever comes twice or late changes nothing."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from daemon.archive import Archive
from daemon.bus import Bus, Script
from daemon.errors import ArchiveError, FenceBehind, LockLost, Misplaced, NoSuchVersion, VersionMoved
from daemon.memory import Applied, HistoryEntry, Memories, Note, Opened, Version, joined
from daemon.memory.memory_records import version_parts
from daemon.memory.requested_edits import WRITE
from tests.conftest import RecordingBus, dump
from tests.tables import each_row

SCOPE, ANN, BOB = "pond:workspace", "web:ann", "web:bob"
TIME = "2026-11-20T09:00:00.000Z"


@pytest.fixture
def memories(recorded: RecordingBus) -> Memories:
    return Memories(recorded)


def an_entry(first: int, upto: int, session: str = ANN, **more: Any) -> HistoryEntry:
    fields: dict[str, Any] = {"kind": "summary", "text": f"[2026-11-20 09:00] {first} to {upto}", **more}
    return HistoryEntry(time=TIME, session=session, first=first, upto=upto, **fields)


def a_version(text: str, kind: str = "consolidation", **more: Any) -> Version:
    return Version(kind=kind, time=TIME, text=text, **more)  # type: ignore[arg-type]


def a_flush(added: str) -> Version:
    return Version(kind="flush", time=TIME, added=added)


async def opened(memories: Memories, session: str = ANN, *, fence: int = 1, nonce: str = "") -> Opened:
    return await memories.open(SCOPE, session, fence=fence, nonce=nonce or f"{session}-{fence}")


async def taken_in(
    memories: Memories,
    at: Opened,
    upto: int,
    memory: str | None = None,
    *,
    rejected: bool = False,
    raw: bool = False,
    entry_text: str = "x",
) -> Opened:
    update = None if memory is None or rejected else a_version(memory)
    refused = a_version(memory or "", "rejected") if rejected else None
    entry = an_entry(at.upto, upto, at.session, kind="raw" if raw else "summary", text=entry_text)
    applied = await memories.apply(at, entry, mark=f"m{upto - 1}", update=update, rejected=refused)
    assert (applied.status, applied.opened.upto) == ("done", upto)
    return applied.opened


async def test_a_range_goes_into_history_memory_and_position_together(memories: Memories) -> None:
    at = await opened(memories)
    assert (at.text, at.version, at.upto, at.mark, at.flushed, at.rejected) == ("", 0, 0, "", -1, "")
    entry = an_entry(0, 36, model="m", correlation="c")
    update = a_version("# Ann\nlikes Python\n", session=ANN, upto=36, model="m")

    applied = await memories.apply(at, entry, mark="m35", update=update)

    now = applied.opened
    assert applied.status == "done"
    assert (now.text, now.version, now.upto, now.mark) == ("# Ann\nlikes Python\n", 1, 36, "m35")
    assert await memories.history(SCOPE) == [entry]
    assert await memories.versions(SCOPE) == [replace(update, version=1)]
    assert now == await opened(memories)
    current = await memories.current(SCOPE)
    assert (current.text, current.version) == (now.text, 1)


async def test_the_next_range_goes_in_with_what_the_last_one_gave_back(memories: Memories) -> None:
    at = await taken_in(memories, await opened(memories), 10, "one")
    at = await taken_in(memories, at, 14, "two")
    at = await taken_in(memories, at, 20)

    assert [(entry.first, entry.upto) for entry in await memories.history(SCOPE)] == [(0, 10), (10, 14), (14, 20)]
    assert [version.text for version in await memories.versions(SCOPE)] == ["two", "one"]
    assert (at.version, at.text) == (2, "two")


async def test_a_memory_that_stays_as_it_is_gets_no_version(memories: Memories) -> None:
    at = await taken_in(memories, await opened(memories), 10, "one")

    at = await taken_in(memories, at, 20, "one")

    assert at.version == 1
    assert len(await memories.versions(SCOPE)) == 1


@pytest.mark.parametrize(("first", "upto"), [(0, 10), (5, 15), (11, 20), (0, 20)])
async def test_a_range_that_does_not_begin_where_the_memory_ends_is_refused(
    memories: Memories, recorded: RecordingBus, first: int, upto: int
) -> None:
    await taken_in(memories, await opened(memories), 10, "one")
    at = await opened(memories, fence=2)
    before = await dump(recorded)

    with pytest.raises(Misplaced) as caught:
        await memories.apply(at, an_entry(first, upto), mark="x", update=a_version("two"))

    assert caught.value.upto == 10
    assert await dump(recorded) == before


@each_row("entry", [an_entry(0, 3, BOB), an_entry(0, 0), an_entry(3, 0)])
async def test_a_range_is_of_the_session_that_was_opened_and_holds_messages(memories: Memories, entry: HistoryEntry):
    with pytest.raises(ValueError, match="cannot be added to the memory"):
        await memories.apply(await opened(memories), entry, mark="x")


async def test_sessions_of_one_scope_have_positions_of_their_own_and_scopes_memories(memories: Memories) -> None:
    await taken_in(memories, await opened(memories), 10, "ann's")
    bob = await opened(memories, BOB)
    assert (bob.upto, bob.text, bob.version) == (0, "ann's", 1)
    await taken_in(memories, bob, 4)
    other = await memories.open("pond:group:web:team", ANN, fence=1, nonce="n")

    assert (other.upto, other.text, other.version) == (0, "", 0)
    assert (await opened(memories)).upto == 10
    assert (await opened(memories, "web:ann:1")).upto == 0


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1), session=st.sampled_from([ANN, "web:%22"]))
def test_versions_are_stored_as_json_whatever_stands_in_them(text: str, session: str) -> None:
    """The scripts put number and text around a version's JSON: what is decoded is what was written."""
    version = a_version("", session=session, reason=text)
    record, _ = version_parts(version)

    assert msgspec.json.decode(b'{"version":3,' + record[1:-1] + b',"text":"x"}', type=Version) == replace(
        version, version=3, text="x"
    )


@pytest.mark.parametrize(
    "text",
    ["/a/b\\/c", '"kind":"rejected"', "\x00\x07\x1f\x7f\u2028", "记住\U0001f600\n\t\r\n", "\\u0041", "]}", "%s %d"],
)
async def test_a_text_comes_back_as_it_went_in(memories: Memories, text: str) -> None:
    at = await taken_in(memories, await opened(memories), 5, text, entry_text=text)
    await memories.append(at, a_flush(text), cycle=5)

    newest, first = await memories.versions(SCOPE)
    assert (first.text, first.kind) == (text, "consolidation")
    assert (newest.text, newest.added) == (joined(text, text), text)
    assert (await memories.current(SCOPE)).text == newest.text
    assert (await memories.history(SCOPE))[0].text == text
    assert (await opened(memories)).rejected == ""


async def test_a_memory_opened_under_a_later_lock_is_closed_to_earlier_ones(memories: Memories, recorded: RecordingBus):
    old = await taken_in(memories, await opened(memories), 10, raw=True)
    await memories.open(SCOPE, ANN, fence=2, nonce="later")
    before = await dump(recorded)

    writes: list[Callable[[], Any]] = [
        lambda: memories.apply(old, an_entry(10, 20), mark="x", update=a_version("x")),
        lambda: memories.apply(old, an_entry(10, 20), mark="x"),
        lambda: memories.append(old, a_flush("x"), cycle=10),
        lambda: memories.digest(old, index=0, update=None),
        lambda: memories.set_back(old, head=5),
    ]
    for write in writes:
        with pytest.raises(LockLost, match="by another worker"):
            await write()

    assert await dump(recorded) == before


@pytest.mark.parametrize("fence", [1, 2])
async def test_a_lock_that_is_not_the_latest_cannot_open(memories: Memories, recorded: RecordingBus, fence: int):
    """With the fence of the one that did, it is another lock all the same: the number was given twice."""
    await memories.open(SCOPE, ANN, fence=2, nonce="theirs")
    before = await dump(recorded)

    with pytest.raises(FenceBehind) as caught:
        await memories.open(SCOPE, ANN, fence=fence, nonce="ours")

    assert caught.value.highest == 2
    assert await dump(recorded) == before
    assert (await memories.open(SCOPE, ANN, fence=3, nonce="ours")).fence == 3


async def test_a_lock_opens_its_memory_as_often_as_it_likes(memories: Memories) -> None:
    at = await opened(memories)
    assert await opened(memories) == at


async def test_fences_are_a_sessions_own(memories: Memories) -> None:
    await opened(memories, ANN, fence=7)
    bob = await opened(memories, BOB, fence=1)

    assert (await taken_in(memories, bob, 3)).upto == 3


async def test_a_memory_that_forgot_the_lock_in_a_failover_lets_it_go_on_and_knows_it_again(
    memories: Memories, recorded: RecordingBus
) -> None:
    at = await opened(memories, fence=5)
    await recorded.call("DEL", recorded.keys.memory(SCOPE))

    await taken_in(memories, at, 10)

    with pytest.raises(FenceBehind):
        await opened(memories, fence=4)


async def test_a_memory_that_moved_since_it_was_opened_is_not_overwritten(memories: Memories, recorded: RecordingBus):
    at = await taken_in(memories, await opened(memories), 10, "one")
    await taken_in(memories, await opened(memories, BOB), 4, "two")
    before = await dump(recorded)

    refused = await memories.apply(at, an_entry(10, 20), mark="x", update=a_version("one, more"))

    assert (refused.status, refused.appended, refused.merged("x")) == ("version", None, None)
    assert (refused.opened.text, refused.opened.version) == ("two", 2)
    assert await dump(recorded) == before
    now = await taken_in(memories, refused.opened, 20, "two, more")
    assert (now.text, now.version) == ("two, more", 3)


async def test_what_was_only_appended_since_is_merged_without_a_model(memories: Memories) -> None:
    at = await taken_in(memories, await opened(memories), 10, "one\n")
    bob = await opened(memories, BOB)
    bob = (await memories.append(bob, a_flush("bob's"), cycle=0)).opened
    bob = await taken_in(memories, bob, 4, "bad", rejected=True)
    await memories.append(bob, a_flush("bob's too"), cycle=4)

    refused = await memories.apply(at, an_entry(10, 20), mark="x", update=a_version("one, more\n"))

    assert (refused.status, refused.appended) == ("version", ("bob's", "bob's too"))
    merged = refused.merged("one, more\n")
    assert merged == "one, more\n\nbob's\n\nbob's too"
    assert (await taken_in(memories, refused.opened, 20, merged)).text == merged


async def test_appends_to_a_memory_that_was_empty_are_merged_too(memories: Memories) -> None:
    at = await opened(memories)
    await memories.append(await opened(memories, BOB), a_flush("bob's"), cycle=0)

    refused = await memories.apply(at, an_entry(0, 9), mark="x", update=a_version("new"))

    assert refused.merged("new") == "new\n\nbob's"


async def test_a_number_that_a_failover_gave_to_another_text_is_no_longer_the_version_opened(
    memories: Memories, recorded: RecordingBus
) -> None:
    bob = await opened(memories, BOB)
    at = await taken_in(memories, await opened(memories), 10, "lost in the failover")
    for key in (recorded.keys.memory(SCOPE), recorded.keys.versions(SCOPE), recorded.keys.history(SCOPE)):
        await recorded.call("DEL", key)
    await taken_in(memories, bob, 4, "another")
    await taken_in(memories, replace(at, upto=0), 10)

    now = (await memories.apply(replace(at, upto=10), an_entry(10, 20, kind="raw"), mark="x")).opened

    refused = await memories.apply(replace(at, upto=20), an_entry(20, 30), mark="x", update=a_version("x"))
    digest = await memories.digest(at, index=2, update=a_version("x", "digest"))

    assert (refused.status, refused.appended, refused.opened.text) == ("version", None, "another")
    assert (digest.status, digest.opened) == ("version", now)


async def test_an_entry_alone_goes_in_whatever_happened_to_the_memory(memories: Memories) -> None:
    at = await taken_in(memories, await opened(memories), 10, "one")
    await taken_in(memories, await opened(memories, BOB), 4, "two")

    now = await taken_in(memories, at, 20)

    assert (now.upto, now.text) == (20, "two")


async def test_a_rejected_version_is_kept_and_shown_until_the_next_summary(memories: Memories) -> None:
    at = await taken_in(memories, await opened(memories), 10, "one")
    at = await taken_in(memories, at, 20, "far too short", rejected=True)

    assert (at.text, at.version, at.rejected) == ("one", 1, "far too short")
    assert [(version.version, version.kind) for version in await memories.versions(SCOPE)] == [
        (2, "rejected"),
        (1, "consolidation"),
    ]
    at = (await memories.append(at, a_flush("more"), cycle=20)).opened
    assert (at.rejected, at.version) == ("far too short", 3)
    at = await taken_in(memories, at, 25)
    assert at.rejected == ""


async def test_a_memory_and_a_rejected_version_may_come_of_one_range(memories: Memories) -> None:
    at = await opened(memories)

    update, rejected = a_version("long"), a_version("short", "rejected")
    now = (await memories.apply(at, an_entry(0, 9), mark="x", update=update, rejected=rejected)).opened

    assert [(v.version, v.kind) for v in await memories.versions(SCOPE)] == [(2, "rejected"), (1, "consolidation")]
    assert (now.text, now.version, now.rejected) == ("long", 1, "short")


async def test_an_entry_whose_memory_is_owed_waits_until_it_is_worked_in(memories: Memories) -> None:
    at = await opened(memories)

    now = (await memories.apply(at, an_entry(0, 9), mark="x", is_owed=True)).opened

    assert now.undigested == 1
    assert [(index, entry.kind) for index, entry in await memories.undigested(SCOPE)] == [(0, "summary")]


@pytest.mark.parametrize(("kind", "rejected"), [("raw", "short"), ("summary", "")])
async def test_a_raw_entry_was_no_request_that_could_carry_the_rejected_version(
    memories: Memories, kind: str, rejected: str
) -> None:
    at = await taken_in(memories, await opened(memories), 10, "short", rejected=True)

    applied = await memories.apply(at, an_entry(10, 20, kind=kind), mark="x")

    assert applied.opened.rejected == rejected


async def test_a_person_decides_on_a_rejected_version(memories: Memories) -> None:
    at = await taken_in(memories, await opened(memories), 10, "one")
    at = await taken_in(memories, at, 20, "short", rejected=True)

    assert await memories.restore(SCOPE, version=2, by="ann", time=TIME) == 3

    now = await opened(memories)
    assert (now.text, now.version, now.rejected) == ("short", 3, "")


async def test_whatever_comes_late_changes_nothing(memories: Memories, recorded: RecordingBus) -> None:
    at = await taken_in(memories, await opened(memories), 10, "one")
    at = (await memories.append(at, a_flush("kept"), cycle=10, notes=[a_note("n")])).opened
    at = (await memories.apply(at, an_entry(10, 20, kind="raw"), mark="m19")).opened
    at = (await memories.digest(at, index=1, update=a_version("digested", "digest"))).opened
    at = (await memories.set_back(at, head=15)).opened
    at = await taken_in(memories, at, 12, "two")
    await memories.edit(SCOPE, of=at.version, text="by hand", by="ann", time=TIME)
    await memories.restore(SCOPE, version=1, by="ann", time=TIME)
    before = await dump(recorded)

    for call in list(recorded.scripts):
        await recorded.arrive(*call)

    assert await dump(recorded) == before


async def test_a_range_from_before_a_set_back_is_not_taken_in_again_when_it_comes_late(
    memories: Memories, recorded: RecordingBus
) -> None:
    """The position goes through the same number twice; the count of set-backs tells which time is meant."""
    at = await taken_in(memories, await opened(memories), 10)
    at = (await memories.set_back(at, head=5)).opened
    at = await taken_in(memories, at, 4)
    at = (await memories.set_back(at, head=2)).opened
    assert at.upto == 0
    before = await dump(recorded)

    first, *_, last = [call for call in recorded.scripts if call[0].name == "apply.lua"]
    assert (await recorded.arrive(*first))[0] == b"misplaced"
    assert (await recorded.arrive(*last))[0] == b"done"  # the newest one is known by its name

    assert await dump(recorded) == before


async def test_a_set_back_from_long_ago_is_not_done_again_when_it_comes_late(
    memories: Memories, recorded: RecordingBus
) -> None:
    at = await opened(memories)
    for _ in range(2):
        at = await taken_in(memories, at, 10)
        back = await memories.set_back(at, head=5)
        at = back.opened
        assert len(back.lost) == 1, "the one from before is lost already"
    await taken_in(memories, at, 10)
    before = await dump(recorded)

    first, *_, last = [call for call in recorded.scripts if call[0].name == "set_back.lua"]
    assert (await recorded.arrive(*first))[0] == b"misplaced"
    assert (await recorded.arrive(*last))[0] == b"done"

    assert await dump(recorded) == before


async def test_what_was_refused_is_refused_for_ever_though_the_memory_reads_as_it_did_then(
    memories: Memories, recorded: RecordingBus
) -> None:
    """The number of the version, not its text alone, tells whether a late command is still meant."""
    at = (await memories.apply(await opened(memories), an_entry(0, 10, kind="raw"), mark="x")).opened
    at = await taken_in(memories, at, 20, "one")
    await memories.edit(SCOPE, of=1, text="two", by="ann", time=TIME)
    refused = await memories.apply(at, an_entry(20, 30), mark="x", update=a_version("three"))
    digest = await memories.digest(at, index=0, update=a_version("three", "digest"))
    assert (refused.status, digest.status) == ("version", "version")
    await memories.restore(SCOPE, version=1, by="ann", time=TIME)
    before = await dump(recorded)

    for name in ("apply.lua", "digest.lua", "write.lua"):
        for call in [call for call in recorded.scripts if call[0].name == name]:
            await recorded.arrive(*call)

    assert await dump(recorded) == before


async def test_a_flush_from_before_a_set_back_is_not_appended_again_when_it_comes_late(
    memories: Memories, recorded: RecordingBus
) -> None:
    at = await taken_in(memories, await opened(memories), 10)
    at = (await memories.append(at, a_flush("kept"), cycle=10)).opened
    at = (await memories.set_back(at, head=5)).opened
    assert at.flushed == -1
    before = await dump(recorded)

    await recorded.repeat("append.lua")

    assert await dump(recorded) == before
    assert (await memories.append(at, a_flush("anew"), cycle=0)).opened.text == "kept\n\nanew"


async def test_a_holder_who_works_on_with_a_memory_from_before_a_set_back_is_refused(memories: Memories) -> None:
    old = await taken_in(memories, await opened(memories), 10)
    await memories.set_back(old, head=0)

    with pytest.raises(Misplaced):
        await memories.apply(old, an_entry(0, 3), mark="x")
    with pytest.raises(Misplaced):
        await memories.append(old, a_flush("x"), cycle=0)


async def test_entries_that_hold_messages_a_session_lost_are_marked_and_the_position_goes_back(
    memories: Memories, recorded: RecordingBus
) -> None:
    at = await opened(memories)
    for upto in (10, 20, 30, 40):
        at = await taken_in(memories, at, upto, f"memory of {upto}")
    bob = await taken_in(memories, await opened(memories, BOB), 50)

    back = await memories.set_back(at, head=25)

    assert [(entry.first, entry.upto, entry.lost) for entry in back.lost] == [(30, 40, True), (20, 30, True)]
    assert (back.opened.upto, back.opened.mark, back.opened.text) == (20, "", "memory of 40")
    lost = [(entry.session, entry.upto) for entry in await memories.history(SCOPE) if entry.lost]
    assert lost == [(ANN, 30), (ANN, 40)]
    assert (await opened(memories, BOB)).upto == bob.upto
    at = await taken_in(memories, back.opened, 25)
    assert (await memories.set_back(at, head=24)).lost[0].upto == 25


async def test_entries_that_were_lost_before_are_not_lost_again(memories: Memories) -> None:
    at = await taken_in(memories, await opened(memories), 10)
    at = (await memories.set_back(at, head=5)).opened
    at = await taken_in(memories, at, 4)

    back = await memories.set_back(at, head=3)

    assert [(entry.first, entry.upto) for entry in back.lost] == [(0, 4)]


@pytest.mark.parametrize("head", [10, 11])
async def test_nothing_is_set_back_when_the_session_has_all_that_was_taken_in(
    memories: Memories, recorded: RecordingBus, head: int
) -> None:
    at = await taken_in(memories, await opened(memories), 10)
    before = await dump(recorded)

    back = await memories.set_back(at, head=head)

    assert (back.lost, back.opened) == ((), at)
    assert await dump(recorded) == before


async def test_a_set_back_names_the_position_that_it_sets_back(memories: Memories, recorded: RecordingBus) -> None:
    at = await taken_in(memories, await opened(memories), 10)
    await taken_in(memories, at, 20)
    before = await dump(recorded)

    with pytest.raises(Misplaced) as caught:
        await memories.set_back(at, head=5)

    assert caught.value.upto == 20
    assert await dump(recorded) == before


async def test_lost_entries_are_found_behind_many_of_other_sessions(memories: Memories) -> None:
    at = await taken_in(memories, await opened(memories), 10)
    at = await taken_in(memories, at, 20, entry_text='not "session":"web:bob" at all')
    bob = await opened(memories, BOB)
    for upto in range(1, 131):
        bob = await taken_in(memories, bob, upto, entry_text='not "session":"web:ann" at all')

    back = await memories.set_back(at, head=3)

    assert [(entry.first, entry.upto) for entry in back.lost] == [(10, 20), (0, 10)]
    assert back.opened.upto == 0


async def test_a_history_that_was_deleted_by_hand_keeps_nobody_from_going_back(
    memories: Memories, recorded: RecordingBus
) -> None:
    at = await taken_in(memories, await opened(memories), 10)
    await recorded.call("DEL", recorded.keys.history(SCOPE))

    back = await memories.set_back(at, head=5)

    assert (back.lost, back.opened.upto) == ((), 5)


def a_note(text: str) -> Note:
    return Note(time=TIME, date="2026-11-20", session=ANN, cycle=0, text=text)


async def test_a_flush_appends_to_the_memory_and_to_the_notes_once_a_cycle(memories: Memories) -> None:
    at = await taken_in(memories, await opened(memories), 10, "# Ann\n\nlikes Python\n\n \n")

    flushed = (await memories.append(at, a_flush("lives in Rome"), cycle=10, notes=[a_note("a"), a_note("b")])).opened
    again = await memories.append(flushed, a_flush("lives in Rome"), cycle=10, notes=[a_note("a")])

    assert again.status == "over"
    assert (flushed.text, flushed.flushed) == ("# Ann\n\nlikes Python\n\nlives in Rome", 10)
    assert [note.text for note in await memories.notes(SCOPE)] == ["a", "b"]
    newest = (await memories.versions(SCOPE))[0]
    assert (newest.version, newest.kind, newest.added) == (2, "flush", "lives in Rome")
    assert await opened(memories) == again.opened == flushed


async def test_a_cycle_before_one_that_was_flushed_is_flushed_no_more(memories: Memories) -> None:
    at = (await memories.append(await opened(memories), a_flush("a"), cycle=7)).opened

    assert (await memories.append(at, a_flush("b"), cycle=6)).status == "over"
    assert (await memories.append(at, a_flush("c"), cycle=8)).opened.text == "a\n\nc"


async def test_a_flush_that_found_notes_alone_makes_no_version(memories: Memories) -> None:
    at = (await memories.append(await opened(memories), None, cycle=0, notes=[a_note("a")])).opened

    assert (at.version, at.flushed, await memories.versions(SCOPE)) == (0, 0, [])
    assert await memories.notes(SCOPE, first=1) == []
    assert len(await memories.notes(SCOPE)) == 1


async def test_a_flush_that_found_nothing_counts_too(memories: Memories) -> None:
    assert (await memories.append(await opened(memories), None, cycle=3)).opened.flushed == 3


async def test_a_flush_goes_in_whatever_happened_to_the_memory(memories: Memories) -> None:
    at = await opened(memories)
    await taken_in(memories, await opened(memories, BOB), 4, "two")

    assert (await memories.append(at, a_flush("ann's"), cycle=0)).opened.text == "two\n\nann's"


@pytest.mark.parametrize("text", ["", " \n\t", "a", "a\n\n", "a\r\n \v\f", "a\u00a0\u3000", "\n a"])
async def test_the_script_appends_as_python_does(memories: Memories, text: str) -> None:
    at = await taken_in(memories, await opened(memories), 5, text)

    assert (await memories.append(at, a_flush("b"), cycle=5)).opened.text == joined(text, "b")


async def test_a_raw_entry_waits_until_it_is_worked_in(memories: Memories, recorded: RecordingBus) -> None:
    at = await taken_in(memories, await opened(memories), 10, "one")
    at = await taken_in(memories, at, 20)
    at = (await memories.apply(at, an_entry(20, 30, kind="raw"), mark="m29")).opened
    at = (await memories.apply(at, an_entry(30, 40, kind="raw"), mark="m39")).opened
    assert at.undigested == 2
    [(index, entry)] = await memories.undigested(SCOPE)
    assert (index, entry.first) == (2, 20)
    history = await recorded.call("LRANGE", recorded.keys.history(SCOPE), 0, -1)

    done = await memories.digest(at, index=index, update=a_version("one, two", "digest"))

    assert (done.status, done.opened.undigested, done.opened.text, done.opened.upto) == ("done", 1, "one, two", 40)
    assert [index for index, _ in await memories.undigested(SCOPE, limit=5)] == [3]
    assert await recorded.call("LRANGE", recorded.keys.history(SCOPE), 0, -1) == history
    assert (await memories.digest(done.opened, index=3, update=None)).opened.undigested == 0
    assert (await memories.current(SCOPE)).version == 2


async def test_a_raw_entry_is_worked_in_once(memories: Memories, recorded: RecordingBus) -> None:
    at = (await memories.apply(await opened(memories), an_entry(0, 9, kind="raw"), mark="x")).opened
    bob = await opened(memories, BOB)
    await memories.digest(bob, index=0, update=a_version("bob's", "digest"))
    before = await dump(recorded)

    late = await memories.digest(at, index=0, update=a_version("ann's", "digest"))

    assert (late.status, late.opened.text) == ("done", "bob's")
    assert await dump(recorded) == before


async def test_a_raw_entry_is_not_worked_into_a_memory_that_moved(memories: Memories) -> None:
    at = (await memories.apply(await opened(memories), an_entry(0, 9, kind="raw"), mark="x")).opened
    await memories.append(await opened(memories, BOB), a_flush("bob's"), cycle=0)

    refused = await memories.digest(at, index=0, update=a_version("new", "digest"))

    assert (refused.status, refused.opened.undigested, refused.merged("new")) == ("version", 1, "new\n\nbob's")
    merged = await memories.digest(refused.opened, index=0, update=a_version("new\n\nbob's", "digest"))
    assert (merged.opened.undigested, merged.opened.text) == (0, "new\n\nbob's")


async def test_a_rejected_digest_is_kept_and_the_entry_is_done_with(memories: Memories) -> None:
    at = (await memories.apply(await opened(memories), an_entry(0, 9, kind="raw"), mark="x")).opened

    done = await memories.digest(at, index=0, update=a_version("short", "rejected"))

    assert (done.opened.undigested, done.opened.version, done.opened.rejected) == (0, 0, "short")


async def test_a_raw_entry_that_was_lost_is_not_worked_in(memories: Memories) -> None:
    at = (await memories.apply(await opened(memories), an_entry(0, 9, kind="raw"), mark="x")).opened

    back = await memories.set_back(at, head=4)

    assert back.opened.undigested == 0
    assert await memories.undigested(SCOPE) == []


async def test_a_persons_edit_becomes_the_newest_version(memories: Memories) -> None:
    await taken_in(memories, await opened(memories), 10, "one")

    assert await memories.edit(SCOPE, of=1, text="one, by hand", by="ann", time=TIME) == 2

    newest = (await memories.versions(SCOPE))[0]
    assert (newest.kind, newest.by, newest.of, newest.text) == ("edit", "ann", 1, "one, by hand")
    assert (await memories.current(SCOPE)).text == "one, by hand"


async def test_the_first_version_may_be_a_persons(memories: Memories) -> None:
    assert await memories.edit(SCOPE, of=0, text="by hand", by="ann", time=TIME) == 1
    assert (await opened(memories)).text == "by hand"


async def test_what_came_since_the_version_that_was_edited_stands_below_the_edit(memories: Memories) -> None:
    at = await taken_in(memories, await opened(memories), 10, "# Ann\n- tea\n- Rome\n")
    at = (await memories.append(at, a_flush("- a cat"), cycle=10)).opened
    await taken_in(memories, at, 20, "# Ann\n- tea\n- Rome\n\n- a cat\n- a dog\n")

    assert await memories.edit(SCOPE, of=1, text="# Ann\n- coffee\n- a dog\n", by="ann", time=TIME) == 4

    assert (await memories.current(SCOPE)).text == "# Ann\n- coffee\n- a dog\n\n- a cat\n"


@pytest.mark.parametrize(("of", "text"), [(2, "two"), (1, "two"), (1, "one")])
async def test_an_edit_that_changes_nothing_makes_no_version(
    memories: Memories, recorded: RecordingBus, of: int, text: str
) -> None:
    at = await taken_in(memories, await opened(memories), 10, "one")
    await taken_in(memories, at, 20, "two")
    before = await dump(recorded)

    assert await memories.edit(SCOPE, of=of, text=text, by="ann", time=TIME) == 2
    assert await dump(recorded) == before


async def test_an_edit_of_a_version_that_a_failover_lost_loses_nothing_that_is_there(memories: Memories) -> None:
    await taken_in(memories, await opened(memories), 10, "- tea\n- Rome")

    await memories.edit(SCOPE, of=9, text="- tea\n- Paris\n", by="ann", time=TIME)

    assert (await memories.current(SCOPE)).text == "- tea\n- Paris\n\n- Rome\n"


async def test_an_edit_whose_reply_was_lost_is_known_by_its_name_even_after_another_change(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the lines that the person added would stand there twice: in his text, and as what came since."""
    at = await taken_in(Memories(bus), await opened(Memories(bus)), 10, "- tea")

    class LostReply(RecordingBus):
        async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
            await super().run(script, keys, args)
            await Memories(bus).append(at, a_flush("- a cat"), cycle=10)
            return await self.arrive(script, keys, args)

    number = await Memories(LostReply(bus)).edit(SCOPE, of=1, text="- tea\n- Rome", by="ann", time=TIME)

    assert number == 2
    assert (await Memories(bus).current(SCOPE)).text == "- tea\n- Rome\n\n- a cat"


class ContendedBus(RecordingBus):
    """Somebody else is quicker, a number of times."""

    left = 0

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        if script is WRITE and self.left:
            self.left -= 1
            at = await opened(Memories(self))
            await Memories(self).append(at, a_flush(f"- {self.left}"), cycle=100 - self.left)
        return await super().run(script, keys, args)


async def test_an_edit_is_tried_again_while_others_are_quicker(bus: Bus) -> None:
    contended = ContendedBus(bus)
    contended.left = 3

    await Memories(contended).edit(SCOPE, of=0, text="by hand", by="ann", time=TIME)

    assert (await Memories(bus).current(SCOPE)).text == "by hand\n\n- 2\n\n- 1\n\n- 0\n"


async def test_an_edit_is_given_up_when_others_are_always_quicker(bus: Bus) -> None:
    contended = ContendedBus(bus)
    contended.left = 99

    with pytest.raises(VersionMoved, match="was changed 10 times"):
        await Memories(contended).edit(SCOPE, of=0, text="by hand", by="ann", time=TIME)

    assert all(version.kind == "flush" for version in await Memories(bus).versions(SCOPE))


async def test_an_older_version_is_restored(memories: Memories) -> None:
    at = await taken_in(memories, await opened(memories), 10, "one")
    await taken_in(memories, at, 20, "two")

    assert await memories.restore(SCOPE, version=1, by="ann", time=TIME) == 3

    newest = (await memories.versions(SCOPE))[0]
    assert (newest.kind, newest.of, newest.text) == ("restore", 1, "one")
    assert await memories.restore(SCOPE, version=1, by="ann", time=TIME) == 3


@pytest.mark.parametrize("number", [-1, 0, 2, 99])
async def test_a_version_that_never_was_is_refused_with_those_that_are(memories: Memories, number: int) -> None:
    await taken_in(memories, await opened(memories), 10, "one")

    with pytest.raises(NoSuchVersion, match=f"has no version {number}. Choose from 1 to 1"):
        await memories.version(SCOPE, number)
    with pytest.raises(NoSuchVersion):
        await memories.restore(SCOPE, version=number, by="ann", time=TIME)
    with pytest.raises(NoSuchVersion, match="This memory has no versions yet"):
        await memories.version("pond:group:web:team", number)


class CountingBus(RecordingBus):
    def __init__(self, bus: Bus) -> None:
        super().__init__(bus)
        self.texts = 0
        self.reads = 0

    async def call(self, *command: Any) -> Any:
        self.reads += 1
        self.texts += "text" in command
        return await super().call(*command)


async def test_a_prompt_fetches_the_text_only_when_it_has_changed(bus: Bus) -> None:
    counting = CountingBus(bus)
    reading, writing = Memories(counting), Memories(bus)
    assert (await reading.current(SCOPE)).version == 0
    at = await taken_in(writing, await opened(writing), 10, "one")
    for _ in range(3):
        assert (await reading.current(SCOPE)).text == "one"
    assert (counting.texts, counting.reads) == (1, 5)

    await taken_in(writing, at, 20, "two")

    assert (await reading.current(SCOPE)).text == "two"
    assert counting.texts == 2


async def test_a_prompt_is_not_given_a_text_whose_number_a_failover_has_given_to_another(bus: Bus) -> None:
    memories = Memories(bus)
    await memories.edit(SCOPE, of=0, text="one", by="ann", time=TIME)
    assert (await memories.current(SCOPE)).text == "one"
    await bus.call("DEL", bus.keys.memory(SCOPE), bus.keys.versions(SCOPE))
    await memories.edit(SCOPE, of=0, text="another", by="ann", time=TIME)

    assert (await memories.current(SCOPE)).text == "another"


async def test_a_process_keeps_the_memories_of_the_last_scopes_at_hand(bus: Bus, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("daemon.memory.current_memory.CACHED", 2)
    counting = CountingBus(bus)
    memories = Memories(counting)
    for name in "abc":
        await memories.edit(f"pond:group:{name}", of=0, text=name, by="ann", time=TIME)
    counting.texts = 0

    for name in "abacaab":
        assert (await memories.current(f"pond:group:{name}")).text == name

    assert counting.texts == 4


async def test_the_newest_versions_come_first_and_not_all_at_once(memories: Memories) -> None:
    for number in range(5):
        await memories.edit(SCOPE, of=number, text=f"text {number + 1}", by="ann", time=TIME)

    assert [version.version for version in await memories.versions(SCOPE, limit=2)] == [5, 4]
    assert [version.version for version in await memories.versions(SCOPE)] == [5, 4, 3, 2, 1]
    assert (await memories.version(SCOPE, 3)).text == "text 3"


@pytest.mark.parametrize("piece", [1, 2, 3, 4])
async def test_history_is_read_from_where_a_reader_stands(
    memories: Memories, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr("daemon.memory.scope_lists.PIECE", piece)
    at = await opened(memories)
    for upto in (3, 6, 9):
        at = await taken_in(memories, at, upto)

    assert [entry.upto for entry in await memories.history(SCOPE, first=1)] == [6, 9]
    assert await memories.history(SCOPE, first=3) == []


async def test_the_server_is_refused_nothing_by_a_command_too_large_for_lua(memories: Memories) -> None:
    at = await opened(memories)
    notes = [a_note(str(number)) for number in range(9_000)]

    applied: Applied = await memories.append(at, a_flush("x" * 300_000), cycle=0, notes=notes)

    assert len(applied.opened.text) == 300_000
    assert len(await memories.notes(SCOPE)) == 9_000


@pytest.fixture
def shelved(recorded: RecordingBus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memories:
    """Memories of which two versions and two entries stay in Redis, the others go to the archive one by one."""
    monkeypatch.setattr("daemon.memory.scope_lists.KEPT", dict.fromkeys(("versions", "history", "notes"), 2))
    monkeypatch.setattr("daemon.memory.scope_lists.SHELVED", dict.fromkeys(("versions", "history", "notes"), 1))
    return Memories(recorded, Archive(recorded, tmp_path))


async def kept(recorded: RecordingBus, kind: str) -> int:
    key = recorded.keys.memory(SCOPE).replace(":memory:", f":{kind}:")
    return int(await recorded.call("LLEN", key))


async def grown(memories: Memories, *, upto: int = 50) -> Opened:
    """A range of ten messages after the other goes in, and what is old goes to the archive."""
    at = await opened(memories)
    while at.upto < upto:
        at = await taken_in(memories, at, at.upto + 10, f"memory of {at.upto + 10}", entry_text=f"to {at.upto + 10}")
        await memories.shelve(SCOPE)
    return at


async def test_versions_and_entries_are_counted_on_from_those_that_are_away(shelved: Memories, recorded: RecordingBus):
    at = await grown(shelved, upto=30)
    assert (await kept(recorded, "versions"), await kept(recorded, "history")) == (2, 2)

    at = await taken_in(shelved, at, 40, "short", rejected=True)
    at = await taken_in(shelved, at, 50, raw=True)

    assert (at.version, at.rejected, at.undigested) == (3, "short", 1)
    assert [index for index, _ in await shelved.undigested(SCOPE)] == [4]
    assert (await shelved.digest(at, index=4, update=a_version("digested", "digest"))).opened.version == 5
    assert await shelved.edit(SCOPE, of=5, text="by hand", by="ann", time=TIME) == 6


async def test_whoever_reads_sees_no_difference(shelved: Memories, recorded: RecordingBus) -> None:
    at = await grown(shelved)
    for cycle in range(5):
        at = (await shelved.append(at, None, cycle=cycle, notes=[a_note(f"note {cycle}")])).opened
    await shelved.shelve(SCOPE)
    assert [await kept(recorded, kind) for kind in ("versions", "history", "notes")] == [2, 2, 2]

    for _ in range(2):  # and none the second time either
        assert [entry.text for entry in await shelved.history(SCOPE)] == [f"to {upto}" for upto in range(10, 60, 10)]
        assert [entry.upto for entry in await shelved.history(SCOPE, first=1)] == [20, 30, 40, 50]
        assert [note.text for note in await shelved.notes(SCOPE, first=2)] == ["note 2", "note 3", "note 4"]
        assert [version.version for version in await shelved.versions(SCOPE)] == [5, 4, 3, 2, 1]
        assert [version.version for version in await shelved.versions(SCOPE, limit=3)] == [5, 4, 3]
        assert [version.version for version in await shelved.versions(SCOPE, after=3)] == [5, 4]
        assert [(await shelved.version(SCOPE, number)).text for number in (1, 3, 5)] == [
            "memory of 10",
            "memory of 30",
            "memory of 50",
        ]
        await shelved.shelve(SCOPE)


async def test_an_older_version_is_restored_and_edited_from_the_archive(shelved: Memories) -> None:
    await grown(shelved)

    assert await shelved.edit(SCOPE, of=1, text="memory of 10, by hand", by="ann", time=TIME) == 6
    assert (await shelved.current(SCOPE)).text == "memory of 10, by hand\n\nmemory of 50\n"
    assert await shelved.restore(SCOPE, version=2, by="ann", time=TIME) == 7
    assert (await shelved.current(SCOPE)).text == "memory of 20"


async def test_without_the_archive_what_is_away_is_told_and_not_left_out(shelved: Memories, recorded: RecordingBus):
    await grown(shelved, upto=30)
    memories = Memories(recorded)
    await memories.shelve(SCOPE)

    for read in (memories.version(SCOPE, 1), memories.versions(SCOPE), memories.history(SCOPE)):
        with pytest.raises(ArchiveError, match=f"of {SCOPE}: entries 0 to 0 are in the archive"):
            await read
    with pytest.raises(NoSuchVersion, match="Choose from 1 to 3"):
        await memories.version(SCOPE, 4)
    assert [entry.upto for entry in await memories.history(SCOPE, first=1)] == [20, 30]
    assert await memories.edit(SCOPE, of=3, text="by hand", by="ann", time=TIME) == 4


async def test_what_is_undigested_or_to_be_carried_by_the_next_request_stays(shelved: Memories, recorded: RecordingBus):
    at = await taken_in(shelved, await opened(shelved), 10, raw=True)
    at = await taken_in(shelved, at, 20, "short", rejected=True)
    for cycle in range(20, 26):
        at = await taken_in(shelved, at, cycle + 1, raw=True)
        at = (await shelved.append(at, a_flush(f"flush {cycle}"), cycle=cycle)).opened
        await shelved.shelve(SCOPE)
    assert (await kept(recorded, "history"), at.rejected) == (8, "short")

    for index in [index for index, _ in await shelved.undigested(SCOPE, limit=9)][:-1]:
        at = (await shelved.digest(at, index=index, update=None)).opened
    at = await taken_in(shelved, at, 40)
    await shelved.shelve(SCOPE)

    assert (await kept(recorded, "history"), await kept(recorded, "versions")) == (2, 2)
    assert [index for index, _ in await shelved.undigested(SCOPE)] == [7]


@pytest.mark.parametrize("opened_at", [0, 1])
async def test_a_memory_that_moved_so_far_that_what_was_opened_is_away_is_not_merged(shelved: Memories, opened_at: int):
    at, bob = await opened(shelved), await opened(shelved, BOB)
    for cycle in range(4):
        if cycle == opened_at:
            at = await opened(shelved)
        bob = (await shelved.append(bob, a_flush(f"flush {cycle}"), cycle=cycle)).opened
    await shelved.shelve(SCOPE)

    refused = await shelved.apply(at, an_entry(0, 10), mark="x", update=a_version("new"))

    assert (refused.status, refused.appended) == ("version", None)


async def test_a_set_back_goes_as_far_as_it_must_into_the_archive(shelved: Memories, recorded: RecordingBus) -> None:
    at = await grown(shelved)
    bob = await opened(shelved, BOB)
    await taken_in(shelved, bob, 7)
    await shelved.shelve(SCOPE)

    with pytest.raises(ArchiveError):
        await Memories(recorded).set_back(at, head=15)
    back = await shelved.set_back(at, head=15)

    assert (back.opened.upto, back.opened.set_backs) == (10, 1)
    assert [(entry.first, entry.lost) for entry in back.lost] == [(40, True), (30, True), (20, True), (10, True)]
    assert [(entry.session, entry.first, entry.lost) for entry in await shelved.history(SCOPE)] == [
        (ANN, 0, False),
        *((ANN, first, True) for first in (10, 20, 30, 40)),
        (BOB, 0, False),
    ]
    at = await taken_in(shelved, back.opened, 12)
    assert (await shelved.set_back(at, head=0)).opened.upto == 0
    assert all(entry.lost for entry in await shelved.history(SCOPE) if entry.session == ANN)


async def test_an_entry_that_is_lost_while_it_is_moved_is_marked_all_the_same(
    shelved: Memories, recorded: RecordingBus, tmp_path: Path
) -> None:
    """Just before it leaves Redis: the archive has compared it with Redis by then."""
    at = await grown(shelved, upto=20)
    at = await taken_in(shelved, at, 30, "memory of 30")

    class Losing(RecordingBus):
        async def run(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
            if script.name == "trim.lua" and "history" in args:
                await Memories(recorded).set_back(at, head=5)
            return await super().run(script, keys, args)

    losing = Losing(recorded)
    await Memories(losing, Archive(losing, tmp_path)).shelve(SCOPE)

    assert await kept(recorded, "history") == 2
    assert [entry.lost for entry in await shelved.history(SCOPE)] == [True] * 3


async def test_of_a_mark_only_what_is_left_of_it_is_kept_once_the_cursor_has_followed(
    memories: Memories, recorded: RecordingBus
) -> None:
    at = await taken_in(memories, await opened(memories), 10)
    before = await dump(recorded)
    await memories.followed(replace(at, set_backs=1), upto=10, mark="")
    await memories.followed(at, upto=9, mark="")
    await memories.followed(replace(at, nonce="theirs"), upto=10, mark="")
    await memories.followed(at, upto=10, mark="longer than what is there")
    assert await dump(recorded) == before

    await memories.followed(at, upto=10, mark="m")
    assert (await opened(memories)).mark == "m"
    now = await taken_in(memories, at, 20)
    for call in [call for call in recorded.scripts if call[0].name == "followed.lua"]:
        await recorded.arrive(*call)

    assert (await opened(memories)).mark == now.mark == "m19"


async def test_the_last_entry_of_a_session_is_the_one_that_ends_where_its_memory_does(memories: Memories) -> None:
    at = await taken_in(memories, await opened(memories), 10, entry_text="one")
    assert await memories.last_entry(await opened(memories, BOB)) is None
    await taken_in(memories, await opened(memories, BOB), 10, entry_text="bob's")
    at = await taken_in(memories, at, 20, entry_text="two")

    last = await memories.last_entry(at)

    assert last is not None
    assert (last.session, last.text) == (ANN, "two")
    back = await memories.set_back(at, head=15)
    assert await memories.last_entry(replace(back.opened, upto=20)) is None


async def test_what_was_only_appended_since_is_merged_though_older_versions_are_away(
    shelved: Memories, recorded: RecordingBus
) -> None:
    at = await grown(shelved)
    bob = await opened(shelved, BOB)
    await shelved.append(bob, a_flush("bob's"), cycle=0)

    refused = await shelved.apply(at, an_entry(50, 60), mark="x", update=a_version("new"))

    assert (refused.status, refused.merged("new")) == ("version", "new\n\nbob's")
