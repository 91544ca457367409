"""Incomplete backups: lost messages, damaged keys and odd files are named, fail the backup, and stop nothing else."""

import base64
import gzip
import json
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from daemon.archive import Archive
from daemon.archive.local_storage import LocalStorage
from daemon.bus import Bus
from daemon.clock import SystemClock
from daemon.config import RedisConfig
from daemon.data import BackupResult, DataCheck, Loss, RestoreTarget, back_up, key_names, restore, verify
from daemon.data import file_copy as trees
from daemon.data.backup import Archived
from daemon.data.redis_reader import read_session
from daemon.errors import DataError
from daemon.memory import Memories
from tests.conftest import Lab
from tests.datalab import SESSIONS, backed_up, checked, filled, other, wanted
from tests.integration.test_cli import a_place
from tests.tables import each_row

Redis = tuple[RedisConfig, Path]
ANN, BOB, SCOPE = "web:ann", "web:bob:t", "pond:workspace"
TURNS, TRIMMED = 5, 8


async def archived(lab: Lab, tmp_path: Path) -> Archive:
    """Ann's ten messages, of which eight are in four files of the archive only."""
    archive = Archive(lab.bus, tmp_path, storage=LocalStorage(tmp_path, "transcripts"))
    for number in range(TURNS):
        await lab.publish(f"m{number}")
        await lab.commit(await lab.claim(), go_on=False)
    raws = await lab.bus.call("LRANGE", lab.bus.keys.log(ANN), 0, -1)
    for first in range(0, TRIMMED, 2):
        await archive.write(ANN, first, raws[first : first + 2])
    await lab.bus.call("HSET", lab.bus.keys.session(ANN), "cursor", TRIMMED, "start", TRIMMED)
    assert await archive.trim(ANN, TRIMMED) == TRIMMED
    return archive


def segments(tmp_path: Path) -> list[Path]:
    return sorted(path for path in (tmp_path / "transcripts").rglob("*.jsonl.gz") if "catalogue" not in path.name)


def delete_one(tmp_path: Path) -> None:
    segments(tmp_path)[1].unlink()


def delete_all(tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "transcripts")


def empty_one(tmp_path: Path) -> None:
    segments(tmp_path)[1].write_bytes(b"")


def shorten_one(tmp_path: Path) -> None:
    path = segments(tmp_path)[1]
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).splitlines(keepends=True)[0]))


def change_one(tmp_path: Path) -> None:
    path = segments(tmp_path)[1]
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"hello", b"HELLO").swapcase()))


LOST: dict[str, tuple[Callable[[Path], None], int, int]] = {
    "a file of the archive": (delete_one, 2, 2),
    "the whole archive": (delete_all, TRIMMED, TRIMMED),
    # Their contents are read by the verification alone.
    "the content of a file": (empty_one, 0, 2),
    "a line of a file": (shorten_one, 0, 2),
    "another content": (change_one, 0, 2),
    "nothing": (lambda _path: None, 0, 0),
}
"""What is spoilt, and how many messages a backup and its verification miss."""


@pytest.mark.parametrize("what", LOST)
async def test_messages_that_the_archive_has_lost_are_counted(lab: Lab, tmp_path: Path, what: str) -> None:
    spoil, without_reading, with_reading = LOST[what]
    await archived(lab, tmp_path)
    spoil(tmp_path)

    done = await backed_up(lab.bus, tmp_path)
    found = await verify(done.folder)

    assert count(done.manifest.losses) == without_reading
    assert count(found.losses) == with_reading
    assert {loss.owner for loss in found.losses} <= {ANN}


def count(losses: Any) -> int:
    return sum(loss.count for loss in losses)


async def test_messages_that_redis_has_lost_are_counted(lab: Lab, tmp_path: Path) -> None:
    await archived(lab, tmp_path)
    await lab.bus.call("RPOP", lab.bus.keys.log(ANN))
    await lab.bus.call("DEL", lab.bus.keys.segments(ANN))

    done = await backed_up(lab.bus, tmp_path)

    assert done.manifest.losses == [
        Loss(owner=ANN, kind="messages", count=1),
        Loss(owner=ANN, kind="messages", count=TRIMMED),
    ]


async def test_messages_that_were_deleted_after_their_retention_are_not_lost(lab: Lab, tmp_path: Path) -> None:
    """They are deleted between the reading of their session and the copying of the archive."""
    archive, noted = await archived(lab, tmp_path), Archived()
    noted.note(await read_session(lab.bus, ANN))
    assert await archive.expire(ANN, before="9999") == TRIMMED // 2
    delete_all(tmp_path)

    assert await noted.losses(lab.bus, tmp_path, "transcripts", deep=True) == []


