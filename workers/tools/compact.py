"""The ``compact`` tool: consolidates older messages of the conversation immediately."""

from collections.abc import Mapping
from typing import Any

from workers.tools.registry import Tool, ToolContext

FOCUS_MAX_CHARS = 2_000

TIMEOUT_S = 75.0
"""The time limit of a summary, with a margin."""


async def _compact(arguments: Mapping[str, Any], context: ToolContext) -> str:
    return await context.compact(arguments.get("focus", ""))


COMPACT = Tool(
    name="compact",
    description=(
        "Replace older messages of this conversation with a summary now, to make room in the context. The newest "
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
