"""The ``conversation_search`` tool: earlier messages of the turn's scope, word for word, with their times."""

from collections.abc import Mapping
from typing import Any

from daemon.errors import ArchiveError, ToolError
from workers.tools.memory_search import QUERY_MAX_CHARS, RESULTS_MAX
from workers.tools.registry import Tool, ToolContext

RESULTS = 5
"""Default number of messages."""

NOTHING = "No earlier messages found."


async def _conversation_search(arguments: Mapping[str, Any], context: ToolContext) -> str:
    limit = arguments.get("max_results", RESULTS)
    try:
        found = await context.recaller.said(context.scope, arguments["query"], limit=limit)
    except ArchiveError as error:
        raise ToolError(str(error)) from error
    return "\n\n".join(each.written() for each in found) or NOTHING


CONVERSATION_SEARCH = Tool(
    name="conversation_search",
    description=(
        "Find earlier messages in the conversations that share this memory, in their exact words, with time and "
        "speaker. "
        "Use this tool for exact quotes. memory_search also searches summaries."
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
            "max_results": {
                "type": "integer",
                "minimum": 1,
                "maximum": RESULTS_MAX,
                "description": f"Number of messages; default {RESULTS}.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    run=_conversation_search,
    repeatable=True,
)
