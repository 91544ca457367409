"""The schema of a database, and the migrations of older schemas.

What is registered here runs once for each database, in order, by the first process of a newer Millpond that connects;
the others wait. A migration may be cut short at any point, so it is written to be run again from its beginning: it
looks at each key and changes what is still old.
"""

import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
import structlog

from daemon.bus.script import load_script
from daemon.errors import ConfigError

if TYPE_CHECKING:
    from daemon.bus.connection import Bus

MIGRATE = load_script(__file__, "migrate.lua")

LEASE_S = 30.0
"""How long a process that brings a database to a newer schema may be silent before another goes on."""

LOOK_S = 0.2
"""How often those that wait look whether it is done."""

WAIT_MAX_S = 3_600.0

_log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True)
class Migration:
    """One step from a schema to the next."""

    schema: int
    """The one that it makes, of the one before."""
    what: str
    """For people: what is changed."""
    run: Callable[["Bus"], Awaitable[None]]
    """Changes it; run again, also over what it has changed already, when it was cut short."""


MIGRATIONS: tuple[Migration, ...] = ()
"""All there are, oldest first. Schema 1 is the first one, so there is none yet."""

SCHEMA = MIGRATIONS[-1].schema if MIGRATIONS else 1
"""Version of the contract in Redis; a database with a higher one is refused."""


def refuse_newer(found: int, schema: int = SCHEMA) -> None:
    """Raise ConfigError for a database that has a higher schema than ours."""
    if found > schema:
        raise ConfigError(
            f"this database was written by a newer version of Millpond (schema {found}; this version supports schema "
            f"{schema}). Start the newer version, or restore a backup made by this version into an "
            "empty database."
        )


async def migrate(
    bus: "Bus", *, migrations: Sequence[Migration] = MIGRATIONS, schema: int = SCHEMA, lease_s: float = LEASE_S
) -> None:
    """Upgrade the database to ``schema``, or wait until another process has done so.

    Raises:
        ConfigError: it has a higher one, or no way leads from the one that it has.
        BusUnavailable: Redis is away; what was reached stands.
    """
    nonce = secrets.token_hex(8)
    with anyio.fail_after(WAIT_MAX_S):
        while True:
            status, found = await _ask(bus, nonce, lease_s, schema)
            refuse_newer(found, schema)
            if status == b"done":
                return
            if status == b"mine":
                await _step(bus, nonce, found, _next(migrations, found), (schema, lease_s))
            else:
                await anyio.sleep(LOOK_S)


async def _step(bus: "Bus", nonce: str, found: int, step: Migration, goal: tuple[int, float]) -> None:
    schema, lease_s = goal

    async def hold() -> None:
        while True:
            await anyio.sleep(lease_s / 3)
            await _ask(bus, nonce, lease_s, schema)

    _log.info("database.migrating", reason=f"schema {found} to {step.schema}: {step.what}")
    async with anyio.create_task_group() as tg:
        tg.start_soon(hold)
        await step.run(bus)
        tg.cancel_scope.cancel()
    await _ask(bus, nonce, lease_s, schema, reached=step.schema)


async def _ask(bus: "Bus", nonce: str, lease_s: float, schema: int, *, reached: int | None = None) -> tuple[bytes, int]:
    status, found = await bus.run(
        MIGRATE, [bus.keys.meta], [nonce, round(lease_s * 1000), schema, "" if reached is None else reached]
    )
    return status, int(found)


def _next(migrations: Sequence[Migration], found: int) -> Migration:
    for migration in migrations:
        if migration.schema == found + 1:
            return migration
    raise ConfigError(
        f"this database has schema {found}, which this version of Millpond cannot upgrade. "
        "Upgrade the database with an older version of Millpond first."
    )
