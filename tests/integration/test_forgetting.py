"""Forgetting: what a person wants gone is found nowhere, and what was not meant is still there."""

import gzip
import os
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import anyio
import msgspec
import pytest

from daemon.archive import Shelf
from daemon.bus import pairs
from daemon.config import ArchiveConfig, Secret
from daemon.durable import folder_below, folder_lock
from daemon.errors import ArchiveError, BusError, LeaseLost, LockLost
from daemon.forget import ForgetOrder, file_removal, matches_of, sweep
from daemon.forget.compaction import compacted
from daemon.memory import HistoryEntry, MemoryFiles, Version
from daemon.model import Answer, Request
from daemon.process import Process
from daemon.session import Claim, Commit
from tests.conftest import Lab, RecordingBus, dump
from tests.fakes.s3 import S3
from tests.forgetlab import (
    ANN,
    ANNS,
    BOB,
    BOBS,
    CANARY,
    KEPT,
    SCOPE,
    SCOPES,
    Pond,
    entry_texts,
    meanwhile,
    pond,
    stands_in,
    texts,
)
from tests.integration.test_archive_s3 import a_store
from tests.limits import HANG_S
from tests.memorylab import saves
from tests.unit.test_forgetting_inventory import rows


@pytest.fixture
def world(process: Process, lab: Lab, tmp_path: Path) -> Pond:
    return Pond(pond(process, tmp_path / "work"), lab)


async def test_what_was_forgotten_stands_nowhere_and_what_was_not_is_still_there(world: Pond) -> None:
    await world.plant()
    before = await world.places()
    kinds = {place.removeprefix(f"{world.bus.keys.prefix}:").split(":")[1] for place in before if "{" in place}
    said = {kind for kind, said in rows().items() if not said.startswith("No tier. ")}
    assert said - kinds == {"labels", "preferences", "usage"}  # which belong to no session; two hold names alone
    assert f"{world.bus.keys.labels}" in " ".join(before)

    record = await world.forget()

    left = [place for place in await world.places() if "bob" not in place]
    shared = [place for place in left if any(f":{kind}" in place for kind in ("in", "dead", "out:web"))]
    assert left == shared, left
    assert record.report["failed"] == []
    assert set(record.report["removed"]) >= {"memory", "history", "notes", "messages", "archive", "versions", "files"}
    for session in (ANN, ANNS):
        assert KEPT in texts(await world.lab.log(session))
    memory = (await world.memories.current(SCOPE)).text
    assert f"- has a {KEPT}" in memory
    assert CANARY not in memory
    assert f"She has a {KEPT} too." in entry_texts(await world.memories.history(SCOPE))
    assert f"- only a {KEPT}" in str(await world.memories.notes(SCOPE))
    files = world.workspace / "files" / "pond%3aperson%3aweb%3aann"
    assert (files / "notes.md").read_text() == f"# Birds\n- {KEPT}\n"
    assert sorted(path.name for path in files.rglob("*") if path.is_file()) == [
        *("kept.gz", "kept.json", "notes.md", "turn-1-call-0-0.txt")
    ]
    history = world.workspace.joinpath("memory", "pond%3aperson%3aweb%3aann", "HISTORY.md").read_text()
    assert f"She has a {KEPT} too." in history
    assert f"a {KEPT}" in (world.process.data_dir / "terminal_history").read_text()


