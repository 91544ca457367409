"""Calls the model and its tools in turn, until the model answers without a tool call."""

from collections.abc import Awaitable, Callable, Sequence

import anyio

from daemon import metrics
from daemon.errors import MillpondError
from daemon.events import LogEntry
from daemon.model import Answer, ToolCall
from daemon.wording import text as say
from workers.agent.log_entries import call_names, calls_beyond, open_calls, rounds
from workers.agent.model_calls import ModelCalls
from workers.agent.turn_progress import Turn
from workers.tools import Result, failure

CALLS_AT_ONCE = 16
"""Tool calls of one turn that run side by side; the others wait for a place."""

RECORD_TIMEOUT_S = 40.0
"""How long a result may take to be on record: longer than it is offered to a Redis that is away."""

Journal = Callable[[int, Sequence[LogEntry]], Awaitable[None]]
"""Puts finished steps on record: how many stand there already, and the new ones."""


class Loop:
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

    async def _keep(self, call: ToolCall, result: Result) -> None:
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
