"""Exports: everything of a scope and nothing of any other, as it stands in Redis, in the archive and on the disk."""

import os
import tracemalloc
import zipfile
from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
import pytest

import workers.agent.commands.slash_memory
from daemon import forget
from daemon.archive import Archive, Segment
from daemon.durable import DRAFT
from daemon.events import Notice, Overheard
from daemon.export import ZipWriter, export, export_here, family, person_in, person_scopes, subject_of
from daemon.export.zip_writer import names_of
from daemon.forget import ForgetOrder, ForgetSearch
from daemon.jobs import Jobs
from daemon.memory import HistoryEntry, Memories, Note, Version
from daemon.process import Process
from daemon.scope import folder_of
from daemon.testing import ScriptedModel
from daemon.usage import Amount, UsageBook, User
from tests.conftest import Lab, an_entry, an_inbound
from tests.cut_short import StoppingBus
from tests.integration.test_commands import ask, replies, with_bot, worked_off

ANN, BOB = "pond:person:web:ann", "pond:person:web:bob"
TIME = "2026-11-20T09:00:00.000Z"
CANARY = "canary-of-bob"


def raws_of(count: int, text: str) -> list[bytes]:
    return [msgspec.json.encode(an_entry(2 * (n // 2), text=f"{text} {n}")) for n in range(count)]


class Home:
    def __init__(self, process: Process, lab: Lab) -> None:
        self.process, self.lab = process, lab
        self.memories = Memories(process.bus)
        self.archive = Archive(process.bus, process.data_dir)
        self.workspace = process.workspace("pond")
        self.raws: dict[str, list[bytes]] = {}
        self.segments: list[Segment] = []

    async def session(self, key: str, scope: str, count: int, *, text: str, archived: Sequence[int] = ()) -> None:
        """A session with so many messages, those archived in segments up to these indexes gone from Redis."""
        keys, bus = self.lab.bus.keys, self.lab.bus
        self.raws[key] = raws = raws_of(count, text)
        await bus.call("RPUSH", keys.log(key), *raws)
        await bus.call("HSET", keys.session(key), "head", count, "scope", scope, "tokens", 3 * count, "nonce", "secret")
        first = 0
        for upto in archived:
            self.segments.append(await self.archive.write(key, first, raws[first:upto]))
            first = upto
        await bus.call("LTRIM", keys.log(key), first, -1)
        await bus.call("HSET", keys.session(key), "base", first, "cursor", first, "start", first)

    async def remember(self, scope: str, session: str, text: str) -> None:
        opened = await self.memories.open(scope, session, fence=1, nonce="n")
        for first in (0, 4):
            found: dict[str, Any] = {"session": session, "first": first, "upto": first + 4, "time": TIME}
            entry = HistoryEntry(kind="summary", text=f"[2026-11-20 09:0{first}] {text}", **found)
            update = Version(kind="consolidation", text=f"# {text} {first}\n", **found)
            opened = (await self.memories.apply(opened, entry, mark="m", update=update)).opened
        note = Note(time=TIME, date="2026-11-20", text=f"note of {text}", session=session, cycle=0)
        await self.memories.append(opened, None, cycle=0, notes=[note])

    def put(self, scope: str, *names: str, content: bytes) -> Path:
        path = self.workspace.joinpath("files", folder_of(scope), *names)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    async def all_of_it(self) -> None:
        bus, keys = self.lab.bus, self.lab.bus.keys
        await self.session("web:ann", ANN, 20, text="说 ann", archived=(4, 10))
        await self.session("web:ann:t", ANN, 2, text="thread")
        await self.session("web:bob", BOB, 6, text=CANARY, archived=(4,))
        await self.remember(ANN, "web:ann", "Ann likes 茶")
        await self.remember(BOB, "web:bob", CANARY)
        self.put(ANN, "tea.txt", content=b"green\n")
        self.put(ANN, "deep", "er", "big.bin", content=os.urandom(1_200_000))
        self.put(ANN, "empty", content=b"")
        self.put(ANN, "exports", "old.zip", content=b"older")
        self.put(BOB, "bob.txt", content=CANARY.encode())
        (self.workspace / "files" / folder_of(ANN) / "link").symlink_to(self.put(BOB, "x", content=CANARY.encode()))
        for name, session in (("ann", "web:ann"), ("bob", "web:bob")):
            user = User(bot="pond", session=session, channel="web", sender_id=name)
            used = {"offline": Amount(messages=1, calls=2, tokens_in=30)}
            await UsageBook(bus).note(f"turn-{name}", user, "2026-11-20", used)
            dead = msgspec.structs.replace(an_inbound(name, session=session, text=f"dead {name}"), sender_id=name)
            await bus.call(
                *("XADD", keys.dead(0), "*", "session", session, "id", name, "reason", "attempts", "attempts", "6"),
                *("message", msgspec.json.encode(dead)),
            )
        notice = Notice(kind="aside", text="said aside", time=TIME)
        await bus.call("XADD", keys.notices("web:ann"), "*", "notice", msgspec.json.encode(notice))
        await bus.call("PEXPIRE", keys.notices("web:ann"), 60_000)
        await self.lab.publish("waits", session="web:ann", text="still waiting")

    async def export(self, path: Path, scope: str = ANN) -> tuple[zipfile.ZipFile, Any]:
        subject = await subject_of(self.process.bus, [scope])
        with path.open("wb") as file:
            package = ZipWriter(file, now=self.process.clock.now())
            done = await export(self.process.export_sources(self.memories), subject, package)
        return zipfile.ZipFile(path), done


@pytest.fixture
def home(process: Process, lab: Lab) -> Home:
    return Home(process, lab)


def lines(raws: Sequence[bytes]) -> bytes:
    return b"".join(raw + b"\n" for raw in raws)


async def test_an_export_holds_what_redis_archive_and_disk_hold(home: Home, tmp_path: Path) -> None:
    await home.all_of_it()
    bus, keys = home.lab.bus, home.lab.bus.keys

    found, done = await home.export(tmp_path / "ann.zip")

    assert found.testzip() is None
    memory, files = "memory/1_pond_person_web_ann", "files/1_pond_person_web_ann"
    folder = home.workspace / "files" / folder_of(ANN)
    assert sorted(found.namelist()) == sorted(
        [
            *("README.txt", "contents.json", "usage.jsonl", "dead.jsonl"),
            *(f"{memory}/{name}" for name in ("MEMORY.md", "HISTORY.md", "history.jsonl", "versions.jsonl")),
            *(f"{memory}/notes.jsonl", f"{files}/tea.txt", f"{files}/deep/er/big.bin", f"{files}/empty"),
            *("transcripts/1_web_ann.jsonl", "transcripts/2_web_ann_t.jsonl"),
            *("sessions/1_web_ann.json", "sessions/2_web_ann_t.json"),
        ]
    )
    assert found.read("transcripts/1_web_ann.jsonl") == lines(home.raws["web:ann"])
    assert found.read("transcripts/2_web_ann_t.jsonl") == lines(home.raws["web:ann:t"])
    for kind in ("history", "versions", "notes"):
        stored = await bus.call("LRANGE", getattr(keys, kind)(ANN), 0, -1)
        assert len(stored) in (1, 2)
        assert found.read(f"{memory}/{kind}.jsonl") == lines(stored)
    assert found.read(f"{memory}/MEMORY.md").decode() == (await home.memories.current(ANN)).text
    assert found.read(f"{memory}/HISTORY.md").decode().count("Ann likes 茶") == 2
    for name in ("tea.txt", "deep/er/big.bin", "empty"):
        assert found.read(f"{files}/{name}") == (folder / name).read_bytes()
    assert (done.messages, done.files, done.missing) == (22, 3, [])
    assert msgspec.json.decode(found.read("contents.json"))["sessions"] == {
        "web:ann": "1_web_ann",
        "web:ann:t": "2_web_ann_t",
    }
    assert ANN in found.read("README.txt").decode()


async def test_what_waits_what_died_and_what_was_used_is_in_it(home: Home, tmp_path: Path) -> None:
    await home.all_of_it()

    found, _ = await home.export(tmp_path / "ann.zip")

    session = msgspec.json.decode(found.read("sessions/1_web_ann.json"))
    assert session["fields"]["scope"] == ANN
    assert "nonce" not in session["fields"]
    assert [message["text"] for message in session["waiting"]] == ["still waiting"]
    assert [notice["text"] for notice in session["notices"]] == ["said aside"]
    [letter] = map(msgspec.json.decode, found.read("dead.jsonl").splitlines())
    assert letter["payload"]["text"] == "dead ann"
    rows = [msgspec.json.decode(line) for line in found.read("usage.jsonl").splitlines()]
    assert [(row["day"], row.get("person"), row.get("session"), row["tokens_in"]) for row in rows] == [
        ("2026-11-20", "pond web:ann", None, 30),
        ("2026-11-20", None, "web:ann", 30),
    ]


async def test_nothing_of_anybody_else_is_in_it(home: Home, tmp_path: Path) -> None:
    await home.all_of_it()

    anns, _ = await home.export(tmp_path / "ann.zip")
    bobs, _ = await home.export(tmp_path / "bob.zip", BOB)

    assert [name for name in anns.namelist() if "bob" in name] == []
    for trace in (CANARY.encode(), b"web:bob", b"dead bob"):
        assert [name for name in anns.namelist() if trace in anns.read(name)] == []
    assert len([name for name in bobs.namelist() if CANARY.encode() in bobs.read(name)]) >= 6
    assert [name for name in bobs.namelist() if b"web:ann" in bobs.read(name) or b"ann likes" in bobs.read(name)] == []


async def test_what_cannot_be_read_is_said_and_the_rest_is_there(home: Home, tmp_path: Path) -> None:
    await home.all_of_it()
    [path] = (home.process.data_dir / "transcripts").rglob(home.segments[0].name)
    path.write_bytes(b"spoilt")

    found, done = await home.export(tmp_path / "ann.zip")

    assert found.read("transcripts/1_web_ann.jsonl") == lines(home.raws["web:ann"][4:])
    [missing] = done.missing
    assert missing.startswith("messages 0 to 3 of session web:ann: ")
    assert msgspec.json.decode(found.read("contents.json"))["missing"] == [missing]


def test_names_can_be_read_and_are_safe_and_never_the_same() -> None:
    keys = ["web:%E7%8E%8B%E5%B3%B0", "web:a%2F..%5Cb%3Ac", "web:A", "web:a", "web:" + 400 * "x"]

    assert list(names_of(keys).values())[:4] == ["1_web_王峰", "2_web_a_.._b_c", "3_web_A", "4_web_a"]
    assert len(names_of(keys)[keys[4]]) < 70


async def test_a_person_is_known_in_all_bots(home: Home) -> None:
    await home.session("web:ann", ANN, 2, text="a")
    await home.session("web:ann2", "other:person:web:ann", 2, text="a")
    await home.session("web:annika", "pond:person:web:annika", 2, text="a")
    await home.remember("third:person:web:ann", "web:gone", "a")

    assert await person_scopes(home.process.bus, "web:ann") == ["other:person:web:ann", ANN, "third:person:web:ann"]


async def test_a_person_is_exported_with_what_they_said_in_groups(home: Home, tmp_path: Path) -> None:
    await home.session("web:ann", ANN, 2, text="direct")
    await home.session("web:plain", "pond:session:web:plain", 2, text="theirs")
    group = [
        an_entry(0, text="mine", person="ann", sender="Ann"),
        an_entry(0, text="yours", person="bob", sender="Bob"),
        an_entry(0, text="the bot's"),
        an_entry(0, text="mine 2", person="ann", sender="Annie"),
    ]
    for key, scope in (("web:group", "pond:group:web:group"), ("support:group", "pond:group:support:group")):
        raws = [msgspec.json.encode(entry) for entry in group]
        await home.lab.bus.call("RPUSH", home.lab.bus.keys.log(key), *raws)
        await home.lab.bus.call("HSET", home.lab.bus.keys.session(key), "head", len(raws), "scope", scope)
    await home.archive.write("web:group", 0, raws[:3])
    await home.lab.bus.call("LTRIM", home.lab.bus.keys.log("web:group"), 3, -1)
    await home.lab.bus.call("HSET", home.lab.bus.keys.session("web:group"), "base", 3)

    for sender in ("ann", "bob"):
        overheard = Overheard(id=sender, sender_id=sender, text=f"not asked, {sender}", at=TIME)
        raw = msgspec.json.encode(overheard)
        await home.lab.bus.call("ZADD", home.lab.bus.keys.overheard("web:group"), 1, raw, 2, "")
    await home.lab.bus.call("PEXPIRE", home.lab.bus.keys.overheard("web:group"), 60_000)

    subject = await person_in(home.process.bus, "web:ann", [ANN])
    with (tmp_path / "ann.zip").open("wb") as file:
        package = ZipWriter(file, now=home.process.clock.now())
        done = await export(home.process.export_sources(home.memories), subject, package)
    found = zipfile.ZipFile(tmp_path / "ann.zip")

    # Another channel's ann is another person, and so is whoever spoke in a conversation that is a person's own.
    assert list(done.groups) == ["web:group"]
    [name] = [name for name in found.namelist() if name.startswith("groups/")]
    said = [msgspec.json.decode(line) for line in found.read(name).splitlines()]
    assert [(line["index"], line["wire"]["content"]) for line in said[:2]] == [(0, "mine"), (3, "mine 2")]
    assert [line["text"] for line in said[2:]] == ["not asked, ann"]
    assert list(done.sessions) == ["web:ann"]


async def test_a_file_that_is_anothers_as_well_is_left_out_and_named(home: Home, tmp_path: Path) -> None:
    await home.session("web:ann", ANN, 2, text="said")
    other = home.put(BOB, "bob.txt", content=CANARY.encode())
    home.put(ANN, "tea.txt", content=b"green").with_name("hard").hardlink_to(other)

    packed, done = await home.export(tmp_path / "all.zip")

    assert not [name for name in packed.namelist() if CANARY.encode() in packed.read(name)]
    assert [each for each in done.missing if "hard link" in each and "hard" in each]


async def test_linked_scopes_are_exported_together(home: Home, tmp_path: Path) -> None:
    await home.all_of_it()
    keys = home.lab.bus.keys
    await home.lab.bus.call("HSET", keys.memory(BOB), "joined", ANN)
    await home.lab.bus.call("HSET", keys.memory(ANN), f"links:{BOB}", "{}")

    assert await family(home.process.bus, BOB) == await family(home.process.bus, ANN) == [ANN, BOB]
    subject = await subject_of(home.process.bus, await family(home.process.bus, BOB))
    assert [session for session, _ in subject.sessions] == ["web:ann", "web:ann:t", "web:bob"]


async def test_a_long_conversation_takes_little_memory(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    await home.session("web:ann", ANN, 10_000, text="x" * 500, archived=range(500, 9_900, 500))
    sizes, held = list[int](), list[int]()
    ours = tracemalloc.Filter(True, "*/daemon/*", all_frames=True)

    def looked(pieces: AsyncIterable[bytes]) -> AsyncGenerator[bytes]:
        async def one_by_one() -> AsyncGenerator[bytes]:
            async for piece in pieces:
                sizes.append(len(piece))
                if sum(sizes) > 4_500_000 and not held:
                    # Of what is alive now, that alone which our own code has asked for: others allocate meanwhile.
                    snapshot = tracemalloc.take_snapshot().filter_traces([ours])
                    held.append(sum(trace.size for trace in snapshot.traces))
                yield piece

        return one_by_one()

    add = ZipWriter.add
    monkeypatch.setattr(ZipWriter, "add", lambda self, name, pieces: add(self, name, looked(pieces)))
    tracemalloc.start(8)
    try:
        found, done = await home.export(tmp_path / "ann.zip")
    finally:
        tracemalloc.stop()

    assert done.messages == 10_000
    assert found.getinfo("transcripts/1_web_ann.jsonl").file_size == len(lines(home.raws["web:ann"])) > 5_000_000
    assert 0 < held[0] < 2_000_000
    assert max(sizes) < 1_000_000


async def asked(
    home: Home, message_id: str, process: Process, *, session: str = "web:ann", **more: Any
) -> dict[str, Any]:
    await ask(home.lab, message_id, "/export", session=session, **more)
    await worked_off(process, home.lab, ScriptedModel(), session)
    found = await home.lab.bus.call("XREVRANGE", home.lab.bus.keys.notices(session), "+", "-", "COUNT", 1)
    notice: dict[str, Any] = msgspec.json.decode(found[0][1][b"notice"])
    assert (notice["kind"], notice["message_id"]) == ("aside", message_id)
    return notice


async def test_a_person_is_given_everything_as_a_file(home: Home) -> None:
    await home.session("web:ann", ANN, 20, text="said", archived=(4,))
    home.put(ANN, "exports", "old.zip", content=b"older")
    draft = home.put(ANN, "exports", f".1{DRAFT}", content=b"of a killed process")
    os.utime(draft, (0, 0))
    fresh = home.put(ANN, "exports", f".2{DRAFT}", content=b"of somebody who writes")

    notice = await asked(home, "m1", home.process)

    [attachment] = notice["attachments"]
    path = home.workspace / attachment["path"]
    assert path.parent == home.workspace / "files" / folder_of(ANN) / "exports"
    assert (attachment["kind"], attachment["size_bytes"]) == ("document", path.stat().st_size)
    assert attachment["name"] in notice["text"]
    assert sorted(path.parent.iterdir()) == sorted([path, fresh])
    assert path.stat().st_mode & 0o777 == 0o600
    found = zipfile.ZipFile(path)
    assert found.read("transcripts/1_web_ann.jsonl") == lines(home.raws["web:ann"])
    assert (await home.lab.state("web:ann")).head == 20


async def test_an_export_holds_no_words_of_a_forget_that_waits(home: Home, tmp_path: Path) -> None:
    await home.session("web:ann", ANN, 2, text="said")
    jobs = Jobs(home.lab.bus, lease_s=1.0, worker="test", clock=home.process.clock)
    order = ForgetOrder(name=ANN, scopes=(ANN,), chat="web:ann")
    await forget.ForgetRequests(home.lab.bus, jobs).order(order, ForgetSearch(text=CANARY), name="m1")
    await home.lab.publish("m2", session="web:ann", text=f"/forget {CANARY}", command="forget")
    await home.lab.publish("m3", session="web:ann", text="still waiting")

    found, _ = await home.export(tmp_path / "ann.zip")

    assert [job.status for job in await jobs.all()] == ["waiting"]
    assert [name for name in found.namelist() if CANARY.encode() in found.read(name)] == []
    assert "still waiting" in found.read("sessions/1_web_ann.json").decode()


async def test_a_push_channel_is_sent_the_file(home: Home) -> None:
    await home.session("web:ann", ANN, 2, text="said")

    await asked(home, "m1", home.process, delivery="push")

    [reply] = await replies(home.lab, "web:ann")
    assert [attachment["name"][-4:] for attachment in reply["attachments"]] == [".zip"]


@pytest.mark.parametrize(
    ("scope", "chat_kind", "admins", "is_given"),
    [
        (ANN, "direct", (), True),
        ("pond:session:web:ann", "direct", (), True),
        ("pond:workspace", "direct", (), False),
        ("pond:workspace", "direct", ("web:ann",), True),
        ("pond:group:web:ann", "group", (), False),
        ("pond:group:web:ann", "group", ("web:ann",), True),
        (ANN, "group", (), False),
    ],
)
async def test_what_others_said_too_is_given_to_administrators_alone(
    home: Home, scope: str, chat_kind: str, admins: tuple[str, ...], is_given: bool
) -> None:
    await home.session("web:ann", scope, 2, text="said")

    notice = await asked(home, "m1", with_bot(home.process, admins=admins), chat_kind=chat_kind)

    assert bool(notice.get("attachments")) is is_given
    assert ("administrators" in notice["text"]) is not is_given


async def test_what_cannot_be_sent_or_written_is_said(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    await home.session("web:ann", ANN, 2, text="said")
    monkeypatch.setattr(workers.agent.commands.slash_memory, "MEDIA_MAX_BYTES", 10)
    large = await asked(home, "m1", home.process)
    assert "too large" in large["text"]
    assert not large.get("attachments")

    monkeypatch.setattr(workers.agent.commands.slash_memory, "LIMIT_S", 0.0)
    assert "session export web:ann" in (await asked(home, "m2", home.process))["text"]
    monkeypatch.undo()

    folder = home.workspace / "files" / folder_of(ANN) / "exports"
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.write_bytes(b"in the way")
    assert "could not be saved" in (await asked(home, "m3", home.process))["text"]


async def test_whoever_is_cut_short_leaves_neither_file_nor_draft(home: Home) -> None:
    await home.all_of_it()
    folder = home.workspace / "files" / folder_of(ANN) / "exports"
    (folder / "old.zip").unlink()
    ended, at = False, 1
    while True:
        with anyio.CancelScope() as scope:
            bus = StoppingBus(home.process.bus, at=at, cancel=scope)
            process = replace(home.process, bus=bus)
            await export_here(process.export_sources(Memories(bus)), [ANN], language="en")
            ended = not scope.cancel_called

        if ended:
            break
        assert not folder.exists() or list(folder.iterdir()) == []
        at += 1 + at // 3

    assert at > 100
    assert [path.suffix for path in folder.iterdir()] == [".zip"]
