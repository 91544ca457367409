"""Linking two memories of one person, and parting them again."""

import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from structlog.testing import capture_logs

from daemon.config.schema import PersonConfig
from daemon.errors import BusUnavailable, JobRefused, LockLost, MemoryMoving
from daemon.job_handlers import job_runner
from daemon.jobs import NotifiedChat
from daemon.memory import HistoryEntry, MemoryFiles, Version, memory_merge
from daemon.memory.scope_lists import ScopeLists
from daemon.people import LinkRequests, Party, Request, link_configured
from daemon.process import Process
from daemon.scope import folder_of
from daemon.testing import FailingBus
from tests.apart import kept
from tests.conftest import Lab, RecordingBus, server_ms
from tests.cut_short import Died, DyingBus, InterludeBus, Made, NotingBus, StoppingBus, noting, to_cut
from tests.limits import HANG_S
from tests.peoplelab import ANN, BOB, CAT, PeopleLab, session_of


@pytest.fixture
def people(process: Process, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> PeopleLab:
    for name in ("link_job", "unlink_job", "scope_locks"):
        monkeypatch.setattr(f"daemon.people.{name}.REST_S", 0.01)
    monkeypatch.setattr("daemon.jobs.job_runner.LOOK_S", 0.01)
    monkeypatch.setattr("daemon.people.scope_locks.TAKE_S", 0.3)
    monkeypatch.setattr("daemon.people.scope_locks.LOOK_S", 0.01)
    return PeopleLab(process, lab)


async def two(people: PeopleLab) -> None:
    await people.remember(ANN, "ann has a cat")
    await people.remember(BOB, "bob rows")
    await people.remember(BOB, "bob was in Rome", raw=True)


async def test_two_memories_become_one(people: PeopleLab) -> None:
    await two(people)
    positions = (await people.fields(BOB))["upto:web:bob"]

    record = await people.link(ANN, BOB)

    assert await people.memories.home(BOB) == ANN
    assert await people.texts(ANN) == ["ann has a cat", "bob rows", "bob was in Rome"]
    assert await people.notes(ANN) == ["note: ann has a cat", "note: bob rows", "note: bob was in Rome"]
    assert await people.text(ANN) == await people.text(BOB) == "- ann has a cat\n\n- bob rows\n"
    assert await people.owed(ANN) == ["bob was in Rome"]
    versions = await people.memories.versions(ANN)
    assert [(version.kind, version.by) for version in versions] == [("link", "test"), ("consolidation", "")]
    assert (await people.fields(ANN))["upto:web:bob"] == positions
    assert await people.people.family(BOB) == await people.people.family(ANN) == [ANN, BOB]
    assert (record.report["history"], record.report["notes"]) == (2, 2)
    for scope in (ANN, BOB):
        assert not {"joining", "receiving", "leaving"} & set(await people.fields(scope))


async def test_what_comes_after_goes_to_the_one_memory_and_goes_on_where_the_other_was(people: PeopleLab) -> None:
    await two(people)
    await people.link(ANN, BOB)

    opened = await people.remember(BOB, "bob learns Greek")

    assert (opened.scope, opened.upto) == (ANN, 4)
    assert await people.text(ANN) == "- ann has a cat\n\n- bob rows\n- bob learns Greek\n"
    assert await people.texts(BOB) == ["bob rows", "bob was in Rome"]


async def test_parted_each_has_what_it_had_and_what_came_of_its_own_since(people: PeopleLab) -> None:
    await two(people)
    await people.link(ANN, BOB)
    await people.remember(BOB, "bob learns Greek")
    await people.remember(ANN, "ann moves")

    record = await people.part(BOB)

    assert record.report == {"home": ANN, "members": [BOB], "given": 2}
    assert await people.memories.home(BOB) == BOB
    assert await people.texts(BOB) == ["bob rows", "bob was in Rome", "bob learns Greek"]
    assert await people.notes(BOB) == ["note: bob rows", "note: bob was in Rome", "note: bob learns Greek"]
    assert await people.text(BOB) == "- bob rows\n"
    assert await people.owed(BOB) == ["bob was in Rome", "bob learns Greek"]
    assert "bob learns Greek" in await people.text(ANN)  # what both knew
    assert "upto:web:bob" not in await people.fields(ANN)
    assert not any(name.startswith("links:") for name in await people.fields(ANN))
    assert await people.people.family(ANN) == [ANN]

    assert (await people.remember(BOB, "BOB-CANARY")).upto == 6
    await people.remember(ANN, "ANN-CANARY")
    assert "BOB-CANARY" not in str([await people.view()][0][ANN])
    assert "ANN-CANARY" not in str((await people.view())[BOB])


async def test_linked_again_nothing_is_there_twice(people: PeopleLab) -> None:
    await two(people)
    await people.link(ANN, BOB)
    await people.remember(BOB, "bob learns Greek")
    await people.part(BOB)
    await people.remember(BOB, "bob sings")

    await people.link(ANN, BOB)

    assert await people.texts(ANN) == ["ann has a cat", "bob rows", "bob was in Rome", "bob learns Greek", "bob sings"]
    assert (await people.fields(ANN))["upto:web:bob"] == "8"

    await people.part(ANN)  # the one that stays: whoever is linked with it leaves
    await people.link(BOB, ANN)  # the other way round

    assert sorted(await people.texts(BOB)) == sorted(set(await people.texts(BOB)))
    assert "ann has a cat" in await people.texts(BOB)


async def test_three_are_one_and_each_can_leave(people: PeopleLab) -> None:
    await two(people)
    await people.remember(CAT, "cat is new")
    await people.link(BOB, CAT)

    await people.link(ANN, BOB)

    assert [await people.memories.home(scope) for scope in (ANN, BOB, CAT)] == [ANN, ANN, ANN]
    assert await people.people.family(CAT) == [ANN, BOB, CAT]
    assert {name for name in await people.fields(ANN) if name.startswith("links:")} == {f"links:{BOB}", f"links:{CAT}"}
    await people.remember(CAT, "cat swims")

    await people.part(CAT)

    assert await people.texts(CAT) == ["cat is new", "cat swims"]
    assert await people.people.family(BOB) == [ANN, BOB]
    assert (await people.remember(CAT, "cat dives")).scope == CAT


async def test_nobody_and_nothing_but_people_is_linked(people: PeopleLab) -> None:
    await two(people)
    for other in ("pond:group:web:room", "pond:workspace", "lake:person:web:bob"):
        with pytest.raises(JobRefused):
            await people.ask(ANN, other)
    await people.link(ANN, BOB)
    with pytest.raises(JobRefused, match="already"):
        await people.ask(BOB, ANN)
    assert await LinkRequests(people.process).unlink(CAT, by="test") is None


async def test_a_consolidation_under_way_is_waited_for_and_its_memory_comes_along(people: PeopleLab) -> None:
    await two(people)
    await people.talk(BOB)
    lock = await people.locks.take("web:bob")
    assert lock is not None
    opened = await people.memories.open(BOB, "web:bob", fence=lock.fence, nonce=lock.nonce)
    job = await people.ask(ANN, BOB)

    await job_runner(people.process).run_one(job)

    record = await people.jobs.find(job)
    assert record is not None
    assert (record.status, record.attempts, record.reason) == ("waiting", 0, "session web:bob is being consolidated")
    assert await people.memories.home(BOB) == BOB
    entry = HistoryEntry(time="", session="web:bob", first=opened.upto, upto=lock.head, kind="summary", text="[t] late")
    await people.memories.apply(opened, entry, mark="")
    await people.locks.give_back(lock, again_in_s=None)
    await people.done(job)
    assert (await people.texts(ANN))[-1] == "late"


async def test_a_consolidation_that_slept_through_it_writes_nothing(people: PeopleLab) -> None:
    await two(people)
    await people.talk(BOB)
    lock = await people.locks.take("web:bob")
    assert lock is not None
    opened = await people.memories.open(BOB, "web:bob", fence=lock.fence, nonce=lock.nonce)
    await people.expire()
    await people.link(ANN, BOB)
    before = await people.view()

    entry = HistoryEntry(time="", session="web:bob", first=opened.upto, upto=lock.head, kind="summary", text="[t] late")
    with pytest.raises(LockLost):
        await people.memories.apply(opened, entry, mark="", update=Version(kind="consolidation", time="", text="late"))
    with pytest.raises(LockLost):
        await people.memories.append(opened, None, cycle=99)
    with pytest.raises(MemoryMoving):
        await people.memories.edit(BOB, of=opened.version, text="edited", by="file", time="")

    assert await people.view() == before


async def test_two_links_that_cross_make_one_memory(people: PeopleLab) -> None:
    await two(people)
    jobs = [await people.ask(ANN, BOB), await people.ask(BOB, ANN)]

    async with anyio.create_task_group() as tg:
        for job in jobs:
            tg.start_soon(people.done, job)

    homes = {await people.memories.home(scope) for scope in (ANN, BOB)}
    assert len(homes) == 1
    [home] = homes
    assert sorted(await people.texts(home)) == ["ann has a cat", "bob rows", "bob was in Rome"]
    records = [await people.jobs.find(job) for job in jobs]
    assert sorted(record.report["already"] for record in records if record) == [False, True]
    for scope in (ANN, BOB):
        assert not {"joining", "receiving", "leaving"} & set(await people.fields(scope))


async def test_links_that_cross_at_any_call_end(people: PeopleLab) -> None:
    """The other one begins before each call of the first, and dies with its marks: the first goes on all the same."""
    await two(people)
    jobs = [await people.ask(ANN, BOB), await people.ask(BOB, ANN)]
    begin_again = await kept(people.bus, folder=people.process.data_dir)

    async def cross() -> None:
        with suppress(Died):
            await job_runner(people.through(DyingBus(people.bus, at=18))).run_one(jobs[1])

    for at in to_cut(await made(people, jobs[0], begin_again), InterludeBus, carried_out=False, seen=set()):
        await begin_again()
        bus = InterludeBus(people.bus, at=at, interlude=cross)
        with capture_logs():
            await job_runner(people.through(bus)).run_one(jobs[0])
            await people.expire()
            async with anyio.create_task_group() as tg:
                for job in jobs:
                    tg.start_soon(people.done, job)
        homes = {await people.memories.home(scope) for scope in (ANN, BOB)}
        assert len(homes) == 1, at
        assert sorted(await people.texts(homes.pop())) == ["ann has a cat", "bob rows", "bob was in Rome"], at
    assert 20 < at == bus.calls + 1


async def made(people: PeopleLab, job: str, begin_again: Callable[[], Awaitable[None]]) -> list[Made]:
    """What calls a job makes in a process that knows where memories are."""
    for _ in range(2):
        await begin_again()
        options = noting(people.bus, folder=people.process.data_dir)
        with capture_logs():
            await job_runner(people.through(NotingBus(people.bus, **options))).run_one(job)
    return options["made"]


def slowly(*values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("kind", "carried_out"),
    [
        (DyingBus, True),
        slowly(DyingBus, False),
        slowly(FailingBus, True),
        (FailingBus, False),
        slowly(StoppingBus, True),
    ],
)
@pytest.mark.parametrize("parts", [False, True])
@pytest.mark.timeout(180)
async def test_cut_short_at_any_call_it_ends_as_if_nothing_had_been(
    people: PeopleLab, kind: type[FailingBus], carried_out: bool, parts: bool
) -> None:
    await begun(people, parts=parts)
    job = await people.ask_to_part(BOB) if parts else await people.ask(ANN, BOB)
    begin_again = await kept(people.bus, folder=people.process.data_dir)
    calls = await made(people, job, begin_again)
    wanted = await people.view()
    for at in to_cut(calls, kind, carried_out=carried_out, seen=set()):
        await begin_again()
        with anyio.CancelScope() as scope, capture_logs(), suppress(Died, BusUnavailable):
            cancel = scope if kind is StoppingBus else None
            bus = kind(people.bus, at=at, carried_out=carried_out, cancel=cancel)
            await job_runner(people.through(bus)).run_one(job)
        with capture_logs():
            await people.expire()
            await people.done(job)
        assert await people.view() == wanted, at
    assert 20 < at == bus.calls + 1


async def begun(people: PeopleLab, *, parts: bool) -> None:
    """Bob is linked with Cat; when it is about parting also with Ann, and all three have said more since."""
    await two(people)
    await people.remember(CAT, "cat is new")
    await people.link(BOB, CAT)
    if parts:
        await people.link(ANN, BOB)
        for scope in (ANN, BOB, CAT):
            await people.remember(scope, f"since then {scope}")


async def test_copies_that_come_late_change_nothing(people: PeopleLab) -> None:
    recording = RecordingBus(people.bus)
    # Copies of the journeys there and back.
    await two(people)
    for step in (lambda: people.ask(ANN, BOB), lambda: people.ask_to_part(BOB), lambda: people.ask(ANN, BOB)):
        job = await step()
        await job_runner(people.through(recording)).until_ended(job, within_s=HANG_S)
        before = await people.view()
        for call in (*recording.scripts, *reversed(recording.scripts)):
            await recording.arrive(*call)
        assert await people.view() == before
        await people.expire()  # a lock that was taken by a copy which came very late
        if await people.memories.home(BOB) == ANN:
            await people.remember(BOB, f"bob says {job}")


def written(people: PeopleLab, scope: str, name: str, text: str) -> Path:
    path = people.process.workspace("pond") / "files" / folder_of(scope) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


async def test_files_come_along_and_are_given_back(people: PeopleLab) -> None:
    await two(people)
    workspace = people.process.workspace("pond")
    written(people, ANN, "list.txt", "ann's")
    written(people, ANN, "sub/own.txt", "ann's own")
    for name, text in (("list.txt", "bob's"), ("sub/deep/a.txt", "a"), ("b", "b")):
        written(people, BOB, name, text)

    record = await people.link(ANN, BOB)

    ours, theirs = (workspace / "files" / folder_of(scope) for scope in (ANN, BOB))
    assert record.report["files"] == 3
    assert not theirs.exists()
    found = {path.relative_to(ours).as_posix(): path.read_text() for path in ours.rglob("*") if path.is_file()}
    assert found == {
        "list.txt": "ann's",
        "list (2).txt": "bob's",
        "sub/own.txt": "ann's own",
        "sub/deep/a.txt": "a",
        "b": "b",
    }

    written(people, ANN, "later.txt", "later")
    await people.part(BOB)

    given = {path.relative_to(theirs).as_posix(): path.read_text() for path in theirs.rglob("*") if path.is_file()}
    assert given == {"list (2).txt": "bob's", "sub/deep/a.txt": "a", "b": "b"}
    assert (ours / "b").exists()  # what both had


async def test_what_one_has_forgotten_does_not_come_back_from_the_other(people: PeopleLab) -> None:
    await two(people)
    await people.link(ANN, BOB)
    await people.part(BOB)
    bus, keys = people.bus, people.bus.keys
    for key in (keys.history(BOB), keys.notes(BOB)):
        for index, raw in enumerate(await bus.call("LRANGE", key, 0, -1)):
            await bus.call("LSET", key, index, raw.replace(b"bob rows", b"[forgotten]"))

    await people.link(ANN, BOB)
    await people.part(BOB)

    assert "bob rows" in await people.texts(ANN)
    assert await people.texts(BOB) == ["[forgotten]", "bob was in Rome"]
    assert await people.notes(BOB) == ["note: [forgotten]", "note: bob was in Rome"]


async def test_a_file_that_is_anothers_by_another_name_is_not_made_a_file_of_its_own(people: PeopleLab) -> None:
    await two(people)
    other = written(people, "pond:person:web:carol", "own.txt", "carol's")
    (written(people, BOB, "b", "b").parent / "hard").hardlink_to(other)

    await people.link(ANN, BOB)
    await people.part(BOB)

    theirs = people.process.workspace("pond") / "files" / folder_of(BOB)
    assert {path.name for path in theirs.iterdir()} == {"b"}


async def test_the_folder_that_showed_the_memory_goes_and_a_pending_edit_comes_along(people: PeopleLab) -> None:
    await two(people)
    files = MemoryFiles(people.memories, workspace_of=people.process.workspace, clock=people.process.clock)
    await files.sync(BOB, at_once=True)
    folder = people.process.workspace("pond") / "memory" / folder_of(BOB)
    memory = folder / "MEMORY.md"
    memory.write_text(memory.read_text() + "- bob edits by hand\n")
    os.utime(memory, (1, 1))

    await people.link(ANN, BOB)

    assert not folder.exists()
    assert "- bob edits by hand" in await people.text(ANN)
    shown = people.process.workspace("pond") / "memory" / folder_of(ANN) / "MEMORY.md"
    assert "- bob edits by hand" in shown.read_text()

    await people.part(BOB)
    assert memory.read_text() == "- bob rows\n- bob edits by hand\n"


async def test_a_turn_that_began_before_is_waited_for_and_what_it_wrote_comes_along(
    people: PeopleLab, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.people.scope_locks.WAIT_S", 0.02)
    monkeypatch.setattr("daemon.people.scope_locks.LOOK_S", 0.01)
    await two(people)
    await lab.publish("next", session="web:bob")
    claim = await lab.claim("web:bob")
    job = await people.ask(ANN, BOB)
    await job_runner(people.process).run_one(job)
    record = await people.jobs.find(job)
    assert record is not None
    assert record.reason == "answers that were started before the two people were linked are still in progress"
    assert await people.memories.home(BOB) == ANN

    written(people, BOB, "late.txt", "late")
    await lab.commit(claim, go_on=False)
    await people.done(job)

    assert (people.process.workspace("pond") / "files" / folder_of(ANN) / "late.txt").read_text() == "late"


async def test_both_chats_are_told_once_that_they_are_linked(people: PeopleLab) -> None:
    await two(people)
    asking = LinkRequests(people.process)
    ann, bob, cat = (
        Party(scope=scope, chat=NotifiedChat(session=session_of(scope), message_id="m")) for scope in (ANN, BOB, CAT)
    )
    code = await asking.code(ann, "pond")

    request = await asking.by_code(f" {code[:4].lower()}-{code[4:].lower()} ", bob, "pond")
    assert isinstance(request, Request)
    assert await asking.by_code(code, cat, "pond") == "wrong"  # used up: who reads along comes late
    for side in (request, request.turned):
        await asking.answer(side, "yes", by=side.own.chat, at_ms=await server_ms(people.bus))
    [job] = await people.jobs.all()
    await people.done(job.id)

    assert await people.memories.home(BOB) == ANN
    for scope, other in ((ANN, "web:bob"), (BOB, "web:ann")):
        notices = await people.bus.call("XRANGE", people.bus.keys.notices(session_of(scope)), "-", "+")
        assert f"now linked with {other}" in str(notices[-1])
        assert len(notices) == 1


async def test_a_memory_is_one_jobs_at_a_time(people: PeopleLab) -> None:
    first, second = (
        memory_merge.MemoryMerge(people.bus, ScopeLists(people.bus, None), job=name) for name in ("a", "b")
    )
    assert (await first.mark(ANN, "receiving")).status == "marked"
    found = await second.mark(ANN, "joining")
    assert (found.status, found.by) == ("busy", "a")
    await first.unmark(ANN, "receiving")
    assert (await second.mark(ANN, "joining")).status == "marked"


async def test_a_consolidation_under_way_is_waited_for_before_two_part(people: PeopleLab) -> None:
    await two(people)
    await people.link(ANN, BOB)
    await people.talk(BOB)
    lock = await people.locks.take("web:bob")
    assert lock is not None
    opened = await people.memories.open(BOB, "web:bob", fence=lock.fence, nonce=lock.nonce)
    job = await people.ask_to_part(BOB)
    await job_runner(people.process).run_one(job)
    assert await people.memories.home(BOB) == ANN
    entry = HistoryEntry(time="", session="web:bob", first=opened.upto, upto=lock.head, kind="summary", text="[t] late")
    await people.memories.apply(opened, entry, mark="")
    await people.locks.give_back(lock, again_in_s=None)

    await people.done(job)

    assert "late" in await people.texts(BOB)
    assert await people.owed(BOB) == ["bob was in Rome", "late"]


@pytest.mark.parametrize("first", [True, False])
async def test_a_consolidation_that_slept_through_parting_writes_nothing_into_the_other(people: PeopleLab, first: bool):
    await (people.remember(ANN, "ann has a cat") if first else two(people))
    await people.link(ANN, BOB)
    await people.talk(BOB)
    lock = await people.locks.take("web:bob")
    assert lock is not None
    opened = await people.memories.open(BOB, "web:bob", fence=lock.fence, nonce=lock.nonce)
    await people.expire()
    await people.part(BOB)
    before = (await people.view())[ANN]

    entry = HistoryEntry(time="", session="web:bob", first=opened.upto, upto=lock.head, kind="summary", text="[t] X")
    with pytest.raises(LockLost):
        await people.memories.apply(opened, entry, mark="")

    assert (await people.view())[ANN] == before


async def test_a_turn_that_began_before_they_parted_is_waited_for(
    people: PeopleLab, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.people.scope_locks.WAIT_S", 0.02)
    monkeypatch.setattr("daemon.people.scope_locks.LOOK_S", 0.01)
    await two(people)
    await people.link(ANN, BOB)
    await lab.publish("next", session="web:bob")
    claim = await lab.claim("web:bob")
    job = await people.ask_to_part(BOB)
    await job_runner(people.process).run_one(job)
    record = await people.jobs.find(job)
    assert record is not None
    assert record.reason == "answers that were started before the two people were unlinked are still in progress"
    assert await people.memories.home(BOB) == BOB

    await lab.commit(claim, go_on=False)
    await people.done(job)


async def test_the_configuration_links_at_the_start_and_once(people: PeopleLab) -> None:
    await two(people)
    person = PersonConfig(identities=("web:ann", "web:bob"))
    config = msgspec.structs.replace(people.process.config, people={"ann": person})
    process = replace(people.process, config=config)

    assert [await link_configured(process), await link_configured(process)] == [1, 0]
    [job] = await people.jobs.all()
    await people.done(job.id)

    assert await people.memories.home(BOB) == ANN
    assert await link_configured(process) == 0
    link = await people.people.link_of(BOB)
    assert link is not None
    assert link.by == "config"
