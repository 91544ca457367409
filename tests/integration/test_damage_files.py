"""Damaged files, one session and one memory each: a check tells, every session is answered, and no data is lost."""

import gzip
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from structlog.testing import capture_logs

from daemon.archive import Shelf
from daemon.config import BotConfig
from daemon.data import DataCheck, Flaw
from daemon.memory import Memories, MemoryFiles
from daemon.memory.memory_files import memory_folder
from daemon.memory.memory_records import HistoryEntry, Note, Version
from daemon.process import Process
from daemon.testing import ScriptedModel
from tests.conftest import Lab
from tests.integration.test_damage import outcome
from tests.integration.test_turns import Bot
from tests.limits import until
from tests.weblab import page_of

TIME, DAY = "2026-11-20T09:00:00.000Z", "2026-11-20"
TEXT = "# One\n- a fact\n- another fact\n"
HISTORY = "[2026-11-20 09:00] the talk\n\n[2026-11-20 09:30] the rest\n"
HEALTHY = "web:healthy"

Damage = Callable[[Path], object]
Becomes = Literal["whole", "kept", "an edit", "archive"]
"""Of a damaged file after the next message: as Redis has it; left alone; a new version; not touched by messages."""


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"more\n")


def not_utf8(path: Path) -> None:
    path.write_bytes(b"caf\xe9\n" + path.read_bytes())


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def changed(path: Path) -> None:
    path.write_bytes(path.read_bytes().swapcase())


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/passwd")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def without_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def a_file_for_the_folder(path: Path) -> None:
    shutil.rmtree(path.parent)
    path.parent.write_text("x")


def other_lines(path: Path) -> None:
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).swapcase()))


def lines_of_the_next(path: Path) -> None:
    path.write_bytes(sorted(path.parent.glob("transcript_*"))[1].read_bytes())


def lines_of_another_session(path: Path) -> None:
    (theirs,) = (path.parent.parent / Shelf.log(HEALTHY).folder).glob("transcript_*_0-2.jsonl.gz")
    path.write_bytes(theirs.read_bytes())


MEMORY, DIARY, NOTES, SIDE_CAR, SEGMENT = "MEMORY.md", "HISTORY.md", f"{DAY}.md", ".millpond.json", "segment"
UNREADABLE: Sequence[Damage] = (folder, link, pipe)
KINDS: list[tuple[str, Damage, Sequence[str], Becomes]] = [
    # file, damage, rules that a check finds broken, what becomes of the file
    *((MEMORY, damage, [], "an edit") for damage in (truncated, emptied, longer, changed)),
    *((MEMORY, damage, ["files.readable"], "kept") for damage in (*UNREADABLE, not_utf8)),
    *((name, Path.unlink, [], "whole") for name in (MEMORY, DIARY, NOTES, SIDE_CAR)),
    *((name, damage, [], "whole") for name in (DIARY, NOTES) for damage in (truncated, emptied)),
    *((name, damage, ["files.readable"], "kept") for name in (DIARY, NOTES, SIDE_CAR) for damage in UNREADABLE),
    *((name, not_utf8, ["files.readable"], "kept") for name in (DIARY, NOTES)),
    (DIARY, longer, [], "kept"),
    (DIARY, changed, ["files.history"], "kept"),
    *((SIDE_CAR, damage, [], "whole") for damage in (truncated, emptied, not_utf8)),
    (MEMORY, without_folder, [], "whole"),
    (MEMORY, a_file_for_the_folder, ["files.readable"], "kept"),
    *((SEGMENT, damage, ["archive.file"], "archive") for damage in (truncated, emptied, longer, *UNREADABLE)),
    *((SEGMENT, damage, ["archive.file"], "archive") for damage in (other_lines, lines_of_the_next)),
    (SEGMENT, lines_of_another_session, ["archive.file"], "archive"),
    (SEGMENT, Path.unlink, ["archive.file", "archive.missing"], "archive"),
    (SEGMENT, without_folder, ["archive.file", "archive.missing"], "archive"),
    (SEGMENT, a_file_for_the_folder, ["archive.list"], "archive"),
]


