"""The tool servers of a process's bots: their tools, and a connection for each scope that calls one."""

from collections.abc import Callable, Coroutine, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import anyio
import anyio.abc
import msgspec
import structlog
from anyio import to_thread
from msgspec.structs import replace

from daemon.clock import stamp
from daemon.config import McpConfig
from daemon.errors import ToolError, brief
from daemon.heartbeat import ToolServerState
from daemon.process import Process
from workers.tools import BUILTIN
from workers.tools.mcp.schema_repair import named
from workers.tools.registry import Tool, ToolContext, first_sentence

if TYPE_CHECKING:
    import mcp_types

    from workers.tools.mcp.tool_offer import Problem, ToolOffer
    from workers.tools.mcp.tool_server_connection import ToolServerConnection


# A tool server whose tools are missing in a turn.


class MissingServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server none of whose tools a turn has."""

    server: str
    """As the configuration names it."""
    why: Literal["slow", "broken", "large"]
    """It did not respond in time; it cannot be used; its tools would leave no room in the model's window."""
    reason: str
    """In words, for those who run the bot: a server may have had a say in them."""


TOOLS_MAX = 128
"""Tools of one request (OpenAI, "tools")."""

SERVED_MAX = TOOLS_MAX - len(BUILTIN.names)
"""Of these, those of servers."""

REASON_MAX_CHARS = 300

LIST_WAIT_S = 10.0
"""How long a turn waits for a server to say what it offers."""

LIST_REST_S = 60.0
"""How long a server that did not say is left out before it is asked again."""

IDLE_S = 300.0
"""A connection that nobody has used for so long is closed."""

LOOK_S = 10.0
"""How often is looked for those."""

CONNECTIONS_MAX = 64
"""Connections of a process; beyond that the one that was idle longest is closed."""

_log = structlog.get_logger()

_Server = tuple[str, str]
"""Bot and name of the server."""


