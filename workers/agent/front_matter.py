"""The head of a Markdown file: the small part of YAML that people write there, read strictly. Pure.

``key: value`` with plain or quoted text, numbers as text, ``true`` and ``false``, lists and sections on one line
(``[a, b]``, ``{a: b}``) or indented below, and texts over many lines (``>`` folded, ``|`` as they stand).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from daemon.errors import UNREADABLE

Value = str | bool | list["Value"] | dict[str, "Value"]

DEPTH_MAX = 8
_KEY = re.compile(r"([A-Za-z_][\w.-]*):(?:\s+(.*))?$")
_TOKEN = re.compile(r"""\s*([\[\]{},:]|"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s\[\]{},:"'][^\[\]{},:]*)""")
_BLOCK = re.compile(r"[>|][+-]?$")


class FrontMatterError(ValueError):
    """The head of a file cannot be read; the text says where and why."""


@dataclass
class _Lines:
    """What is left to read."""

    lines: Sequence[str]
    at: int = field(default=0)

    def peek(self) -> str | None:
        """The next line with anything on it."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and not line.lstrip().startswith("#"):
                return line
            self.at += 1
        return None


def split(text: str) -> tuple[dict[str, Value], str]:
    """The head's keys, and the text below it.

    Raises:
        FrontMatterError: there is no head, or it cannot be read.
    """
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != "---":
        raise FrontMatterError("the first line is not ---")
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() == "---"), 0)
    if not end:
        raise FrontMatterError("no second line of --- ends the head")
    rest = _Lines(lines[:end], at=1)
    head = _section(rest, 0, DEPTH_MAX)
    if rest.peek() is not None:
        raise _wrong(rest, "is not key: value")
    return head, "\n".join(lines[end + 1 :]).strip("\n")


def _wrong(rest: _Lines, what: str) -> FrontMatterError:
    return FrontMatterError(f"line {rest.at + 1} {what}")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _section(rest: _Lines, indent: int, depth: int) -> dict[str, Value]:
    found: dict[str, Value] = {}
    while (line := rest.peek()) is not None and _indent(line) == indent:
        key = _KEY.match(line.strip())
        if key is None:
            raise _wrong(rest, "is not key: value")
        if key[1] in found:
            raise _wrong(rest, f"says {key[1]} a second time")
        rest.at += 1
        found[key[1]] = _value((key[2] or "").strip(), rest, indent, depth)
    return found


def _value(text: str, rest: _Lines, indent: int, depth: int) -> Value:
    if _BLOCK.match(text):
        return _block(rest, indent, folded=text.startswith(">"))
    if text and not text.startswith("#"):
        return _scalar(text, rest)
    line = rest.peek()
    if line is None or (_indent(line) <= indent and not line.strip().startswith("- ")):
        return ""
    if depth == 0:
        raise _wrong(rest, "is nested too deeply")
    if line.strip().startswith("- "):
        return _items(rest, _indent(line))
    return _section(rest, _indent(line), depth - 1)


def _items(rest: _Lines, indent: int) -> list[Value]:
    found: list[Value] = []
    while (line := rest.peek()) is not None and _indent(line) == indent and line.strip().startswith("- "):
        rest.at += 1
        found.append(_scalar(line.strip()[2:].strip(), rest))
    return found


def _block(rest: _Lines, indent: int, *, folded: bool) -> str:
    taken: list[str] = []
    while rest.at < len(rest.lines):
        line = rest.lines[rest.at]
        if line.strip() and _indent(line) <= indent:
            break
        taken.append(line.strip() if folded else line)
        rest.at += 1
    if folded:
        return " ".join(filter(None, taken))
    margin = min((_indent(line) for line in taken if line.strip()), default=0)
    return "\n".join(line[margin:] for line in taken).strip("\n")


def _scalar(text: str, rest: _Lines) -> Value:
    if text[0] in "{[":
        return _inline(text, rest)
    if text[0] in "\"'":
        return _quoted(text, rest)
    plain = re.split(r"\s+#", text, maxsplit=1)[0].strip()
    return plain == "true" if plain in ("true", "false") else plain


def _quoted(text: str, rest: _Lines) -> str:
    end = re.match(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*(?:#.*)?$""", text)
    if end is None:
        raise _wrong(rest, "has a quotation mark that does not end")
    if text[0] == "'":
        return end[1][1:-1].replace("''", "'")
    try:
        return msgspec.json.decode(end[1], type=str)
    except UNREADABLE as error:
        raise _wrong(rest, f"cannot be read: {error}") from error


def _inline(text: str, rest: _Lines) -> Value:
    tokens = [*_tokens(text, rest), ""]
    value, at = _flow(tokens, 0, rest, DEPTH_MAX)
    if tokens[at]:
        raise _wrong(rest, "goes on behind its last bracket")
    return value


def _tokens(text: str, rest: _Lines) -> Iterator[str]:
    at = 0
    while text[at:].strip():
        token = _TOKEN.match(text, at)
        if token is None:
            raise _wrong(rest, "has a quotation mark that does not end")
        at = token.end()
        yield token[1].strip()


def _flow(tokens: Sequence[str], at: int, rest: _Lines, depth: int) -> tuple[Value, int]:
    """The value that begins at a token, and where the next one begins."""
    if tokens[at] in ("[", "{"):
        if depth == 0:
            raise _wrong(rest, "is nested too deeply")
        return _brackets(tokens, at, rest, depth - 1)
    if tokens[at] in ("", "]", "}", ",", ":"):
        raise _wrong(rest, "is no list like [a, b] or section like {a: b}")
    return _scalar(tokens[at], rest), at + 1


def _brackets(tokens: Sequence[str], at: int, rest: _Lines, depth: int) -> tuple[Value, int]:
    items: list[Value] = []
    section: dict[str, Value] = {}
    is_section, end = tokens[at] == "{", "}" if tokens[at] == "{" else "]"
    at += 1
    while tokens[at] != end:
        value, at = _flow(tokens, at, rest, depth)
        if is_section:
            if tokens[at] != ":":
                raise _wrong(rest, "has no : between a key and its value")
            section[str(value)], at = _flow(tokens, at + 1, rest, depth)
        else:
            items.append(value)
        if tokens[at] == ",":
            at += 1
        elif tokens[at] != end:
            raise _wrong(rest, f"lacks a comma or {end}")
    return section if is_section else items, at + 1
