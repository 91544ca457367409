"""``millpond queue``: what waits where."""

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.connected import with_bus
from daemon.cli.table import print_json, table

if TYPE_CHECKING:
    from daemon.bus import Bus


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """One partition's queues, or all of them together."""

    backlog: int = 0
    """Messages accepted and not yet answered."""
    oldest_s: float = 0.0
    """How long the oldest of them waits."""
    ready: int = 0
    """Sessions that a worker may take."""
    due: int = 0
    """Sessions with something waiting."""
    grew: int = 0
    """Hints for consolidation."""
    dead: int = 0
    """Messages that could not be answered."""


@dataclass(frozen=True, kw_only=True)
class Queues:
    """All queues at one moment."""

    partitions: list[Lengths]
    total: Lengths
    in_flight: int
    """Sessions that workers hold, as they said with their last heartbeat."""
    workers: int


@click.group("queue")
def queue() -> None:
    """Look at the queues."""


@queue.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def list_(ctx: click.Context, *, as_json: bool) -> None:
    """List what waits, in each partition and in all of them."""
    queues = with_bus(ctx, read_queues)
    if as_json:
        print_json(asdict(queues))
        return
    heads = ("partition", *(entry.name for entry in fields(Lengths)))
    rows = [(number, *asdict(lengths).values()) for number, lengths in enumerate(queues.partitions)]
    table(heads, [*rows, ("total", *asdict(queues.total).values())])
    click.echo(f"\nin flight: {queues.in_flight} sessions, held by {queues.workers} agent workers")


async def read_queues(bus: "Bus") -> Queues:
    """The queues as they are now.

    Raises:
        BusUnavailable: Redis is away.
    """
    import anyio  # noqa: PLC0415 - the help of every command would wait for it

    from daemon.heartbeat import workers  # noqa: PLC0415 - as above

    found: dict[int, Lengths] = {}

    async def read(partition: int) -> None:
        found[partition] = await _lengths(bus, partition)

    async with anyio.create_task_group() as tg:
        for partition in range(bus.keys.partitions):
            tg.start_soon(read, partition)
    partitions = [found[partition] for partition in sorted(found)]
    agents = [beat for _, beat in await workers(bus) if beat.role == "agent"]
    return Queues(
        partitions=partitions,
        total=_together(partitions),
        in_flight=sum(beat.holding for beat in agents),
        workers=len(agents),
    )


async def _lengths(bus: "Bus", partition: int) -> Lengths:
    keys = bus.keys
    oldest: Any = await bus.call("XRANGE", keys.inbox(partition), "-", "+", "COUNT", 1)
    seconds, micros = await bus.call("TIME")
    age_s = int(seconds) + int(micros) / 1e6 - int(oldest[0][0].split(b"-")[0]) / 1000 if oldest else 0.0
    return Lengths(
        backlog=await bus.call("XLEN", keys.inbox(partition)),
        oldest_s=round(max(age_s, 0.0), 1),
        ready=await bus.call("ZCARD", keys.ready(partition)),
        due=await bus.call("ZCARD", keys.due(partition)),
        grew=await bus.call("XLEN", keys.grew(partition)),
        dead=await bus.call("XLEN", keys.dead(partition)),
    )


def _together(partitions: list[Lengths]) -> Lengths:
    return Lengths(
        backlog=sum(each.backlog for each in partitions),
        oldest_s=max(each.oldest_s for each in partitions),
        ready=sum(each.ready for each in partitions),
        due=sum(each.due for each in partitions),
        grew=sum(each.grew for each in partitions),
        dead=sum(each.dead for each in partitions),
    )