async def test_a_missing_workspace_fails_the_backup_of_a_bot_with_a_memory(lab: Lab, tmp_path: Path) -> None:
    without_memory = await backed_up(lab.bus, tmp_path, "first")
    await Memories(lab.bus).edit(SCOPE, of=0, text="- likes tea", by="ann", time="2026-11-20T09:00:00.000Z")

    with_memory = await backed_up(lab.bus, tmp_path, "second")

    assert (without_memory.manifest.damaged, list(with_memory.manifest.damaged)) == ({}, ["bots/pond"])
    (tmp_path / "pond").mkdir()
    assert (await backed_up(lab.bus, tmp_path, "third")).manifest.damaged == {}


KEYS: dict[str, Callable[[Any], str]] = {
    "session": lambda keys: keys.session(BOB),
    "log": lambda keys: keys.log(BOB),
    "waiting": lambda keys: keys.waiting(BOB),
    "lock": lambda keys: keys.of(BOB).lock,
    "segments": lambda keys: keys.segments(BOB),
    "memory": lambda keys: keys.memory(SCOPE),
    "history": lambda keys: keys.history(SCOPE),
    "versions": lambda keys: keys.versions(SCOPE),
    "notes": lambda keys: keys.notes(SCOPE),
    "undigested": lambda keys: keys.undigested(SCOPE),
}
SHARED: dict[str, Callable[[Any], str]] = {
    "sessions": lambda keys: keys.sessions,
    "jobs": lambda keys: keys.jobs,
    "job": lambda keys: keys.job("j1"),
    "people": lambda keys: keys.people,
    "an account": lambda keys: keys.usage("2026-11-20", "bot"),
    "replies": lambda keys: keys.out(0, "support"),
    "dead letters": lambda keys: keys.dead(0),
    "events": lambda keys: keys.grew(0),
    "accepted messages": lambda keys: keys.inbox(0),
    "deadlines": lambda keys: keys.of(BOB).due,
    "sessions that are ready": lambda keys: keys.of(BOB).ready,
    "commands": lambda keys: keys.of(BOB).asides,
    "finished conversations": lambda keys: keys.of(BOB).unsettled,
}
WRONG: tuple[Callable[[Bus, str], Awaitable[Any]], ...] = (
    lambda bus, key: bus.call("SET", key, "x"),
    lambda bus, key: bus.call("SADD", key, "x"),
)


@each_row("what, number", [(what, number % len(WRONG)) for number, what in enumerate(KEYS)])
async def test_a_key_of_the_wrong_type_costs_its_session_or_memory_alone(
    lab: Lab, redis: Redis, tmp_path: Path, what: str, number: int
) -> None:
    await anew(lab)
    key = KEYS[what](lab.bus.keys)
    owner = BOB if what in list(KEYS)[:5] else SCOPE
    await lab.bus.call("DEL", key)
    await WRONG[number](lab.bus, key)
    folder = tmp_path / f"{what}{number}"

    looked = await checked(lab.bus)
    mended = await checked(lab.bus, repairs=True)
    done = await back_up(lab.bus, wanted(tmp_path), folder, clock=SystemClock())
    known = await back_up(
        *(lab.bus, wanted(tmp_path, without=frozenset({owner, ANN})), tmp_path / f"{what}{number} known"),
        clock=SystemClock(),
    )

    told = [flaw for flaw in looked.flaws if flaw.rule == "key.type"]
    assert [flaw.where for flaw in told] == [key]
    assert owner in told[0].text
    assert [flaw.where for flaw in mended.flaws if flaw.rule == "key.type"] == [key]
    assert list(done.manifest.damaged) == [owner]
    assert key in done.manifest.damaged[owner]
    assert (known.manifest.damaged, known.manifest.left_out) == ({}, sorted({owner, ANN}))
    assert known.manifest.sessions == len(set(SESSIONS) - {owner, ANN})
    async with other(lab.bus, redis) as copy:
        await restore(copy, folder, RestoreTarget(workspace_of=Path, archive=None, replaces=True))
        there = {session for session in SESSIONS if await copy.call("EXISTS", copy.keys.session(session))}
        assert there == set(SESSIONS) - {owner}


async def anew(lab: Lab) -> None:
    for key in await lab.bus.call("KEYS", f"{lab.bus.keys.prefix}:*"):
        if key != lab.bus.keys.meta.encode():
            await lab.bus.call("DEL", key)
    await filled(lab)
    await lab.bus.call("HSET", lab.bus.keys.memory(SCOPE), "forgets", 0)


