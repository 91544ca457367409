"""The head of a Markdown file: YAML between two lines of ``---``, read as text within limits. Pure.

Numbers, dates and ``null`` stay the texts that they are written as; only ``true`` and ``false`` are more. Anchors,
aliases and tags of one's own are refused: with them a few lines can stand for gigabytes, or for objects.

People write heads that are no YAML, such as ``description: How to publish: step by step``. A plain text that YAML does
not take is read as if it stood in quotation marks.
"""

import re
from collections.abc import Iterator
from typing import Any, cast

import yaml

from daemon.model.event_stream import whole
from workers.agent.prompt.skills import FrontMatterError, Value

HEAD_MAX_CHARS = 65_536
"""Longest head; those that people publish have a hundredth of it."""
DEPTH_MAX = 16
"""Lists and sections inside each other; published skills have six."""
VALUES_MAX = 5_000
MENDED_MAX = 20
"""Lines of a head that are read as if their text was quoted."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The one in C takes a twentieth of the time, where it is there."""

_parse: Any = cast("Any", yaml).parse
"""Its types are not all known."""

_PLAIN = re.compile(r"(?P<key>\s*(?:- +)*[\w.-]+:)\s+(?P<text>[^\s\[{\"'|>#].*)")
_INDENT = re.compile(r"^[ \t]+")
"""Tabs in it become spaces: YAML takes none there, and who indents JSON often has some."""
_BEGINS_COMMENT = re.compile(r"\s#")
_TEXT_KEY = "description:"
"""Of this key everything below it belongs to its text, whatever it looks like."""
_KNOWN_TAG = re.compile(r"tag:yaml\.org,2002:[a-z]+")


class _Refused(Exception):
    """A line of the head cannot be read."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line
        """From 0."""


def split(text: str) -> tuple[dict[str, Value], str]:
    """The head's keys, and the text below it.

    Raises:
        FrontMatterError: there is no head, or it cannot be read.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if not lines or lines[first].rstrip() != "---":
        raise FrontMatterError("the first line of the file must be ---")
    end = next((at for at, line in enumerate(lines) if at > first and line.rstrip() == "---"), 0)
    if not end:
        raise FrontMatterError("the front matter has no closing --- line")
    return read(lines[first + 1 : end], first_line=first + 2), "\n".join(lines[end + 1 :]).strip("\n")


def read(lines: list[str], *, first_line: int = 1) -> dict[str, Value]:
    """The keys of a head; ``first_line`` is the number of its first line in messages.

    Raises:
        FrontMatterError: it cannot be read.
    """
    if sum(map(len, lines)) > HEAD_MAX_CHARS:
        raise FrontMatterError(f"the front matter has more than {HEAD_MAX_CHARS:,} characters")
    given = lines = [_INDENT.sub(lambda indent: indent[0].expandtabs(2), line, count=1) for line in lines]
    first: _Refused | None = None
    for _ in range(MENDED_MAX):
        try:
            return _parsed("".join(f"{line}\n" for line in lines))
        except _Refused as error:
            first = first or error
            quoted = _with_quotes(lines, error.line)
            if quoted is None:
                break
            lines = quoted
    assert first is not None  # noqa: S101 - only a refusal ends the loop
    line = min(first.line, len(given))
    raise FrontMatterError(f"line {first_line + line}: {first}")


def _with_quotes(lines: list[str], at: int) -> list[str] | None:
    """``lines`` with the plain text on line ``at`` in quotation marks; None when none is there."""
    if at >= len(lines):
        return None
    start, end = at, at + 1
    while start and not lines[start].startswith(_TEXT_KEY) and lines[start][:1] in (" ", "\t", ""):
        start -= 1
    if lines[start].startswith(_TEXT_KEY):
        end = start + 1
        while end < len(lines) and lines[end][:1] in (" ", "\t", ""):
            end += 1
    else:
        start = at
    text = " ".join(line.strip() for line in lines[start:end])
    plain = _PLAIN.match(f"{lines[start][: len(lines[start]) - len(lines[start].lstrip())]}{text}")
    if plain is None:
        return None
    said = _BEGINS_COMMENT.split(plain["text"], maxsplit=1)[0].strip().replace("'", "''")
    return [*lines[:start], f"{plain['key']} '{said}'", *[""] * (end - start - 1), *lines[end:]]


def _parsed(text: str) -> dict[str, Value]:
    try:
        return _Reader(text).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _Refused(mark.line if mark else 0, _why(error)) from error
    except yaml.reader.ReaderError as error:
        character = error.character if isinstance(error.character, int) else ord(error.character)
        line = text.count("\n", 0, error.position)
        raise _Refused(line, f"YAML does not allow this character: U+{character:04X}") from error


def _why(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or "the front matter is not valid YAML"
    if problem.startswith("mapping values are not allowed"):
        return "the front matter does not have the form key: value. Text that contains a colon must be quoted"
    if error.context == "while scanning a quoted scalar" and "end of stream" in problem:
        return "the closing quotation mark is missing"
    return f"the front matter cannot be read: {', '.join(filter(None, (error.context, problem)))}"


class _Reader:
    """Reads one document, event by event: what the library would build of it has no limits."""

    def __init__(self, text: str) -> None:
        self._events: Iterator[yaml.Event] = _parse(text, Loader=_Loader)
        self._left = VALUES_MAX

    def document(self) -> dict[str, Value]:
        found: dict[str, Value] | None = None
        for event in self._events:
            if isinstance(event, yaml.MappingStartEvent) and found is None:
                found = self._section(event, DEPTH_MAX)
            elif isinstance(event, yaml.DocumentStartEvent) and found is not None:
                raise _Refused(_line(event), "the front matter contains a second YAML document")
            elif isinstance(event, yaml.NodeEvent):
                raise _Refused(_line(event), "the front matter does not have the form key: value")
        return found or {}

    def _value(self, event: yaml.Event, depth: int) -> Value:
        line = _line(event)
        self._left -= 1
        if self._left < 0:
            raise _Refused(line, f"the front matter has more than {VALUES_MAX:,} values")
        match event:
            case yaml.ScalarEvent():
                self._check(event)
                word = whole(event.value).rstrip("\n")
                is_plain = event.implicit[0]
                return word.lower() == "true" if is_plain and word.lower() in ("true", "false") else word
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent() if depth == 0:
                raise _Refused(line, "the front matter is nested too deeply")
            case yaml.SequenceStartEvent():
                return self._items(event, depth - 1)
            case yaml.MappingStartEvent():
                return self._section(event, depth - 1)
            case _:
                raise _Refused(line, "an alias (*name) is not supported")

    def _items(self, start: yaml.SequenceStartEvent, depth: int) -> list[Value]:
        self._check(start)
        found: list[Value] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            found.append(self._value(event, depth))
        return found

    def _section(self, start: yaml.MappingStartEvent, depth: int) -> dict[str, Value]:
        self._check(start)
        found: dict[str, Value] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise _Refused(_line(event), "a key of the front matter is not text")
            key = whole(event.value)
            if key in found:
                raise _Refused(_line(event), f"the key {key} occurs more than once")
            found[key] = self._value(next(self._events), depth)
        return found

    def _check(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        if event.anchor:
            raise _Refused(_line(event), "an anchor (&name) is not supported")
        if event.tag and event.tag != "!" and not _KNOWN_TAG.fullmatch(event.tag):
            raise _Refused(_line(event), f"a tag ({event.tag}) is not supported")


def _line(event: yaml.Event) -> int:
    return event.start_mark.line if event.start_mark else 0