@pytest.mark.parametrize("given_back", [True, False])
async def test_files_that_somebody_else_changes_are_waited_for_or_named_in_the_report(
    world: Pond, given_back: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that still showed it would be read by a tool, and said again by a model."""
    monkeypatch.setattr(sweep, "FILES_S", 0.3)
    monkeypatch.setattr(file_removal, "LOCK_WAIT_S", 0.3)
    await world.plant()
    path = world.workspace / "memory" / "pond%3aperson%3aweb%3aann"
    assert CANARY in (path / "HISTORY.md").read_text()

    real, tried = MemoryFiles.failure, list[str]()
    with folder_below(path, make=False) as folder, ExitStack() as held:

        async def failure(files: MemoryFiles, scope: str, *, within_s: float) -> str:
            tried.append(await real(files, scope, within_s=within_s))
            if given_back:
                held.close()
            return tried[-1]

        monkeypatch.setattr(MemoryFiles, "failure", failure)
        held.enter_context(folder_lock(folder, wait_s=1))
        record = await world.forget()

    assert "keeps changing" in tried[0]
    assert (CANARY in (path / "HISTORY.md").read_text()) is not given_back
    named = [line for line in record.report["failed"] if line.startswith(f"memory files of {SCOPE}: ")]
    assert bool(named) is not given_back


async def test_files_show_no_more_what_the_archive_alone_held(world: Pond) -> None:
    for text in (f"I had a {CANARY}.", f"And a {KEPT}.", "Where is it?"):
        await world.turn(ANN, text)
    await world.consolidate(ANN, saves(f"[2026-11-20 09:00] Ann had a {CANARY}.", memory="# Ann"))
    await world.shelve_first("history", SCOPE)
    await world.stores.files.sync(SCOPE, at_once=True)
    history = world.workspace / "memory" / "pond%3aperson%3aweb%3aann" / "HISTORY.md"
    assert CANARY in history.read_text()

    record = await world.forget()

    assert record.report["removed"]["history"] == 1
    assert CANARY not in history.read_text()


async def test_what_is_anothers_stays(world: Pond) -> None:
    await world.plant()
    anns = [place for place in await world.places() if "ann" in place]
    bobs = [place for place in await world.places() if "bob" in place]
    memory = await world.memories.current(BOBS)

    await world.forget()

    assert anns
    assert [place for place in await world.places() if "bob" in place] == bobs
    assert await world.memories.current(BOBS) == memory
    waiting = await world.bus.call("XRANGE", world.bus.keys.inbox(world.bus.keys.partition(BOB)), "-", "+")
    assert f"Feed the {CANARY}!" in msgspec.json.decode(waiting[-2][1][b"message"])["text"]


async def test_what_a_running_turn_says_afterwards_is_forgotten_too(world: Pond) -> None:
    await world.turn(ANN, f"I have a {CANARY}.")
    await world.inbound(ANNS, f"And a {KEPT}.")
    claim = await world.lab.claim(ANNS)
    entries = await world.entries(0, [f"And a {KEPT}."], answer=f"And a {CANARY}!", told=CANARY, gave=CANARY)
    await world.lab.sessions.journal(claim, step=0, entries=entries[:3])
    job_id = await world.order()

    async with meanwhile(world, job_id) as records, renewed(world, claim):
        await job_holds(world, job_id, "state", b'"passes":1')
        folder = world.workspace / "files" / "pond%3aperson%3aweb%3aann"
        folder.mkdir(parents=True)
        (folder / "late.txt").write_text(f"a {CANARY}\n")
        assert not records
        # A journal that somebody holds is his to count.
        assert f"{world.bus.keys.log(ANNS)}" in await world.places()
        commit = Commit(
            entries=tuple(entries[3:]),
            tokens=sum(entry.tokens for entry in entries),
            answered=tuple(waiting.stream_id for waiting in claim.begun.waiting),
        )
        await world.lab.sessions.commit(claim, commit, step=3, go_on=False)

    assert await world.places() == []
    assert records[0].report["passes"] >= 2
    state = await world.lab.state(ANNS)
    log = await world.lab.log(ANNS)
    assert (state.head, state.tokens) == (4, sum(entry.tokens for entry in log))
    assert KEPT in texts(log)


async def job_holds(world: Pond, job_id: str, field: str, value: bytes) -> None:
    with anyio.fail_after(HANG_S):
        while value not in (await world.bus.call("HGET", world.bus.keys.job(job_id), field) or b""):  # noqa: ASYNC110 - nobody tells
            await anyio.sleep(0.01)


@asynccontextmanager
async def renewed(world: Pond, claim: Claim) -> AsyncIterator[None]:
    async def renew() -> None:
        while True:
            await anyio.sleep(0.1)
            with suppress(LeaseLost):
                await world.lab.sessions.renew(claim)

    async with anyio.create_task_group() as tg:
        tg.start_soon(renew)
        yield
        tg.cancel_scope.cancel()


async def test_a_consolidation_under_way_is_waited_for_and_one_that_begins_meanwhile_waits(world: Pond) -> None:
    for number in range(3):
        await world.turn(ANN, f"{number}: I have a {CANARY}. And a {KEPT}.")
    asked, answered = anyio.Event(), anyio.Event()

    async def slow(_request: Request) -> Answer:
        asked.set()
        await answered.wait()
        return saves(f"[2026-11-20 09:00] {CANARY}. And {KEPT}.", memory=f"- {CANARY}\n- {KEPT}")

    async with anyio.create_task_group() as tg:
        tg.start_soon(world.consolidate, ANN, slow)
        await asked.wait()
        job_id = await world.order()
        async with meanwhile(world, job_id) as records:
            await job_holds(world, job_id, "status", b"running")
            assert not records
            answered.set()

    assert await world.places() == []
    assert (await world.memories.current(SCOPE)).text == f"- {KEPT}"
    assert [entry.text for entry in await world.memories.history(SCOPE)] == [f"[2026-11-20 09:00] And {KEPT}."]


async def test_late_copies_of_every_script_bring_nothing_back(world: Pond) -> None:
    await world.plant()
    recording = world.lab.bus
    assert isinstance(recording, RecordingBus)
    early = list(recording.scripts)
    seen = RecordingBus(world.bus)
    await Pond(replace(world.process, bus=seen), world.lab).forget()
    before = await dump(world.bus)

    for script, keys, args in (*early, *seen.scripts):
        if script.name not in ("publish.lua", "tell.lua"):  # a message that is sent anew is said anew
            with suppress(BusError):
                await recording.arrive(script, keys, args)

    assert [place for place in await world.places() if "ann" in place] == []
    assert await world.memories.current(SCOPE) is not None
    after = await dump(world.bus)
    for key in before:
        if ":log:" in key or ":history:" in key or ":versions:" in key or ":notes:" in key:
            assert after[key] == before[key], key


async def test_what_the_server_keeps_of_deleted_entries_is_gone(world: Pond) -> None:
    key = world.bus.keys.inbox(world.bus.keys.partition(ANN))
    await world.inbound(ANN, f"A {KEPT}.")
    await world.turn(ANNS, f"I have a {CANARY}.")  # answered and deleted, beside one that waits
    await world.inbound(BOB, f"Another {KEPT}.")
    entries, about = await world.bus.call("XRANGE", key, "-", "+"), await world.bus.call("XINFO", "STREAM", key)
    assert CANARY.encode() in await world.bus.call("DUMP", key)

    await world.forget()

    assert CANARY.encode() not in await world.bus.call("DUMP", key)
    assert await world.bus.call("XRANGE", key, "-", "+") == entries
    again = await world.bus.call("XINFO", "STREAM", key)
    assert dict(pairs(again))[b"last-generated-id"] > dict(pairs(about))[b"last-generated-id"]
    assert [waiting.inbound.text for waiting in (await world.lab.claim(ANN)).begun.waiting if waiting.inbound] == [
        f"A {KEPT}."
    ]


async def test_only_what_was_chosen_goes_with_all_its_copies(world: Pond) -> None:
    await world.turn(ANN, "I moved to Berlin.")
    await world.turn(ANN, "Is it cold in Berlin?")
    await world.turn(ANN, "bye")
    await world.consolidate(
        ANN, saves("[2026-11-20 09:00] I moved to Berlin. Is it cold?", memory="- I moved to Berlin\n- Berlin is cold")
    )
    found = await matches_of(world.stores, ForgetOrder(name=SCOPE, scopes=(SCOPE,)), "berlin")
    assert [(match.tier, match.excerpt) for match in found.shown] == [
        ("memory", "- Berlin is cold"),
        ("memory", "- I moved to Berlin"),
        ("messages", "Is it cold in Berlin?"),
    ]
    assert found.shown[1].places >= 5  # memory, its version, history, log, archive, continuity

    await world.forget("berlin", chosen=(found.shown[1].group,))

    assert await world.places("moved to Berlin") == []
    assert (await world.memories.current(SCOPE)).text == "- Berlin is cold"
    assert bytes((await world.lab.log(ANN))[0].wire) == b'{"role":"user","content":"[forgotten]"}'
    assert b"Is it cold in Berlin?" in bytes((await world.lab.log(ANN))[2].wire)
    assert [entry.text for entry in await world.memories.history(SCOPE)] == ["[2026-11-20 09:00] Is it cold?"]


async def test_indexes_never_go_back_and_a_forgotten_log_is_read_and_consolidated_as_before(world: Pond) -> None:
    await world.plant()
    state, version = await world.lab.state(ANN), await world.memories.current(SCOPE)

    await world.forget()

    after = await world.lab.state(ANN)
    positions = [(each.base, each.cursor, each.start, each.head) for each in (state, after)]
    assert positions[0] == positions[1]
    assert after.tokens == sum(entry.tokens for entry in (await world.lab.log(ANN))[after.cursor - after.base :])
    assert after.tokens_start == sum(entry.tokens for entry in (await world.lab.log(ANN))[after.start - after.base :])
    assert (await world.memories.current(SCOPE)).version > version.version
    await world.turn(ANN, "More to say.")
    await world.turn(ANN, "And more.")
    await world.consolidate(ANN, saves("[2026-11-20 10:00] more", memory="- more"))
    assert (await world.lab.state(ANN)).cursor > after.cursor


async def test_a_conversation_that_begins_meanwhile_is_looked_through_too(world: Pond, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(SCOPES, "web:ann:late", SCOPE)
    await world.turn(ANN, f"I have a {CANARY}.")
    await world.inbound(ANNS, f"And a {KEPT}.")
    claim = await world.lab.claim(ANNS)
    job_id = await world.order()

    async with meanwhile(world, job_id), renewed(world, claim):
        await job_holds(world, job_id, "state", b'"passes":1')
        # Its turn had read the memory before.
        await world.turn("web:ann:late", "hello", answer=f"How is your {CANARY}?")
        entries = await world.entries(0, [f"And a {KEPT}."], answer="ok")
        await world.lab.sessions.commit(claim, world.commit_of(claim, entries), step=0, go_on=False)

    assert await world.places() == []
    assert "hello" in texts(await world.lab.log("web:ann:late"))


async def test_a_consolidator_that_lost_its_lock_brings_nothing_back(world: Pond) -> None:
    await world.turn(ANN, f"I have a {CANARY}.")
    await world.turn(ANN, "bye")
    lock = await world.stores.locks.take(ANN)
    assert lock is not None
    opened = await world.memories.open(SCOPE, ANN, fence=lock.fence, nonce=lock.nonce)
    raws = await world.bus.call("LRANGE", world.bus.keys.log(ANN), 0, 1)
    await world.bus.call("HSET", world.bus.keys.lock(ANN), "lease", 1)

    await world.forget()

    entry = HistoryEntry(time="t", session=ANN, first=0, upto=2, kind="summary", text=f"[2026-11-20 09:00] {CANARY}")
    with pytest.raises(LockLost):
        await world.memories.apply(opened, entry, mark="", update=Version(kind="consolidation", time="t", text=CANARY))
    with pytest.raises(ArchiveError):
        await world.stores.archive.write(ANN, 0, raws)
    with pytest.raises(LockLost):
        await world.stores.locks.settle(lock, upto=2, last=raws[-1], tokens=1, continuity=None, flushed=True)
    keys = [key for key, value in (await dump(world.bus)).items() if stands_in(value, CANARY)]
    assert keys == []


async def test_what_a_person_has_just_written_into_the_file_is_forgotten_too(world: Pond) -> None:
    await world.turn(ANN, "hello")
    await world.turn(ANN, "bye")
    await world.consolidate(ANN, saves("[2026-11-20 09:00] hello", memory=f"- a {KEPT}"))
    path = world.workspace / "memory" / "pond%3aperson%3aweb%3aann" / "MEMORY.md"
    path.write_text(f"- a {KEPT}\n- a {CANARY}\n- and tea\n")
    os.utime(path, (1, 1))  # long ago: nobody is at it just now

    await world.forget()

    assert await world.places() == []
    assert path.read_text() == (await world.memories.current(SCOPE)).text == f"- a {KEPT}\n- and tea\n"
    await world.stores.files.sync(SCOPE, at_once=True)
    assert await world.places() == []


async def test_what_a_dead_consolidator_left_for_the_next_is_forgotten_too(world: Pond) -> None:
    await world.turn(ANN, "hello")
    mark = {"last": "0 t", "continuity": {"transcript": "x", "text": f"A {CANARY}. A {KEPT}."}, "flushed": False}
    await world.bus.call("HSET", world.bus.keys.memory(SCOPE), f"mark:{ANN}", msgspec.json.encode(mark))

    await world.forget()

    left = msgspec.json.decode(await world.bus.call("HGET", world.bus.keys.memory(SCOPE), f"mark:{ANN}"))
    assert left == mark | {"continuity": {"transcript": "x", "text": f"A {KEPT}."}}


async def test_a_late_tombstone_buries_no_other_message(world: Pond) -> None:
    await world.turn(ANN, f"I have a {CANARY}.")
    seen = RecordingBus(world.bus)
    await Pond(replace(world.process, bus=seen), world.lab).forget()
    # A failover took the conversation back, and it went on otherwise.
    other = msgspec.json.encode((await world.entries(0, [f"I have a {KEPT}."]))[0])
    await world.bus.call("LSET", world.bus.keys.log(ANN), 0, other)

    await seen.repeat("replace.lua")

    assert await world.bus.call("LINDEX", world.bus.keys.log(ANN), 0) == other


async def archived(world: Pond) -> None:
    """Ten turns with what is to be forgotten, each in a file of the archive, and none in Redis."""
    for number in range(10):
        await world.turn(ANN, f"{CANARY} number {number}.")
    raws = await world.bus.call("LRANGE", world.bus.keys.log(ANN), 0, -1)
    await world.bus.call("HSET", world.bus.keys.session(ANN), "cursor", len(raws))
    for first in range(0, len(raws), 2):
        await world.stores.archive.write(ANN, first, raws[first : first + 2])
    await world.stores.archive.trim(ANN, len(raws))


@pytest.mark.parametrize("kind", ["s3", "gs", "az"])
async def test_archived_messages_are_forgotten_in_object_stores(
    process: Process, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    archive = ArchiveConfig(url=Secret(f"{kind}://millpond/archive"), allow_http=True)
    async with a_store(kind, monkeypatch) as store:
        there = replace(process, config=msgspec.structs.replace(process.config, archive=archive))
        world = Pond(pond(there, tmp_path / "work"), lab)
        await archived(world)
        assert any(stands_in(content, CANARY) for content in unpacked(store))

        record = await world.forget()

        assert record.report["removed"] == {"archive": 10}
        assert not any(stands_in(content, CANARY) for content in unpacked(store))
        await world.forget(order=ForgetOrder(whole="session", name=ANN, session=ANN, scopes=(SCOPE,)))
        assert list(store.objects) == ["millpond/archive/millpond.json"]


def unpacked(store: S3) -> list[bytes]:
    return [gzip.decompress(content) for name, content in store.objects.items() if name.endswith(".gz")]


async def test_archived_messages_are_forgotten_with_one_new_catalogue_though_a_file_is_damaged(world: Pond) -> None:
    await archived(world)
    folder = world.process.data_dir / "transcripts" / Shelf.log(ANN).folder
    spoilt, catalogues = min(folder.glob("transcript_*")), set(folder.glob("catalogue_*"))
    spoilt.write_bytes(b"spoilt")

    report = (await world.forget()).report

    assert report["removed"] == {"archive": 9}
    assert spoilt.name in report["failed"][0]
    assert await world.places() == []
    assert len(set(folder.glob("catalogue_*")) - catalogues) == 1


async def test_several_who_forget_at_the_same_time_all_have_the_server_write_its_files_anew(lab: Lab) -> None:
    found: list[list[str]] = []

    async def compact() -> None:
        found.append(await compacted(lab.bus))

    async with anyio.create_task_group() as tg:
        for _ in range(4):
            tg.start_soon(compact)

    assert found == [[]] * 4