@each_row("what, number", [(what, number % len(WRONG)) for number, what in enumerate(SHARED)])
async def test_a_shared_key_of_the_wrong_type_ends_neither_a_check_nor_a_backup(
    lab: Lab, tmp_path: Path, what: str, number: int
) -> None:
    await anew(lab)
    key = SHARED[what](lab.bus.keys)
    await lab.bus.call("DEL", key)
    await WRONG[number](lab.bus, key)

    looked = await checked(lab.bus, repairs=True)
    done = await back_up(lab.bus, wanted(tmp_path), tmp_path / f"{what}{number}", clock=SystemClock())

    assert key in {flaw.where for flaw in looked.flaws}
    assert done.manifest.sessions == len(SESSIONS)
    assert list(done.manifest.damaged) == [key]


OF_PARTITIONS = (
    key_names.SESSION
    | key_names.SCOPE
    | key_names.ZSETS
    | key_names.STREAMS
    | key_names.BESIDE
    | key_names.TAILED
    | key_names.REPLIES
)
KINDS = sorted((OF_PARTITIONS | {"leader", "clearing"}) - {"restoring"}) + sorted(key_names.DATABASE - {"meta"})
FORMS: dict[str, tuple[str | int, ...]] = {
    "string": ("SET", "x"),
    "hash": ("HSET", "x", "y"),
    "list": ("RPUSH", "x"),
    "set": ("SADD", "x"),
    "zset": ("ZADD", 1, "x"),
    "stream": ("XADD", "*", "x", "y"),
}


def a_key(prefix: str, number: int, kind: str) -> str:
    """A key of a kind, each of an owner of its own."""
    owner = f"pond:person:{number}" if kind in key_names.SCOPE else f"web:{number}"
    rest = {
        **dict.fromkeys(key_names.TAILED, f":{owner}:m1"),
        **dict.fromkeys(key_names.REPLIES, f":{owner}#0"),
        **dict.fromkeys(key_names.ZSETS | key_names.STREAMS - {"out"}, ""),
    }.get(kind, f":{owner}")
    return f"{prefix}:{{0}}:{kind}{rest}" if number < len(OF_PARTITIONS) + 1 else f"{prefix}:{kind}"


@each_row("form", FORMS)
async def test_no_kind_of_key_ends_a_check_or_a_backup_with_a_wrong_type(lab: Lab, tmp_path: Path, form: str) -> None:
    await anew(lab)
    command, *words = FORMS[form]
    keys = [a_key(lab.bus.keys.prefix, number, kind) for number, kind in enumerate(KINDS)]
    for key in keys:
        await lab.bus.call("DEL", key)
        await lab.bus.call(command, key, *words)

    looked = await checked(lab.bus, repairs=True)
    done = await back_up(lab.bus, wanted(tmp_path), tmp_path / form, clock=SystemClock())
    await verify(done.folder)

    told = {flaw.where for flaw in looked.flaws if flaw.rule == "key.type"}
    wrong = {key for key, kind in zip(keys, KINDS, strict=True) if key_names.TYPES.get(kind, form) != form}
    assert told == wrong
    for key in keys:
        await lab.bus.call("DEL", key)


async def test_a_key_whose_name_is_not_text_is_left_alone(lab: Lab, tmp_path: Path) -> None:
    await filled(lab)
    key = f"{lab.bus.keys.prefix}:".encode() + b"\xff"
    await lab.bus.call("SET", key, "x")
    await lab.bus.call("ZADD", lab.bus.keys.jobs, 1, b"\xff")
    await lab.bus.call("RPUSH", lab.bus.keys.waiting(BOB), b"\xff")

    looked = await checked(lab.bus)
    done = await backed_up(lab.bus, tmp_path)
    await lab.bus.call("DEL", key)

    assert any(flaw.rule == "jobs.index" for flaw in looked.flaws)
    assert list(done.manifest.damaged) == [BOB]


ODD = (
    b"caf\xe9.txt",
    b"\xff",
    b"%FF",
    b"%FF\xff",
    b"\xff\xff",
    b"\xfe" * 255,
    "né\n.txt".encode(),
    b"folder\xff/in\xff",
)
"""Names of files, some of which would meet if they were escaped carelessly."""


