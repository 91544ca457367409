"""The ``read_file`` tool: lines of a text, or a picture."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from daemon.errors import ToolError
from workers.tools.file_access import FileAccess, is_text, pieces, whole
from workers.tools.registry import READ_FILE_NAME, Tool, ToolContext
from workers.tools.tool_result import Image, ToolResult, in_thread

LIMIT_LINES = 1_000
"""Default number of lines."""

PAGE_MAX_CHARS = 18_000
"""Longest text of one result: a little below the limit of results."""

LINE_MAX_CHARS = 4_000
"""A longer line counts as several, so that all of a file can be reached."""

IMAGE_MAX_BYTES = 1_000_000
"""Largest picture. The log stores it in a form that is a third larger."""

IMAGES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
"""First bytes of the picture files that models can see."""


async def _read_file(arguments: Mapping[str, Any], context: ToolContext) -> str | ToolResult:
    path, offset, limit = arguments["path"], arguments.get("offset", 1), arguments.get("limit", LIMIT_LINES)
    return await in_thread(lambda: _read(context.folders, path, offset, limit))


def _read(folders: FileAccess, path: str, offset: int, limit: int) -> str | ToolResult:
    place = folders.place(path)
    with folders.opened(place) as descriptor:
        if is_text(descriptor):
            return _page(descriptor, offset, limit)
        content = whole(descriptor, place, IMAGE_MAX_BYTES)
    kind = picture_type(content)
    if not kind:
        raise ToolError(f"{place.path} is neither text nor a picture (PNG, JPEG, GIF, WebP), so it cannot be read.")
    text = f"{place.path}: {kind}, {len(content):,} bytes"
    return ToolResult(text=text, images=(Image(media_type=kind, data=content),))


def picture_type(content: bytes) -> str:
    """The media type of a picture that models can see; empty for other files."""
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in IMAGES.items() if content.startswith(start)), "")


def _page(descriptor: int, offset: int, limit: int) -> str:
    lines = pieces(descriptor, LINE_MAX_CHARS)
    skipped = sum(1 for _ in islice(lines, offset - 1))
    if skipped < offset - 1:
        raise ToolError(f"The file has only {skipped:,} lines. Use an offset below {offset:,}.")
    page: list[str] = []
    chars, more = 0, False
    for line in lines:
        if len(page) == limit or chars + len(line) > PAGE_MAX_CHARS:
            more = True
            break
        page.append(line)
        chars += len(line)
    text = "".join(page)
    if not text:
        return "(empty)"
    if not more:
        return text if offset == 1 else f"{text}\n[end of the file, lines {offset:,} to {offset + len(page) - 1:,}]"
    return f"{text}\n[lines {offset:,} to {offset + len(page) - 1:,}; continue with offset {offset + len(page)}]"


READ_FILE = Tool(
    name=READ_FILE_NAME,
    description=(
        "Read one of your files, a file below skills/ or memory/, or a bootstrap file such as AGENTS.md. Text files "
        f"are read line by line; a line of more than {LINE_MAX_CHARS:,} characters counts as several lines. Pictures "
        "are returned as images."
    ),
    parameters={
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "description": "Path of the file, for example notes/today.md, skills/<name>/SKILL.md, "
                "memory/MEMORY.md.",
            },
            "offset": {"type": "integer", "minimum": 1, "maximum": 10**9, "description": "First line, counted from 1."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 10_000,
                "description": f"Maximum number of lines. Default: {LIMIT_LINES:,}.",
            },
        },
        "required": ["path"],
        "additionalProperties": False,
    },
    run=_read_file,
    repeatable=True,
)
