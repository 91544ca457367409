"""``millpond memory``, as a real process: what it shows, and what a person changes with it."""

import json
import os
import shutil
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.bus import Bus, open_bus
from daemon.config import RedisConfig
from daemon.memory import Audit, AuditPlace, HistoryEntry, Memories, Note, Version
from daemon.memory.text_diff import characters, unified
from tests.integration.test_cli import Place, a_place
from tests.tables import each_row

TIME = "2026-11-20T09:00:00.000Z"
ONE = "# Ann\n- likes tea\n"
TWO = "# Ann\n- likes coffee\n- lives in Bern\n"


class Talk:
    """A session of the terminal, with what its scope's memory holds."""

    def __init__(self, place: Place) -> None:
        assert place("send", "talk", "hello").returncode == 0
        self.place = place
        self.scope = json.loads(place("session", "show", "talk", "--json").stdout)["positions"]["scope"]
        self.folder = place.data / "bots" / "pond" / "memory" / self.scope.replace(":", "%3a")

    def __call__(self, *args: str, **more: Any) -> Any:
        command, *rest = args
        done = self.place("memory", command, "talk", *rest, "--json", **more)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def fresh(self) -> None:
        """Two versions, a rejected one, one entry of the history, one note."""
        shutil.rmtree(self.place.data / "bots", ignore_errors=True)
        anyio.run(self._connected, self._write)

    async def _connected(self, work: Callable[[Bus], Awaitable[None]]) -> None:
        async with open_bus(RedisConfig(), self.place.data) as bus:
            await work(bus)

    async def _write(self, bus: Bus) -> None:
        keys, memories = bus.keys, Memories(bus)
        for key in (keys.memory, keys.versions, keys.history, keys.notes, keys.undigested):
            await bus.call("DEL", key(self.scope))
        opened = await memories.open(self.scope, "terminal:talk", fence=1, nonce="n")
        for first, kind, text in ((0, "consolidation", ONE), (4, "rejected", "\x1b[2Jno"), (8, "consolidation", TWO)):
            found: dict[str, Any] = {"session": "terminal:talk", "first": first, "upto": first + 4, "time": TIME}
            update = Version(kind=kind, model="offline", text=text, reason="too short" if first == 4 else "", **found)  # type: ignore[arg-type]
            lost = (AuditPlace("code", first, 0, 4),)
            audit = Audit(memory=3, archive=1, questions=5, correct=4, lost=lost) if first else None
            entry = HistoryEntry(kind="summary", text=f"[2026-11-20 09:0{first}] {kind}", audit=audit, **found)
            versions = {"rejected" if kind == "rejected" else "update": update}
            opened = (await memories.apply(opened, entry, mark="m", **versions)).opened
        note = Note(time=TIME, date="2026-11-20", text="talked", session="terminal:talk", cycle=0)
        await memories.append(opened, None, cycle=0, notes=[note])


@pytest.fixture(scope="module")
def running() -> Iterator[Talk]:
    with a_place() as place:
        yield Talk(place)


@pytest.fixture
def talk(running: Talk) -> Talk:
    running.fresh()
    return running


def test_a_memory_is_shown_by_its_session_or_its_scope_with_its_version(talk: Talk) -> None:
    shown = talk("show")
    plain = talk.place("memory", "show", talk.scope).stdout

    assert (shown["scope"], shown["version"], shown["text"]) == (talk.scope, 3, TWO)
    assert plain.endswith(f"\n{TWO}\n")
    assert "version     3" in plain
    assert talk("show", "--version", "1")["text"] == ONE
    assert "\x1b" not in talk.place("memory", "show", "talk", "--version", "2").stdout, "it does not rule the terminal"
    assert not (talk.place.data / "bots").exists(), "looking makes nothing"


def test_history_and_notes_are_shown(talk: Talk) -> None:
    assert [entry["first"] for entry in talk("show", "--history")["entries"]] == [0, 4, 8]
    assert talk.place("memory", "show", "talk", "--notes").stdout == "2026-11-20: talked\n"
    assert talk.place("memory", "show", "talk", "--notes", "--history").returncode == 2


