"""The ``exec`` tool: runs a shell command in a sandbox, in the folder of the scope's files."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from daemon.events import Choice
from workers.tools.registry import Saying, Tool, ToolContext

COMMAND_MAX_CHARS = 20_000

TIMEOUT_S = 86_400.0
"""Above any limit of the sandbox, which stops its command by itself (``exec.timeout_s``)."""


async def _exec(arguments: Mapping[str, Any], context: ToolContext) -> str:
    call = f"{context.session}#{context.turn} {context.call}"

    async def ask(text: str, choices: tuple[Choice, ...]) -> None:
        await context.say(context, Saying(text=text, choices=choices))

    return await context.shell.run(arguments["command"], call=call, ask=ask)


EXEC = Tool(
    name="exec",
    description=(
        "Run a shell command (/bin/sh) in a sandbox. The current folder contains your files, and only files in this "
        "folder are kept. The result is the output and the exit code."
    ),
    parameters={
        "type": "object",
        "properties": {"command": {"type": "string", "minLength": 1, "maxLength": COMMAND_MAX_CHARS}},
        "required": ["command"],
        "additionalProperties": False,
    },
    run=_exec,
    timeout_s=TIMEOUT_S,
)

EXEC_APPROVED = replace(EXEC, repeatable=True)
"""With approvals: a call that is repeated goes on waiting, and never runs its command again."""
