"""The tools ``web_fetch`` and ``web_search``."""

from collections.abc import Mapping
from typing import Any

from daemon.errors import ToolError
from workers.tools.registry import Tool, ToolContext
from workers.tools.web.address_check import URL_MAX_CHARS

# The ``web_fetch`` tool: the readable text of a public web page, a part at a time.

PART_MAX_CHARS = 16_000
"""Characters of one result: less than a result that is cut in its middle."""


async def _web_fetch(arguments: Mapping[str, Any], context: ToolContext) -> str:
    start = int(arguments.get("start", 0))
    links = bool(arguments.get("links", False))
    text = await context.web.fetch(arguments["url"], links=links, call=f"{context.turn}:{context.call}")
    if start and start >= len(text):
        raise ToolError(f"The page has only {len(text):,} characters.")
    end = start + PART_MAX_CHARS
    more = f"\n\n[{len(text) - end:,} more characters. Continue with start={end}.]" if len(text) > end else ""
    return f"{text[start:end]}{more}"


WEB_FETCH = Tool(
    name="web_fetch",
    description="Read a public web page as text. The tool cannot log in to websites or run scripts.",
    parameters={
        "type": "object",
        "properties": {
            "url": {
                "type": "string",
                "maxLength": URL_MAX_CHARS,
                "description": "Address that begins with https:// or http://.",
            },
            "links": {"type": "boolean", "description": "Set to true to show the address of each link after its text."},
            "start": {
                "type": "integer",
                "minimum": 0,
                "description": "Position of the first character to read. Default: 0.",
            },
        },
        "required": ["url"],
        "additionalProperties": False,
    },
    run=_web_fetch,
    repeatable=True,
)


# The ``web_search`` tool: searches the web at the bot's provider.

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