def test_versions_are_listed_newest_first_with_what_produced_them_rejected_ones_too(talk: Talk) -> None:
    rows = talk("log")["versions"]
    plain = talk.place("memory", "log", "talk", "--limit", "2")

    assert [(row["version"], row["kind"], row["current"]) for row in rows] == [
        *((3, "consolidation", True), (2, "rejected", False), (1, "consolidation", False))
    ]
    assert (rows[0]["messages"], rows[0]["model"], rows[0]["session"]) == ("8-11", "offline", "terminal:talk")
    assert [(row["+"], row["-"]) for row in rows] == [(29, 11), (6, 16), (16, 0)]
    assert rows[1]["reason"] == "too short"
    assert [line.split()[0] for line in plain.stdout.splitlines()] == ["version", "3*", "2"]


def test_audits_are_listed_with_what_the_archive_alone_contains(talk: Talk) -> None:
    first, second = talk("audit")["audits"]
    shown = talk.place("memory", "audit", "talk", "--limit", "1").stdout

    assert (first["first"], second["first"], second["score"], second["archive"]) == (4, 8, 0.75, 1)
    assert second["lost"] == [{"kind": "code", "message": 8, "text": ""}]
    assert " 75% " in shown
    assert "  4/5" in shown
    assert "found only in the archive: code, message 8: [forgotten]" in shown


def test_two_versions_are_compared(talk: Talk) -> None:
    expected = "--- version 1\n+++ version 3\n@@ -1,2 +1,3 @@\n # Ann\n-- likes tea\n+- likes coffee\n+- lives in Bern"

    assert talk("diff", "1") == {"scope": talk.scope, "from": 1, "to": 3, "diff": expected}
    assert talk.place("memory", "diff", "talk", "1", "3").stdout == f"{expected}\n"
    assert talk.place("memory", "diff", "talk", "3", "3").stdout == ""
    assert talk("diff", "0", "1")["diff"].endswith("+# Ann\n+- likes tea")


def test_a_restored_version_is_a_new_one_and_stands_in_the_file(talk: Talk) -> None:
    assert talk("restore", "1") == {"scope": talk.scope, "version": 4, "changed": True}

    assert (talk.folder / "MEMORY.md").read_text() == ONE
    newest = talk("log")["versions"][0]
    assert (newest["kind"], newest["of"], newest["reason"]) == ("restore", 1, "version 1")
    assert newest["by"]
    assert talk("restore", "1") == {"scope": talk.scope, "version": 4, "changed": False}


def test_a_version_that_never_was_is_65(talk: Talk) -> None:
    for command in (("restore", "talk", "9"), ("diff", "talk", "9"), ("show", "talk", "--version", "9")):
        done = talk.place("memory", *command)
        assert done.returncode == 65
        assert "has no version 9" in done.stderr


def test_a_text_from_a_file_or_standard_input_becomes_a_persons_version(talk: Talk, tmp_path: Path) -> None:
    path = tmp_path / "new.md"
    path.write_bytes(b"\xef\xbb\xbf# Ann\r\n- likes water\r\n")

    assert talk("edit", "--file", str(path))["version"] == 4
    assert (talk.folder / "MEMORY.md").read_text() == "# Ann\n- likes water\n"
    assert talk("edit", "--file", "-", "--of", "1", given="# Ann\n- likes milk\n")["version"] == 5
    assert talk("show")["text"] == "# Ann\n- likes milk\n\n- likes water\n"


