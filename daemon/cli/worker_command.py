"""``millpond worker``: the running processes, and the sessions that they hold."""

from dataclasses import asdict

import click

from daemon.cli.command_setup import with_bus
from daemon.cli.table_output import print_json, table


@click.group()
def worker() -> None:
    """Show the running processes."""


@worker.command("list")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=1_000,
    show_default=True,
    help="Examine at most this many sessions.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def list_(ctx: click.Context, *, limit: int, as_json: bool) -> None:
    """List the running Millpond processes and the sessions that each process is working on."""
    from daemon.overview import read_workers

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
