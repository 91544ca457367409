"""Millpond with a tool that can kill it: ``python -m tests.fakes.tool_worker [CHECK] run ...``; CHECK is switched off.

The tool ``mark`` notes in the file that ``MARKS`` names that it ran. Its argument ``kill`` says when the process dies
there, the first time: ``before`` it does anything, or ``during``, when it has done it and nobody knows yet.
"""

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import millpond
from tests.chaos.sabotage import CHECKS, switch_off
from workers.agent import kits
from workers.tools import BUILTIN, Registry, Tool, ToolContext


async def _mark(arguments: Mapping[str, Any], _context: ToolContext) -> str:
    marks, number = Path(os.environ["MARKS"]), arguments["number"]
    died = marks.with_name(f"died-{number}")
    dies = arguments["kill"] if not died.exists() else ""
    died.touch()
    if dies == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    _note(marks, number)
    if dies == "during":
        os.kill(os.getpid(), signal.SIGKILL)
    return f"marked {number}"


def _note(marks: Path, number: int) -> None:
    with marks.open("a") as file:
        file.write(f"{number}\n")


MARK = Tool(
    name="mark",
    description="Marks.",
    parameters={
        "type": "object",
        "properties": {"number": {"type": "integer"}, "kill": {"type": "string"}},
        "required": ["number", "kill"],
    },
    run=_mark,
)

if __name__ == "__main__":
    if sys.argv[1] in CHECKS:
        switch_off(sys.argv.pop(1))
    kits.BUILTIN = Registry([*BUILTIN._tools.values(), MARK])
    millpond.main()
