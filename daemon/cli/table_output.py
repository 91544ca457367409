"""Output of commands: tables for people, columns for pipes, JSON for programs."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from daemon.printable import one_line, printable, printable_json


def say(text: str) -> None:
    """Print ``text``, which may contain text of people or models; control characters are escaped."""
    click.echo(printable(text))


def print_json(content: Any) -> None:
    """Print ``content`` as indented JSON."""
    import msgspec

    click.echo(printable_json(msgspec.json.format(msgspec.json.encode(content), indent=2).decode()))


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print ``rows`` under ``heads``: with lines and colours on a terminal, otherwise in plain columns."""
    cells = [[one_line(str(value)) for value in row] for row in rows]
    if sys.stdout.isatty():
        _drawn(heads, cells)
    else:
        _plain([list(heads), *cells])


def _drawn(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(*heads, box=box.SIMPLE_HEAD)
    for row in rows:
        # As text, never as markup: a session may be called [red].
        drawn.add_row(*(Text(cell) for cell in row))
    Console().print(drawn)


def _plain(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
