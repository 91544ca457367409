"""Output of commands: tables for people, columns for pipes, JSON for programs."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import east_asian_width

import click

from daemon.cli.command_setup import translated
from daemon.printable import one_line, printable, printable_json

# Drawings made of characters: a bar, and the names of points on it. Pure; at most ``WIDTH`` columns.

WIDTH = 78
"""A terminal has 80 columns, some of which show one less."""
WIDEST = 64
"""Longest bar; the name of its last point fits beside it."""
LEAST = 6
"""Shortest length of a part."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a bar."""

    first: int
    upto: int
    """One past its last."""
    look: str
    """Its characters, at least one; stretched or shrunk to the drawn length."""


def bar(parts: Sequence[Part], points: Sequence[tuple[str, int]]) -> list[str]:
    """A bar of the consecutive ``parts``, and below it the names of the ``points`` on it.

    Longer parts are drawn longer, though not in proportion: the smallest can be seen.
    """
    names = _names(points)
    shown = [part for part in parts if part.upto > part.first]
    if not shown:
        return []
    length = min(WIDEST, WIDTH - max(len(name) for name in names.values()))
    cells = _lengths([part.upto - part.first for part in shown], length)
    places = {at: _place(at, shown, cells) for at in names}
    drawn = "".join(_stretched(part.look, count) for part, count in zip(shown, cells, strict=True))
    return [drawn, *_flags([(places[at], name) for at, name in names.items()])]


def _names(points: Sequence[tuple[str, int]]) -> dict[int, str]:
    """The names at each value; several names may share one value."""
    found: dict[int, list[str]] = {}
    for name, at in sorted(points, key=lambda point: point[1]):
        found.setdefault(at, []).append(name)
    return {at: f"└ {' = '.join(names)} {at:,}" for at, names in found.items()}


def _lengths(amounts: Sequence[int], length: int) -> list[int]:
    """How long each part is drawn: ``LEAST``, and of the rest its share."""
    least = min(LEAST, length // len(amounts))
    rest, whole = length - least * len(amounts), sum(amounts)
    ends = [rest * sum(amounts[: at + 1]) // whole for at in range(len(amounts))]
    return [least + end - before for end, before in zip(ends, [0, *ends], strict=False)]


def _place(at: int, parts: Sequence[Part], cells: Sequence[int]) -> int:
    """The cell of a value."""
    before = 0
    for part, count in zip(parts, cells, strict=True):
        if at < part.upto:
            return before + max(0, at - part.first) * count // (part.upto - part.first)
        before += count
    return before


def _stretched(look: str, count: int) -> str:
    return "".join(look[at * len(look) // count] for at in range(count))


def _flags(flags: Sequence[tuple[int, str]]) -> list[str]:
    """The names below their places, the rightmost in the first line; names without room are one line lower."""
    lines: list[str] = []
    left = [*flags]
    while left:
        line, end = "", len(left)
        while end and (not line or left[end - 1][0] + len(left[end - 1][1]) < len(line) - len(line.lstrip())):
            place, name = left[end - 1]
            line = " " * place + name + line[place + len(name) :]
            end -= 1
        left = left[:end]
        lines.append(_with_stems(line, {place for place, _ in left}))
    return lines


def _with_stems(line: str, places: set[int]) -> str:
    """``line`` with the strokes to the names below it."""
    stems = {"└": "├", " ": "│"}
    return "".join(stems.get(sign, sign) if at in places else sign for at, sign in enumerate(line))


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
