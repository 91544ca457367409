"""The ``list_files`` tool: the content of a folder."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from daemon.errors import ToolError
from workers.tools.folder_walk import Cut, walk
from workers.tools.registry import Tool, ToolContext
from workers.tools.tool_sandbox import BOOTSTRAP_FILES, READ_ONLY, Entry, Folders, Place
from workers.tools.tool_threads import in_thread

LISTED_MAX = 500
"""Most entries that are shown."""


async def _list_files(arguments: Mapping[str, Any], context: ToolContext) -> str:
    return await in_thread(lambda: _listed(context.folders, arguments.get("path", ""), arguments.get("deep", False)))


def _listed(folders: Folders, path: str, deep: bool) -> str:
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


def _to_read(folders: Folders, name: str) -> str:
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
            "path": {"type": "string", "description": "A folder; default: the folder of your files."},
            "deep": {"type": "boolean", "description": "Also list the content of subfolders; default false."},
        },
        "additionalProperties": False,
    },
    run=_list_files,
    repeatable=True,
)
