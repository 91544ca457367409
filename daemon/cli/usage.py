"""``millpond usage``: the usage of bots and its cost."""

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

import click

from daemon.cli.connected import loaded, with_bus
from daemon.cli.table import print_json, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.clock import Clock
    from daemon.config import Config
    from daemon.usage import Amount, By

DAYS = 7
"""Days shown unless told otherwise."""

HEADS = ("messages", "calls", "estimated", "tokens in", "cached", "tokens out", "cost")


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
    """Show usage, and its cost by the prices in the configuration.

    Days are listed in order. All other rows start with the highest number of tokens. "estimated" counts the calls whose
    tokens Millpond counted itself, because the provider did not report them.
    """
    from daemon.clock import SystemClock
    from daemon.usage import UsageBook

    newest_first = last_days(loaded(ctx).config, days, SystemClock())
    found = with_bus(ctx, lambda bus: UsageBook(bus).read(newest_first[::-1], by=cast("By", by)))
    if as_json:
        print_json({"days": newest_first[::-1], "by": by, "usage": [_json(by, *row) for row in found.items()]})
        return
    table((by, *HEADS), [(name, *_cells(amount)) for name, amount in found.items()])


def last_days(config: "Config", count: int, clock: "Clock") -> "Sequence[str]":
    """The last ``count`` days, newest first, up to the latest current date of any bot's time zone."""
    import datetime as dt

    from daemon.usage import day_of

    today = max(day_of(clock.now(), bot.time_zone) for bot in config.bots.values())
    newest = dt.date.fromisoformat(today)
    return [(newest - dt.timedelta(days=back)).isoformat() for back in range(count)]


def _json(by: str, name: str, amount: "Amount") -> dict[str, object]:
    from daemon.usage import NANO

    fields = asdict(amount)
    costs = {currency: nano / NANO for currency, nano in fields.pop("costs_nano").items()}
    return {by: name, **fields, "costs": costs}


def _cells(amount: "Amount") -> tuple[object, ...]:
    counts = (amount.messages, amount.calls, amount.estimated, amount.tokens_in, amount.cached_in, amount.tokens_out)
    return (*(f"{count:,}" for count in counts), amount.costs())
