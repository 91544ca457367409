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

_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\(")
# Escaped characters are found first, so that a backslash that is escaped itself escapes nothing.
_TAG = re.compile(r"\\.|<(?=[A-Za-z/!?])(?!(?:https?://|mailto:)[^\s<>]*>)")
_SIGNS = re.compile(r"\\.|\$|==|\|\||\+\+|!(?=\[)")
_BREAK = re.compile(r"[ \t]*\\?\n[ \t]*(?=\S)")


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
            in_table = first in rows
            said = _plain_signs("\n".join(lines[first:last]), in_table=in_table)
            lines[first:last] = said.split("\n") if in_table else _kept_breaks(said).split("\n")
        elif token.type == "html_block" and token.map:
            first, last = token.map
            lines[first:last] = [_plain_signs(line, in_table=False) for line in lines[first:last]]
    return "\n".join(lines)


def _lines_of(tokens: list[Token], kind: str) -> frozenset[int]:
    return frozenset(line for token in tokens if token.type == kind and token.map for line in range(*token.map))


def _plain_signs(text: str, *, in_table: bool) -> str:
    """``text`` without what only the platform takes for a sign; code stays as it is."""
    pieces: list[str] = []
    at = 0
    for code in _CODE.finditer(text):
        pieces += (_escaped(text[at : code.start()], in_table=in_table), code[0])
        at = code.end()
    return "".join((*pieces, _escaped(text[at:], in_table=in_table)))


def _escaped(text: str, *, in_table: bool) -> str:
    text = _IMAGE.sub(lambda found: f"[{found[1] or 'image'}](", text)
    text = _TAG.sub(lambda found: "\\<" if found[0] == "<" else found[0], text)
    return _SIGNS.sub(lambda found: found[0] if in_table and found[0] == "||" else _backslashed(found[0]), text)


def _backslashed(signs: str) -> str:
    return signs if signs[0] == "\\" else "".join(f"\\{sign}" for sign in signs)


def _kept_breaks(text: str) -> str:
    # A blank quote or list sign at the beginning of the next line stays with it.
    return _BREAK.sub(lambda found: "  \n" + found[0].split("\n")[1], text)