class Owner:
    """A session with a memory of its own, both partly in files."""

    def __init__(self, process: Process, session: str) -> None:
        self._process = process
        self.session = session
        self.scope = f"pond:person:{session}"
        self.memory = process.workspace("pond").joinpath(*memory_folder(self.scope))
        self.archived = process.data_dir / "transcripts" / Shelf.log(session).folder

    def file(self, name: str) -> Path:
        return min(self.archived.glob("transcript_*")) if name == SEGMENT else self.memory / name

    def rules(self, flaws: Sequence[Flaw]) -> list[str]:
        own = (str(self.memory), f"{self.archived.name}/", self.session)
        return sorted({flaw.rule for flaw in flaws if any(part in flaw.where for part in own)})

    def state(self) -> dict[str, str]:
        """The readable files of the memory, without the side-car."""
        found = [self.memory / name for name in (MEMORY, DIARY, NOTES)]
        return {path.name: path.read_text(errors="replace") for path in found if path.is_file()}

    async def begin(self, lab: Lab, files: MemoryFiles, memories: Memories) -> None:
        for number in range(3):
            await lab.publish(f"m{number}-{self.session}", session=self.session, scope=self.scope)
            await lab.commit(await lab.claim(self.session), go_on=False)
        for first, text in zip((0, 2), HISTORY.strip().split("\n\n"), strict=True):
            opened = await memories.open(self.scope, self.session, fence=1, nonce="n")
            entry = HistoryEntry(
                time=TIME, session=self.session, first=first, upto=first + 2, kind="summary", text=text
            )
            update = Version(kind="consolidation", time=TIME, session=self.session, text=TEXT) if not first else None
            assert (await memories.apply(opened, entry, mark="m", update=update)).status == "done"
        opened = await memories.open(self.scope, self.session, fence=1, nonce="n")
        note = Note(time=TIME, date=DAY, text="a note of this day", session=self.session, cycle=0)
        assert (await memories.append(opened, None, cycle=0, notes=[note])).status == "done"
        bus, archive = lab.bus, self._process.archive
        raws = await bus.call("LRANGE", bus.keys.log(self.session), 0, -1)
        for first in (0, 2):
            await archive.write(self.session, first, raws[first : first + 2])
        fields = ("cursor", 4, "start", 4, "tokens", 6, "tokens_start", 6)
        await bus.call("HSET", bus.keys.session(self.session), *fields)
        assert await archive.trim(self.session, 4) == 4
        await bus.call("ZADD", bus.keys.sessions, 1, self.session)
        await files.sync(self.scope, at_once=True)


@pytest.fixture
def process(process: Process) -> Process:
    return replace(process, config=msgspec.structs.replace(process.config, bots={"pond": BotConfig()}))


async def looked(process: Process, *, repairs: bool = False) -> Sequence[Flaw]:
    look = DataCheck(
        process.bus, process.archive, deep=True, repairs=repairs, waits_s=0.0, workspace_of=process.workspace
    )
    found = await look.run()
    assert found.mended == (), "no repair changes a file"
    return found.flaws


async def answered(process: Process, lab: Lab, owners: Sequence[Owner], message_id: str) -> None:
    for owner in owners:
        await lab.publish(message_id, session=owner.session, scope=owner.scope)

    async def are_answered() -> bool:
        return {await outcome(lab, owner.session, message_id) for owner in owners} == {"answered"}

    async with Bot(process, ScriptedModel(*["yes"] * 3 * len(owners))).working():
        await until(are_answered)


