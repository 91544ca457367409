"""Checks of a bot for ``millpond doctor`` and the heartbeat: its workspace, tools, tool servers and model.

``millpond doctor --probe-model`` and ``millpond init`` tell what was found; a provider charges for three short calls.
"""

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import msgspec
from anyio import to_thread

from daemon.cli.doctor import machine_checks
from daemon.cli.doctor.doctor_finding import Finding, error, ok, warning
from daemon.cli.preflight import program_found
from daemon.config import BotConfig, Config, McpConfig, ModelConfig, data_path
from daemon.errors import ConfigError, InvalidAnswer, ModelRefused, ToolError
from daemon.heartbeat import Problem
from daemon.memory import MemoryFiles
from daemon.memory.memory_file import MEMORY
from daemon.memory.memory_files import bot_of, memory_folder, refused_memories
from daemon.model import Answer, CutOff, Model, OnlyThought, Request, connect, learnt_of, with_own
from daemon.process import workspace_of
from daemon.tokens import load
from workers.agent.bot_runtime import Kits
from workers.agent.prompt.system_prompt import LEAST_TURN_TOKENS, Prompts, identity
from workers.agent.prompt.workspace import read_files
from workers.message_format import encode, message
from workers.tools import BUILTIN
from workers.tools.command_sandbox import problem
from workers.tools.mcp import ToolServers
from workers.tools.mcp.tool_servers import LIST_WAIT_S
from workers.tools.web import search

# Whether the tools of a bot exist and fit into its prompts, before its first turn.

AROUND_TOKENS = 64
"""More than the sections of the identity and the message cost beside their texts."""


def faults(name: str, bot: BotConfig, workspace: Path) -> list[tuple[str, str]]:
    """Keys of the bot's section and what is wrong with each. Blocks."""
    try:
        tools = BUILTIN.only(bot.tools)
    except ConfigError as error:
        return [("tools", str(error).rstrip("."))]
    # A token is a byte at least: only who is near the limit waits for a vocabulary.
    texts = (identity(name, workspace, bot.language, tools=set(bot.tools)).encode(), *tools.definitions)
    if sum(map(len, texts)) + AROUND_TOKENS + LEAST_TURN_TOKENS <= bot.model.budget_tokens:
        return []
    tokenizer, config = anyio.run(load, bot.model.name), Config(bots={name: bot})
    try:
        Prompts(name, config, workspace=workspace, tokenizer=tokenizer, definitions=tools.definitions)
    except ConfigError as error:
        key = "model.context_window_tokens"
        return [(key, str(error).removeprefix(f"bots.{name}.{key}: ").rstrip("."))]
    return []


# The findings of ``millpond doctor`` about workspaces and tool servers.

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
    running = [await _sandbox(name, bot) for name, bot in config.bots.items() if "exec" in bot.tools]
    return [*findings, *(finding for key in servers for finding in asked[key]), *searching, *running]


async def _sandbox(name: str, bot: BotConfig) -> Finding:
    check = f"sandbox of {name}"
    with TemporaryDirectory() as folder:
        text = await problem(bot.exec, Path(folder))
    return error(check, text) if text else ok(check, "commands can be run")


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
    from workers.tools.mcp.tool_server_connection import ToolServerConnection  # noqa: PLC0415 - an extra

    if config.command and not program_found(config):
        return []  # which is told with the bot's other tools

    async def call(_tool: str, _arguments: Mapping[str, Any], _context: object) -> Any:
        raise ToolError("tools cannot be called during this check")

    found = [
        warning(
            check,
            f"the server did not list its tools within {LIST_WAIT_S:g} s. The bot answers without this server's tools.",
        )
    ]
    async with anyio.create_task_group() as tg:

        def start(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
            tg.start_soon(work)

        environment = {"MILLPOND_SCOPE": f"{bot}:workspace", "MILLPOND_SESSION": ""}
        connection = ToolServerConnection(name, config, environment=environment, start=start)
        with anyio.move_on_after(LIST_WAIT_S):
            try:
                offer = offer_of(name, config, await connection.tools(), call)
            except ToolError as error:
                found = [warning(check, f"{str(error).rstrip('.')}. The bot answers without this server's tools.")]
            else:
                found = [warning(check, f"{each.tool}: {each.reason}") for each in offer.problems]
                found.append(ok(check, f"{len(offer.tools)} usable tools"))
        tg.cancel_scope.cancel()
    return found


# Files, memories and tools that the bots of a process cannot use, for its heartbeat.

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


# Tests a model with tools, with a second round after a tool result, and with a picture.

TOOL = "time"
TOKENS = 1_024
"""Longest answer, beside the budget for thinking: a model that thinks first needs some hundred."""

ASK = message(
    "user", f"Call the tool {TOOL} now, without arguments, and then tell me in a few words what the tool returned."
)
PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP4z8CAB+GTG8HSALfKY52f"
    "TcuYAAAAAElFTkSuQmCC"
)
"""Ten red pixels by ten: the smallest that servers take."""
LOOK = message(
    "user",
    [
        {"type": "text", "text": "Which color is this, in one word?"},
        {"type": "image_url", "image_url": {"url": PICTURE}},
    ],
)


async def probe(bot: BotConfig, model: ModelConfig) -> list[str]:
    """What was found out about one model of a bot, a sentence each; nothing when all is as expected.

    Raises:
        ModelError: it does not answer.
        ConfigError: it cannot be asked.
    """
    try:
        tools = BUILTIN.only({*bot.tools, TOOL}).definitions
    except ConfigError:  # which the doctor tells of by itself
        tools = BUILTIN.only([TOOL]).definitions
    asked = await connect(model)
    try:
        tokens = TOKENS + model.thinking.budget_tokens
        found = [*await _tools(asked, tools, tokens), *(await _picture(asked, tokens) if model.vision else ())]
        return [*found, *learnt_of(model).lines(model)]
    finally:
        await asked.aclose()


async def _tools(model: Model, tools: Sequence[bytes], tokens: int) -> list[str]:
    answer = await answer_of(model, [ASK], tools, tokens)
    if not answer.tool_calls:
        return [f"the model was asked to call the tool {TOOL} but did not, so tools might not work with this model"]
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in answer.tool_calls
    ]
    said = {"role": "assistant", **({"content": answer.text} if answer.text else {}), "tool_calls": calls}
    results = [encode({"role": "tool", "content": "09:00", "tool_call_id": call["id"]}) for call in calls]
    again = await answer_of(model, [ASK, with_own(encode(said), answer.own), *results], tools, tokens)
    return [] if again.text.strip() else ["the model returned no text after a tool result"]


async def _picture(model: Model, tokens: int) -> list[str]:
    try:
        await answer_of(model, [LOOK], (), tokens)
    except (ModelRefused, InvalidAnswer) as error:
        return [f"the model does not accept pictures ({str(error).rstrip('.')}). Set model.vision = false"]
    return []


async def answer_of(model: Model, messages: Sequence[bytes], tools: Sequence[bytes], tokens: int) -> Answer:
    """The model's answer, also where it was cut off or is reasoning alone.

    Raises:
        ModelError: it does not answer.
    """
    request = Request(messages=messages, tools=tools, max_completion_tokens=tokens)
    try:
        async with aclosing(model.stream(request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, Answer):
                    return chunk
    except (CutOff, OnlyThought) as error:
        return msgspec.structs.replace(error.answer, text=error.answer.text or "…")
    raise InvalidAnswer("the model's stream ended without an answer")
