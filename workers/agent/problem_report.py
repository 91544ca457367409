"""Files, memories and tools that the bots of a process cannot use, for its heartbeat."""

from collections.abc import Iterator

import anyio

from daemon.heartbeat import Problem
from daemon.memory import MemoryFiles
from daemon.memory.memory_file import MEMORY
from daemon.memory.memory_files import bot_of, memory_folder
from workers.agent.bot_runtime import Kits
from workers.tools.mcp import ToolServers

LOOK_S = 2.0
"""How long a heartbeat waits for slow disks."""

REASON_MAX_CHARS = 300


async def problems_of(kits: Kits, files: MemoryFiles, servers: ToolServers) -> list[Problem]:
    """Those that are known; files of workspaces are looked at again."""
    found = list[Problem]()
    with anyio.move_on_after(LOOK_S):
        for bot, workspace in kits.workspaces.items():
            unreadable = (await workspace.files()).unreadable
            found += [Problem(bot=bot, name=each.path, reason=each.reason[:REASON_MAX_CHARS]) for each in unreadable]
    return [*found, *_of_memories(files), *_of_servers(servers)]


def _of_memories(files: MemoryFiles) -> Iterator[Problem]:
    for scope, why in files.complaints():
        yield Problem(bot=bot_of(scope), name="/".join((*memory_folder(scope), MEMORY)), reason=why[:REASON_MAX_CHARS])


def _of_servers(servers: ToolServers) -> Iterator[Problem]:
    for bot, wrong in servers.problems().items():
        for missing in servers.missing(bot):
            yield Problem(bot=bot, name=missing.server, reason=missing.reason[:REASON_MAX_CHARS])
        for each in wrong:
            yield Problem(bot=bot, name=each.tool[:REASON_MAX_CHARS], reason=each.reason[:REASON_MAX_CHARS])
