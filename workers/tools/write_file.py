"""The ``write_file`` tool: creates or replaces a text file."""

from collections.abc import Mapping
from typing import Any

from daemon.durable import write_whole
from daemon.errors import ToolError
from workers.tools.file_text import WRITE_MAX_BYTES, changing
from workers.tools.registry import Tool, ToolContext
from workers.tools.tool_sandbox import Folders
from workers.tools.tool_threads import in_thread


async def _write_file(arguments: Mapping[str, Any], context: ToolContext) -> str:
    return await in_thread(lambda: _write(context.folders, arguments["path"], arguments["content"]))


def _write(folders: Folders, path: str, content: str) -> str:
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
    description="Create a text file, or replace the whole content of a text file. To change only a part of a file, "
    "use edit_file.",
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
