"""The ``memory_get`` tool: a search hit with the text around it."""

from collections.abc import Mapping
from typing import Any

from daemon.errors import ArchiveError, ToolError
from workers.tools.registry import Tool, ToolContext

CONTEXT = 5
"""Default number of lines or messages on either side."""

CONTEXT_MAX = 100


async def _memory_get(arguments: Mapping[str, Any], context: ToolContext) -> str:
    docid = arguments["docid"].strip("[]#* ").lower()
    try:
        found = await context.recaller.around(context.scope, docid, context=arguments.get("context", CONTEXT))
    except ArchiveError as error:
        raise ToolError(str(error)) from error
    if found is None:
        raise ToolError(f"The search result {docid!r} was not found. Search again.")
    place, text = found
    what = "messages" if place.session else "lines"
    return f"{place.file}, {what} {place.first} to {place.upto - 1}:\n\n{text}"


MEMORY_GET = Tool(
    name="memory_get",
    description="Read the text around a hit of memory_search or conversation_search: lines of a file, or messages.",
    parameters={
        "type": "object",
        "properties": {
            "docid": {
                "type": "string",
                "minLength": 1,
                "maxLength": 64,
                "description": "The ID (docid) of a search result.",
            },
            "context": {
                "type": "integer",
                "minimum": 0,
                "maximum": CONTEXT_MAX,
                "description": f"Number of lines or messages before and after the hit; default {CONTEXT}.",
            },
        },
        "required": ["docid"],
        "additionalProperties": False,
    },
    run=_memory_get,
    repeatable=True,
)
