"""Calls the model and its tools in turn, until the model answers without a tool call."""

from collections.abc import Awaitable, Callable, Sequence

import anyio
import structlog
from msgspec.structs import replace

from daemon import metrics
from daemon.errors import ConfigError, MillpondError, brief
from daemon.events import LogEntry
from daemon.model import Answer, ToolCall
from daemon.process import Process
from daemon.wording import text as say
from workers.agent.bot_runtime import prompts_of
from workers.agent.log_entries import call_names, calls_beyond, open_calls, rounds
from workers.agent.model_calls import ModelCalls
from workers.agent.prompt.system_prompt import Prompts
from workers.agent.turn_progress import Kit, Turn
from workers.tools import Registry, Tool, ToolResult, failure
from workers.tools.mcp import ToolServers

# The tools that servers offer to a bot's turns, which may change at any time.

_log = structlog.get_logger()


class ServerTools:
    """Kits with the tools of servers, rebuilt only if these tools change."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.servers = ToolServers(process)
        self._made: dict[Prompts, tuple[tuple[Tool, ...], Kit]] = {}

    async def of(self, kit: Kit, bot: str, *, scope: str, session: str) -> Kit:
        """``kit`` with what the bot's servers offer just now."""
        tools = await self.servers.tools(bot, scope=scope, session=session)
        equipped = self._with(tools, kit, bot) if tools else kit
        missing = self.servers.missing(bot)
        return replace(equipped, missing=(*missing, *equipped.missing)) if missing else equipped

    def _with(self, tools: tuple[Tool, ...], kit: Kit, bot: str) -> Kit:
        known = self._made.get(kit.prompts)
        if known is None or known[0] != tools:
            known = self._made[kit.prompts] = (tools, self._equipped(kit, bot, kit.tools.beside(tools)))
        return known[1]

    def known(self, kit: Kit) -> Kit:
        """``kit`` with what the bot's servers offered when a turn last asked them."""
        found = self._made.get(kit.prompts)
        return found[1] if found else kit

    def _equipped(self, kit: Kit, bot: str, tools: Registry) -> Kit:
        try:
            return replace(
                kit, tools=tools, prompts=prompts_of(self._process, bot, kit.prompts.bot, kit.tokenizer, tools)
            )
        except ConfigError as error:  # their definitions alone would fill the model's window
            _log.error("tools.missing", bot=bot, reason=brief(error))
            return replace(kit, missing=self.servers.too_large(bot, str(error)))


CALLS_AT_ONCE = 16
"""Tool calls of one turn that run side by side; the others wait for a place."""

RECORD_TIMEOUT_S = 40.0
"""How long a result may take to be on record: longer than it is offered to a Redis that is away."""

Journal = Callable[[int, Sequence[LogEntry]], Awaitable[None]]
"""Puts finished steps on record: how many stand there already, and the new ones."""


class ToolLoop:
    """Runs one turn's model calls and tool calls; ``progress`` always says how far it came."""

    def __init__(self, turn: Turn, *, journal: Journal) -> None:
        self._turn = turn
        self._kit = turn.kit
        self._progress = turn.progress
        self._journal = journal
        self._calls = ModelCalls(turn)
        self._writing = anyio.Lock()
        self._refused: MillpondError | None = None
        """Why the journal took no more."""

    async def run(self) -> Answer:
        """The answer, without calls.

        Raises:
            ModelError: the model gave none.
            LeaseLost: the journal was refused.
        """
        rounds_before = 0
        if self._progress.step:
            # Those of predecessors count: a turn that loses its worker again and again must come to an end as well.
            rounds_before = rounds(self._progress.entries)
            await self._finish_calls(interrupted=self._progress.cut_off)
        for _ in range(self._kit.iterations_max - rounds_before):
            answer = await self._calls.answer()
            if not answer.tool_calls:
                return answer
            # On record before any of them starts, so that a successor knows what may have happened.
            await self._record(await self._turn.entries.calls(answer))
            await self._finish_calls()
        return Answer(text=say("too_many_steps", self._kit.language, count=self._kit.iterations_max))

    async def _finish_calls(self, interrupted: Sequence[ToolCall] = ()) -> None:
        """Give every open call its result; they run side by side."""
        entries, most, language = self._progress.entries, self._kit.tool_calls_max, self._kit.language
        names, beyond, places = call_names(entries), calls_beyond(entries, most), anyio.Semaphore(CALLS_AT_ONCE)
        try:
            with metrics.stage("tools"):
                async with anyio.create_task_group() as tg:
                    for call in open_calls(entries):
                        if call.id in beyond:
                            tg.start_soon(self._keep, call, failure(say("too_many_calls", language, count=most)))
                        elif call in interrupted and not self._kit.tools.repeatable(call.name):
                            tg.start_soon(self._keep, call, failure(say("interrupted", language)))
                        else:
                            tg.start_soon(self._finish_call, call, names[call.id], places)
        except ExceptionGroup as group:
            # Why the turn cannot go on. The first one ended all the others.
            raise group.exceptions[0] from group

    async def _finish_call(self, call: ToolCall, name: str, places: anyio.Semaphore) -> None:
        async with places:
            await self._turn.live.tool(call, "started")
            context = self._turn.context_of(name)
            with self._turn.tracing.tool(call.name) as doing:
                result = await self._kit.tools.run(call, context, timeout_s=self._kit.tool_timeout_s)
                doing.outcome = "failed" if result.failed else "done"
            await self._keep(call, result)
        await self._turn.live.tool(call, "failed" if result.failed else "done")

    async def _keep(self, call: ToolCall, result: ToolResult) -> None:
        # What a tool did cannot be undone: from here on a stop may delay its record, never lose it.
        with anyio.fail_after(RECORD_TIMEOUT_S, shield=True):
            await self._record(await self._turn.entries.result(call.id, result))

    async def _record(self, entry: LogEntry) -> None:
        """Put an entry on record, with those that came while others were being written.

        Results stand in the order in which they came, not in that of their calls: the chat completions API takes them
        in any order, and one that is there must not be lost because an earlier one is not.
        """
        progress = self._progress
        progress.entries.append(entry)
        async with self._writing:
            if self._refused is not None:
                raise self._refused
            new = progress.entries[progress.step :]
            if new:
                await self._written(new)

    async def _written(self, entries: Sequence[LogEntry]) -> None:
        try:
            await self._journal(self._progress.step, entries)
        except MillpondError as error:
            self._refused = error  # the others need not wait for the same
            raise
        self._progress.step += len(entries)
