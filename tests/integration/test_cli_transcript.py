"""``millpond transcript``, as a real process: what it shows, finds, copies and brings back."""

import gzip
import hashlib
import json
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from daemon.archive import Archive, Segment
from daemon.bus import Bus, open_bus
from daemon.config import RedisConfig
from tests.conftest import an_entry
from tests.integration.test_cli import ROOT, Place, a_place
from tests.limits import HANG_S
from tests.tables import each_row

KEY = "terminal:talk"
TURNS = 10
SAID = {
    4: "我喜欢用Python，不用JavaScript",
    17: "ＰＹＴＨＯＮ is what I said",
    18: "tea\x1b[2J please",
    19: "Straße nach Bern",
}
"""What is said in some of the messages; the others tell their number."""


class Talk:
    """A session of the terminal: twenty messages, of which the first eight have left Redis in two segments."""

    def __init__(self, place: Place) -> None:
        self.place = place
        assert place("send", "other", "hello").returncode == 0
        self.raws: list[bytes] = []
        self.segments: list[Segment] = []

    def __call__(self, *args: str, code: int = 0) -> Any:
        done = self.place("transcript", *args, "--json")
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)

    def fails(self, *args: str) -> tuple[int, str]:
        done = self.place("transcript", *args)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stderr

    def fresh(self) -> None:
        anyio.run(self.connected, self._write)

    async def connected(self, work: Callable[[Bus], Awaitable[Any]]) -> Any:
        async with open_bus(RedisConfig(), self.place.data) as bus:
            return await work(bus)

    async def _write(self, bus: Bus) -> None:
        keys, archive = bus.keys, Archive(bus, self.place.data)
        for session in (KEY, f"{KEY}~1", f"{KEY}~2"):
            for key in (keys.session, keys.log, keys.segments):
                await bus.call("DEL", key(session))
        shutil.rmtree(self.place.data / "transcripts", ignore_errors=True)
        await bus.call("DEL", keys.archives)  # deleted on purpose: the next archive is a new one
        entries = [
            an_entry(2 * (n // 2), text=SAID.get(n, f"message {n}"), **({} if n % 2 else {"sender": "ann"}))
            for n in range(2 * TURNS)
        ]
        self.raws = [msgspec.json.encode(entry) for entry in entries]
        await bus.call("RPUSH", keys.log(KEY), *self.raws)
        scope = "pond:person:terminal:ann"
        fields = {"head": len(self.raws), "scope": scope, "tokens": 60, "tokens_start": 60}
        await bus.call("HSET", keys.session(KEY), *[part for pair in fields.items() for part in pair])
        await bus.call("ZADD", keys.sessions, 2**41, KEY)
        self.segments = [
            await archive.write(KEY, 0, self.raws[:2]),
            await archive.write(KEY, 2, self.raws[2:8]),
            await archive.write(KEY, 4, self.raws[4:10]),
        ]
        await bus.call("LTRIM", keys.log(KEY), 8, -1)
        await bus.call("HSET", keys.session(KEY), "base", 8, "cursor", 10, "start", 10)

    def file(self, number: int) -> Path:
        [path] = (self.place.data / "transcripts").rglob(self.segments[number].name)
        return path


@pytest.fixture(scope="module")
def running() -> Iterator[Talk]:
    with a_place() as place:
        yield Talk(place)


@pytest.fixture
def talk(running: Talk) -> Talk:
    running.fresh()
    return running


def test_transcripts_are_listed_by_session_and_one_by_one(talk: Talk) -> None:
    [row] = talk("list")["transcripts"]
    assert (row["session"], row["transcripts"], row["messages"]) == (KEY, 3, "0-9")
    assert row["bytes"] == sum(segment.bytes for segment in talk.segments)

    rows = talk("list", "talk")["transcripts"]
    assert [(row["first"], row["upto"], row["name"]) for row in rows] == [
        (segment.first, segment.upto, segment.name) for segment in talk.segments
    ]
    assert talk.segments[1].name in talk.place("transcript", "list", "talk").stdout


def test_a_session_is_shown_whole_whatever_has_left_redis(talk: Talk) -> None:
    shown = talk("show", "talk")

    assert [message["index"] for message in shown["messages"]] == list(range(20))
    assert [message["content"] for message in shown["messages"]][:5] == [
        "message 0", "message 1", "message 2", "message 3", SAID[4],
    ]  # fmt: skip
    assert shown["missing"] == []
    lines = talk.place("transcript", "show", "talk").stdout.splitlines()
    assert len(lines) == 20
    assert "\x1b" not in "".join(lines)
    assert lines[4].endswith(SAID[4])


@each_row(
    ("asked", "indexes"),
    [
        (["--from", "6", "--upto", "9"], [6, 7, 8]),
        (["--from", "18"], [18, 19]),
        (["--upto", "1"], [0]),
        (["--from", "19", "--upto", "1000"], [19]),
    ],
)
def test_a_part_of_it_is_shown(talk: Talk, asked: list[str], indexes: list[int]) -> None:
    assert [message["index"] for message in talk("show", "talk", *asked)["messages"]] == indexes


def test_a_transcript_is_shown_by_its_name_and_by_the_path_of_its_file(talk: Talk) -> None:
    name = talk.segments[1].name

    assert [message["index"] for message in talk("show", name)["messages"]] == [2, 3, 4, 5, 6, 7]
    assert [message["index"] for message in talk("show", str(talk.file(1)), "--from", "7")["messages"]] == [7]


@each_row(
    ("asked", "code", "said"),
    [
        (["show", "nobody"], 65, "no one has sent a message to this session"),
        (["list", "nobody"], 65, "no one has sent a message to this session"),
        (["show", "talk", "--from", "20"], 65, "has no messages 20 to: the transcript contains messages 0 to 19"),
        (["show", "talk", "--from", "5", "--upto", "5"], 65, "has no messages 5 to 4"),
        (["show", "talk", "--from", "-1"], 2, "--from"),
        (["show", "talk", "--upto", "x"], 2, "--upto"),
        (["show", "transcript_1_terminal%3atalk_0-2.jsonl.gz"], 65, "was not found"),
        (["show", "transcript_of_nothing.jsonl.gz"], 65, "was not found"),
        (["export", "talk"], 2, "--output"),
        (["export", "talk", "-o", "/nowhere/at/all.jsonl"], 73, "/nowhere/at/all.jsonl cannot be written"),
        (["export", "nobody", "-o", "-"], 65, "no one has sent a message to this session"),
        (["restore", "nobody"], 65, "no one has sent a message to this session"),
        (["search", "  "], 2, "no word"),
        (["search", "x", "--session", "nobody"], 65, "no one has sent a message to this session"),
        (["search", "x", "--scope", "pond:person:web:nobody"], 65, "no session uses it"),
        (["search", "x", "--scope", "a", "--session", "b"], 2, "--session"),
        (["show", "a:b:c:d"], 65, "cannot be parsed"),
    ],
)
def test_what_cannot_be_is_said_with_an_exit_code(talk: Talk, asked: list[str], code: int, said: str) -> None:
    found, text = talk.fails(*asked)

    assert found == code, text
    assert said in text


@pytest.mark.parametrize("spoilt", [b"", b"\x1f\x8bspoilt", gzip.compress(b"{}\n", mtime=0)])
def test_a_spoilt_file_is_told_and_the_rest_is_shown(talk: Talk, spoilt: bytes) -> None:
    talk.file(0).write_bytes(spoilt)

    shown = talk("show", "talk", code=74)

    assert [message["index"] for message in shown["messages"]] == list(range(2, 20))
    [missing] = shown["missing"]
    assert (missing["first"], missing["upto"]) == (0, 2)
    code, text = talk.fails("show", "talk")
    assert code == 74
    assert talk.segments[0].name in text
    assert talk.fails("show", talk.segments[0].name)[0] == 74


def test_a_missing_file_is_told_unless_another_holds_the_same(talk: Talk) -> None:
    talk.file(2).unlink()
    assert [message["index"] for message in talk("show", "talk")["messages"]] == list(range(20))

    talk.file(1).unlink()
    code, text = talk.fails("export", "talk", "-o", str(talk.place.data / "never.jsonl"))
    assert code == 74
    assert talk.segments[1].name in text
    assert not (talk.place.data / "never.jsonl").exists()
    assert talk.fails("restore", "talk")[0] == 74
    assert talk.fails("search", "message")[0] == 74


def test_words_are_found_in_archive_and_log_in_any_case_and_width(talk: Talk) -> None:
    found = talk("search", "python")["matches"]

    assert [(hit["index"], bool(hit["segment"])) for hit in found] == [(17, False), (4, True)]
    assert [hit["session"] for hit in found] == [KEY, KEY]
    assert found[1]["excerpt"] == SAID[4]
    assert [hit["index"] for hit in talk("search", "喜欢 javascript")["matches"]] == [4]
    assert [hit["index"] for hit in talk("search", "STRASSE")["matches"]] == [19]
    assert talk("search", "喜欢 bern")["matches"] == []


def test_a_search_gives_the_newest_first_and_can_be_kept_to_a_number_a_session_or_a_scope(talk: Talk) -> None:
    assert [hit["index"] for hit in talk("search", "message", "--limit", "3")["matches"]] == [16, 15, 14]
    assert talk("search", "hello", "--session", "talk")["matches"] == []
    assert talk("search", "python", "--session", "other")["matches"] == []
    assert len(talk("search", "python", "--scope", "pond:person:terminal:ann")["matches"]) == 2
    plain = talk.place("transcript", "search", "tea").stdout
    assert "[18]" in plain and "\x1b" not in plain, "it does not rule the terminal"


def test_archived_messages_are_searched_in_the_search_index_if_it_contains_all_of_their_session(talk: Talk) -> None:
    def search(*args: str, code: int = 0) -> tuple[list[int], int, int]:
        found = talk("search", "python", *args, code=code)
        return [hit["index"] for hit in found["matches"]], found["indexed"], found["not_indexed"]

    async def forgets(bus: Bus) -> None:
        await bus.call("HINCRBY", bus.keys.memory("pond:person:terminal:ann"), "forgets", 1)

    def loses_the_newest() -> None:
        [file] = (talk.place.data / "search").rglob("words-*.sqlite3")
        with closing(sqlite3.connect(file)) as index, index:
            index.execute("UPDATE fed SET upto = 7 WHERE source = ?", (f"log {KEY}",))

    shutil.rmtree(talk.place.data / "search", ignore_errors=True)
    assert search() == ([17, 4], 0, 1)
    assert "so archive files were read (sessions: 1)" in talk.fails("search", "x")[1]

    assert talk.place("memory", "search", KEY, "python").returncode == 0
    talk.file(0).write_bytes(b"spoilt")  # of messages without the word
    assert search() == ([17, 4], 1, 0)
    assert "the search index (sessions: 1), which does not include tool calls" in talk.fails("search", "x")[1]
    assert search("--all", code=74) == ([17, 4], 0, 0)
    assert talk("search", "message", "--limit", "11")["matches"][-1]["index"] == 6

    loses_the_newest()
    assert search(code=74) == ([17, 4], 0, 1)
    shutil.rmtree(talk.place.data / "search")
    talk.fresh()
    assert talk.place("memory", "search", KEY, "python").returncode == 0
    talk.file(0).write_bytes(b"spoilt")
    anyio.run(talk.connected, forgets)
    assert search(code=74) == ([17, 4], 0, 1)


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_an_export_is_byte_for_byte_what_was_said(talk: Talk, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"talk{ending}"

    talk("export", "talk", "-o", str(path))

    lines = gzip.decompress(path.read_bytes()) if ending.endswith("gz") else path.read_bytes()
    assert lines == b"".join(raw + b"\n" for raw in talk.raws)
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_an_exported_transcript_has_the_checksum_that_is_listed(talk: Talk) -> None:
    done = talk.place("transcript", "export", talk.segments[2].name, "-o", "-")

    assert done.stdout.encode() == b"".join(raw + b"\n" for raw in talk.raws[4:10])
    assert hashlib.sha256(done.stdout.encode()).hexdigest() == talk("list", "talk")["transcripts"][2]["checksum"]


def test_a_file_that_is_there_is_replaced_only_when_told(talk: Talk, tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text("mine")

    code, text = talk.fails("export", "talk", "-o", str(path))
    assert code == 73
    assert "--force" in text
    assert path.read_text() == "mine"

    talk("export", "talk", "-o", str(path), "--force")
    assert path.read_bytes().count(b"\n") == 20


def exported(talk: Talk, name: str) -> str:
    return talk.place("transcript", "export", name, "-o", "-").stdout


def test_a_restored_session_equals_what_was_said_byte_for_byte_and_so_does_the_next(talk: Talk) -> None:
    name = talk.segments[1].name

    one, two = talk("restore", "talk"), talk("restore", name)

    assert (one["session"], one["first"], one["upto"]) == (f"{KEY}~1", 0, 20)
    assert (two["session"], two["first"], two["upto"]) == (f"{KEY}~2", 2, 8)
    assert exported(talk, f"{KEY}~1") == exported(talk, "talk")
    assert exported(talk, f"{KEY}~2") == exported(talk, name)
    positions = json.loads(talk.place("session", "show", f"{KEY}~2", "--json").stdout)["positions"]
    assert [positions[field] for field in ("base", "cursor", "start", "head")] == [2, 2, 2, 8]
    assert positions["scope"] == "pond:person:terminal:ann"
    assert positions["tokens"] == sum(json.loads(raw)["tokens"] for raw in talk.raws[2:8])
    assert [message["index"] for message in talk("show", f"{KEY}~2")["messages"]] == [2, 3, 4, 5, 6, 7]


def test_a_restored_session_can_be_talked_to(talk: Talk) -> None:
    talk("restore", talk.segments[1].name)

    with talk.place.running("--role", "agent", "--role", "consolidation"):
        done = talk.place("send", f"{KEY}~1", "are you there?", "--wait", "10")

    assert done.returncode == 0, done.stderr
    said = [(message["index"], message["turn"]) for message in talk("show", f"{KEY}~1")["messages"]]
    assert said[-2:] == [(8, 8), (9, 8)]


def test_output_that_nobody_reads_any_more_ends_quietly(talk: Talk) -> None:
    command = [sys.executable, "-m", "millpond", "transcript", "show", "talk"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, cwd=ROOT, env=talk.place.environ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=HANG_S) in (0, 1)
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()


SCOPE = "pond:person:terminal:ann"


@pytest.mark.parametrize("whose", [["talk"], ["--person", "terminal:ann"], ["--scope", SCOPE]])
def test_everything_of_a_person_is_one_file(talk: Talk, tmp_path: Path, whose: list[str]) -> None:
    path = tmp_path / "ann.zip"

    done = talk.place("session", "export", *whose, "-o", str(path), "--json")

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["scopes"], told["sessions"], told["messages"]) == (
        {SCOPE: "1_pond_person_terminal_ann"},
        {KEY: "1_terminal_talk"},
        20,
    )
    found = zipfile.ZipFile(path)
    assert found.testzip() is None
    assert found.read("transcripts/1_terminal_talk.jsonl") == b"".join(raw + b"\n" for raw in talk.raws)
    assert path.stat().st_mode & 0o777 == 0o600


@each_row(
    ("asked", "code", "said"),
    [
        (["nobody", "-o", "x.zip"], 65, "no one has sent a message to this session"),
        (["--person", "web:nobody", "-o", "x.zip"], 65, "nothing is stored about this person"),
        (["--scope", "pond:person:web:nobody", "-o", "x.zip"], 65, "no session uses it"),
        (["talk", "--person", "web:ann", "-o", "x.zip"], 2, "use exactly one of"),
        (["-o", "x.zip"], 2, "use exactly one of"),
        (["talk"], 2, "--output"),
        (["talk", "-o", "/nowhere/at/all.zip"], 73, "cannot be written"),
        (["talk", "-o", "README.md"], 73, "--force"),
    ],
)
def test_what_cannot_be_exported_is_said(talk: Talk, asked: list[str], code: int, said: str) -> None:
    done = talk.place("session", "export", *asked)

    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (ROOT / "x.zip").exists()


def test_an_export_with_gaps_is_written_and_ends_in_an_error(talk: Talk, tmp_path: Path) -> None:
    talk.file(0).unlink()

    done = talk.place("session", "export", "talk", "-o", str(tmp_path / "ann.zip"))

    assert done.returncode == 74
    assert "messages 0 to 1 of session terminal:talk" in done.stderr
    assert "18 messages" in done.stdout
    assert zipfile.ZipFile(tmp_path / "ann.zip").testzip() is None
