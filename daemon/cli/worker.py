"""``millpond worker``: which processes live, and what they hold."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from daemon.cli.connected import with_bus
from daemon.cli.table import print_json, table

if TYPE_CHECKING:
    from daemon.bus import Bus
    from daemon.clock import Clock


@dataclass(frozen=True, kw_only=True)
class Worker:
    """One role of a process, as it said with its last heartbeat."""

    worker: str
    role: str
    started: str
    """ISO 8601, UTC."""
    seen_s: float
    """Seconds since it said so, by this machine's clock."""
    holding: int
    """Sessions, or chats that something is sent to."""


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A session that a worker holds just now."""

    session: str
    worker: str
    fence: int
    left_s: float


@dataclass(frozen=True, kw_only=True)
class Workers:
    """All of them at one moment."""

    workers: list[Worker]
    leases: list[Lease]
    """At most ``--limit`` sessions are looked at."""


@click.group()
def worker() -> None:
    """Look at the processes that work."""


@worker.command("list")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=1_000, show_default=True, help="How many sessions are looked at."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def list_(ctx: click.Context, *, limit: int, as_json: bool) -> None:
    """List the processes that live, and the sessions that they hold."""
    found = with_bus(ctx, lambda bus: read_workers(bus, limit=limit))
    if as_json:
        print_json(asdict(found))
        return
    heads = ("worker", "role", "started", "seen", "holding")
    rows = [(one.worker, one.role, one.started, f"{one.seen_s:.1f} s ago", one.holding) for one in found.workers]
    table(heads, rows)
    click.echo()
    held = [(lease.session, lease.worker, lease.fence, f"{lease.left_s:.1f} s") for lease in found.leases]
    table(("session held", "by", "fence", "lease left"), held)


async def read_workers(bus: "Bus", *, limit: int, clock: "Clock | None" = None) -> Workers:
    """The workers and their leases as they are now.

    Raises:
        BusUnavailable: Redis is away.
    """
    from daemon.clock import SystemClock, age_s
    from daemon.heartbeat import workers
    from daemon.session import standings

    clock = clock or SystemClock()
    return Workers(
        workers=[
            Worker(
                worker=name.partition(" ")[0],
                role=beat.role,
                started=beat.started,
                seen_s=round(age_s(beat.seen, clock), 1),
                holding=beat.holding,
            )
            for name, beat in await workers(bus)
        ],
        leases=[
            Lease(session=one.session, worker=one.worker, fence=one.fence, left_s=round(one.lease_left_s, 1))
            for one in await standings(bus, limit=limit)
            if one.held
        ],
    )
