"""Output of commands: tables for people, columns for pipes, JSON for programs."""

import sys
from collections.abc import Sequence
from typing import Any
from unicodedata import east_asian_width

import click

from daemon.cli.language import translated
from daemon.printable import one_line, printable, printable_json


def say(text: str) -> None:
    """Print ``text``, which may contain text of people or models; control characters are escaped."""
    click.echo(printable(text))


def tell(text: str, *, err: bool = False) -> None:
    """Print ``text``, an answer of the command in English, in the language of the command line."""
    click.echo(printable(translated(text)), err=err)


def print_json(content: Any) -> None:
    """Print ``content`` as indented JSON."""
    import msgspec

    click.echo(printable_json(msgspec.json.format(msgspec.json.encode(content), indent=2).decode()))


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print ``rows`` under ``heads``: with lines and colours on a terminal, otherwise in plain columns."""
    heads = [translated(head) for head in heads]
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
    widths = [max(_width(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        padded = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)]
        click.echo("  ".join(padded).rstrip())


def _width(text: str) -> int:
    """Columns of a terminal: a Chinese character takes two."""
    return len(text) if text.isascii() else sum(2 if east_asian_width(each) in "WF" else 1 for each in text)
