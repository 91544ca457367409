"""The ``web_search`` tool: searches the web at the bot's provider."""

from collections.abc import Mapping
from typing import Any

from workers.tools.registry import Tool, ToolContext

RESULTS, RESULTS_MAX = 5, 10
"""Results by default, and at most."""
QUERY_MAX_CHARS = 400
"""Longest query of Brave's API ("Web Search API", ``q``)."""


async def _web_search(arguments: Mapping[str, Any], context: ToolContext) -> str:
    count = int(arguments.get("max_results", RESULTS))
    found = await context.web.search(arguments["query"], count, call=f"{context.turn}:{context.call}")
    return found or "No results."


WEB_SEARCH = Tool(
    name="web_search",
    description=(
        "Search the web. Each result has a number, a title, an address and a snippet. Before you rely on a snippet, "
        "read its page with web_fetch, if you have this tool."
    ),
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": QUERY_MAX_CHARS},
            "max_results": {
                "type": "integer",
                "minimum": 1,
                "maximum": RESULTS_MAX,
                "description": f"Number of results; default {RESULTS}.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    run=_web_search,
    repeatable=True,
)
