"""Backups: key by key the same once restored, under other partitions too, taken while everything goes on."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from daemon.bus import Bus, Keys, open_bus, pairs
from daemon.clock import SystemClock, stamp
from daemon.config import RedisConfig
from daemon.data import RestoreTarget, backup_verification, restore, verify
from daemon.data.backup_records import LogTaken, SessionTaken
from daemon.data.backup_restore import records_of
from daemon.data.redis_reader import LOG_PIECE, read_session
from daemon.errors import BusError, ConfigError, DatabaseNotEmpty, DataError
from daemon.testing import FailingBus, ManualClock
from tests.conftest import Lab, an_entry, an_inbound
from tests.datalab import SESSIONS, a_reply, backed_up, checked, contents, filled, other, restored

Redis = tuple[RedisConfig, Path]


@pytest.fixture
def lab(lab: Lab) -> Lab:
    """With the partitions of every other process: what is restored goes where those look."""
    lab.bus.keys = Keys(prefix=lab.bus.keys.prefix, partitions=lab.bus.keys.partitions)
    return lab


async def test_what_is_restored_is_key_by_key_what_was_backed_up(lab: Lab, redis: Redis, tmp_path: Path) -> None:
    await filled(lab)
    before = await contents(lab.bus)

    done = await backed_up(lab.bus, tmp_path)
    async with other(lab.bus, redis) as copy:
        await restored(copy, done.folder)

        assert await contents(copy) == before
        assert await copy.call("HGET", copy.keys.meta, "restoring") is None
    assert done.manifest.sessions == len(SESSIONS)
    assert await contents(lab.bus) == before


async def test_a_backup_is_restored_to_be_sure_of_it(lab: Lab, tmp_path: Path) -> None:
    await filled(lab)
    done = await backed_up(lab.bus, tmp_path)

    found = await verify(done.folder)

    assert found.records == done.manifest.records
    assert found.flaws == ()


async def test_a_backup_that_comes_back_otherwise_is_told(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    await filled(lab)
    keys = lab.bus.keys
    for name in (keys.notes, keys.history, keys.versions, keys.undigested, keys.shelved):
        await lab.bus.call("RPUSH", name("pond:workspace"), "x")
    await lab.bus.call("HSET", keys.memory("pond:workspace"), "text", "# Pond", "upto:web:ann", 2)
    await lab.bus.call("ZADD", keys.of("web:ann").unsettled, 7, "web:ann")
    await lab.bus.call("RPUSH", keys.segments("web:ann"), "{}")
    await lab.bus.call("HSET", keys.access("support"), "person:1", "{}")
    await lab.bus.call("HSET", keys.job("j1"), "status", "waiting")
    await lab.bus.call("ZADD", keys.jobs, 1, "j1")
    await lab.bus.call("XADD", keys.audit, "*", "action", "x")
    await lab.bus.call("XADD", keys.grew(keys.partition("web:ann")), "*", "event", "{}")
    await lab.bus.call("XADD", keys.notices("web:ann"), "*", "notice", "{}")
    await lab.bus.call("PEXPIRE", keys.notices("web:ann"), 600_000)
    done = await backed_up(lab.bus, tmp_path)
    broken: dict[str, Callable[[Bus], Sequence[Any]]] = {
        "a message is another one": lambda bus: ("LSET", bus.keys.log("web:ann"), 0, "x"),
        "a message is missing": lambda bus: ("RPOP", bus.keys.log("web:ann")),
        "a sum is another one": lambda bus: ("HINCRBY", bus.keys.session("web:ann"), "tokens", 1),
        "a session is missing": lambda bus: ("DEL", bus.keys.session("web:ann")),
        "a waiting message is missing": lambda bus: ("LPOP", bus.keys.waiting("web:bob:t")),
        "a memory holds more": lambda bus: ("RPUSH", bus.keys.notes("pond:workspace"), "y"),
        "a memory is missing": lambda bus: ("DEL", bus.keys.notes("pond:workspace")),
        "an account is another one": lambda bus: ("HSET", bus.keys.usage("2026-11-20", "bot"), "pond messages", 4),
        "an account is missing": lambda bus: ("DEL", bus.keys.usage("2026-11-20", "bot")),
        "a version is another one": lambda bus: ("LSET", bus.keys.versions("pond:workspace"), 0, "y"),
        "a version is missing": lambda bus: ("LPOP", bus.keys.versions("pond:workspace")),
        "the history is another one": lambda bus: ("LSET", bus.keys.history("pond:workspace"), 0, "y"),
        "an undigested entry is missing": lambda bus: ("LPOP", bus.keys.undigested("pond:workspace")),
        "a list of archived parts is missing": lambda bus: ("DEL", bus.keys.shelved("pond:workspace")),
        "the text of a memory is another one": lambda bus: ("HSET", bus.keys.memory("pond:workspace"), "text", "y"),
        "a position of a memory is missing": lambda bus: ("HDEL", bus.keys.memory("pond:workspace"), "upto:web:ann"),
        "a cursor is another one": lambda bus: ("HINCRBY", bus.keys.session("web:ann"), "cursor", 1),
        "a lock is another one": lambda bus: ("HSET", bus.keys.of("web:ann").lock, "fence", 99),
        "a segment is missing": lambda bus: ("DEL", bus.keys.segments("web:ann")),
        "an accepted message is missing": lambda bus: ("XTRIM", bus.keys.of("web:bob:t").inbox, "MAXLEN", 0),
        "a deadline is another one": lambda bus: ("ZINCRBY", bus.keys.of("web:bob:t").due, 1, "web:bob:t"),
        "a deadline is missing": lambda bus: ("ZREM", bus.keys.of("web:bob:t").due, "web:bob:t"),
        "a check of a session is missing": lambda bus: ("ZREM", bus.keys.of("web:ann").unsettled, "web:ann"),
        "a command is missing": lambda bus: ("DEL", bus.keys.of("web:bob:t").asides),
        "an event is missing": lambda bus: ("XTRIM", bus.keys.grew(bus.keys.partition("web:ann")), "MAXLEN", 0),
        "a notice is missing": lambda bus: ("DEL", bus.keys.notices("web:ann")),
        "a mark of a sent part is another one": lambda bus: (
            "HSET",
            bus.keys.sent("support:7", "support:7#0"),
            "0",
            "sent",
        ),
        "a leader is another one": lambda bus: (
            "HSET",
            bus.keys.leader(bus.keys.partition("support:7"), "support"),
            "fence",
            4,
        ),
        "a link is missing": lambda bus: ("HDEL", bus.keys.people, "pond:person:web:bob"),
        "a link is another one": lambda bus: ("HSET", bus.keys.people, "pond:person:web:bob", "{}"),
        "a person's access is missing": lambda bus: ("DEL", bus.keys.access("support")),
        "a job is another one": lambda bus: ("HSET", bus.keys.job("j1"), "status", "done"),
        "a job is missing": lambda bus: ("ZREM", bus.keys.jobs, "j1"),
        "an audit entry is missing": lambda bus: ("XTRIM", bus.keys.audit, "MAXLEN", 0),
        "a session is missing in the index": lambda bus: ("ZREM", bus.keys.sessions, "web:ann"),
        "a seen ID is missing": lambda bus: ("DEL", bus.keys.seen("web:ann", "m0")),
        "a reply is missing": lambda bus: (
            "XTRIM",
            bus.keys.out(bus.keys.partition("support:7"), "support"),
            "MAXLEN",
            0,
        ),
        "a dead letter is missing": lambda bus: ("XTRIM", bus.keys.dead(bus.keys.partition("support:7")), "MAXLEN", 0),
    }
    for what, command in broken.items():

        async def restored_otherwise(bus: Bus, *given: Any, command: Any = command, **more: Any) -> None:
            await restore(bus, *given, **more)
            assert await bus.call(*command(bus)) is not None, command

        monkeypatch.setattr(backup_verification, "restore", restored_otherwise)
        told = pytest.RaisesExc(DataError, match="differs from the original")
        with pytest.RaisesGroup(told, flatten_subgroups=True):
            await verify(done.folder)
            pytest.fail(f"nobody noticed that {what}")


async def test_what_may_end_meanwhile_may_be_missing_when_a_backup_is_looked_at(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(lab)
    await lab.bus.call("PEXPIRE", lab.bus.keys.usage("2026-11-20", "bot"), 50_000)
    done = await backed_up(lab.bus, tmp_path)

    async def restored_late(bus: Bus, *given: Any, **more: Any) -> None:
        await restore(bus, *given, **more)
        await bus.call("DEL", bus.keys.usage("2026-11-20", "bot"))

    monkeypatch.setattr(backup_verification, "restore", restored_late)

    assert (await verify(done.folder)).records == done.manifest.records


async def test_what_was_wrong_before_a_backup_is_told(lab: Lab, tmp_path: Path) -> None:
    await filled(lab)
    await lab.bus.call("HINCRBY", lab.bus.keys.session("web:ann"), "tokens", 5)
    done = await backed_up(lab.bus, tmp_path)

    found = await verify(done.folder)

    assert [flaw.rule for flaw in found.flaws] == ["session.tokens"]


@pytest.mark.parametrize("partitions", [1, 3, 64])
async def test_a_database_can_be_given_other_partitions(lab: Lab, redis: Redis, tmp_path: Path, partitions: int):
    await filled(lab)
    first = (await backed_up(lab.bus, tmp_path, "first")).folder

    async with other(lab.bus, redis) as spread:
        await restored(spread, first, partitions=3)
        flaws = (await checked(spread)).flaws
        waiting = {session: await waits(spread, session) for session in SESSIONS}
        second = (await backed_up(spread, tmp_path, "second")).folder
        await restored(spread, second, partitions=partitions, replaces=True)

        assert flaws == (await checked(spread)).flaws == ()
        assert {session: await waits(spread, session) for session in SESSIONS} == waiting
        assert waiting == {session: await waits(lab.bus, session) for session in SESSIONS}
        if partitions == lab.bus.keys.partitions == 1:  # else two of one millisecond may have met
            assert await contents(spread) == await contents(lab.bus)


async def waits(bus: Bus, session: str) -> list[Any]:
    """The messages that wait in a session, in order."""
    ids = await bus.call("LRANGE", bus.keys.waiting(session), 0, -1)
    inbox = bus.keys.inbox(bus.keys.partition(session))
    return [pairs((await bus.call("XRANGE", inbox, each, each))[0][1]) for each in ids]


async def test_messages_of_two_partitions_with_one_id_both_wait_in_one(lab: Lab, redis: Redis, tmp_path: Path) -> None:
    async with other(lab.bus, redis, partitions=64) as spread:
        one, two = "web:ann", "web:bob"
        assert spread.keys.partition(one) != spread.keys.partition(two)
        for session in (one, two):
            await a_waiting_message(spread, session, "1795167734121-0")
        folder = (await backed_up(spread, tmp_path)).folder
        before = {session: await waits(spread, session) for session in (one, two)}

        await restored(spread, folder, partitions=1, replaces=True)

        assert await spread.call("XLEN", spread.keys.inbox(0)) == 2
        assert {session: await waits(spread, session) for session in (one, two)} == before
        stops = {await spread.call("HGET", spread.keys.session(session), "stop_upto") for session in (one, two)}
        assert stops == {(await spread.call("LINDEX", spread.keys.waiting(session), 0)) for session in (one, two)}
        assert (await checked(spread)).flaws == ()


async def a_waiting_message(bus: Bus, session: str, stream_id: str) -> None:
    keys = bus.keys.of(session)
    message = msgspec.json.encode(an_inbound("m", session=session))
    await bus.call("XADD", keys.inbox, stream_id, "session", session, "id", "m", "message", message)
    await bus.call("RPUSH", keys.waiting, stream_id)
    await bus.call("HSET", keys.session, "head", 0, "scope", "pond:workspace", "stop_upto", stream_id)
    await bus.call("ZADD", keys.due, 1795167734121, session)
    await bus.call("ZADD", bus.keys.sessions, 1, session)


async def test_a_database_that_is_not_empty_is_left_alone_unless_told(lab: Lab, redis: Redis, tmp_path: Path) -> None:
    await filled(lab)
    folder = (await backed_up(lab.bus, tmp_path)).folder
    async with other(lab.bus, redis) as copy:
        await copy.call("SET", f"{copy.keys.prefix}:mine", "1")

        with pytest.raises(DatabaseNotEmpty, match="--replace"):
            await restored(copy, folder)

        assert list(await contents(copy)) == ["mine"]
        await restored(copy, folder, replaces=True)
        assert await contents(copy) == await contents(lab.bus)


async def test_a_database_that_processes_use_is_left_alone_whatever_is_told(lab: Lab, redis: Redis, tmp_path: Path):
    folder = (await backed_up(lab.bus, tmp_path)).folder
    async with other(lab.bus, redis) as copy:
        beat = f'{{"role":"agent","started":"","seen":"{stamp(SystemClock().now())}","holding":0}}'
        await copy.call("HSET", copy.keys.workers, "host-1 agent", beat)

        with pytest.raises(ConfigError, match="host-1 agent"):
            await restored(copy, folder, replaces=True)


async def test_a_process_counts_as_running_for_half_a_minute(
    lab: Lab, redis: Redis, tmp_path: Path, clock: ManualClock
) -> None:
    folder = (await backed_up(lab.bus, tmp_path)).folder
    beat = f'{{"role":"agent","started":"","seen":"{stamp(clock.now())}","holding":0}}'
    target = RestoreTarget(workspace_of=Path, archive=None, replaces=True)
    async with other(lab.bus, redis) as copy:
        await copy.call("HSET", copy.keys.workers, "host-1 agent", beat)
        clock.advance(29)
        with pytest.raises(ConfigError, match="host-1 agent"):
            await restore(copy, folder, target, clock=clock)
        clock.advance(1)

        await restore(copy, folder, target, clock=clock)


async def test_a_database_that_is_half_restored_is_refused_until_it_is_restored(lab: Lab, redis: Redis, tmp_path: Path):
    await filled(lab)
    folder = (await backed_up(lab.bus, tmp_path)).folder
    config, data_dir = redis
    async with other(lab.bus, redis) as copy:
        config = msgspec.structs.replace(config, prefix=copy.keys.prefix)
        failing = FailingBus(copy, at=25)
        with pytest.raises(BusError):
            await restored(failing, folder)
        with pytest.raises(ConfigError, match="data restore"):
            async with open_bus(config, data_dir):
                pass
        assert await contents(copy) != await contents(lab.bus)

        await restored(copy, folder)

        assert await contents(copy) == await contents(lab.bus)
        async with open_bus(config, data_dir):
            pass


async def test_a_backup_that_was_cut_short_is_none(lab: Lab, redis: Redis, tmp_path: Path) -> None:
    await filled(lab)
    with pytest.raises(BusError):
        await backed_up(FailingBus(lab.bus, at=12), tmp_path)

    async with other(lab.bus, redis) as copy:
        with pytest.raises(DataError, match="is not a complete backup"):
            await restored(copy, tmp_path / "backup")
        assert await contents(copy) == {}


async def test_a_backup_of_which_a_byte_was_changed_is_refused(lab: Lab, redis: Redis, tmp_path: Path) -> None:
    await filled(lab)
    folder = (await backed_up(lab.bus, tmp_path)).folder
    spoilt = bytearray((folder / "redis.jsonl.gz").read_bytes())
    spoilt[len(spoilt) // 2] ^= 1
    (folder / "redis.jsonl.gz").write_bytes(spoilt)

    async with other(lab.bus, redis) as copy:
        with pytest.raises(DataError, match="does not match"):
            await restored(copy, folder)
        assert await contents(copy) == {}


async def test_what_was_said_and_answered_since_a_session_was_read_is_in_no_backup(
    lab: Lab, redis: Redis, tmp_path: Path
) -> None:
    """The message comes again, so neither its reply nor its marks may say that it is over."""
    await lab.publish("m0", session="support:7")
    await lab.publish("m0", session="web:zoe")
    keys, partition = lab.bus.keys, lab.bus.keys.partition("support:7")

    class Meanwhile(FailingBus):
        async def run(self, script: Any, named: Any, args: Any) -> Any:
            found = await super().run(script, named, args)
            if script.name == "scope.lua" and not done:
                done.append(True)
                claim = await lab.claim("support:7")
                await lab.commit(claim, go_on=False)
                await lab.bus.call("XADD", keys.out(partition, "support"), "*", "reply", a_reply("support:7", 0))
                await lab.bus.call("HSET", keys.sent("support:7", "support:7#0"), "0", "sent 7")
                await lab.bus.call("PEXPIRE", keys.sent("support:7", "support:7#0"), 60_000)
                await lab.publish("m1", session="support:7")
            return found

    done: list[bool] = []
    await lab.bus.call("HSET", keys.memory("pond:workspace"), "forgets", 0)
    folder = (await backed_up(Meanwhile(lab.bus, at=0), tmp_path)).folder
    async with other(lab.bus, redis) as copy:
        await restored(copy, folder)

        found = await contents(copy)
        assert done and len(await waits(copy, "support:7")) == 1
        assert not [
            name for name in found if ":out:" in name or ":sent:" in name or name.endswith(":seen:support:7:m1")
        ]
        assert [name for name in found if name.endswith(":seen:support:7:m0")]
        assert (await checked(copy)).flaws == ()


async def test_a_memory_that_has_taken_in_more_than_its_session_held_has_that_read_again(
    lab: Lab, redis: Redis, tmp_path: Path
) -> None:
    await lab.publish("m0")
    claim, scope = await lab.claim(), "pond:workspace"

    class Meanwhile(FailingBus):
        async def run(self, script: Any, named: Any, args: Any) -> Any:
            if script.name == "scope.lua" and not done:
                done.append(True)
                await lab.commit(claim, go_on=False)
                await lab.bus.call("HSET", lab.bus.keys.memory(scope), "upto:web:ann", 2)
            return await super().run(script, named, args)

    done: list[bool] = []
    await lab.bus.call("HSET", lab.bus.keys.memory(scope), "forgets", 0)
    made = await backed_up(Meanwhile(lab.bus, at=0), tmp_path)
    async with other(lab.bus, redis) as copy:
        await restored(copy, made.folder)

        assert made.manifest.retaken == {"web:ann": 1}
        assert await copy.call("HGET", copy.keys.session("web:ann"), "head") == b"2"
        assert await contents(copy) == await contents(lab.bus)


@pytest.mark.parametrize("trimmed", ["nothing", "before", "meanwhile"])
async def test_a_long_log_is_backed_up_restored_and_compared_in_pieces(
    lab: Lab, redis: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trimmed: str
) -> None:
    head, base, keys = 3 * LOG_PIECE + 7, LOG_PIECE + 3, lab.bus.keys
    await lab.bus.call("HSET", keys.session("web:ann"), "head", head, "cursor", base, "scope", "pond:workspace")
    for first in range(0, head, 1_000):
        raws = [msgspec.json.encode(an_entry(at)) for at in range(first, min(head, first + 1_000))]
        await lab.bus.call("RPUSH", keys.log("web:ann"), *raws)

    async def trim() -> None:
        await lab.bus.call("LTRIM", keys.log("web:ann"), base, -1)
        await lab.bus.call("HSET", keys.session("web:ann"), "base", base)

    class Meanwhile(FailingBus):
        async def run(self, script: Any, named: Any, args: Any) -> Any:
            if script.name == "session.lua" and args[1] == 2 * LOG_PIECE:
                await trim()
            return await super().run(script, named, args)

    if trimmed == "before":
        await trim()
    done = await backed_up(Meanwhile(lab.bus, at=0) if trimmed == "meanwhile" else lab.bus, tmp_path)

    assert done.manifest.messages == (head if trimmed == "nothing" else head - base)
    records = records_of(done.folder, done.manifest)
    counts = [len(record.log) for record in records if isinstance(record, SessionTaken | LogTaken)]
    assert max(counts) < 2 * LOG_PIECE, "no more is in memory at a time"
    async with other(lab.bus, redis, partitions=3) as copy:
        await restored(copy, done.folder, partitions=3)
        assert (await read_session(copy, "web:ann")).log == (await read_session(lab.bus, "web:ann")).log
    assert (await verify(done.folder)).records == done.manifest.records

    async def restored_otherwise(bus: Bus, *given: Any, **more: Any) -> None:
        await restore(bus, *given, **more)
        await bus.call("LSET", bus.keys.log("web:ann"), 1, "x")

    monkeypatch.setattr(backup_verification, "restore", restored_otherwise)
    told = pytest.RaisesExc(DataError, match="web:ann differs from the original")
    with pytest.RaisesGroup(told, flatten_subgroups=True):
        await verify(done.folder)
