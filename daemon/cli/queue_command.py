"""``millpond queue``: pending messages by queue."""

from dataclasses import asdict, fields
from typing import TYPE_CHECKING

import click

from daemon.cli.command_setup import loaded, with_bus
from daemon.cli.table_output import print_json, say, table, tell

if TYPE_CHECKING:
    from daemon.overview import Lengths

UNKNOWN_SHOWN = 100
"""Unknown outcomes that are listed unless told otherwise."""


@click.group("queue")
def queue() -> None:
    """Show the queues."""


@queue.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def list_(ctx: click.Context, *, as_json: bool) -> None:
    """List the pending messages by partition and in total, and the reasons why sessions are parked."""
    from daemon.overview import BACKING_OFF, Lengths, push_channels, read_queues

    channels = push_channels(loaded(ctx).config)
    queues = with_bus(ctx, lambda bus: read_queues(bus, channels))
    if as_json:
        print_json(asdict(queues))
        return
    heads = ("partition", *(entry.name for entry in fields(Lengths)))
    rows = [(number, *_cells(lengths)) for number, lengths in enumerate(queues.partitions)]
    table(heads, [*rows, ("total", *_cells(queues.total))])
    for channel, count in queues.total.out.items():
        tell(f"not yet delivered to {channel}: {count}")
    tell(f"\nin flight: {queues.in_flight} sessions, held by {queues.workers} agent workers")
    tell(f"parked: {queues.parked} sessions")
    for reason, count in queues.reasons.items():
        say(f"  {count}: {reason or BACKING_OFF}")


@queue.command("unknown")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=UNKNOWN_SHOWN,
    show_default=True,
    help="Show at most this many of the newest reply parts.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def unknown(ctx: click.Context, *, limit: int, as_json: bool) -> None:
    """List parts of replies with unknown delivery status, newest last.

    "resent": the part was sent again and may have arrived twice. If Millpond can search the platform, it sends a "
    "part again only if the search did not find the part.
    "given up": sending was interrupted again, and the part was not sent again.
    "preview": the chat may still show an unfinished version above the final reply.
    """
    from daemon.overview import Unknown, read_unknown

    found = with_bus(ctx, lambda bus: read_unknown(bus, limit=limit))
    if as_json:
        print_json([asdict(outcome) for outcome in found])
        return
    heads = [entry.name for entry in fields(Unknown)]
    table(heads, [tuple(asdict(outcome).values()) for outcome in found])


def _cells(lengths: "Lengths") -> tuple[object, ...]:
    return (*list(asdict(lengths).values())[:-1], sum(lengths.out.values()))
