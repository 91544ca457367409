"""The Markdown of a model as Discord's Markdown, which has no tables and gives some signs another meaning. Pure."""

import re
import unicodedata
from collections.abc import Iterator

from channels.link_spoofing import honest
from channels.text.markdown_blocks import blocks

_code = re.compile(r"(`+)(?:.+?)\1", re.DOTALL)
_bold = re.compile(r"(?<![\w_])__(?=\S)([^\n]+?)(?<=\S)__(?![\w_])")
_image = re.compile(r"!(\[[^\[\]\n]*\]\()")
_deep_heading = re.compile(r"^[ ]{0,3}#{4,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_rule = re.compile(r"^[ ]{0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$", re.MULTILINE)
_row = re.compile(r"[ ]{0,3}\|?.*\|.*")
_border = re.compile(r"[ ]{0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_cell = re.compile(r"(?<!\\)\|")

COLUMNS_MAX = 20
"""A table with more columns stays as it is: nobody could read it in either form."""


def length(text: str) -> int:
    """The length of a text in UTF-16 units: Discord counts characters, of which there are never more."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def discord_markdown(text: str) -> str:
    """``text`` for Discord; code is unchanged."""
    text = honest(text)
    return "".join(
        text[block.begin : block.end] if block.fence else _with_tables(text[block.begin : block.end])
        for block in blocks(text)
    )


def _with_tables(text: str) -> str:
    lines = text.splitlines(keepends=True)
    written: list[str] = []
    plain: list[str] = []
    at = 0
    while at < len(lines):
        rows = _table_at(lines, at)
        if rows:
            written += [_inline("".join(plain)), _table(lines[at : at + rows])]
            plain, at = [], at + rows
        else:
            plain.append(lines[at])
            at += 1
    return "".join((*written, _inline("".join(plain))))


def _table_at(lines: list[str], at: int) -> int:
    """The number of lines of a table that begins here; 0: none does."""
    if at + 1 >= len(lines) or not _row.fullmatch(lines[at].rstrip("\n")):
        return 0
    border = lines[at + 1].rstrip("\n")
    columns = len(_cells(border))
    if "|" not in border or not _border.fullmatch(border) or not len(_cells(lines[at])) == columns <= COLUMNS_MAX:
        return 0
    end = at + 2
    while end < len(lines) and lines[end].strip() and _row.fullmatch(lines[end].rstrip("\n")):
        end += 1
    return end - at


def _cells(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    parts = _cell.split(line)
    if len(parts) > 1 and not parts[-1].strip():
        parts.pop()
    return [part.strip().replace("\\|", "|").replace("`", "'") for part in parts]


def _table(lines: list[str]) -> str:
    """A table as code, in which all characters have the same width."""
    rows = [_cells(line) for line in (lines[0], *lines[2:])]
    count = len(rows[0])
    rows = [(row + [""] * count)[:count] for row in rows]
    widths = [max(_width(row[column]) for row in rows) for column in range(count)]
    rows.insert(1, ["-" * width for width in widths])
    end = "\n" if lines[-1].endswith("\n") else ""
    return "```\n" + "\n".join(_padded(row, widths) for row in rows) + f"\n```{end}"


def _padded(row: list[str], widths: list[int]) -> str:
    cells = (cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True))
    return "  ".join(cells).rstrip()


def _width(text: str) -> int:
    """In columns of a fixed-width font; East Asian characters take two."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def _inline(text: str) -> str:
    return "".join(piece if is_code else _prose(piece) for piece, is_code in _pieces(text))


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    at = 0
    for code in _code.finditer(text):
        yield text[at : code.start()], False
        yield code[0], True
        at = code.end()
    yield text[at:], False


def _prose(text: str) -> str:
    text = _deep_heading.sub(r"**\1**", text)  # Discord has three levels of headings
    text = _rule.sub("⎯⎯⎯⎯⎯⎯", text)
    text = _bold.sub(r"**\1**", text)  # which Discord underlines
    text = _image.sub(r"\1", text)
    return text.replace("||", r"\|\|")  # which hides text
