"""``millpond usage``, ``millpond worker`` and ``millpond version``."""

import platform
from typing import TYPE_CHECKING, cast

import click

from daemon.cli.command_setup import loaded, with_bus
from daemon.cli.output.table_output import print_json, table
from daemon.version import __version__

if TYPE_CHECKING:
    from daemon.usage import Amount, By


# ``millpond usage``: the usage of bots and its cost.

DAYS = 7
"""Days shown unless told otherwise."""

HEADS = ("messages", "calls", "estimated", "tokens in", "cached", "share", "tokens out", "cached cost", "cost")


@click.command()
@click.option(
    "--by",
    type=click.Choice(["day", "session", "person", "model", "bot"]),
    default="day",
    show_default=True,
    help="Group by day, session, person, model or bot.",
)
@click.option(
    "--days", type=click.IntRange(1, 400), default=DAYS, show_default=True, help="Number of days, including today."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def usage(ctx: click.Context, *, by: str, days: int, as_json: bool) -> None:
    """Show token usage, and its cost at the prices in the configuration.

    Days are listed in chronological order. Other rows are sorted by the number of tokens, highest first.
    "estimated" is the number of calls whose tokens Millpond counted because the provider did not report them.
    "share" is the percentage of input tokens that were cached, for calls whose provider reports cached tokens.
    """
    from daemon.clock import SystemClock
    from daemon.usage import UsageBook, last_days

    newest_first = last_days(loaded(ctx).config, days, SystemClock())
    found = with_bus(ctx, lambda bus: UsageBook(bus).read(newest_first[::-1], by=cast("By", by)))
    if as_json:
        print_json({"days": newest_first[::-1], "by": by, "usage": [_json(by, *row) for row in found.items()]})
        return
    table((by, *HEADS), [(name, *_cells(amount)) for name, amount in found.items()])


def share(amount: "Amount") -> str:
    """The cached share of the input in percent; empty if no provider reports cached tokens."""
    return "" if amount.cached_share is None else f"{amount.cached_share:.0%}"


def _json(by: str, name: str, amount: "Amount") -> dict[str, object]:
    from msgspec import to_builtins

    from daemon.usage import NANO

    fields = to_builtins(amount)
    del fields["token_seconds"]
    costs, cached = (
        {currency: nano / NANO for currency, nano in fields.pop(name).items()} for name in ("costs_nano", "cached_nano")
    )
    return {by: name, **fields, "cached_share": amount.cached_share, "costs": costs, "cached_costs": cached}


def _cells(amount: "Amount") -> tuple[object, ...]:
    counts = (amount.messages, amount.calls, amount.estimated, amount.tokens_in, amount.cached_in)
    costs = (amount.cached_costs(), amount.costs())
    return (*(f"{count:,}" for count in counts), share(amount), f"{amount.tokens_out:,}", *costs)


# ``millpond worker``: the running processes, and the sessions that they hold.


@click.group()
def worker() -> None:
    """Show the running processes."""


@worker.command("list")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=1_000,
    show_default=True,
    help="Maximum number of sessions to examine.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def list_(ctx: click.Context, *, limit: int, as_json: bool) -> None:
    """List the running Millpond processes and the sessions that each process is working on."""
    from daemon.overview import read_workers

    found = with_bus(ctx, lambda bus: read_workers(bus, limit=limit))
    if as_json:
        print_json(found)
        return
    heads = ("worker", "role", "started", "seen", "holding")
    rows = [(one.worker, one.role, one.started, f"{one.seen_s:.1f} s ago", one.holding) for one in found.workers]
    table(heads, rows)
    click.echo()
    held = [(lease.session, lease.worker, lease.fence, f"{lease.left_s:.1f} s") for lease in found.leases]
    table(("session held", "by", "fence", "lease left"), held)


# ``millpond version``.


@click.command()
def version() -> None:
    """Print the versions of Millpond and of Python."""
    click.echo(f"millpond {__version__} (Python {platform.python_version()})")
