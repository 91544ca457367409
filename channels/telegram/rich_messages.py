"""Markdown as the Bot API's rich messages read it: like GitHub's, with signs of its own that are taken away here. Pure.

What a model writes is meant for GitHub's: there a dollar is no formula, ``==`` marks nothing, ``<`` begins no tag that
anybody should obey. Line breaks count for people, and a picture from an address that a model made up is a link:
the platform would fetch it.
"""

import re

from markdown_it.token import Token

COLUMNS_MAX = 20
"""Of a table (Bot API, rich messages)."""

BLOCKS_MAX = 400
"""Blocks of a message; the platform takes 500, and may count what is inside of others more than once."""

_ADDRESS = r"<(?:https?://|mailto:)[^\s<>]*>"
# The first sign counts: an escaped backtick begins no code, nor does one in an address. Then come whole runs of
# backticks, also those that no other run of their length ends.
_CODE = re.compile(rf"\\.|{_ADDRESS}|(`+)(?!`).+?(?<!`)\1(?!`)|`+", re.DOTALL)
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\(")
_TAG = re.compile(rf"\\.|(?!{_ADDRESS})<")
_SIGNS = re.compile(r"\\.|\$|==|\|\||\+\+|!(?=\[)")
_BREAK = re.compile(r"(?<=\S)[ \t]*\\?\n[ \t]*(?=\S)")


def fits(tokens: list[Token]) -> bool:
    """Whether the platform's limits of blocks and columns are kept."""
    columns = 0
    for token in tokens:
        if token.type == "tr_open":
            columns = 0
        elif token.type in ("th_open", "td_open"):
            columns += 1
            if columns > COLUMNS_MAX:
                return False
    return sum(token.nesting >= 0 and token.type != "inline" for token in tokens) <= BLOCKS_MAX


def rich_of(text: str, tokens: list[Token]) -> str:
    """``text``, whose ``tokens`` are given, in the platform's own Markdown."""
    lines = text.split("\n")
    rows = _lines_of(tokens, "table_open")
    for token in tokens:
        if token.type == "inline" and token.map and token.map[0] < len(lines):
            first, last = token.map
            said = "\n".join(lines[first:last])
            said = _plain_row(said) if first in rows else _kept_breaks(_plain_signs(said))
            lines[first:last] = said.split("\n")
    return "\n".join(lines)


def _lines_of(tokens: list[Token], kind: str) -> frozenset[int]:
    return frozenset(line for token in tokens if token.type == kind and token.map for line in range(*token.map))


def _plain_signs(text: str) -> str:
    """``text`` without what only the platform takes for a sign; code of one line stays as it is."""
    pieces: list[str] = []
    at = 0
    for code in _CODE.finditer(text):
        # In code of several lines, a line that begins with a tag would end the paragraph and so the code.
        if code[1] and "\n" not in code[0]:
            pieces += (_escaped(text[at : code.start()]), code[0])
            at = code.end()
    return "".join((*pieces, _escaped(text[at:])))


def _plain_row(row: str) -> str:
    """A row of a table, in which code ends with its cell. Parsers differ on where a cell with an escaped line ends."""
    return _escaped(row) if "\\|" in row else "|".join(map(_plain_signs, row.split("|")))


def _escaped(text: str) -> str:
    text = _IMAGE.sub(lambda found: f"[{found[1] or 'image'}](", text)
    text = _TAG.sub(lambda found: "\\<" if found[0] == "<" else found[0], text)
    return _SIGNS.sub(lambda found: _backslashed(found[0]), text)


def _backslashed(signs: str) -> str:
    return signs if signs[0] == "\\" else "".join(f"\\{sign}" for sign in signs)


def _kept_breaks(text: str) -> str:
    # A blank quote or list sign at the beginning of the next line stays with it.
    return _BREAK.sub(lambda found: "  \n" + found[0].split("\n")[1], text)
