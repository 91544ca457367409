"""The tools ``list_files`` and ``grep``."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from daemon.errors import ToolError
from workers.tools.file_access import BOOTSTRAP_FILES, READ_ONLY, Cut, Entry, FileAccess, Place, is_text, pieces, walk
from workers.tools.registry import Tool, ToolContext
from workers.tools.tool_result import in_thread

# The ``list_files`` tool: the content of a folder.

LISTED_MAX = 500
"""Most entries that are shown."""


async def _list_files(arguments: Mapping[str, Any], context: ToolContext) -> str:
    return await in_thread(lambda: _listed(context.folders, arguments.get("path", ""), arguments.get("deep", False)))


def _listed(folders: FileAccess, path: str, deep: bool) -> str:
    place = folders.place(path)
    top = not place.names and place.writable
    lines: list[str] = []
    try:
        for below, entry in walk(folders, place, deep=deep):
            if len(lines) == LISTED_MAX:
                raise Cut
            lines.append(_line(below, entry))
    except Cut:
        lines.append(f"[... more than {len(lines):,} entries; list one of these folders]")
    except ToolError:
        if not top:  # the folder is created with the first file
            raise
    if top:
        lines += [line for name in READ_ONLY if (line := _to_read(folders, name))]
    return "\n".join(lines) or "(empty)"


def _line(place: Place, entry: Entry) -> str:
    # Tool servers and people create files too: a name with a newline must not look like two entries.
    shown = place.path if place.path.isprintable() else ascii(place.path)
    return f"{shown}/" if entry.folder else f"{shown} ({entry.size_bytes:,} bytes)"


def _to_read(folders: FileAccess, name: str) -> str:
    """The line of a read-only file or folder; empty if it does not exist."""
    place = folders.place(name)
    with suppress(ToolError):
        if name in BOOTSTRAP_FILES:
            with folders.opened(place) as descriptor:
                return f"{name} ({os.fstat(descriptor).st_size:,} bytes, read-only)"
        folders.entries(place)
        return f"{name}/ (read-only)"
    return ""


LIST_FILES = Tool(
    name="list_files",
    description="List your files, or the files below skills/ or memory/.",
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Folder to list. Default: your workspace."},
            "deep": {
                "type": "boolean",
                "description": "Set to true to also list the content of subfolders. Default: false.",
            },
        },
        "additionalProperties": False,
    },
    run=_list_files,
    repeatable=True,
)


# The ``grep`` tool: lines of files that match a pattern.

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
    import re2  # noqa: PLC0415 - it takes 3 MB, and few bots search files

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


def _searched(folders: FileAccess, path: str, pattern: Any) -> str:
    until, lines, end = time.monotonic() + SEARCH_S, list[str](), ""
    try:
        for place in _files(folders, folders.place(path)):
            for line in _matches(folders, place, pattern, until):
                if len(lines) == MATCHES_MAX:
                    raise Cut
                lines.append(line)
    except Cut:
        end = "more matches exist. Use a path or a longer pattern to narrow the search"
    except TimeoutError:
        end = f"the search stopped after {SEARCH_S:g} s. Use a path to search fewer files"
    if end:
        lines.append(f"[{end}]")
    return "\n".join(lines) or "(nothing found)"


def _files(folders: FileAccess, place: Place) -> Iterator[Place]:
    """The file itself, or every file below the folder."""
    try:
        yield from (below for below, entry in walk(folders, place) if not entry.folder)
    except ToolError:
        if not place.names:
            return  # no file was written yet
        with folders.opened(place):
            pass
        yield place


def _matches(folders: FileAccess, place: Place, pattern: Any, until: float) -> Iterator[str]:
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
    description="Find lines that match a pattern in your files, or in files under skills/ or memory/.",
    parameters={
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "minLength": 1,
                "maxLength": PATTERN_MAX_CHARS,
                "description": "A regular expression (RE2), or an exact text if literal is true.",
            },
            "path": {
                "type": "string",
                "description": "File or folder to search, for example memory. Default: all your files.",
            },
            "literal": {
                "type": "boolean",
                "description": "Set to true to search for the pattern as exact text. Default: false.",
            },
            "ignore_case": {"type": "boolean", "description": "Ignore case (default: false)."},
        },
        "required": ["pattern"],
        "additionalProperties": False,
    },
    run=_grep,
    repeatable=True,
)
