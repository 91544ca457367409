"""The findings of ``millpond doctor`` about workspaces and tool servers."""

from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from daemon.cli import machine_checks
from daemon.cli.doctor_finding import Finding, error, ok, warning
from daemon.cli.preflight import program_found
from daemon.config import BotConfig, Config, McpConfig, data_path
from daemon.errors import ToolError
from daemon.memory.unreadable_memories import refused_memories
from daemon.process import workspace_of
from workers.agent.workspace import read_files
from workers.tools.mcp.tool_servers import LIST_WAIT_S
from workers.tools.web import search

TRIED = "weather"
"""The query of the search that the doctor makes; every provider has results for it."""


async def examine(config: Config) -> list[Finding]:
    """The lines of all bots; tool servers are started, or reached, to ask them what they offer."""
    findings = list[Finding]()
    for name, bot in config.bots.items():
        folder = workspace_of(name, bot, data_path(config))
        room = await to_thread.run_sync(
            machine_checks.room,
            f"bots.{name}.workspace",
            folder,
            "Millpond will soon be unable to write files and memory",
        )
        findings += [room] if room else []
        findings += await to_thread.run_sync(_files, f"files of {name}", folder)
    asked = dict[tuple[str, str], list[Finding]]()

    async def ask(bot: str, name: str, server: McpConfig) -> None:
        asked[bot, name] = await _server(f"tool server {name} of {bot}", bot, name, server)

    servers = [(bot, name) for bot, each in config.bots.items() for name in each.mcp]
    async with anyio.create_task_group() as tg:
        for owner, name in servers:
            tg.start_soon(ask, owner, name, config.bots[owner].mcp[name])
    searching = [await _search(name, bot) for name, bot in config.bots.items() if "web_search" in bot.tools]
    return [*findings, *(finding for key in servers for finding in asked[key]), *searching]


async def _search(name: str, bot: BotConfig) -> Finding:
    """One search, the only way to find out whether the key and the address are right."""
    check = f"web search of {name}"
    try:
        found = await search(bot.web, TRIED, 1)
    except ToolError as failure:
        return error(check, str(failure))
    return ok(check, f"{bot.web.search} answers") if found else warning(check, f"{bot.web.search} found nothing")


def _files(check: str, folder: Path) -> list[Finding]:
    files = read_files(folder)
    wrong = [(each.path, each.reason) for each in files.unreadable]
    found = [
        warning(check, f"{folder / path} cannot be read: {why}") for path, why in (*wrong, *refused_memories(folder))
    ]
    count = f"{len(files.bootstrap)} bootstrap files and {len(files.skills)} skills can be read"
    return found or [ok(check, f"{folder}: {count}")]


async def _server(check: str, bot: str, name: str, config: McpConfig) -> list[Finding]:
    from workers.tools.mcp.tool_offer import offer_of  # noqa: PLC0415 - an extra
    from workers.tools.mcp.tool_server_connection import Connection  # noqa: PLC0415 - an extra

    if config.command and not program_found(config):
        return []  # which is told with the bot's other tools

    async def call(_tool: str, _arguments: Mapping[str, Any], _context: object) -> Any:
        raise ToolError("tools cannot be called during this check")

    found = [
        warning(
            check,
            f"the server did not list its tools within {LIST_WAIT_S:g} s. The bot answers without the tools of this "
            "server.",
        )
    ]
    async with anyio.create_task_group() as tg:

        def start(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
            tg.start_soon(work)

        environment = {"MILLPOND_SCOPE": f"{bot}:workspace", "MILLPOND_SESSION": ""}
        connection = Connection(name, config, environment=environment, start=start)
        with anyio.move_on_after(LIST_WAIT_S):
            try:
                offer = offer_of(name, config, await connection.tools(), call)
            except ToolError as error:
                found = [warning(check, f"{str(error).rstrip('.')}. The bot answers without the tools of this server.")]
            else:
                found = [warning(check, f"{each.tool}: {each.reason}") for each in offer.problems]
                found.append(ok(check, f"{len(offer.tools)} usable tools"))
        tg.cancel_scope.cancel()
    return found
