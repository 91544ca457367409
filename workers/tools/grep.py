"""The ``grep`` tool: lines of files that match a pattern."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import re2

from daemon.errors import ToolError
from workers.tools.file_text import is_text, pieces
from workers.tools.folder_walk import Cut, walk
from workers.tools.registry import Tool, ToolContext
from workers.tools.tool_sandbox import Folders, Place
from workers.tools.tool_threads import in_thread

SEARCH_S = 10.0
"""Time limit of a search; matches found until then are returned."""

PATTERN_MAX_CHARS = 1_000
MATCHES_MAX = 100
SHOWN_MAX_CHARS = 160
"""Longest piece of a line that is shown."""

PIECE_MAX_CHARS = 65_536
"""A longer line is searched in pieces."""

LOOK_EVERY = 256
"""Lines between two checks of the clock."""


async def _grep(arguments: Mapping[str, Any], context: ToolContext) -> str:
    pattern = _compiled(arguments["pattern"], arguments.get("literal", False), arguments.get("ignore_case", False))
    return await in_thread(lambda: _searched(context.folders, arguments.get("path", ""), pattern))


def _compiled(pattern: str, literal: bool, ignore_case: bool) -> Any:
    # RE2 takes time linear to the text whatever the expression; Python's own engine can take for ever.
    options = re2.Options()
    options.log_errors = False
    options.literal = literal
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(pattern, options=options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise ToolError(
            f"The pattern is not valid: {text}. Use RE2 syntax (no look-around, no back-references), or set literal to "
            "search for the exact text."
        ) from error


def _searched(folders: Folders, path: str, pattern: Any) -> str:
    until, lines, end = time.monotonic() + SEARCH_S, list[str](), ""
    try:
        for place in _files(folders, folders.place(path)):
            for line in _matches(folders, place, pattern, until):
                if len(lines) == MATCHES_MAX:
                    raise Cut
                lines.append(line)
    except Cut:
        end = "more matches exist; use a path or a longer pattern to narrow the search"
    except TimeoutError:
        end = f"the search stopped after {SEARCH_S:g} s; use a path to search fewer files"
    if end:
        lines.append(f"[{end}]")
    return "\n".join(lines) or "(nothing found)"


def _files(folders: Folders, place: Place) -> Iterator[Place]:
    """The file itself, or every file below the folder."""
    try:
        yield from (below for below, entry in walk(folders, place) if not entry.folder)
    except ToolError:
        if not place.names:
            return  # no file was written yet
        with folders.opened(place):
            pass
        yield place


def _matches(folders: Folders, place: Place, pattern: Any, until: float) -> Iterator[str]:
    try:
        with folders.opened(place) as descriptor:
            if not is_text(descriptor):
                return
            number = 1
            for count, piece in enumerate(pieces(descriptor, PIECE_MAX_CHARS)):
                if count % LOOK_EVERY == 0 and time.monotonic() > until:
                    raise TimeoutError
                if found := pattern.search(piece.rstrip("\n")):
                    yield f"{place.path}:{number}: {_around(piece, found.start())}"
                number += piece.endswith("\n")
    except ToolError:
        return  # deleted in the meantime, or not a plain file


def _around(line: str, at: int) -> str:
    line = line.rstrip("\n")
    if len(line) <= SHOWN_MAX_CHARS:
        return line
    begin = max(0, min(at - SHOWN_MAX_CHARS // 4, len(line) - SHOWN_MAX_CHARS))
    return f"{'…' if begin else ''}{line[begin : begin + SHOWN_MAX_CHARS]}…"


GREP = Tool(
    name="grep",
    description="Find lines that match a pattern in your files, or in files below skills/ or memory/.",
    parameters={
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "minLength": 1,
                "maxLength": PATTERN_MAX_CHARS,
                "description": "A regular expression (RE2), or an exact text if literal is true.",
            },
            "path": {"type": "string", "description": "A file or folder, for example memory; default: all your files."},
            "literal": {"type": "boolean", "description": "Search for the exact text of the pattern; default false."},
            "ignore_case": {"type": "boolean", "description": "Ignore upper and lower case; default false."},
        },
        "required": ["pattern"],
        "additionalProperties": False,
    },
    run=_grep,
    repeatable=True,
)
