"""``millpond queue jobs``: background jobs, which continue in another process if theirs dies."""

from typing import TYPE_CHECKING

import click

from daemon.cli.command_setup import with_process
from daemon.cli.table_output import print_json, table

if TYPE_CHECKING:
    from daemon.jobs import JobRecord
    from daemon.process import Process

LIMIT = 100


@click.command("jobs")
@click.option(
    "--limit",
    type=click.IntRange(1, 1_000),
    default=LIMIT,
    show_default=True,
    help="Show at most this many of the newest finished jobs.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the result of each job.")
@click.pass_context
def jobs(ctx: click.Context, *, limit: int, as_json: bool) -> None:
    """List jobs (linking, forgetting): unfinished jobs first, then the jobs of the last 30 days."""

    async def read(process: "Process") -> "list[JobRecord]":
        from daemon.jobs import Jobs

        lease_s = process.config.queue.lease_s
        return await Jobs(process.bus, lease_s=lease_s, worker=process.name, clock=process.clock).all(limit=limit)

    found = with_process(ctx, read)
    if as_json:
        print_json({"jobs": found})
        return
    heads = ("job", "kind", "status", "created", "ended", "attempts", "reason for the delay or the failure")
    table(heads, [(*_row(record), record.reason or record.report.get("error", "")) for record in found])


def _row(record: "JobRecord") -> tuple[object, ...]:
    return record.id, record.kind, record.shown_status, record.created, record.ended, record.attempts
