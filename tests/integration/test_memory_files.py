"""The files of a memory: what Redis holds, a person's edits, and whatever may lie in their place."""

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import structlog
from anyio import to_thread
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.testing.loop_clock import put_forward_when
from daemon.archive import Archive
from daemon.bus import Bus
from daemon.durable import folder_below, folder_lock
from daemon.errors import BusUnavailable, ConfigError
from daemon.memory import HistoryEntry, Memories, Note, Version
from daemon.memory.file_sync import FileSync, StoredMemory, grow
from daemon.memory.memory_file import ListPosition, SideCar, read_side_car, write_side_car
from daemon.memory.memory_files import MemoryFiles, memory_folder
from daemon.testing import FailingBus, ManualClock
from tests.limits import HANG_S

SCOPE = "pond:person:web:ann"
FOLDER = "pond%3aperson%3aweb%3aann"
TIME = "2026-11-20T09:00:00.000Z"


class Memory:
    """A scope's memory in Redis, and its files as one process keeps them."""

    def __init__(self, bus: Bus, workspace: Path, scope: str = SCOPE) -> None:
        self.bus = bus
        self.scope = scope
        self.workspace = workspace
        self.archive = Archive(bus, workspace.parent / "data")
        self.memories = Memories(bus, self.archive)
        self.folder = workspace.joinpath(*memory_folder(scope))
        self.files = self.process()
        self._positions: dict[str, int] = {}

    def process(self) -> MemoryFiles:
        return self.process_of(Memories(self.bus, self.archive))

    def process_of(self, memories: Memories) -> MemoryFiles:
        return MemoryFiles(memories, workspace_of=lambda _bot: self.workspace, clock=ManualClock())

    async def sync(self) -> None:
        await self.files.sync(self.scope, at_once=True)

    async def consolidated(
        self, text: str | None, entry: str = "[2026-11-20 09:00] x", session: str = "web:ann"
    ) -> None:
        first = self._positions.get(session, 0)
        opened = await self.memories.open(self.scope, session, fence=1, nonce="n")
        update = None if text is None else Version(kind="consolidation", time=TIME, session=session, text=text)
        history = HistoryEntry(time=TIME, session=session, first=first, upto=first + 4, kind="summary", text=entry)
        applied = await self.memories.apply(opened, history, mark="m", update=update)
        assert applied.status == "done"
        self._positions[session] = first + 4

    async def flushed(self, added: str, notes: Sequence[tuple[str, str]] = (), *, cycle: int = 0) -> None:
        opened = await self.memories.open(self.scope, "web:ann", fence=1, nonce="n")
        update = Version(kind="flush", time=TIME, session="web:ann", added=added) if added else None
        written = [Note(time=TIME, date=date, text=text, session="web:ann", cycle=cycle) for date, text in notes]
        assert (await self.memories.append(opened, update, cycle=cycle, notes=written)).status == "done"

    async def text(self) -> str:
        return (await self.memories.current(self.scope)).text

    async def versions(self) -> list[tuple[int, str, str]]:
        found = await self.memories.versions(self.scope)
        return [(version.version, version.kind, version.text) for version in reversed(found)]

    def read(self, name: str = "MEMORY.md") -> str:
        return (self.folder / name).read_bytes().decode()

    def write(self, text: str | bytes, name: str = "MEMORY.md") -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 60))


@pytest.fixture
def memory(bus: Bus, tmp_path: Path) -> Memory:
    return Memory(bus, tmp_path / "workspace")


@pytest.fixture
def log() -> Iterator[list[Any]]:
    with structlog.testing.capture_logs() as captured:
        yield captured


async def test_memory_history_and_notes_become_files_that_only_their_owner_reads(memory: Memory) -> None:
    await memory.consolidated("# Ann\n- likes Python\n", "[2026-11-20 09:00] Ann said hello.")
    await memory.flushed("- lives in Bern", [("2026-11-20", "talked"), ("2026-11-21", "more"), ("2026-11-20", "again")])
    await memory.consolidated(None, "[2026-11-20 10:00] Ann\nwent home.\n")

    await memory.sync()

    assert memory.folder == memory.workspace / "memory" / FOLDER
    assert memory.read() == "# Ann\n- likes Python\n\n- lives in Bern"
    assert memory.read("HISTORY.md") == "[2026-11-20 09:00] Ann said hello.\n\n[2026-11-20 10:00] Ann\nwent home.\n"
    assert memory.read("2026-11-20.md") == "talked\n\nagain\n"
    assert memory.read("2026-11-21.md") == "more\n"
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (memory.folder, *memory.folder.iterdir())}
    assert modes.pop(FOLDER) == 0o700
    assert set(modes.values()) == {0o600}
    assert not [name for name in modes if "draft" in name]


