"""The blocks of a Markdown text: what is to be kept together where it fits. Pure."""

import re
from collections.abc import Iterator

import msgspec

INFO_MAX = 60
"""A longer line that opens a code block is opened again without what stands behind its fence."""

_fence = re.compile(r"([ \t]{0,12})(`{3,}|~{3,})([^\n]*)").match
_below_head = re.compile(r"^[ ]{0,3}\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-*:?[ \t]*$", re.MULTILINE).finditer
_heading = re.compile(r"[ ]{0,3}#{1,6}[ \t]").match


class Fence(msgspec.Struct, frozen=True, kw_only=True):
    """A fenced code block's own lines, by which a part of it is closed and opened again."""

    opening: str
    """With its line end."""
    closing: str
    """With the line end before it."""
    first: int
    """Where the code begins."""
    upto: int
    """Where it ends: the closing line, or the end of the text, begins there."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of the text up to the next block, with the blank lines behind it."""

    begin: int
    end: int
    fence: Fence | None = None


def blocks(text: str) -> Iterator[Block]:
    """The blocks of ``text``, which they cover without a gap; a heading is one with what it stands above."""
    begin, heading = 0, False
    at, size = 0, len(text)
    while at < size:
        fence = _fence_at(text, at)
        if fence is not None:
            if at > begin and not heading:
                yield Block(begin=begin, end=at)
                begin = at
            at = _behind_blank(text, _line_end(text, fence.upto))
            yield Block(begin=begin, end=at, fence=fence)
            begin, heading = at, False
            continue
        if _heading(text, at):
            if at > begin and not heading:
                yield Block(begin=begin, end=at)
                begin = at
            heading = True
            at = _behind_blank(text, _line_end(text, at))
            continue
        at = _paragraph_end(text, at)
        yield Block(begin=begin, end=at)
        begin, heading = at, False
    if begin < size:
        yield Block(begin=begin, end=size)


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table within a block, whose head a part of it repeats."""

    head: str
    """The row of names and the line below it, with their line ends."""
    begin: int
    first: int
    """Where the first row behind the head begins."""
    end: int
    """Behind the last row."""


def table_in(text: str, block: Block) -> Table | None:
    """The table in a block that is no code; None: there is none. A table ends at a blank line, and so does a block."""
    for line in _below_head(text, block.begin, block.end):
        begin = text.rfind("\n", block.begin, max(line.start() - 1, block.begin)) + 1 or block.begin
        if line.start() > block.begin and "|" in text[begin : line.start()] and {"|", "-"} <= set(line[0]):
            first = min(line.end() + 1, block.end)
            end = block.begin + len(text[block.begin : block.end].rstrip()) + 1
            return Table(head=text[begin:first], begin=begin, first=first, end=min(end, block.end))
    return None


def opens_code(text: str, at: int) -> bool:
    """Whether ``text`` from ``at`` on would open a fenced code block, or close one, if a line began there."""
    return _opening_at(text, at) is not None


def _opening_at(text: str, at: int) -> re.Match[str] | None:
    found = _fence(text, at)
    # Backquotes on both sides are code within a line (CommonMark, section 4.5).
    return None if found is None or (found[2][0] == "`" and "`" in found[3]) else found


def _fence_at(text: str, at: int) -> Fence | None:
    found = _opening_at(text, at)
    if found is None:
        return None
    indent, mark, info = found.groups()
    first = _line_end(text, at)
    again = f"{indent}{mark}{info.rstrip() if len(info) <= INFO_MAX else ''}\n"
    closing = re.compile(rf"^[ \t]{{0,12}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$", re.MULTILINE)
    closed = closing.search(text, first) if first < len(text) else None
    upto = closed.start() if closed else len(text)
    return Fence(opening=again, closing=f"\n{indent}{mark}", first=first, upto=upto)


def _line_end(text: str, at: int) -> int:
    """Behind the line that ``at`` is in."""
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _behind_blank(text: str, at: int) -> int:
    """Behind the blank lines that begin at ``at``."""
    while at < len(text):
        end = _line_end(text, at)
        if text[at:end].strip():
            return at
        at = end
    return at


def _paragraph_end(text: str, at: int) -> int:
    """Behind the lines up to a blank one, a fence or a heading, and the blank lines there."""
    while at < len(text):
        at = _line_end(text, at)
        behind = _behind_blank(text, at)
        if behind > at:
            return behind
        if _fence(text, at) or _heading(text, at):
            return at
    return at
