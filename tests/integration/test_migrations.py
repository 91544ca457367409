"""Schemas: an older database is brought to the newest one once, by one process; a newer one is refused."""

from pathlib import Path

import anyio
import msgspec
import pytest

from daemon.bus import Bus, open_bus
from daemon.bus.migrations import MIGRATIONS, SCHEMA, Migration, migrate
from daemon.config import RedisConfig
from daemon.errors import BusUnavailable, ConfigError
from tests.conftest import Lab


def steps(lab: Lab, *, fails_at: int = 0) -> list[Migration]:
    def step(schema: int) -> Migration:
        async def run(bus: Bus) -> None:
            await bus.call("HINCRBY", bus.keys.people, f"ran-{schema}", 1)
            await anyio.sleep(0.05)
            if schema == fails_at:
                raise BusUnavailable("gone")

        return Migration(schema=schema, what=f"step {schema}", run=run)

    return [step(2), step(3)]


async def ran(lab: Lab) -> list[int]:
    found = await lab.bus.call("HMGET", lab.bus.keys.people, "ran-2", "ran-3")
    return [int(each or 0) for each in found]


async def schema_of(lab: Lab) -> int:
    return int(await lab.bus.call("HGET", lab.bus.keys.meta, "schema"))


async def test_each_migration_runs_once_however_many_processes_connect(lab: Lab) -> None:
    async with anyio.create_task_group() as tg:
        for _ in range(5):
            tg.start_soon(lambda: migrate(lab.bus, migrations=steps(lab), schema=3))
    await migrate(lab.bus, migrations=steps(lab), schema=3)

    assert await ran(lab) == [1, 1]
    assert await schema_of(lab) == 3
    assert await lab.bus.call("HEXISTS", lab.bus.keys.meta, "migrating") == 0


async def test_a_migration_that_was_cut_short_is_run_again_by_the_next_and_those_before_it_are_not(lab: Lab) -> None:
    with pytest.raises(ExceptionGroup):
        await migrate(lab.bus, migrations=steps(lab, fails_at=3), schema=3, lease_s=0.3)
    reached = await schema_of(lab)

    await migrate(lab.bus, migrations=steps(lab), schema=3, lease_s=0.3)

    assert reached == 2
    assert await ran(lab) == [1, 2]
    assert await schema_of(lab) == 3


async def test_a_newer_database_is_refused_with_what_to_do(lab: Lab, redis: tuple[RedisConfig, Path]) -> None:
    await lab.bus.call("HSET", lab.bus.keys.meta, "schema", SCHEMA + 1)

    with pytest.raises(ConfigError, match=r"newer version of Millpond \(schema 2; this version supports schema 1\)"):
        async with open_bus(msgspec.structs.replace(redis[0], prefix=lab.bus.keys.prefix), redis[1]):
            pass


async def test_an_older_database_that_no_way_leads_from_is_refused(lab: Lab) -> None:
    with pytest.raises(ConfigError, match="cannot upgrade"):
        await migrate(lab.bus, migrations=[], schema=2)


def test_migrations_follow_each_other() -> None:
    assert [each.schema for each in MIGRATIONS] == list(range(2, SCHEMA + 1))
