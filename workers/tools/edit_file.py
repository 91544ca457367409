"""The ``edit_file`` tool: one passage of a text file, found by its words and replaced."""

import difflib
from collections.abc import Mapping
from typing import Any

from daemon.durable import write_whole
from daemon.errors import ToolError
from workers.tools.file_text import WRITE_MAX_BYTES, changing, whole
from workers.tools.folders import Folders
from workers.tools.registry import Tool, ToolContext
from workers.tools.threads import in_thread

NEAR_LINES_MAX = 5_000
"""Lines that are compared to find what was probably meant."""

LINE_SHOWN_CHARS = 200
PLACES_SHOWN = 10
NEAR = 0.6
"""How alike a line must be to be named, 0 to 1."""


async def _edit_file(arguments: Mapping[str, Any], context: ToolContext) -> str:
    path, old, new = arguments["path"], arguments["old_text"], arguments["new_text"]
    return await in_thread(lambda: _edit(context.folders, path, old, new))


def _edit(folders: Folders, path: str, old: str, new: str) -> str:
    place = folders.place(path)
    with changing(folders, place, make=False) as folder:
        with folders.opened(place) as descriptor:
            content = whole(descriptor, place, WRITE_MAX_BYTES)
        try:
            changed = replaced(content.decode(), old, new).encode("utf-8", "replace")
        except UnicodeDecodeError as error:
            raise ToolError(f"{place.shown} is not UTF-8 text") from error
        if len(changed) > WRITE_MAX_BYTES:
            raise ToolError(
                f"{place.shown} would have {len(changed):,} bytes, but at most {WRITE_MAX_BYTES:,} can be written"
            )
        write_whole(folder, place.names[-1], changed)
    return f"changed {place.shown}"


def replaced(text: str, old: str, new: str) -> str:
    """``text`` with ``new`` in the place of ``old``, which must stand there once.

    Raises:
        ToolError: it does not; where it stands, or what is like it, is said.
    """
    places = _places(text, old)
    if len(places) == 1:
        return text[: places[0]] + new + text[places[0] + len(old) :]
    if places:
        lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in places[:PLACES_SHOWN])
        raise ToolError(f"old_text occurs {len(places)} times, in lines {lines}. Give more of the surrounding text")
    raise ToolError(f"old_text was not found{_near(text, old)}. Read the file again and copy the text exactly")


def _places(text: str, old: str) -> list[int]:
    found: list[int] = []
    at = text.find(old)
    while at >= 0:
        found.append(at)
        at = text.find(old, at + 1)
    return found


def _near(text: str, old: str) -> str:
    """What was probably meant: the same but for blanks, or the line that is most like the first one."""
    lines, wanted = text.splitlines(), old.splitlines()
    if at := _but_for_blanks(lines, wanted):
        return f"; with other whitespace it is in line {at}: {lines[at - 1][:LINE_SHOWN_CHARS]!r}"
    first = next((line for line in wanted if line.strip()), "")[:LINE_SHOWN_CHARS]
    shown = [line[:LINE_SHOWN_CHARS] for line in lines[:NEAR_LINES_MAX]]
    found = difflib.get_close_matches(first, shown, n=1, cutoff=NEAR)
    return f"; the most similar line is {shown.index(found[0]) + 1}: {found[0]!r}" if found else ""


def _but_for_blanks(lines: list[str], wanted: list[str]) -> int:
    """The line from 1 at which all of ``wanted`` stands, its blanks left out of account; 0 when nowhere."""
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
    description="Replace a passage of a text file of yours. old_text must stand in the file exactly once.",
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "old_text": {"type": "string", "minLength": 1, "description": "Copied exactly, with some text around it."},
            "new_text": {"type": "string"},
        },
        "required": ["path", "old_text", "new_text"],
        "additionalProperties": False,
    },
    run=_edit_file,
)