async def test_the_memory_of_a_whole_workspace_lies_beside_the_folders_of_others(bus: Bus, tmp_path: Path) -> None:
    memory = Memory(bus, tmp_path, "pond:workspace")
    await memory.consolidated("all of us")

    await memory.sync()

    assert (tmp_path / "memory" / "MEMORY.md").read_text() == "all of us"


async def test_a_scope_without_a_memory_makes_no_folder(memory: Memory) -> None:
    await memory.sync()

    assert not memory.workspace.exists()


async def test_what_is_written_again_is_what_changed_and_nothing_else(memory: Memory) -> None:
    await memory.consolidated("one", "[2026-11-20 09:00] first")
    await memory.sync()
    before = {path.name: path.stat() for path in memory.folder.iterdir()}
    await memory.sync()
    assert {path.name: path.stat().st_mtime_ns for path in memory.folder.iterdir()} == {
        name: found.st_mtime_ns for name, found in before.items()
    }

    await memory.consolidated(None, "[2026-11-20 10:00] second")
    await memory.sync()

    after = {path.name: path.stat() for path in memory.folder.iterdir()}
    assert after["MEMORY.md"].st_mtime_ns == before["MEMORY.md"].st_mtime_ns
    assert after["HISTORY.md"].st_ino == before["HISTORY.md"].st_ino, "it is appended to"
    assert memory.read("HISTORY.md") == "[2026-11-20 09:00] first\n\n[2026-11-20 10:00] second\n"


async def test_within_a_second_files_are_looked_at_once_unless_something_just_changed(memory: Memory) -> None:
    await memory.consolidated("one")
    await memory.files.sync(SCOPE)
    await memory.consolidated("two")

    await memory.files.sync(SCOPE)
    assert memory.read() == "one"
    await memory.files.sync(SCOPE, at_once=True)
    assert memory.read() == "two"


