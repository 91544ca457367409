"""The ``time`` tool: the time in the bot's time zone, or in another one."""

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from daemon.errors import ToolError
from workers.tools.registry import Tool, ToolContext


async def _time(arguments: Mapping[str, Any], context: ToolContext) -> str:
    name = arguments.get("time_zone") or context.time_zone
    try:
        zone = ZoneInfo(str(name))
    except (KeyError, ValueError, OSError) as error:
        raise ToolError(
            f"{name!r} is not an IANA time zone. Use a name like Europe/Berlin or Asia/Shanghai."
        ) from error
    now = context.clock.now().astimezone(zone)
    return f"{now:%A, %Y-%m-%d %H:%M:%S} {now:%z} ({name})"


TIME = Tool(
    name="time",
    description="Returns the current date and time.",
    parameters={
        "type": "object",
        "properties": {
            "time_zone": {
                "type": "string",
                "description": "IANA name of the time zone, such as Asia/Shanghai. Default: the bot's own time zone.",
            }
        },
        "additionalProperties": False,
    },
    run=_time,
    repeatable=True,
)
