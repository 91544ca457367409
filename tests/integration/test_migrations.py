"""Schemas: an older database is brought to the newest one once, by one process; a newer one is refused."""

from pathlib import Path

import anyio
import anyio.lowlevel
import msgspec
import pytest

from daemon.bus import Bus, open_bus
from daemon.bus.migrations import MIGRATIONS, NEEDS, SCHEMA, Migration, migrate
from daemon.config import RedisConfig
from daemon.data.data_check import flaws_of_key
from daemon.data.key_names import KeyName
from daemon.errors import BusUnavailable, ConfigError
from tests.conftest import Lab

NEXT = SCHEMA + 1


def steps(lab: Lab, *, fails_at: int = 0) -> list[Migration]:
    def step(schema: int) -> Migration:
        async def run(bus: Bus) -> None:
            await bus.call("HINCRBY", bus.keys.people, f"ran-{schema}", 1)
            await anyio.sleep(0.05)
            if schema == fails_at:
                raise BusUnavailable("gone")

        return Migration(schema=schema, what=f"step {schema}", run=run)

    return [step(NEXT), step(NEXT + 1)]


async def ran(lab: Lab) -> list[int]:
    found = await lab.bus.call("HMGET", lab.bus.keys.people, f"ran-{NEXT}", f"ran-{NEXT + 1}")
    return [int(each or 0) for each in found]


async def schema_of(lab: Lab, field: str = "schema") -> int:
    return int(await lab.bus.call("HGET", lab.bus.keys.meta, field))


async def test_each_migration_runs_once_however_many_processes_connect(lab: Lab) -> None:
    async with anyio.create_task_group() as tg:
        for _ in range(5):
            tg.start_soon(lambda: migrate(lab.bus, migrations=steps(lab), schema=NEXT + 1))
    await migrate(lab.bus, migrations=steps(lab), schema=NEXT + 1)

    assert await ran(lab) == [1, 1]
    assert await schema_of(lab, "needs") == NEXT + 1
    assert await schema_of(lab) == NEXT + 1
    assert await lab.bus.call("HEXISTS", lab.bus.keys.meta, "migrating") == 0


async def test_a_migration_that_was_cut_short_is_run_again_by_the_next_and_those_before_it_are_not(lab: Lab) -> None:
    with pytest.raises(ExceptionGroup):
        await migrate(lab.bus, migrations=steps(lab, fails_at=NEXT + 1), schema=NEXT + 1, lease_s=0.3)
    reached = await schema_of(lab)

    await migrate(lab.bus, migrations=steps(lab), schema=NEXT + 1, lease_s=0.3)

    assert reached == NEXT
    assert await ran(lab) == [1, 2]
    assert await schema_of(lab) == NEXT + 1


async def test_a_newer_database_is_refused_with_what_to_do(lab: Lab, redis: tuple[RedisConfig, Path]) -> None:
    await lab.bus.call("HSET", lab.bus.keys.meta, "schema", SCHEMA + 1, "needs", SCHEMA + 1)

    text = rf"newer version of Millpond \(schema {SCHEMA + 1}; this version supports schema {SCHEMA}\)"
    with pytest.raises(ConfigError, match=text):
        async with open_bus(msgspec.structs.replace(redis[0], prefix=lab.bus.keys.prefix), redis[1]):
            pass


async def test_kinds_of_keys_of_a_newer_version_are_ignored(lab: Lab, redis: tuple[RedisConfig, Path]) -> None:
    added = Migration(
        schema=SCHEMA + 1, what="a new kind", run=lambda _bus: anyio.lowlevel.checkpoint(), only_adds=True
    )
    await migrate(lab.bus, migrations=[*MIGRATIONS, added], schema=SCHEMA + 1)
    await lab.bus.call("SET", f"{lab.bus.keys.prefix}:novelty", "1")

    async with open_bus(msgspec.structs.replace(redis[0], prefix=lab.bus.keys.prefix), redis[1]) as bus:
        found = await flaws_of_key(bus, KeyName(kind="novelty", partition=None, rest=""))

    assert found == []
    assert await schema_of(lab) == SCHEMA + 1
    assert [flaw.rule for flaw in await flaws_of_key(lab.bus, KeyName(kind="novelty", partition=None, rest=""))] == [
        "key.known"
    ]
    await lab.bus.call("DEL", f"{lab.bus.keys.prefix}:novelty")


async def test_a_database_of_schema_1_is_brought_to_the_newest(lab: Lab, redis: tuple[RedisConfig, Path]) -> None:
    await lab.bus.call("HSET", lab.bus.keys.meta, "schema", 1)
    await lab.bus.call("HDEL", lab.bus.keys.meta, "needs")

    async with open_bus(msgspec.structs.replace(redis[0], prefix=lab.bus.keys.prefix), redis[1]):
        pass

    assert await schema_of(lab) == SCHEMA
    assert await schema_of(lab, "needs") == NEEDS


async def test_an_older_database_that_no_way_leads_from_is_refused(lab: Lab) -> None:
    with pytest.raises(ConfigError, match="cannot upgrade"):
        await migrate(lab.bus, migrations=[], schema=NEXT)


def test_migrations_follow_each_other() -> None:
    assert [each.schema for each in MIGRATIONS] == list(range(2, SCHEMA + 1))
