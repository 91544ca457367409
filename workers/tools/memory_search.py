"""The ``memory_search`` tool: searches the memory of the turn's scope."""

from collections.abc import Mapping
from typing import Any

from daemon.recall import found_text
from workers.tools.registry import Tool, ToolContext

QUERY_MAX_CHARS = 4_000
RESULTS_MAX = 20


async def _memory_search(arguments: Mapping[str, Any], context: ToolContext) -> str:
    found = await context.recaller.search(context.scope, arguments["query"], limit=arguments.get("max_results"))
    return found_text(found)


MEMORY_SEARCH = Tool(
    name="memory_search",
    description=(
        "Search the whole memory of this person or group: MEMORY.md and its older versions, history, daily notes, "
        "earlier messages. Not every word has to match. Each hit has a [docid]; memory_get reads the text around it."
    ),
    parameters={
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "minLength": 1,
                "maxLength": QUERY_MAX_CHARS,
                "description": "A question or search terms. If the question names a day or month, results from that "
                "period come first.",
            },
            "max_results": {"type": "integer", "minimum": 1, "maximum": RESULTS_MAX},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    run=_memory_search,
    repeatable=True,
)