async def test_as_long_as_nothing_changes_a_look_is_one_read_of_redis(memory: Memory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("daemon.memory.memory_files.LOOK_S", 0.0)
    counting = FailingBus(memory.bus, at=0)
    files = MemoryFiles(Memories(counting), workspace_of=lambda _bot: memory.workspace)
    await files.sync(SCOPE)
    assert (counting.calls, memory.workspace.exists()) == (1, False), "nor is more needed where there is no memory"
    await memory.consolidated("one")
    await files.sync(SCOPE)
    memory.write(memory.read())
    await files.sync(SCOPE)

    counting.calls = 0
    await files.sync(SCOPE)
    assert counting.calls == 1
    memory.write("one and two")
    await files.sync(SCOPE)
    await memory.consolidated("three")
    await files.sync(SCOPE)
    assert [text for _, _, text in await memory.versions()] == ["one", "one and two", "three"]
    assert memory.read() == "three"
    (memory.folder / "HISTORY.md").unlink()
    await files.sync(SCOPE)
    monkeypatch.setattr("daemon.memory.memory_files.ALL_S", -1.0)
    await files.sync(SCOPE, at_once=True)
    os.truncate(memory.folder / "HISTORY.md", 1)
    await files.sync(SCOPE)
    assert memory.read("HISTORY.md").startswith("[2026-11-20 09:00] x\n")


async def test_missing_and_shortened_files_are_written_again(memory: Memory) -> None:
    await memory.consolidated("one", "[2026-11-20 09:00] first")
    await memory.flushed("", [("2026-11-20", "a"), ("2026-11-20", "b")])
    await memory.consolidated("two", "[2026-11-20 10:00] second")
    await memory.sync()
    names = ("MEMORY.md", "HISTORY.md", "2026-11-20.md")
    before = {name: memory.read(name) for name in names}

    for name in names:
        (memory.folder / name).unlink()
    await memory.sync()
    assert {name: memory.read(name) for name in names} == before

    for name in names[1:]:
        os.truncate(memory.folder / name, 3)
    await memory.sync()
    assert {name: memory.read(name) for name in names} == before
    assert [kind for _, kind, _ in await memory.versions()] == ["consolidation"] * 2


async def test_a_folder_that_was_removed_is_made_again(memory: Memory) -> None:
    await memory.consolidated("one", "[2026-11-20 09:00] first")
    await memory.sync()
    for path in memory.folder.iterdir():
        path.unlink()
    memory.folder.rmdir()

    await memory.sync()

    assert (memory.read(), memory.read("HISTORY.md")) == ("one", "[2026-11-20 09:00] first\n")


async def test_a_note_whose_day_is_no_day_becomes_no_file(memory: Memory) -> None:
    await memory.flushed("", [("../../../evil", "x"), ("2026-11-20", "fine"), ("HISTORY", "x")])

    await memory.sync()

    assert sorted(path.name for path in memory.folder.iterdir()) == [".millpond.json", "2026-11-20.md"]
    assert not list(memory.workspace.parent.rglob("evil*"))


async def test_an_edit_becomes_a_version_that_stands_in_the_next_prompt(memory: Memory, log: list[Any]) -> None:
    await memory.consolidated("- likes tea\n")
    await memory.sync()
    memory.write("- likes coffee\n")

    await memory.sync()
    await memory.sync()

    assert await memory.text() == "- likes coffee\n"
    newest = (await memory.memories.versions(SCOPE))[0]
    assert (newest.kind, newest.by, newest.of, newest.version, newest.time) == ("edit", "file", 1, 2, TIME)
    assert memory.read() == "- likes coffee\n"
    assert [line["event"] for line in log] == ["memory.edited"]


async def test_a_memory_that_a_person_begins_is_the_first_version(memory: Memory) -> None:
    memory.write("- is called Ann\n")

    await memory.sync()

    assert await memory.versions() == [(1, "edit", "- is called Ann\n")]


async def test_emptying_the_file_forgets_and_deleting_it_does_not(memory: Memory) -> None:
    await memory.consolidated("one")
    await memory.sync()
    (memory.folder / "MEMORY.md").unlink()
    await memory.sync()
    assert (await memory.text(), memory.read()) == ("one", "one")

    memory.write("")
    await memory.sync()
    assert (await memory.text(), memory.read()) == ("", "")
    (memory.folder / "MEMORY.md").unlink()
    await memory.sync()
    assert memory.read() == ""


async def test_on_a_conflict_the_persons_text_is_current_and_what_came_since_stands_below(memory: Memory) -> None:
    await memory.consolidated("- likes tea\n- has a cat\n")
    await memory.sync()
    memory.write("- likes coffee\n- has a cat\n")
    await memory.flushed("- lives in Bern")

    await memory.sync()
    await memory.sync()

    expected = "- likes coffee\n- has a cat\n\n- lives in Bern\n"
    assert (await memory.text(), memory.read()) == (expected, expected)
    assert [kind for _, kind, _ in await memory.versions()] == ["consolidation", "flush", "edit"]


@pytest.mark.parametrize("since", [False, True])
async def test_an_edit_whose_taker_was_killed_before_the_side_car_is_taken_in_once(memory: Memory, since: bool) -> None:
    await memory.consolidated("- likes tea\n")
    await memory.sync()
    side_car = memory.read(".millpond.json")
    memory.write("- likes coffee\n")
    await memory.sync()
    memory.write(side_car, ".millpond.json")
    memory.write("- likes coffee\n")
    if since:
        await memory.flushed("- lives in Bern")

    await memory.process().sync(SCOPE)

    expected = "- likes coffee" + ("\n\n- lives in Bern" if since else "\n")
    assert (await memory.text(), memory.read()) == (expected, expected)
    assert [kind for _, kind, _ in await memory.versions()].count("edit") == 1


async def test_a_version_whose_writer_was_killed_before_the_side_car_is_nobodys_edit(memory: Memory) -> None:
    await memory.consolidated("one")
    await memory.sync()
    side_car = memory.read(".millpond.json")
    await memory.consolidated("two")
    await memory.sync()
    memory.write(side_car, ".millpond.json")
    await memory.consolidated("three")

    await memory.process().sync(SCOPE)

    assert memory.read() == "three"
    assert [kind for _, kind, _ in await memory.versions()] == ["consolidation"] * 3


async def test_without_its_side_car_a_file_is_joined_with_all_there_is(memory: Memory) -> None:
    await memory.consolidated("- from Redis\n- both\n")
    memory.write("- from elsewhere\n- both\n")
    memory.write("[2026-01-01 00:00] long ago\n", "HISTORY.md")

    await memory.sync()

    assert await memory.text() == memory.read() == "- from elsewhere\n- both\n\n- from Redis\n"
    assert memory.read("HISTORY.md") == "[2026-01-01 00:00] long ago\n\n[2026-11-20 09:00] x\n"


@pytest.mark.parametrize("spoilt", ["", "{", "[]", '{"version": "x"}', "\0" * 100, None])
async def test_a_spoilt_side_car_doubles_nothing(memory: Memory, spoilt: str | None) -> None:
    await memory.consolidated("one", "[2026-11-20 09:00] first")
    await memory.flushed("", [("2026-11-20", "a")])
    await memory.sync()
    before = {path.name: path.read_bytes() for path in memory.folder.iterdir()}
    if spoilt is None:
        (memory.folder / ".millpond.json").unlink()
    else:
        memory.write(spoilt, ".millpond.json")

    await memory.process().sync(SCOPE)

    assert {path.name: path.read_bytes() for path in memory.folder.iterdir()} == before
    assert len(await memory.versions()) == 1


async def test_how_an_editor_ends_lines_or_marks_the_encoding_is_no_edit(memory: Memory) -> None:
    await memory.consolidated("- one\n- two\n")
    await memory.sync()
    memory.write(b"\xef\xbb\xbf- one\r\n- two\r\n")
    await memory.sync()
    assert len(await memory.versions()) == 1

    memory.write(b"\xef\xbb\xbf- one\r\n- 2\r\n")
    await memory.sync()
    assert await memory.text() == "- one\n- 2\n"


async def test_a_file_that_is_being_saved_is_waited_for(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    await memory.consolidated("- one\n")
    await memory.sync()
    path = memory.folder / "MEMORY.md"
    path.write_text("- o")  # an editor is in the middle of it

    def saved(_seconds: float) -> None:
        path.write_text("- one and a half\n")
        os.utime(path, (0, 0))

    monkeypatch.setattr("daemon.memory.memory_file.SETTLE_S", HANG_S)
    monkeypatch.setattr("daemon.memory.memory_file.time.sleep", saved)
    await memory.sync()

    assert [text for _, _, text in await memory.versions()] == ["- one\n", "- one and a half\n"]


async def test_of_many_who_look_at_once_one_takes_an_edit_in(memory: Memory) -> None:
    await memory.consolidated("- likes tea\n")
    await memory.sync()
    memory.write("- likes coffee\n")
    await memory.flushed("- lives in Bern")

    async with anyio.create_task_group() as tg:
        for _ in range(8):
            tg.start_soon(memory.process().sync, SCOPE)

    expected = "- likes coffee\n\n- lives in Bern\n"
    assert (await memory.text(), memory.read()) == (expected, expected)
    assert [kind for _, kind, _ in await memory.versions()] == ["consolidation", "flush", "edit"]


async def test_many_who_write_at_once_leave_the_newest_version_and_each_entry_once(memory: Memory) -> None:
    async def follow() -> None:
        files = memory.process()
        for _ in range(10):
            await files.sync(SCOPE, at_once=True)

    async with anyio.create_task_group() as tg:
        for _ in range(4):
            tg.start_soon(follow)
        for number in range(10):
            await memory.consolidated(f"text {number}", f"[2026-11-20 09:{number:02}] entry")
    await memory.sync()

    assert memory.read() == "text 9"
    assert memory.read("HISTORY.md") == "\n".join(f"[2026-11-20 09:{number:02}] entry\n" for number in range(10))
    assert {kind for _, kind, _ in await memory.versions()} == {"consolidation"}


async def test_what_comes_while_a_missing_file_is_written_is_written_once(memory: Memory) -> None:
    class Meanwhile(Memories):
        async def history(self, scope: str, *, first: int = 0) -> Any:
            found = await super().history(scope, first=first)
            number = len(found) + first
            await memory.consolidated(None, f"[2026-11-20 09:{number:02}] entry")
            return found

        async def notes(self, scope: str, *, first: int = 0) -> Any:
            found = await super().notes(scope, first=first)
            number = len(found) + first
            await memory.flushed("", [("2026-11-20", f"note {number:02}")], cycle=number)
            return found

    files = MemoryFiles(Meanwhile(memory.bus), workspace_of=lambda _bot: memory.workspace)
    for _ in range(4):
        await files.sync(SCOPE, at_once=True)
    (memory.folder / "HISTORY.md").unlink()
    (memory.folder / "2026-11-20.md").unlink()
    for _ in range(2):
        await files.sync(SCOPE, at_once=True)

    for name, many in (("HISTORY.md", 5), ("2026-11-20.md", 5)):
        found = memory.read(name).split("\n\n")
        assert len(found) == len(set(found)) >= many
        assert found == sorted(found)


@pytest.fixture
def aged(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory of which two records of each list stay in Redis."""
    monkeypatch.setattr("daemon.memory.scope_lists.KEPT", dict.fromkeys(("versions", "history", "notes"), 2))
    monkeypatch.setattr("daemon.memory.scope_lists.SHELVED", dict.fromkeys(("versions", "history", "notes"), 1))
    return memory


HOURS = range(10, 16)
AGED_HISTORY = "\n".join(f"[2026-11-20 {hour}:00] entry\n" for hour in HOURS)
AGED_DAY = "\n".join(f"note {hour}\n" for hour in HOURS)


async def age(memory: Memory) -> None:
    """An entry and a note each hour; what is old goes to the archive at once."""
    for hour in HOURS:
        await memory.consolidated(f"text {hour}", f"[2026-11-20 {hour}:00] entry")
        await memory.flushed("", [("2026-11-20", f"note {hour}")], cycle=hour)
        await memory.memories.shelve(SCOPE)
    keys = memory.bus.keys
    for key in (keys.history(SCOPE), keys.notes(SCOPE), keys.versions(SCOPE)):
        assert await memory.bus.call("LLEN", key) == 2


@pytest.mark.parametrize("when", ["never written", "all the time", "deleted after"])
async def test_files_hold_what_is_in_the_archive_too(aged: Memory, when: str) -> None:
    if when == "all the time":
        async with anyio.create_task_group() as tg:
            tg.start_soon(followed_for, aged, 20)
            await age(aged)
    else:
        await age(aged)
    await aged.sync()
    if when == "deleted after":
        (aged.folder / "HISTORY.md").unlink()
        (aged.folder / "2026-11-20.md").unlink()
        (aged.folder / ".millpond.json").unlink()
        await aged.process().sync(SCOPE)

    assert (aged.read(), aged.read("HISTORY.md"), aged.read("2026-11-20.md")) == ("text 15", AGED_HISTORY, AGED_DAY)


async def followed_for(memory: Memory, looks: int) -> None:
    files = memory.process()
    for _ in range(looks):
        await files.sync(SCOPE, at_once=True)


async def test_files_that_are_written_again_while_more_goes_to_the_archive_are_whole(aged: Memory) -> None:
    class Meanwhile(Memories):
        """Behind every read of which something comes, and what is old leaves Redis."""

        async def history(self, scope: str, *, first: int = 0) -> Any:
            found = await super().history(scope, first=first)
            await aged.consolidated(None, f"[2026-11-20 20:{len(found) + first:02}] entry")
            await aged.memories.shelve(SCOPE)
            return found

    await age(aged)
    files = aged.process_of(Meanwhile(aged.bus, aged.archive))
    for _ in range(4):
        await files.sync(SCOPE, at_once=True)
        (aged.folder / "HISTORY.md").unlink()
    await aged.process().sync(SCOPE)

    texts = [entry.text for entry in await aged.memories.history(SCOPE)]
    assert len(texts) > len(HOURS) + 4
    assert aged.read("HISTORY.md") == "\n\n".join(texts) + "\n"


async def test_without_the_archive_a_file_is_left_as_it_is_told_once_and_what_can_be_is_written(
    aged: Memory, log: list[Any]
) -> None:
    await age(aged)
    elsewhere = aged.process_of(Memories(aged.bus))
    for _ in range(2):
        await elsewhere.sync(SCOPE, at_once=True)
    assert aged.read() == "text 15"
    assert not (aged.folder / "HISTORY.md").exists()
    assert [line["event"] for line in log] == ["memory.unwritten"]
    assert "in the archive" in log[0]["reason"]

    await aged.sync()
    await aged.consolidated("text 16", "[2026-11-20 16:00] entry")
    await elsewhere.sync(SCOPE, at_once=True)
    assert aged.read("HISTORY.md") == AGED_HISTORY + "\n[2026-11-20 16:00] entry\n"


async def test_an_edit_of_a_version_that_is_in_the_archive_is_taken_in_as_any_other(aged: Memory) -> None:
    await aged.consolidated("- likes tea\n- has a cat\n")
    await aged.sync()
    aged.write("- likes coffee\n- has a cat\n")
    for number in range(4):
        await aged.consolidated(f"- likes tea\n- has a cat\n- number {number}\n")
    await aged.memories.shelve(SCOPE)

    await aged.sync()
    await aged.sync()

    assert await aged.text() == aged.read() == "- likes coffee\n- has a cat\n\n- number 3\n"
    assert [kind for _, kind, _ in await aged.versions()] == ["consolidation"] * 5 + ["edit"]


HOLDER = """
import sys, pathlib
from daemon.durable import folder_below, folder_lock
with folder_below(pathlib.Path(sys.argv[1]), make=False) as folder, folder_lock(folder, wait_s=1):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held_by_another_process(folder: Path) -> Iterator[None]:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        yield
    finally:
        holder.kill()
        holder.communicate()


async def test_a_folder_that_another_process_holds_is_left_and_its_end_gives_it_free(
    memory: Memory, log: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.memory.file_sync.LOCK_WAIT_S", 0.0)
    await memory.consolidated("one")
    memory.folder.mkdir(parents=True)
    with held_by_another_process(memory.folder):
        await memory.sync()
        assert not (memory.folder / "MEMORY.md").exists()
        assert "another process" in log[0]["reason"]
    await memory.sync()
    assert memory.read() == "one"


async def set_back(memory: Memory, dump: dict[str, Any]) -> None:
    """As a failover that lost what came after ``dump``."""
    keys = memory.bus.keys
    for key in (keys.memory(SCOPE), keys.versions(SCOPE), keys.history(SCOPE), keys.notes(SCOPE)):
        await memory.bus.call("DEL", key)
        if key in dump:
            await memory.bus.call("RESTORE", key, 0, dump[key])
    memory.memories = Memories(memory.bus)


async def dumped(memory: Memory) -> dict[str, Any]:
    keys = memory.bus.keys
    found = {
        key: await memory.bus.call("DUMP", key)
        for key in (keys.memory(SCOPE), keys.versions(SCOPE), keys.history(SCOPE), keys.notes(SCOPE))
    }
    return {key: value for key, value in found.items() if value is not None}


async def test_a_file_is_never_written_back_to_an_older_version(memory: Memory, log: list[Any]) -> None:
    await memory.consolidated("one")
    old = await dumped(memory)
    await memory.consolidated("two")
    await memory.consolidated("three")
    await memory.sync()
    await set_back(memory, old)

    await memory.sync()
    await memory.sync()
    assert memory.read() == "three"
    assert [line["event"] for line in log] == ["memory.behind"]

    await memory.memories.edit(SCOPE, of=1, text="2", by="test", time=TIME)
    await memory.sync()
    assert memory.read() == "three"
    await memory.memories.edit(SCOPE, of=2, text="3", by="test", time=TIME)
    await memory.sync()
    assert memory.read() == "3", "another text under the number that was lost"


async def test_an_edit_of_a_version_that_redis_lost_is_taken_in(memory: Memory) -> None:
    await memory.consolidated("- one\n")
    old = await dumped(memory)
    await memory.consolidated("- one\n- two\n")
    await memory.sync()
    await set_back(memory, old)
    memory.write("- one\n- two\n- three\n")

    await memory.sync()
    await memory.sync()

    assert await memory.versions() == [(1, "consolidation", "- one\n"), (2, "edit", "- one\n- two\n- three\n")]
    assert memory.read() == "- one\n- two\n- three\n"


async def test_history_that_redis_lost_stays_in_the_file_and_what_comes_then_is_appended_once(memory: Memory) -> None:
    await memory.consolidated(None, "[2026-11-20 09:00] a")
    old = await dumped(memory)
    await memory.consolidated(None, "[2026-11-20 09:01] b")
    await memory.consolidated(None, "[2026-11-20 09:02] c")
    await memory.sync()
    await set_back(memory, old)
    memory._positions["web:ann"] = 4
    for text in ("d", "e", "f"):
        await memory.consolidated(None, f"[2026-11-20 09:03] {text}")
    await memory.sync()
    await memory.sync()

    entries = [line for line in memory.read("HISTORY.md").split("\n\n") if line]
    assert [entry.strip()[-1] for entry in entries] == ["a", "b", "c", "d", "e", "f"]


@pytest.mark.parametrize("what", ["link", "pipe", "folder", "large", "not UTF-8", "no rights"])
async def test_a_memory_that_cannot_be_read_is_left_alone_told_once_and_the_rest_goes_on(
    memory: Memory, log: list[Any], what: str
) -> None:
    await memory.consolidated("one", "[2026-11-20 09:00] first")
    await memory.sync()
    path, secret = memory.folder / "MEMORY.md", memory.workspace / "secret"
    path.unlink()
    match what:
        case "link":
            secret.write_text("of somebody else")
            path.symlink_to(secret)
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "large":
            memory.write("x" * 1_000_001)
        case "not UTF-8":
            memory.write(b"caf\xe9")
        case "no rights":
            if os.geteuid() == 0:
                pytest.skip("root may read everything")
            path.write_text("x")
            path.chmod(0)
    before = path.lstat()

    await memory.consolidated("two", "[2026-11-20 10:00] second")
    with anyio.fail_after(HANG_S):
        await memory.sync()
        await memory.sync()

    assert (path.lstat().st_ino, path.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert not secret.exists() or secret.read_text() == "of somebody else"
    assert await memory.text() == "two"
    assert memory.read("HISTORY.md").endswith("second\n")
    (line,) = log
    assert (line["event"], line["path"]) == ("memory.refused", str(path))

    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink()
    await memory.sync()
    assert memory.read() == "two"


@pytest.mark.parametrize("name", ["HISTORY.md", "2026-11-20.md", ".millpond.json"])
async def test_other_files_are_never_written_through_a_link(memory: Memory, log: list[Any], name: str) -> None:
    memory.folder.mkdir(parents=True)
    elsewhere = memory.workspace / "elsewhere"
    elsewhere.write_text("mine")
    (memory.folder / name).symlink_to(elsewhere)
    await memory.consolidated("one")
    await memory.flushed("", [("2026-11-20", "a")])

    await memory.sync()
    await memory.sync()

    assert elsewhere.read_text() == "mine"
    (line,) = log
    assert line["event"] == "memory.unwritten"
    assert name in line["reason"]
    assert "a link" in line["reason"]

    (memory.folder / name).unlink()
    await memory.sync()
    assert memory.read() == "one"
    assert memory.read("2026-11-20.md") == "a\n"


async def test_a_folder_that_is_a_link_is_not_followed(memory: Memory, log: list[Any]) -> None:
    elsewhere = memory.workspace / "of-bob"
    elsewhere.mkdir(parents=True)
    memory.folder.parent.mkdir()
    memory.folder.symlink_to(elsewhere)
    await memory.consolidated("one")

    await memory.sync()

    assert list(elsewhere.iterdir()) == []
    assert [line["event"] for line in log] == ["memory.unwritten"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """A disk of 256 kB, and what makes more room on it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mount needs root with CAP_SYS_ADMIN: no disk can be made full here")
    yield disk, lambda: subprocess.run(["mount", "-o", "remount,size=2m", str(disk)], check=True) and None
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


async def test_a_full_disk_is_one_line_in_the_log_and_what_was_on_it_stays_whole(
    bus: Bus, small_disk: tuple[Path, Callable[[], None]], log: list[Any]
) -> None:
    disk, make_room = small_disk
    memory = Memory(bus, disk)
    await memory.consolidated("one", "[2026-11-20 09:00] first")
    await memory.sync()
    await memory.consolidated("x" * 300_000, "[2026-11-20 10:00] second " + "y" * 300_000)
    for _ in range(3):
        await memory.sync()
    assert memory.read() == "one"
    assert [line["event"] for line in log] == ["memory.unwritten"]
    assert "No space" in log[0]["reason"]

    await memory.consolidated("two", "[2026-11-20 11:00] third")
    await memory.sync()
    assert memory.read() == "two"
    make_room()
    await memory.sync()
    entries = memory.read("HISTORY.md").split("\n\n")
    assert [entry[:18] for entry in entries] == [f"[2026-11-20 {hour:02}:00]" for hour in (9, 10, 11)]
    assert [len(entry.strip()) for entry in entries] == [24, 300_026, 24]


async def test_nothing_that_goes_wrong_is_raised_into_a_turn(memory: Memory, log: list[Any]) -> None:
    def unknown(_bot: str) -> Path:
        raise ConfigError("bots.pond: there is no such bot")

    class Away(Memories):
        async def current(self, scope: str) -> Any:
            raise BusUnavailable("Redis is away")

    memory.folder.mkdir(parents=True)
    await MemoryFiles(memory.memories, workspace_of=unknown).sync(SCOPE)
    await MemoryFiles(Away(memory.bus), workspace_of=lambda _bot: memory.workspace).sync(SCOPE)
    await memory.bus.call("RPUSH", memory.bus.keys.history(SCOPE), "{spoilt")
    await memory.sync()

    assert [line["event"] for line in log] == ["memory.unwritten"] * 3
    assert log[1]["reason"] == "Redis is away"


async def test_the_bot_is_found_by_the_name_in_the_scope(memory: Memory, tmp_path: Path) -> None:
    asked: list[str] = []

    def workspace_of(bot: str) -> Path:
        asked.append(bot)
        return tmp_path

    await MemoryFiles(memory.memories, workspace_of=workspace_of).sync("my%3Abot:workspace")

    assert asked == ["my:bot"]


async def test_a_turn_does_not_wait_for_a_disk_that_hangs(
    memory: Memory, log: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sync, begun, ended = FileSync.sync, threading.Event(), threading.Event()

    def until_ended(projection: FileSync, stored: StoredMemory) -> None:
        begun.set()
        try:
            sync(projection, stored)
        finally:
            ended.set()

    monkeypatch.setattr(FileSync, "sync", until_ended)
    await memory.consolidated("one")
    memory.folder.mkdir(parents=True)
    with folder_below(memory.folder, make=False) as folder, folder_lock(folder, wait_s=1):
        put_forward_when(begun.is_set)
        await memory.sync()

    assert log[0]["reason"] == "the disk is too slow"
    # Its thread goes on once the disk does: not while the event loop is closed.
    assert await to_thread.run_sync(ended.wait, HANG_S)


texts = st.lists(st.text("ab \n", min_size=1, max_size=6).filter(lambda text: text.strip("\n")), min_size=1, max_size=5)


@settings(deadline=None)  # it waits for the disk
@given(texts, texts, st.data())
def test_an_append_that_was_cut_anywhere_is_completed_by_the_next(
    tmp_path_factory: pytest.TempPathFactory, before: list[str], added: list[str], data: Any
) -> None:
    root = tmp_path_factory.mktemp("growing", numbered=True)
    with folder_below(root, make=False) as folder:
        known = grow(folder, "H", known=0, texts=before, everything=lambda: before)
        grow(folder, "H", known=known, texts=added, everything=list)
        whole = (root / "H").read_bytes()
        cut = data.draw(st.integers(known, len(whole)))
        os.truncate(root / "H", cut)

        size = grow(folder, "H", known=known, texts=added, everything=list)

    assert (root / "H").read_bytes() == whole
    assert size == len(whole)


def test_the_side_car_can_be_read_by_people(tmp_path: Path) -> None:
    side_car = SideCar(version=3, memory="c", history=ListPosition().and_then(["a"]), sizes={"HISTORY.md": 3})
    with folder_below(tmp_path, make=False) as folder:
        write_side_car(folder, side_car)
        assert read_side_car(folder) == side_car

    assert json.loads((tmp_path / ".millpond.json").read_text())["sizes"] == {"HISTORY.md": 3}
