"""A look at every rule: what a hand breaks is found, told and mended; what is right is left alone."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from daemon.archive import Archive
from daemon.archive.local_storage import LocalStorage
from daemon.bus import Bus
from daemon.data import DataCheck
from daemon.memory import Memories, MemoryFiles
from tests.conftest import Lab, an_entry
from tests.datalab import checked, contents, filled

ANN, BOB, SCOPE = "web:ann", "web:bob:t", "pond:workspace"
Break = Callable[[Bus], Awaitable[Any]]


async def first_waiting(bus: Bus, session: str = BOB) -> bytes:
    found: bytes = await bus.call("LINDEX", bus.keys.waiting(session), 0)
    return found


async def lose_waiting_entry(bus: Bus) -> None:
    await bus.call("XDEL", bus.keys.of(BOB).inbox, await first_waiting(bus))


async def let_wait_twice(bus: Bus) -> None:
    await bus.call("RPUSH", bus.keys.waiting(BOB), await first_waiting(bus))


async def let_wait_elsewhere(bus: Bus) -> None:
    await bus.call("RPUSH", bus.keys.waiting("support:7"), await first_waiting(bus))


async def let_wait_nowhere(bus: Bus) -> None:
    await bus.call("LREM", bus.keys.waiting(BOB), 1, await bus.call("LINDEX", bus.keys.waiting(BOB), 1))


async def lose_aside(bus: Bus) -> None:
    for entry in await bus.call("ZRANGE", bus.keys.of(BOB).asides, 0, -1):
        await bus.call("XDEL", bus.keys.of(BOB).inbox, entry.split()[1])


async def wake_for_nothing(bus: Bus) -> None:
    await bus.call("HSET", bus.keys.session("web:idle"), "head", 0, "scope", SCOPE)
    await bus.call("ZADD", bus.keys.of("web:idle").due, 1, "web:idle")
    await bus.call("ZADD", bus.keys.sessions, 1, "web:idle")


TAKEN_IN = f'{{"time":"2026-11-20T09:00:00.000Z","session":"{ANN}","first":0,"upto":1,"kind":"summary","text":"x"}}'


async def fall_behind(bus: Bus) -> None:
    await bus.call("HSET", bus.keys.memory(SCOPE), f"upto:{ANN}", 1)
    await bus.call("RPUSH", bus.keys.history(SCOPE), TAKEN_IN)


async def lose_history(bus: Bus) -> None:
    await bus.call("HSET", bus.keys.memory(SCOPE), f"upto:{ANN}", 2)
    await bus.call("DEL", bus.keys.history(SCOPE))


def command(*words: Any) -> Break:
    name, key, *rest = words
    return lambda bus: bus.call(name, key(bus.keys), *rest)


def upcoming_of(keys: Any) -> str:
    found: str = keys.upcoming(keys.partition(ANN))
    return found


MENDED: dict[str, tuple[str, Break]] = {
    "a session that nobody would wake": ("waiting.due", command("ZREM", lambda k: k.of(BOB).due, BOB)),
    "a deadline of nothing": ("due.waiting", wake_for_nothing),
    "a deadline of no session": ("session.hash", command("ZADD", lambda k: k.of("web:no").due, 1, "web:no")),
    "a message that was lost": ("waiting.in", lose_waiting_entry),
    "a message that waits twice": ("waiting.once", let_wait_twice),
    "a message that waits in another session": ("waiting.in", let_wait_elsewhere),
    "a message that waits nowhere": ("in.waiting", let_wait_nowhere),
    "a command that was lost": ("asides.in", lose_aside),
    "a stop that is none": ("waiting.stop", command("HSET", lambda k: k.session("support:7"), "stop_upto", "1-1")),
    "a lease without end": ("session.lease", command("HSET", lambda k: k.session("support:7"), "nonce", "n")),
    "sums that are wrong": ("session.tokens", command("HINCRBY", lambda k: k.session(ANN), "tokens", 5)),
    "a log that is too short": ("session.log", command("RPOP", lambda k: k.log(ANN))),
    "no log at all": ("session.log", command("DEL", lambda k: k.log(ANN))),
    "a head that is no number": ("session.fields", command("HSET", lambda k: k.session(ANN), "head", "two")),
    "a fence that is no number": ("session.fields", command("HSET", lambda k: k.session(ANN), "fence", "-1")),
    "sums that are no number": ("session.fields", command("HSET", lambda k: k.session(ANN), "tokens", "1.5")),
    "a start before the cursor": ("session.positions", command("HSET", lambda k: k.session(ANN), "cursor", 1)),
    "an end that nobody consolidates": ("session.unsettled", command("HSET", lambda k: k.session(ANN), "start", 1)),
    "a memory behind its session": ("session.memory", fall_behind),
    "an index without a session": ("sessions.index", command("ZREM", lambda k: k.sessions, ANN)),
    "an index with one too many": ("sessions.index", command("ZADD", lambda k: k.sessions, 1, "web:no")),
    "a mark that never ends": ("key.ttl", command("PERSIST", lambda k: k.sent("support:7", "support:7#0"))),
    "a reminder without a time": ("reminders.upcoming", command("DEL", upcoming_of)),
    "a paused reminder with a time": ("reminders.paused", command("ZADD", upcoming_of, 1, f"{ANN} m7qrst")),
    "a job that nobody takes": ("jobs.index", command("HSET", lambda k: k.job("j1"), "status", "waiting")),
    "a job that nobody knows": ("jobs.index", command("ZADD", lambda k: k.jobs, 1, "j2")),
    "another text than its version's": ("memory.text", command("HSET", lambda k: k.memory(SCOPE), "text", "x")),
    "another checksum": ("memory.checksum", command("HSET", lambda k: k.memory(SCOPE), "checksum", "x")),
    "an entry that is no entry": ("memory.undigested", command("RPUSH", lambda k: k.undigested(SCOPE), 7)),
}
"""What a hand can break so that it can be mended, and the rule that says so."""

TOLD: dict[str, tuple[str, Break]] = {
    "a reminder that cannot be read": (
        "reminders.reminder",
        command("HSET", lambda k: k.reminders(ANN), "k3f9ab", "{"),
    ),
    "no session": ("session.hash", command("DEL", lambda k: k.session(ANN))),
    "a message that cannot be read": ("log.message", command("LSET", lambda k: k.log(ANN), 0, "{")),
    "a message of a later turn": (
        "log.turn",
        command("LSET", lambda k: k.log(ANN), 0, msgspec.json.encode(an_entry(9))),
    ),
    "positions out of order": ("session.positions", command("HSET", lambda k: k.session(ANN), "cursor", 99)),
    "a start behind the head": ("session.positions", command("HSET", lambda k: k.session(ANN), "start", 99)),
    "a base that is no number": ("session.fields", command("HSET", lambda k: k.session(ANN), "base", "two")),
    "no history": ("memory.history", lose_history),
    "no scope": ("session.scope", command("HDEL", lambda k: k.session(ANN), "scope")),
    "a key of another type": ("key.type", command("SET", lambda k: k.log("web:no"), "x")),
    "a key of nobody's": ("key.known", command("SET", lambda k: f"{k.prefix}:mine", "x")),
    "a key where nobody looks": (
        "key.partition",
        command("HSET", lambda k: f"{k.prefix}:{{7}}:session:web:x", "head", 0),
    ),
    "a reply that cannot be read": ("out.entry", command("XADD", lambda k: k.out(0, "support"), "*", "reply", "{")),
    "an accepted text that is none": ("in.entry", command("XADD", lambda k: k.inbox(0), "*", "session", "x")),
    "a dead letter without a reason": ("dead.entry", command("XADD", lambda k: k.dead(0), "*", "session", "x")),
    "a version that cannot be read": ("memory.versions", command("LSET", lambda k: k.versions(SCOPE), 0, "{")),
    "fewer versions than there were": ("memory.versions", command("DEL", lambda k: k.versions(SCOPE))),
    "an entry that cannot be read": ("memory.history", command("RPUSH", lambda k: k.history(SCOPE), "{")),
    "a note that cannot be read": ("memory.notes", command("RPUSH", lambda k: k.notes(SCOPE), "{")),
    "a history that ends before its memory": (
        "memory.upto",
        command("RPUSH", lambda k: k.history(SCOPE), TAKEN_IN),
    ),
    "a part of a memory that no index has": (
        "people.index",
        command("HSET", lambda k: k.memory("pond:x"), "joined", SCOPE),
    ),
}
"""What a hand can break so that only a backup helps."""


async def with_memory(lab: Lab) -> None:
    """Some of everything, and a memory that has taken nothing in."""

    await filled(lab)
    await Memories(lab.bus).edit(SCOPE, of=0, text="# Pond", by="ann", time="2026-11-20T09:00:00.000Z")
    await lab.bus.call("HSET", lab.bus.keys.memory(SCOPE), f"upto:{ANN}", 0)


async def test_a_database_in_use_breaks_no_rule(lab: Lab) -> None:
    await with_memory(lab)
    before = await contents(lab.bus)

    found = await checked(lab.bus, repairs=True)

    assert found.flaws == found.mended == ()
    assert (found.sessions, found.scopes) == (4, 1)
    assert await contents(lab.bus) == before


@pytest.mark.parametrize("what", MENDED)
async def test_what_a_hand_has_broken_is_found_and_mended(lab: Lab, what: str) -> None:
    rule, broken = MENDED[what]
    await with_memory(lab)
    await broken(lab.bus)
    before = await contents(lab.bus)

    dry = await checked(lab.bus)
    unchanged = await contents(lab.bus)
    mended = [await checked(lab.bus, repairs=True) for _ in range(3)]

    assert rule in {flaw.rule for flaw in dry.flaws}
    assert all(flaw.mend and flaw.mend.what for flaw in dry.flaws if flaw.rule == rule)
    assert unchanged == before
    assert rule in {flaw.rule for flaw in mended[0].mended}
    left = [flaw for flaw in mended[-1].flaws if rule != "session.memory" or flaw.rule != rule]
    assert left == [] and mended[-1].mended == ()
    await lab.bus.call("DEL", lab.bus.keys.job("j1"), lab.bus.keys.jobs)


@pytest.mark.parametrize("what", TOLD)
async def test_what_only_a_backup_helps_against_is_told(lab: Lab, what: str) -> None:
    rule, broken = TOLD[what]
    await with_memory(lab)
    await broken(lab.bus)
    before = await contents(lab.bus)

    found = await checked(lab.bus, repairs=True)

    assert rule in {flaw.rule for flaw in found.flaws}
    assert all(flaw.text for flaw in found.flaws)
    assert found.mended == () or await contents(lab.bus) != before
    for key in (f"{lab.bus.keys.prefix}:mine", f"{lab.bus.keys.prefix}:{{7}}:session:web:x"):
        await lab.bus.call("DEL", key)


async def test_a_message_that_is_let_wait_again_is_answered_in_its_order(lab: Lab) -> None:
    for number in range(3):
        await lab.publish(f"m{number}")
    ids = await lab.bus.call("LRANGE", lab.bus.keys.waiting(ANN), 0, -1)
    await lab.bus.call("LREM", lab.bus.keys.waiting(ANN), 1, ids[1])

    await checked(lab.bus, repairs=True)

    assert await lab.bus.call("LRANGE", lab.bus.keys.waiting(ANN), 0, -1) == ids


async def test_what_left_redis_and_is_in_no_file_is_told(lab: Lab, tmp_path: Path) -> None:
    for number in range(3):
        await lab.publish(f"m{number}")
        await lab.commit(await lab.claim(), go_on=False)
    keys, archive = lab.bus.keys, Archive(lab.bus, tmp_path, storage=LocalStorage(tmp_path, "transcripts"))
    raws = await lab.bus.call("LRANGE", keys.log(ANN), 0, -1)
    segment = await archive.write(ANN, 0, raws[:2])
    await lab.bus.call("HSET", keys.session(ANN), "cursor", 4, "start", 4, "tokens", 6, "tokens_start", 6)
    await archive.trim(ANN, 4)
    await lab.bus.call("ZADD", keys.sessions, 1, ANN)
    look = DataCheck(lab.bus, archive, deep=True, waits_s=0.0)
    whole = await look.run()

    file = tmp_path / "transcripts" / segment.place
    content = file.read_bytes()
    file.write_bytes(content[:-9] + b"123456789")
    spoilt = await DataCheck(lab.bus, archive, deep=True, waits_s=0.0).run()
    file.unlink()
    missing = await DataCheck(lab.bus, archive, waits_s=0.0).run()
    await lab.bus.call("LTRIM", keys.segments(ANN), 1, -1)
    gap = await DataCheck(lab.bus, archive, waits_s=0.0).run()

    assert whole.flaws == ()
    assert [flaw.rule for flaw in spoilt.flaws] == ["archive.file"]
    assert [flaw.rule for flaw in missing.flaws] == ["archive.missing"]
    assert "archive.gap" in [flaw.rule for flaw in gap.flaws]


async def test_files_of_a_memory_that_redis_has_lost_are_told(lab: Lab, tmp_path: Path) -> None:

    memories = Memories(lab.bus)
    await memories.edit(SCOPE, of=0, text="# Pond", by="ann", time="2026-11-20T09:00:00.000Z")
    await MemoryFiles(memories, workspace_of=lambda _bot: tmp_path).sync(SCOPE, at_once=True)
    right = await checked(lab.bus, workspace_of=lambda _bot: tmp_path)
    await lab.bus.call("DEL", lab.bus.keys.memory(SCOPE), lab.bus.keys.versions(SCOPE))
    await lab.bus.call("HSET", lab.bus.keys.memory(SCOPE), "forgets", 0)

    found = await checked(lab.bus, workspace_of=lambda _bot: tmp_path)

    assert right.flaws == ()
    assert [flaw.rule for flaw in found.flaws] == ["files.memory"]


async def test_what_of_a_memory_left_redis_and_is_in_no_file_is_told(lab: Lab, tmp_path: Path) -> None:
    await with_memory(lab)
    archive = Archive(lab.bus, tmp_path, storage=LocalStorage(tmp_path, "transcripts"))
    await lab.bus.call("HSET", lab.bus.keys.memory(SCOPE), "history_base", 2)

    found = await DataCheck(lab.bus, archive, waits_s=0.0).run()

    assert [flaw.rule for flaw in found.flaws] == ["archive.gap"]
