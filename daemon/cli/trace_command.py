"""``millpond trace``: shows the steps of one turn as a timeline."""

from typing import TYPE_CHECKING

import click

from daemon.cli.command_setup import with_bus
from daemon.cli.output.table_output import print_json, say, table, tell
from daemon.errors import InboundError

if TYPE_CHECKING:
    from daemon.traces import FoundTrace, Row

WIDTH = 32
"""Columns in which the turn is drawn."""


@click.command()
@click.argument("name", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def trace(ctx: click.Context, *, name: str, as_json: bool) -> None:
    """Show the trace of a turn, with the durations of waiting, model calls, tool calls, commit and delivery.

    ID is a message ID, a correlation ID from the log, or SESSION#TURN, where TURN is the index of the turn's
    first message. For each session, the traces of the last 100 turns are kept for one week.
    """
    from daemon.traces import Traces, told

    found = with_bus(ctx, lambda bus: Traces(bus).find(name))
    if found is None:
        raise InboundError(
            f"{name}: no trace was found. For each session, the traces of the last 100 turns are kept for one week. "
            "If the session has been inactive for a long time, specify the turn as SESSION#TURN."
        )
    if as_json:
        print_json(told(found))
    else:
        print_trace(found)


def print_trace(found: "FoundTrace") -> None:
    """Print a turn: its summary, and its steps as a waterfall."""
    from daemon.cli.usage_command import share
    from daemon.traces import rows, used_by, why_missing

    trace, shown = found.trace, rows(found)
    begin = min(row.began_ms for row in shown)
    whole_ms = max(1.0, max(row.began_ms + row.took_ms for row in shown) - begin)
    by = f"processed by worker {trace.worker} (lease number {trace.fence})"
    say(f"{found.session}#{trace.turn}: {trace.outcome}, {_took(whole_ms)}, {by}")
    tell(f"answers {', '.join(trace.answers) or 'no message'}; correlation {', '.join(trace.correlation) or 'none'}")
    if (used := used_by(trace)).calls:
        cached = f" ({share(used)} cached)" if share(used) else ""
        cost = f", {used.costs(digits=6)}" if used.costs() else ""
        tell(f"{used.tokens_in:,} tokens in{cached}, {used.tokens_out:,} tokens out{cost}")
    click.echo()
    table(
        ("step", "", "took", "more"),
        [(_name(row), lane(row, begin, whole_ms), _took(row.took_ms), row.more) for row in shown],
    )
    if trace.left_out:
        tell(f"steps of this turn that were not recorded: {trace.left_out:,}")
    for each in trace.missing:
        tell(f"the tools from tool server {each.server} are missing: {why_missing(each)}")


def _name(row: "Row") -> str:
    return f"{row.kind} {row.name}".rstrip()


def lane(row: "Row", begin: int, whole_ms: float) -> str:
    """The step's place in the turn, drawn with at least one column."""
    first = min(WIDTH - 1, max(0, int(WIDTH * (row.began_ms - begin) / whole_ms)))
    length = max(1, min(WIDTH - first, round(WIDTH * row.took_ms / whole_ms)))
    return "·" * first + "█" * length + "·" * (WIDTH - first - length)


def _took(ms: float) -> str:
    return f"{ms:,.0f} ms" if ms < 10_000 else f"{ms / 1000:,.1f} s"