@each_row("content", [None, b"caf\xe9", b"x" * 1_000_001])
def test_a_file_that_is_no_text_is_65_and_changes_nothing(talk: Talk, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "new.md"
    if content is not None:
        path.write_bytes(content)

    done = talk.place("memory", "edit", "talk", "--file", str(path))

    assert done.returncode == 65
    assert str(path) in done.stderr
    assert talk("show")["version"] == 3


def editor(folder: Path, script: str) -> str:
    path = folder / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    return str(path)


def test_an_editor_gets_the_text_and_what_it_saves_is_stored(talk: Talk, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    stored = talk("edit", EDITOR=editor(tmp_path, f'cp "$1" {seen}; echo "- new" >> "$1"'), VISUAL="")

    assert seen.read_text() == TWO
    assert stored == {"scope": talk.scope, "version": 4, "changed": True}
    assert talk("show")["text"] == f"{TWO}- new\n"
    assert (talk.folder / "MEMORY.md").read_text() == f"{TWO}- new\n"
    nothing_new = talk("edit", EDITOR=editor(tmp_path, 'echo >> "$1"'), VISUAL="")
    assert nothing_new == {"scope": talk.scope, "version": 4, "changed": False}


def test_what_was_written_is_kept_when_it_cannot_be_stored(talk: Talk, tmp_path: Path) -> None:
    done = talk.place("memory", "edit", "talk", EDITOR=editor(tmp_path, 'printf "caf\\351" > "$1"'), VISUAL="")

    assert done.returncode == 65
    kept = Path(done.stderr.partition("your unsaved text is kept in ")[2].splitlines()[0])
    assert kept.read_bytes() == b"caf\xe9"
    shutil.rmtree(kept.parent)


def test_a_file_that_was_edited_by_hand_is_a_version_before_the_one_that_is_stored(talk: Talk) -> None:
    assert talk("restore", "3")["changed"] is False
    path = talk.folder / "MEMORY.md"
    path.write_text("by hand")
    os.utime(path, (0, 0))

    assert talk("restore", "1")["version"] == 5
    assert [row["kind"] for row in talk("log")["versions"]][:2] == ["restore", "edit"]
    assert path.read_text() == ONE


def test_what_is_remembered_is_found_again(talk: Talk) -> None:
    found = talk("search", "Where does Ann live?")
    plain = talk.place("memory", "search", talk.scope, "tea", "--mode", "search", "--limit", "1").stdout
    nothing = talk.place("memory", "search", "talk", "zebra", "--mode", "search")

    assert found["scope"] == talk.scope
    assert (found["hits"][0]["file"], found["hits"][0]["score"]) == ("memory/MEMORY.md", 1.0)
    assert "- lives in Bern" in found["hits"][0]["snippet"]
    assert plain.splitlines()[0].endswith("(memory/MEMORY.md@1) [1.00]")
    assert plain.endswith("- likes tea\n")
    assert (nothing.returncode, nothing.stdout) == (0, "No relevant memories found.\n")


def test_a_person_is_named_as_a_channel_names_them_without_a_session_of_that_name(talk: Talk) -> None:
    kind, channel, sender = talk.scope.split(":")[1:]

    found = json.loads(talk.place("memory", "search", f"{channel}:{sender}", "Where does Ann live?", "--json").stdout)

    assert kind == "person"
    assert found["scope"] == talk.scope
    assert "- lives in Bern" in found["hits"][0]["snippet"]


@each_row(
    ("name", "said"),
    [
        ("tolk", "Did you mean terminal:talk"),
        ("web:nobody", "no one has sent a message to this session"),
        ("pond:person:web:bob", "no memory (scope) or session is named"),
    ],
)
def test_an_unknown_name_is_65_and_makes_no_memory(talk: Talk, name: str, said: str) -> None:
    for command in (("show", name), ("edit", name, "--file", "-"), ("search", name, "tea")):
        done = talk.place("memory", *command, given="x")
        assert done.returncode == 65
        assert said in done.stderr


lines = st.lists(st.sampled_from(["a", "bb", "ccc", "", "dddd"]), max_size=6).map("\n".join)


@given(lines, lines)
def test_what_came_less_what_went_is_the_difference_in_length(old: str, new: str) -> None:
    came, went = characters(old, new)

    length = {text: sum(map(len, text.splitlines())) for text in (old, new)}
    assert came - went == length[new] - length[old]
    assert bool(unified(old, new, old_name="a", new_name="b")) == (old.splitlines() != new.splitlines())