async def test_damaged_files_are_told_and_every_session_is_answered(process: Process, lab: Lab) -> None:
    memories = Memories(lab.bus, process.archive)
    files = MemoryFiles(memories, workspace_of=process.workspace)
    owners = [Owner(process, f"web:damaged-{number:02}") for number in range(len(KINDS))]
    for owner in (*owners, healthy := Owner(process, HEALTHY)):
        await owner.begin(lab, files, memories)
    assert await looked(process) == ()
    whole, edited = healthy.state(), []
    for owner, (name, damage, *_) in zip(owners, KINDS, strict=True):
        damage(owner.file(name))

    found = await looked(process)
    with capture_logs() as logged:
        await answered(process, lab, [*owners, healthy], "next")
    again = await looked(process, repairs=True)

    assert healthy.rules(found) == healthy.rules(again) == []
    assert healthy.state() == whole
    told = {str(each["path"]) for each in logged if each["event"] in ("memory.refused", "memory.unwritten")}
    for owner, (name, damage, rules, becomes) in zip(owners, KINDS, strict=True):
        kind = f"{name} {damage.__name__}"
        assert owner.rules(found) == owner.rules(again) == rules, kind
        # Only a file that cannot be written is logged; the path is the file MEMORY.md, or the folder.
        unwritten = (*UNREADABLE, a_file_for_the_folder, *((not_utf8,) if name == MEMORY else ()))
        assert bool(told & {str(owner.memory), str(owner.memory / MEMORY)}) == (
            name != SEGMENT and damage in unwritten
        ), kind
        current = (await memories.current(owner.scope)).text
        assert (current == TEXT) == (becomes != "an edit"), kind
        if becomes in ("whole", "archive"):
            assert owner.state() == whole, kind
        edited += [owner] if becomes == "an edit" else []
    for owner in edited:
        assert TEXT in [version.text for version in await memories.versions(owner.scope)]


async def test_people_who_look_at_archived_messages_are_told_of_the_damage(process: Process, lab: Lab) -> None:
    memories = Memories(lab.bus, process.archive)
    files = MemoryFiles(memories, workspace_of=process.workspace)
    damages = [damage for name, damage, *_ in KINDS if name == SEGMENT]
    owners = [Owner(process, f"web:damaged-{number:02}") for number in range(len(damages))]
    for owner in (*owners, healthy := Owner(process, HEALTHY)):
        await owner.begin(lab, files, memories)
    for owner, damage in zip(owners, damages, strict=True):
        damage(owner.file(SEGMENT))

    async with page_of(process) as page:
        found = {
            owner: await page.client.get(f"/api/sessions/{owner.session}/messages?limit=10")
            for owner in (*owners, healthy)
        }
        newest = [await page.client.get(f"/api/sessions/{owner.session}/messages?after=3") for owner in owners]

    assert found.pop(healthy).status_code == 200
    for owner, answer in found.items():
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (503, "archive")
        assert owner.archived.name in error["message"]
    assert {answer.status_code for answer in newest} == {200}


MARKERS: list[tuple[Damage, str]] = [
    (emptied, "does not contain the archive's ID"),
    (truncated, "does not contain the archive's ID"),
    (folder, "the path is a folder"),
    (pipe, "the path is a pipe"),
    (Path.unlink, "was not found"),
    (lambda path: path.write_text('{"archive":"another"}'), "contains the archive ID another"),
]


async def test_a_damaged_marker_of_the_archive_is_told_once(process: Process, lab: Lab) -> None:
    memories = Memories(lab.bus, process.archive)
    owner = Owner(process, HEALTHY)
    await owner.begin(lab, MemoryFiles(memories, workspace_of=process.workspace), memories)
    path = process.data_dir / "transcripts" / "millpond.json"
    whole = path.read_bytes()
    for damage, told in MARKERS:
        damage(path)

        found = await looked(process)

        (flaw,) = [flaw for flaw in found if flaw.rule == "archive.marker"]
        assert flaw.where == str(path)
        assert told in flaw.text
        path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        path.write_bytes(whole)
    assert await looked(process) == ()
