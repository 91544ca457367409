"""The answer being written, as the screen shows it: its finished blocks are rendered, the last one is plain. Pure."""

from prompt_toolkit.utils import get_cwidth

from channels.terminal.markdown import blocks, rendered
from channels.terminal.terminal_style import Look
from daemon.printable import printable

BLOCK_MAX_CHARS = 10_000
"""Characters of the unfinished end that are read and wrapped with every piece, some 20 ms. Behind a longer block the
rest of a draft stays plain."""


class Draft:
    """The end of one answer at a time. Each block is rendered once, so that a piece of a long answer costs little."""

    def __init__(self, look: Look) -> None:
        self._look: Look = look
        self._columns = 0
        self._done = ""
        """The beginning of the text that is rendered: whole blocks."""
        self._lines: list[str] = []

    def end(self, text: str, *, columns: int, rows: int) -> str:
        """The last ``rows`` lines of ``text``, of ``columns`` cells at most; a beginning seen before is kept."""
        if columns != self._columns or not text.startswith(self._done):
            self._columns, self._done, self._lines = columns, "", []
        rest = text[len(self._done) :]
        # Whatever is written next may still belong to the last block.
        if len(rest) <= BLOCK_MAX_CHARS and len(starts := blocks(rest)) > 1:
            finished, rest = rest[: starts[-1]], rest[starts[-1] :]
            self._done += finished
            self._lines += [*rendered(finished, columns=columns, look=self._look).split("\n"), ""]
        shown = tail(printable(rest[-BLOCK_MAX_CHARS:]), columns=columns, rows=rows).split("\n")
        return "\n".join([*self._lines, *shown][-rows:])


def tail(text: str, *, columns: int, rows: int) -> str:
    """The last ``rows`` lines of ``text``, wrapped at ``columns`` cells: a prompt does not wrap by itself."""
    shown: list[str] = []
    for line in reversed(text.split("\n")):
        shown[:0] = _wrapped(line[-BLOCK_MAX_CHARS:], columns)
        if len(shown) >= rows:
            break
    return "\n".join(shown[-rows:])


def _wrapped(line: str, columns: int) -> list[str]:
    parts, start, cells = [""], 0, 0
    for at, char in enumerate(line):
        width = get_cwidth(char)
        if cells + width > columns:
            parts[-1] = line[start:at]
            parts.append("")
            start, cells = at, 0
        cells += width
    parts[-1] = line[start:]
    return parts
