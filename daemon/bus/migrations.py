"""The schema of a database, and the migrations of older schemas.

What is registered here runs once for each database, in order, by the first process of a newer Millpond that connects;
the others wait. A migration may be cut short at any point, so it is written to be run again from its beginning: it
looks at each key and changes what is still old.
"""

import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

import anyio
import msgspec
import structlog

from daemon.bus.keys import Keys
from daemon.bus.pipeline_connection import Part
from daemon.bus.script_batch import Script, load_script
from daemon.errors import ConfigError

MIGRATE = load_script(__file__, "migrate.lua")

LEASE_S = 30.0
"""How long a process that brings a database to a newer schema may be silent before another goes on."""

LOOK_S = 0.2
"""How often those that wait look whether it is done."""

WAIT_MAX_S = 3_600.0

_log = structlog.get_logger()


class Database(Protocol):
    """The methods of ``Bus`` that a migration can use."""

    keys: Keys

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[Part]) -> Any:
        """The result of ``script``."""
        ...


class Migration(msgspec.Struct, frozen=True, kw_only=True):
    """One step from a schema to the next."""

    schema: int
    """The one that it makes, of the one before."""
    what: str
    """For people: what is changed."""
    run: Callable[[Database], Awaitable[None]]
    """Changes it; run again, also over what it has changed already, when it was cut short."""
    only_adds: bool = False
    """Whether there are new kinds of keys and nothing else, so that a version of an older schema can ignore them."""


async def _nothing(_bus: Database) -> None:
    """What is to be done where only kinds of keys are new."""


MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        schema=2,
        what="new Redis keys for traces, logins, the audit log and model states",
        run=_nothing,
        only_adds=True,
    ),
    Migration(
        schema=3,
        what="new Redis keys for reminders, session titles, rates and web tool results",
        run=_nothing,
        only_adds=True,
    ),
    Migration(schema=4, what="a new Redis key for command approvals", run=_nothing, only_adds=True),
)
"""All there are, oldest first; a new kind of key needs one, too (tests/unit/test_schema.py)."""

SCHEMA = MIGRATIONS[-1].schema
"""Version of the contract in Redis."""


def needs_of(migrations: Sequence[Migration], schema: int) -> int:
    """The oldest schema whose versions can use a database of ``schema``."""
    return max((each.schema for each in migrations if each.schema <= schema and not each.only_adds), default=1)


NEEDS = needs_of(MIGRATIONS, SCHEMA)


def refuse_newer(found: int, needs: int, schema: int = SCHEMA) -> None:
    """Raise ConfigError for a database of a higher schema, unless it only has more kinds of keys.

    Args:
        found: its schema.
        needs: the oldest schema whose versions can use it; 0: it does not say.
        schema: ours.
    """
    if (needs or found) > schema:
        raise ConfigError(
            f"this database was written by a newer version of Millpond (schema {found}; this version supports schema "
            f"{schema}). Start the newer version, or restore a backup made by this version into an "
            "empty database."
        )


async def migrate(
    bus: Database, *, migrations: Sequence[Migration] = MIGRATIONS, schema: int = SCHEMA, lease_s: float = LEASE_S
) -> None:
    """Upgrade the database to ``schema``, or wait until another process has done so.

    Raises:
        ConfigError: no way leads from the one that it has.
        BusUnavailable: Redis is away; what was reached stands.
    """
    nonce = secrets.token_hex(8)
    with anyio.fail_after(WAIT_MAX_S):
        while True:
            status, found = await _ask(bus, nonce, lease_s, schema)
            if status == b"done":
                return
            if status == b"mine":
                step = _next(migrations, found)
                await _step(bus, nonce, step, (schema, lease_s, needs_of(migrations, step.schema)))
            else:
                await anyio.sleep(LOOK_S)


async def _step(bus: Database, nonce: str, step: Migration, goal: tuple[int, float, int]) -> None:
    schema, lease_s, needs = goal

    async def hold() -> None:
        while True:
            await anyio.sleep(lease_s / 3)
            await _ask(bus, nonce, lease_s, schema)

    _log.info("database.migrating", reason=f"schema {step.schema - 1} to {step.schema}: {step.what}")
    async with anyio.create_task_group() as tg:
        tg.start_soon(hold)
        await step.run(bus)
        tg.cancel_scope.cancel()
    await _ask(bus, nonce, lease_s, schema, reached=(step.schema, needs))


async def _ask(
    bus: Database, nonce: str, lease_s: float, schema: int, *, reached: tuple[int | str, int] = ("", 0)
) -> tuple[bytes, int]:
    status, found = await bus.run(MIGRATE, [bus.keys.meta], [nonce, round(lease_s * 1000), schema, *reached])
    return status, int(found)


def _next(migrations: Sequence[Migration], found: int) -> Migration:
    for migration in migrations:
        if migration.schema == found + 1:
            return migration
    raise ConfigError(
        f"this database has schema {found}, which this version of Millpond cannot upgrade. "
        "Upgrade the database with an older version of Millpond first."
    )
