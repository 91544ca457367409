"""The ``remind`` tool: sets, lists and changes the reminders of this chat."""

from collections.abc import Mapping
from typing import Any

from workers.tools.registry import Tool, ToolContext


async def _remind(arguments: Mapping[str, Any], context: ToolContext) -> str:
    return await context.remind(context, arguments)


REMIND = Tool(
    name="remind",
    description=(
        "Set, list or change reminders that fire later in this chat, once or repeatedly. Set a reminder only if the "
        "person asked for it or agreed. Tell the person the time that is stated in the result."
    ),
    parameters={
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["set", "list", "change", "pause", "resume", "delete"]},
            "id": {"type": "string", "description": "ID of the reminder to change, pause, resume or delete."},
            "text": {
                "type": "string",
                "description": "The text to send, or the request that you will answer at that time.",
            },
            "kind": {
                "type": "string",
                "enum": ["text", "prompt"],
                "description": "text (default): the text is sent unchanged. prompt: you answer the request at that "
                "time, with your tools.",
            },
            "at": {
                "type": "string",
                "description": "The person's local time, such as 2026-11-27T09:00, or a delay from now, such as 20m, "
                "2h or 3d. Required if repeat is missing.",
            },
            "repeat": {
                "type": "string",
                "description": "iCalendar rule such as FREQ=WEEKLY;BYDAY=MO,FR, or cron 0 8 * * 1-5.",
            },
            "until": {"type": "string", "description": "Time after which a repeated reminder no longer fires."},
            "count": {
                "type": "integer",
                "minimum": 1,
                "maximum": 10_000,
                "description": "Number of times that the reminder fires.",
            },
            "time_zone": {
                "type": "string",
                "description": "IANA name of the time zone. Default: the person's time zone.",
            },
            "direct": {"type": "boolean", "description": "If true, the reminder fires in the person's direct chat."},
        },
        "required": ["action"],
        "additionalProperties": False,
    },
    run=_remind,
    # A reminder is identified by turn and call, and a change by what is changed: repeating a call does nothing more.
    repeatable=True,
)