class ToolServers:
    """Finds and calls the tools of servers; ``run`` must be running in a task group."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._tasks: anyio.abc.TaskGroup | None = None
        self._connections: dict[tuple[str, str, str], ToolServerConnection] = {}
        self._offers: dict[_Server, ToolOffer] = {}
        self._missing: dict[_Server, MissingServer] = {}
        self._tools: dict[str, tuple[Tool, ...]] = {}
        """By bot, put together from the offers."""
        self._retry_at: dict[_Server, float] = {}
        self._asking: dict[_Server, anyio.Lock] = {}
        self._lost: dict[_Server, str] = {}
        """Why the last connection of a server ended, until one works again."""
        self._seen: dict[_Server, ToolServerState] = {}

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Own the connections, and close those that nobody uses, for ever."""
        try:
            async with anyio.create_task_group() as self._tasks:
                if any(bot.mcp for bot in self._process.config.bots.values()):
                    # Half a second of importing: now, and not in the first turn.
                    await to_thread.run_sync(import_module, "workers.tools.mcp.tool_server_connection")
                task_status.started()
                while True:
                    await anyio.sleep(LOOK_S)
                    self._close_idle(anyio.current_time() - IDLE_S)
        finally:
            self._tasks = None

    async def tools(self, bot: str, *, scope: str, session: str) -> tuple[Tool, ...]:
        """The tools that a bot's servers offer; one that does not answer is left out for a while (``missing``)."""
        servers = self._process.bot(bot).mcp
        if not servers:
            return ()
        async with anyio.create_task_group() as tg:
            for name, config in servers.items():
                if (bot, name) not in self._offers:
                    tg.start_soon(self._ask, (bot, name), config, scope, session)
        if bot not in self._tools:
            self._tools[bot] = self._joined(bot)
        return self._tools[bot]

    def missing(self, bot: str) -> tuple[MissingServer, ...]:
        """The bot's servers that were left out when a turn last asked for its tools."""
        servers = self._process.bot(bot).mcp
        return tuple(self._missing[bot, name] for name in servers if (bot, name) in self._missing)

    def too_large(self, bot: str, reason: str) -> tuple[MissingServer, ...]:
        """The bot's servers that did answer, as missing: their tools leave no room in the model's window."""
        servers = self._process.bot(bot).mcp
        offering = [name for name in servers if (bot, name) in self._offers and self._offers[bot, name].tools]
        return tuple(MissingServer(server=name, why="large", reason=reason) for name in offering)

    def problems(self) -> dict[str, tuple["Problem", ...]]:
        """What the servers of each bot offer and cannot be used, as far as they were asked."""
        return {
            bot: tuple(
                problem
                for name in config.mcp
                if (bot, name) in self._offers
                for problem in self._offers[bot, name].problems
            )
            for bot, config in self._process.config.bots.items()
        }

    def states(self) -> list[ToolServerState]:
        """Every server of every bot as it is now; the time counts from the first call that saw a state."""
        servers = [(bot, name) for bot, config in self._process.config.bots.items() for name in config.mcp]
        for bot, name, scope in self._connections:
            if reason := self._connections[bot, name, scope].failure:
                self._lost[bot, name] = reason
            elif self._connections[bot, name, scope].is_open:
                self._lost.pop((bot, name), None)
        return [self._state(server) for server in servers]

    def _state(self, server: _Server) -> ToolServerState:
        missing, offer = self._missing.get(server), self._offers.get(server)
        reason = missing.reason if missing else self._lost.get(server, "")
        seen = self._seen.get(server)
        state = ToolServerState(
            bot=server[0],
            server=server[1],
            state="failing" if reason else "available" if offer else "unknown",
            since=stamp(self._process.clock.now()),
            reason=reason[:REASON_MAX_CHARS],
            tools={tool.name: first_sentence(tool.description) for tool in offer.tools} if offer else {},
        )
        if seen is not None and seen.state == state.state:
            state = replace(state, since=seen.since)
        self._seen[server] = state
        return state

    def _joined(self, bot: str) -> tuple[Tool, ...]:
        servers = self._process.bot(bot).mcp
        offered = [tool for name in servers if (bot, name) in self._offers for tool in self._offers[bot, name].tools]
        if len(offered) > SERVED_MAX:
            reason = (
                f"the servers offer {len(offered)} tools, but only {SERVED_MAX} are used. List fewer tools in "
                f"bots.{bot}.mcp.*.tools."
            )
            _log.warning("tools.missing", bot=bot, reason=reason)
        return named(offered[:SERVED_MAX], BUILTIN.names)

    async def _ask(self, server: _Server, config: McpConfig, scope: str, session: str) -> None:
        async with self._asking.setdefault(server, anyio.Lock()):
            if server in self._offers or anyio.current_time() < self._retry_at.get(server, 0.0):
                return
            bot, name = server
            missing = MissingServer(
                server=name, why="slow", reason=f"the server did not list its tools within {LIST_WAIT_S:g} s"
            )
            told = missing.reason
            with anyio.move_on_after(LIST_WAIT_S):
                try:
                    offered = await self._connection(bot, name, scope, session).tools()
                    self._offers[server] = self._made(bot, name, config, offered)
                except ToolError as error:
                    missing, told = MissingServer(server=name, why="broken", reason=str(error)), brief(error)
                except Exception as error:  # noqa: BLE001 - a server can offer anything; turns go on without it
                    reason = f"the server's list of tools cannot be used: {type(error).__name__}: {error}"
                    missing, told = (
                        MissingServer(server=name, why="broken", reason=reason[:REASON_MAX_CHARS]),
                        brief(error),
                    )
                else:
                    self._missing.pop(server, None)
                    self._tools.pop(bot, None)
                    return
            self._missing[server] = missing
            self._retry_at[server] = anyio.current_time() + LIST_REST_S
            _log.warning("tools.missing", bot=bot, tool=name, reason=told)

    def _made(self, bot: str, name: str, config: McpConfig, offered: "list[mcp_types.Tool]") -> "ToolOffer":
        from workers.tools.mcp.tool_offer import offer_of  # noqa: PLC0415 - see the package's first lines

        async def call(tool: str, arguments: Mapping[str, Any], context: ToolContext) -> "mcp_types.CallToolResult":
            return await self._connection(bot, name, context.scope, context.session).call(tool, arguments)

        return offer_of(name, config, offered, call)

    def _connection(self, bot: str, name: str, scope: str, session: str) -> "ToolServerConnection":
        """The scope's own connection: no two people share a server's memory of them."""
        from workers.tools.mcp.tool_server_connection import ToolServerConnection  # noqa: PLC0415 - see the package's first lines

        key = (bot, name, scope)
        if key not in self._connections:
            if len(self._connections) >= CONNECTIONS_MAX:
                self._close_longest_idle()
            environment = {"MILLPOND_SCOPE": scope, "MILLPOND_SESSION": session}
            config = self._process.bot(bot).mcp[name]
            self._connections[key] = ToolServerConnection(name, config, environment=environment, start=self._start)
        return self._connections[key]

    def _start(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if self._tasks is None:
            raise ToolError("tool servers cannot be reached, because this process is stopping")
        self._tasks.start_soon(work)

    def _close_idle(self, used_before: float) -> None:
        for key, connection in list(self._connections.items()):
            if connection.idle and connection.used_at < used_before:
                connection.close()
                del self._connections[key]

    def _close_longest_idle(self) -> None:
        idle = [(connection.used_at, key) for key, connection in self._connections.items() if connection.idle]
        if not idle:
            raise ToolError(f"all {CONNECTIONS_MAX} connections to tool servers are in use. Try again")
        _, key = min(idle)
        self._connections.pop(key).close()
