"""Answers for a screen: Markdown as lines of a terminal, wrapped at its width. Pure.

rich draws what markdown-it reads. Before that, the tokens are made harmless (an entity like ``&#8238;`` becomes a
character only there), and whatever rich leaves out is put in as text: HTML, line ends, addresses of links and pictures.
"""

import io
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich import box
from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from channels.terminal.terminal_style import Look
from daemon.printable import printable

COLUMNS_MIN = 8
"""Columns below which nothing can be laid out: a narrower terminal wraps the lines."""
CELL_MIN = 8
"""Columns that each cell of a table has at least; where they are fewer, its rows are listed."""
LEVEL_COLUMNS = 4
"""Columns for each level of blocks within blocks; a text with more levels is shown as it was written."""
NESTING_MAX = 100
"""Levels of blocks within blocks that are read."""

BREAK = "\x1f"
"""Where a line may end between two ideographs: a space without a width for rich. ``printable`` leaves none."""
# Unicode Standard Annex 14: ideographs, kana and full-width forms, without what must not begin or end a line.
_WIDE = "\u2e80-\u2fff\u3040-\u30ff\u3100-\u9fff\uac00-\ud7af\uf900-\ufaff\uff10-\uff5a\U00020000-\U0003ffff"
_AFTER = "、。，．：；！？）」』】〉》〕］｝”’…—"
_BREAKABLE = re.compile(f"(?<=[{_WIDE}{_AFTER}])(?=[^\\s{_AFTER}])|(?<=[^\\s（「『【〈《〔［｛“‘])(?=[{_WIDE}])")

_THEME = Theme(
    {
        "markdown.code": "cyan",
        "markdown.code_block": "cyan",
        "markdown.block_quote": "italic",
        "markdown.link": "bold",
        "markdown.link_url": "underline",
        "markdown.h2": "bold",
    }
)


def rendered(text: str, *, columns: int, look: Look) -> str:
    """The Markdown ``text`` in lines of at most ``columns`` cells, without a line end behind the last."""
    return _lines(_drawn(text, columns := max(columns, COLUMNS_MIN)), columns, look)


def wrapped(text: str, *, columns: int) -> str:
    """Any ``text`` as it is, in lines of at most ``columns`` cells."""
    return _lines(_plain(text), max(columns, COLUMNS_MIN), "bare")


def _lines(drawn: "_Answer | Text", columns: int, look: Look) -> str:
    # Its own file and size: nothing is printed, and nothing of the process's terminal or environment is read.
    console = Console(file=io.StringIO(), width=columns, height=1, legacy_windows=False, theme=_THEME, _environ={})
    lines = console.render_lines(drawn, pad=False)
    shown = ["".join(_sequences(line, look)).replace(BREAK, "") for line in lines]
    return "\n".join(shown).strip("\n")


def blocks(text: str) -> list[int]:
    """The index of the first character of each block at the outermost level."""
    starts = {token.map[0] for token in _block_parser().parse(text) if token.level == 0 and token.map}
    ends = [0, *(found.end() for found in re.finditer("\r\n?|\n", text))]
    return [ends[line] for line in sorted(starts)]


def _drawn(text: str, columns: int) -> "_Answer | Text":
    tokens = _parser().parse(text)
    if max((token.level for token in tokens), default=0) * LEVEL_COLUMNS > columns:
        return _plain(text)
    return _Answer(_harmless(tokens))


def _plain(text: str) -> Text:
    return Text(_BREAKABLE.sub(BREAK, printable(text)))


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "maxNesting": NESTING_MAX}).enable(["table", "strikethrough"])


@cache
def _block_parser() -> MarkdownIt:
    """One that reads nothing within a paragraph, which takes most of the time."""
    return MarkdownIt("commonmark", {"html": False, "maxNesting": NESTING_MAX}).enable("table").disable("inline")


def _sequences(line: Sequence[Segment], look: Look) -> Iterator[str]:
    """A line with the escape sequences of its styles, without the spaces that fill it up."""
    end = len("".join(segment.text for segment in line).rstrip(f" {BREAK}"))
    for segment in line:
        shown, end = segment.text[:end], max(0, end - len(segment.text))
        style = segment.style or Style.null()
        if look == "bare" or not shown:
            yield shown
        else:
            style = style if look == "coloured" else style.without_color
            yield style.render(shown, color_system=ColorSystem.STANDARD)


# Tokens


def _harmless(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with text that a terminal can be given, and with everything that rich would leave out."""
    found: list[Token] = []
    label = 0
    for token in tokens:
        token.content = printable(token.content)
        if token.type == "image":
            text = printable(_text_of(token.children or ())) or "image"
            found += [_text(text), *_address(text, token.attrs.get("src"))]
        elif token.type == "link_open":
            label = len(found) + 1
            found.append(Token("label_open", "link", 1, attrs=token.attrs))
        elif token.type == "link_close":
            address = _address(_text_of(found[label:]), found[label - 1].attrs.get("href"))
            found += [Token("label_close", "link", -1), *address]
        elif token.type == "text":
            found.append(_text(token.content))
        else:
            token.children = _harmless(token.children) if token.children else None
            token.type = "hardbreak" if token.type == "softbreak" else token.type
            found.append(token)
    return found


def _text(content: str) -> Token:
    return Token("text", "", 0, content=_BREAKABLE.sub(BREAK, content))


def _address(label: str, href: object) -> list[Token]:
    """The address of a link behind its label, unless that says the same."""
    address = printable(str(href or ""))
    if address in {"", label, f"mailto:{label}"}:
        return []
    return [Token("text", "", 0, content=" ("), Token("address", "link_url", 0, content=address), _text(")")]


def _text_of(tokens: Sequence[Token]) -> str:
    return "".join(token.content or _text_of(token.children or ()) for token in tokens).replace(BREAK, "")


# Blocks


class _Heading(Heading):
    """A heading at the left."""

    LEVEL_ALIGN: ClassVar = {}


class _Code(CodeBlock):
    """Code as it is, indented: a background would be copied with it."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.rstrip()
        yield Padding(self.text, (0, 0, 0, 2), expand=False)


class _Table(TableElement):
    """A table whose cells are wrapped; its rows are listed where the columns would get too narrow."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        heads = [cell.content for cell in self.header.row.cells] if self.header and self.header.row else []
        rows = [[cell.content for cell in row.cells] for row in self.body.rows] if self.body else []
        if len(heads) * (CELL_MIN + 2) > options.max_width:
            yield from _listed(heads, rows)
            return
        drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for head in heads:
            drawn.add_column(head, justify=head.justify or "default", overflow="fold")
        for row in rows:
            drawn.add_row(*row)
        yield drawn


def _listed(heads: Sequence[Text], rows: Sequence[Sequence[Text]]) -> Iterator[Text]:
    """Each row as a list of its cells."""
    for number, row in enumerate(rows):
        if number:
            yield Text()
        for head, cell in zip(heads, row, strict=False):
            name = Text(f"{head.plain}: " if head.plain else "", style="bold")
            yield name.append_text(cell)
    if not rows:
        yield Text(", ").join(heads)


class _Answer(Markdown):
    """Markdown whose tokens are there already."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "table_open": _Table,
    }

    def __init__(self, tokens: list[Token]) -> None:
        super().__init__("")
        self.parsed = tokens
        self.inlines = self.inlines | {"link", "link_url"}