async def test_files_with_odd_names_are_backed_up_and_come_back(lab: Lab, redis: Redis, tmp_path: Path) -> None:
    for name in ODD:
        path = tmp_path / "pond" / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name)

    done = await backed_up(lab.bus, tmp_path)
    await verify(done.folder)
    async with other(lab.bus, redis) as copy:
        archive = LocalStorage(tmp_path / "copied", "transcripts")
        target = RestoreTarget(workspace_of=lambda bot: tmp_path / "copied" / bot, archive=archive)
        await restore(copy, done.folder, target)

    found = {path.read_bytes() for path in (tmp_path / "copied" / "pond").rglob("*") if path.is_file()}
    assert found == set(ODD)
    assert all((tmp_path / "copied" / "pond" / os.fsdecode(name)).read_bytes() == name for name in ODD)
    assert done.manifest.damaged == {}
    assert all(path.name.isprintable() or "\n" in path.name for path in done.folder.rglob("*"))


async def test_a_file_that_cannot_be_read_is_named_and_the_rest_backed_up(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pond").mkdir()
    (tmp_path / "pond" / "bad.bin").write_bytes(b"bad")
    (tmp_path / "pond" / "good.txt").write_bytes(b"good")
    read = trees._read

    def failing(content: Any) -> bytes:
        found = read(content)
        if found == b"bad":
            raise trees._SourceError("Input/output error")
        return found

    monkeypatch.setattr(trees, "_read", failing)

    done = await backed_up(lab.bus, tmp_path)
    known = await back_up(
        *(lab.bus, wanted(tmp_path, without=frozenset({"bots/pond/bad.bin"})), tmp_path / "known"), clock=SystemClock()
    )

    assert done.manifest.damaged == {"bots/pond/bad.bin": "Input/output error"}
    assert (done.folder / "bots" / "pond" / "good.txt").read_bytes() == b"good"
    assert not (done.folder / "bots" / "pond" / "bad.bin").exists()
    assert known.manifest.damaged == {}


@each_row(
    "number, original",
    enumerate([b"../../x", b"bots/../x", b"bots//x", b"bots/pond/a\0b", b"", b"bots/pond/"]),
)
async def test_a_forged_original_name_is_no_way_out_of_a_workspace(
    lab: Lab, tmp_path: Path, number: int, original: bytes
) -> None:
    folder = tmp_path / f"backup{number}"
    (tmp_path / "pond").mkdir(exist_ok=True)
    (tmp_path / "pond" / "a").write_text("a")
    done = await back_up(lab.bus, wanted(tmp_path), folder, clock=SystemClock())
    forge(done, original)

    if not original:
        await verify(folder)
        return
    with pytest.raises(DataError, match="not valid in a backup"):
        await verify(folder)


def forge(done: BackupResult, original: bytes) -> None:
    path = done.folder / "files.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line["path"] == "bots/pond/a":
            line["original"] = base64.b64encode(original).decode()
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    manifest = done.manifest
    digests = manifest.sha256 | {"files.jsonl": trees.sha256_of(path)}
    manifest = msgspec.structs.replace(manifest, sha256=digests)
    (done.folder / "backup.json").write_bytes(msgspec.json.encode(manifest))


async def test_a_deep_check_reports_the_losses_of_an_archive(lab: Lab, tmp_path: Path) -> None:
    archive = await archived(lab, tmp_path)
    change_one(tmp_path)

    found = await DataCheck(lab.bus, archive, deep=True, waits_s=0.0).run()

    assert "archive.file" in {flaw.rule for flaw in found.flaws}


def test_an_incomplete_backup_fails_and_says_which_messages_are_missing(tmp_path: Path) -> None:
    with a_place() as place, place.running("--role", "consolidation") as running:
        running.said("process.started", stream="stderr")
        first = place("data", "backup", str(tmp_path / "first"))
        assert (first.returncode, first.stderr.count("missing")) == (0, 1), first.stderr  # of the progress
        prefix = "mp"
        place("redis-cli", "HSET", f"{prefix}:{{0}}:session:cli:x", "head", "46", "base", "46", "scope", SCOPE)
        place("redis-cli", "SET", f"{prefix}:{{0}}:log:cli:y", "x")

        plain = place("data", "backup", str(tmp_path / "plain"), "--no-verify")
        known = place("data", "backup", str(tmp_path / "known"), "--leave-out", "cli:y")
        again = place("data", "verify", str(tmp_path / "plain"))
        left = place("data", "backup", str(tmp_path / "left"), "--leave-out", "cli:y", "--leave-out", "cli:x")

    for done in (plain, again, known):
        assert done.returncode == 1
        assert "46 messages are missing from the backup:\n  cli:x: 46\n" in done.stderr
    assert "cli:y: session cli:y cannot be read: the key" in plain.stderr
    assert "left out, as requested: cli:y" in known.stderr
    assert (left.returncode, "left out, as requested: cli:x, cli:y" in left.stderr) == (0, True)
