"""Millpond with tools of tests: ``python -m tests.fakes.tool_worker [CHECK] run ...``; CHECK is switched off.

None of them is repeatable.

The tool ``mark`` notes in the file that ``MARKS`` names that it ran. Its argument ``kill`` says when the process dies
there, the first time: ``before`` it does anything, or ``during``, when it has done it and nobody knows yet.

The tool ``note`` notes in the file that ``NOTES`` names that it begins, for which call and job, and after ``pause_s``
that it has ended.

The tool ``act`` goes wrong as its argument ``what`` says.
"""

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

import millpond
from daemon import tokens, vocabulary
from daemon.config import BotConfig, Config, MemorySearchConfig, ModelConfig, QueueConfig, RedisConfig
from daemon.run import open_process
from daemon.session import sessions
from tests.chaos.runs import BEGAN, ENDED, Run, append
from tests.chaos.sabotage import CHECKS, switch_off
from workers.agent import bot_checks, bot_runtime
from workers.agent.service import serve
from workers.tools import BUILTIN, Registry, Tool, ToolContext

DEATH_PAUSE_S = 1.0
"""Seconds, instead of 5, that a message rests after the deaths of two workers: as short as the leases of runs."""


async def _mark(arguments: Mapping[str, Any], _context: ToolContext) -> str:
    marks, number = Path(os.environ["MARKS"]), arguments["number"]
    died = marks.with_name(f"died-{number}")
    dies = arguments["kill"] if not died.exists() else ""
    died.touch()
    if dies == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    _add(marks, number)
    if dies == "during":
        os.kill(os.getpid(), signal.SIGKILL)
    return f"marked {number}"


def _add(marks: Path, number: int) -> None:
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


async def _note(arguments: Mapping[str, Any], context: ToolContext) -> str:
    call, job = arguments["call"], arguments["job"]
    run = Run(session=context.session, turn=context.turn, place=context.call, call=call, job=job)
    notes = Path(os.environ["NOTES"])
    append(notes, BEGAN, run)
    await anyio.sleep(arguments["pause_s"])
    append(notes, ENDED, run)
    return run.result


NOTE = Tool(
    name="note",
    description="Notes.",
    parameters={
        "type": "object",
        "properties": {"call": {"type": "string"}, "job": {"type": "string"}, "pause_s": {"type": "number"}},
        "required": ["call", "job", "pause_s"],
    },
    run=_note,
)


class _Bug(Exception):
    """What no tool should let out."""


async def _act(arguments: Mapping[str, Any], _context: ToolContext) -> str:
    match arguments["what"]:
        case "hang":
            await anyio.sleep_forever()
        case "raise":
            raise _Bug("a bug in a tool")
        case "exit":
            sys.exit("a tool that ends the process")
        case "print":
            print("0123456789" * 1_000_000)
        case "large":
            return "0123456789" * 1_000_000
        case "none":
            return None  # type: ignore[return-value]
    return "done"


ACT = Tool(
    name="act", description="Does WHAT.",
    parameters={"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}, run=_act,
)  # fmt: skip


def work(server_dir: Path, prefix: str, base_url: str, marks: Path) -> None:
    """Be a worker with the tool ``mark`` alone, on a server that is there, until killed."""
    bot_runtime.BUILTIN = bot_checks.BUILTIN = Registry([MARK])
    vocabulary.counter = lambda _name: tokens.estimate  # a vocabulary takes as long as the rest of a start
    os.environ["MARKS"] = str(marks)
    anyio.run(_work, server_dir, prefix, base_url, marks.parent)


async def _work(server_dir: Path, prefix: str, base_url: str, data_dir: Path) -> None:
    bot = BotConfig(tools=("mark",), model=ModelConfig(name="fake", base_url=base_url))
    config = Config(
        queue=QueueConfig(lease_s=600.0, backoff_min_s=0.001), redis=RedisConfig(prefix=prefix),
        memory_search=MemorySearchConfig(enabled=False), bots={"pond": bot},
    )  # fmt: skip
    async with open_process(config, server_dir) as process:
        await serve(replace(process, data_dir=data_dir), task_status=anyio.TASK_STATUS_IGNORED)


if __name__ == "__main__":
    if sys.argv[1] in CHECKS:
        switch_off(sys.argv.pop(1))
    sessions.DEATH_PAUSE_S = DEATH_PAUSE_S
    bot_runtime.BUILTIN = bot_checks.BUILTIN = Registry([*BUILTIN._tools.values(), MARK, NOTE, ACT])
    millpond.main()
