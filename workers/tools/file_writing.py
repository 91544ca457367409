"""The tools ``write_file`` and ``edit_file``."""

import difflib
from collections.abc import Mapping
from typing import Any

from daemon.durable import write_whole
from daemon.errors import ToolError
from workers.tools.file_access import WRITE_MAX_BYTES, FileAccess, changing, whole
from workers.tools.registry import Tool, ToolContext
from workers.tools.tool_result import in_thread

# The ``write_file`` tool: creates or replaces a text file.


async def _write_file(arguments: Mapping[str, Any], context: ToolContext) -> str:
    return await in_thread(lambda: _write(context.folders, arguments["path"], arguments["content"]))


def _write(folders: FileAccess, path: str, content: str) -> str:
    place, encoded = folders.place(path), content.encode("utf-8", "replace")
    if len(encoded) > WRITE_MAX_BYTES:
        raise ToolError(
            f"The content has {len(encoded):,} bytes. A file can have at most {WRITE_MAX_BYTES:,} bytes. Split the "
            "text across several files."
        )
    with changing(folders, place, make=True) as folder:
        write_whole(folder, place.names[-1], encoded)
    return f"wrote {len(encoded):,} bytes to {place.path}"


WRITE_FILE = Tool(
    name="write_file",
    description="Create a text file, or replace the whole content of a text file. To change only part of a file, use "
    "edit_file.",
    parameters={
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "description": "Path of the file, for example notes/today.md. Missing folders are created.",
            },
            "content": {"type": "string", "description": "The whole text."},
        },
        "required": ["path", "content"],
        "additionalProperties": False,
    },
    run=_write_file,
)


# The ``edit_file`` tool: replaces a passage of a text file.

NEAR_LINES_MAX = 5_000
"""Lines that are compared to suggest the intended passage."""

LINE_SHOWN_CHARS = 200
PLACES_SHOWN = 10
NEAR = 0.6
"""Similarity from which on a line is suggested, 0 to 1."""


async def _edit_file(arguments: Mapping[str, Any], context: ToolContext) -> str:
    path, old, new = arguments["path"], arguments["old_text"], arguments["new_text"]
    return await in_thread(lambda: _edit(context.folders, path, old, new))


def _edit(folders: FileAccess, path: str, old: str, new: str) -> str:
    place = folders.place(path)
    with changing(folders, place, make=False) as folder:
        with folders.opened(place) as descriptor:
            content = whole(descriptor, place, WRITE_MAX_BYTES)
        try:
            changed = replaced(content.decode(), old, new).encode("utf-8", "replace")
        except UnicodeDecodeError as error:
            raise ToolError(f"{place.path} is not UTF-8 text, so it cannot be edited.") from error
        if len(changed) > WRITE_MAX_BYTES:
            raise ToolError(
                f"After the change, {place.path} would have {len(changed):,} bytes. A file can "
                f"have at most {WRITE_MAX_BYTES:,} bytes."
            )
        write_whole(folder, place.names[-1], changed)
    return f"changed {place.path}"


def replaced(text: str, old: str, new: str) -> str:
    """``text`` with ``old``, which must occur exactly once, replaced by ``new``.

    Raises:
        ToolError: ``old`` occurs several times or not at all; the error names its lines, or a similar line.
    """
    places = _places(text, old)
    if len(places) == 1:
        return text[: places[0]] + new + text[places[0] + len(old) :]
    if places:
        lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in places[:PLACES_SHOWN])
        raise ToolError(
            f"old_text occurs {len(places)} times, in lines {lines}. Add more of the surrounding text to old_text."
        )
    raise ToolError(f"old_text was not found{_near(text, old)}. Read the file again and copy the passage exactly.")


def _places(text: str, old: str) -> list[int]:
    found: list[int] = []
    at = text.find(old)
    while at >= 0:
        found.append(at)
        at = text.find(old, at + 1)
    return found


def _near(text: str, old: str) -> str:
    """The probably intended passage: one that differs only in whitespace, or the line most similar to the first."""
    lines, wanted = text.splitlines(), old.splitlines()
    if at := _but_for_blanks(lines, wanted):
        return f". Line {at} contains a passage that differs only in whitespace: {lines[at - 1][:LINE_SHOWN_CHARS]!r}"
    first = next((line for line in wanted if line.strip()), "")[:LINE_SHOWN_CHARS]
    shown = [line[:LINE_SHOWN_CHARS] for line in lines[:NEAR_LINES_MAX]]
    found = difflib.get_close_matches(first, shown, n=1, cutoff=NEAR)
    return f". The most similar line is line {shown.index(found[0]) + 1}: {found[0]!r}" if found else ""


def _but_for_blanks(lines: list[str], wanted: list[str]) -> int:
    """The line, from 1, at which ``wanted`` occurs if whitespace is ignored; 0 if it does not."""
    have, want = [_squeezed(line) for line in lines], [_squeezed(line) for line in wanted]
    if not any(want):
        return 0
    for at in range(len(have) - len(want) + 1):
        if have[at] == want[0] and have[at : at + len(want)] == want:
            return at + 1
    return next((at for at, line in enumerate(have, 1) if len(want) == 1 and want[0] in line), 0)


def _squeezed(line: str) -> str:
    return " ".join(line.split())


EDIT_FILE = Tool(
    name="edit_file",
    description="Replace a passage in one of your text files. old_text must occur in the file exactly once.",
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "old_text": {
                "type": "string",
                "minLength": 1,
                "description": "The exact passage, with some surrounding text.",
            },
            "new_text": {"type": "string"},
        },
        "required": ["path", "old_text", "new_text"],
        "additionalProperties": False,
    },
    run=_edit_file,
)
