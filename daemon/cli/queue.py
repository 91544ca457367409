"""``millpond queue``: what waits where."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.connected import loaded, with_bus
from daemon.cli.table import print_json, table

if TYPE_CHECKING:
    from daemon.bus import Bus
    from daemon.config import Config

UNKNOWN_SHOWN = 100
"""Unknown outcomes that are listed unless told otherwise."""


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
    unsettled: int = 0
    """Sessions of which older messages should be consolidated."""
    dead: int = 0
    """Messages that could not be answered, and replies that could not be delivered."""
    unknown: int = 0
    """Parts of replies of which nobody knows whether they arrived."""
    out: dict[str, int] = field(default_factory=dict[str, int])
    """Replies not yet delivered, by push channel."""


@dataclass(frozen=True, kw_only=True)
class Queues:
    """All queues at one moment."""

    partitions: list[Lengths]
    total: Lengths
    in_flight: int
    """Sessions that workers hold, as they said with their last heartbeat."""
    workers: int
    parked: int
    """Sessions that rest after a failure, of the 1,000 that are looked at."""


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """A part that was cut while it was sent."""

    time: str
    """When somebody went on with it: ISO 8601, UTC."""
    session: str
    reply: str
    part: int
    """From 0."""
    attempt: int
    """The one that was cut."""
    action: str
    """``resent`` or ``given up``."""


@click.group("queue")
def queue() -> None:
    """Look at the queues."""


@queue.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def list_(ctx: click.Context, *, as_json: bool) -> None:
    """List what waits, in each partition and in all of them."""
    channels = push_channels(loaded(ctx).config)
    queues = with_bus(ctx, lambda bus: read_queues(bus, channels))
    if as_json:
        print_json(asdict(queues))
        return
    heads = ("partition", *(entry.name for entry in fields(Lengths)))
    rows = [(number, *_cells(lengths)) for number, lengths in enumerate(queues.partitions)]
    table(heads, [*rows, ("total", *_cells(queues.total))])
    for channel, count in queues.total.out.items():
        click.echo(f"not yet delivered to {channel}: {count}")
    click.echo(f"\nin flight: {queues.in_flight} sessions, held by {queues.workers} agent workers")
    click.echo(f"parked: {queues.parked} sessions, resting after a failure")


@queue.command("unknown")
@click.option("--limit", type=click.IntRange(1, 10_000), default=UNKNOWN_SHOWN, show_default=True, help="Newest shown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def unknown(ctx: click.Context, *, limit: int, as_json: bool) -> None:
    """List parts of replies of which nobody knows whether they arrived, the newest last.

    "resent": it was sent once more and may have arrived twice; where the platform can be asked, it was not there then.
    "given up": it was cut again and not sent any more.
    "preview": a text that was shown while it was written may still stand above its reply.
    """
    found = with_bus(ctx, lambda bus: read_unknown(bus, limit=limit))
    if as_json:
        print_json([asdict(outcome) for outcome in found])
        return
    heads = [entry.name for entry in fields(Unknown)]
    table(heads, [tuple(asdict(outcome).values()) for outcome in found])


def push_channels(config: "Config") -> list[str]:
    """The configured channels whose replies are sent by an outbox."""
    from daemon.config import PushConfig

    return [name for name, channel in config.channels.items() if isinstance(channel, PushConfig)]


async def read_unknown(bus: "Bus", *, limit: int) -> list[Unknown]:
    """The newest unknown outcomes of all partitions, oldest first.

    Raises:
        BusUnavailable: Redis is away.
    """
    found: list[Unknown] = []
    for partition in range(bus.keys.partitions):
        entries: Any = await bus.call("XREVRANGE", bus.keys.unknown(partition), "+", "-", "COUNT", limit)
        found += [_unknown(stream_id, values) for stream_id, values in entries]
    return sorted(found, key=lambda outcome: outcome.time)[-limit:]


async def read_queues(bus: "Bus", channels: Sequence[str] = ()) -> Queues:
    """The queues as they are now, with the replies for ``channels``.

    Raises:
        BusUnavailable: Redis is away.
    """
    import anyio

    from daemon.heartbeat import workers
    from daemon.session import standings

    found: dict[int, Lengths] = {}

    async def read(partition: int) -> None:
        found[partition] = await _lengths(bus, partition, channels)

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
        parked=sum(standing.parked for standing in await standings(bus)),
    )


async def _lengths(bus: "Bus", partition: int, channels: Sequence[str]) -> Lengths:
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
        unsettled=await bus.call("ZCARD", keys.unsettled(partition)),
        dead=await bus.call("XLEN", keys.dead(partition)),
        unknown=await bus.call("XLEN", keys.unknown(partition)),
        out={channel: await bus.call("XLEN", keys.out(partition, channel)) for channel in channels},
    )


def _together(partitions: list[Lengths]) -> Lengths:
    return Lengths(
        backlog=sum(each.backlog for each in partitions),
        oldest_s=max(each.oldest_s for each in partitions),
        ready=sum(each.ready for each in partitions),
        due=sum(each.due for each in partitions),
        grew=sum(each.grew for each in partitions),
        unsettled=sum(each.unsettled for each in partitions),
        dead=sum(each.dead for each in partitions),
        unknown=sum(each.unknown for each in partitions),
        out={channel: sum(each.out[channel] for each in partitions) for channel in partitions[0].out},
    )


def _cells(lengths: Lengths) -> tuple[object, ...]:
    return (*list(asdict(lengths).values())[:-1], sum(lengths.out.values()))


def _unknown(stream_id: bytes, values: dict[bytes, bytes]) -> Unknown:
    at = dt.datetime.fromtimestamp(int(stream_id.split(b"-")[0]) / 1000, dt.UTC)
    texts = {name.decode(): value.decode() for name, value in values.items()}
    return Unknown(
        time=at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        session=texts["session"],
        reply=texts["reply"],
        part=int(texts["part"]),
        attempt=int(texts["attempt"]),
        action=texts["action"],
    )
