"""The tools ``memory_get``, ``memory_search``, ``conversation_search`` and ``compact``."""

from collections.abc import Mapping
from typing import Any

from daemon.errors import ArchiveError, ToolError
from daemon.recall import found_text
from workers.tools.registry import Tool, ToolContext

# The ``memory_get`` tool: a search hit with the text around it.

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
    description="Read the text around a result of memory_search or conversation_search: either lines of a file, or "
    "messages.",
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
                "description": f"Number of lines or messages before and after the search result. Default: {CONTEXT}.",
            },
        },
        "required": ["docid"],
        "additionalProperties": False,
    },
    run=_memory_get,
    repeatable=True,
)


# The ``memory_search`` tool: searches the memory of the turn's scope.

QUERY_MAX_CHARS = 4_000
RESULTS_MAX = 20


async def _memory_search(arguments: Mapping[str, Any], context: ToolContext) -> str:
    found = await context.recaller.search(context.scope, arguments["query"], limit=arguments.get("max_results"))
    return found_text(found)


MEMORY_SEARCH = Tool(
    name="memory_search",
    description=(
        "Search the whole memory of this person or group: MEMORY.md and its older versions, history, daily notes, "
        "earlier messages. Not every word has to match. Each hit has a [docid]; memory_get reads the text around the "
        "hit."
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


# The ``conversation_search`` tool: earlier messages of the turn's scope, word for word, with their times.

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
        "Search the conversations that share this memory for earlier messages. The results contain the exact words, "
        "the time and the speaker of each message. "
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


# The ``compact`` tool: consolidates older messages of the conversation immediately.

FOCUS_MAX_CHARS = 2_000

TIMEOUT_S = 75.0
"""The time limit of a summary, with a margin."""


async def _compact(arguments: Mapping[str, Any], context: ToolContext) -> str:
    return await context.compact(arguments.get("focus", ""))


COMPACT = Tool(
    name="compact",
    description=(
        "Replace older messages in this conversation with a summary now, to make room in the context. The newest "
        "messages and the current turn stay in the context. All messages stay in the transcript."
    ),
    parameters={
        "type": "object",
        "properties": {
            "focus": {
                "type": "string",
                "maxLength": FOCUS_MAX_CHARS,
                "description": "Content that the summary must preserve.",
            },
        },
        "additionalProperties": False,
    },
    run=_compact,
    # Consolidated messages are not consolidated again.
    repeatable=True,
    timeout_s=TIMEOUT_S,
)
