"""The model and its tools, in turn, until the model answers without asking for more."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing

from anyio import to_thread

from daemon.errors import InvalidAnswer
from daemon.events import LogEntry
from daemon.model import Answer, Request, TextChunk, ToolCall
from daemon.wording import text as say
from workers.agent.context import prompt, shorten_to_fit
from workers.agent.entries import open_calls, rounds
from workers.agent.progress import Turn
from workers.tools import FAILED

Journal = Callable[[int, Sequence[LogEntry]], Awaitable[None]]
"""Puts finished steps on record: how many stand there already, and the new ones."""


class Loop:
    """Runs one turn's model calls and tool calls; ``progress`` always says how far it came."""

    def __init__(self, turn: Turn, *, journal: Journal) -> None:
        self._turn = turn
        self._kit = turn.kit
        self._progress = turn.progress
        self._journal = journal

    async def run(self) -> str:
        """The answer's text.

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
            answer = await self._ask()
            if not answer.tool_calls:
                return answer.text
            # On record before any of them starts, so that a successor knows what may have happened.
            await self._record(await self._turn.entries.calls(answer.text, answer.tool_calls))
            await self._finish_calls()
        return say("too_many_steps", self._kit.language, count=self._kit.iterations_max)

    async def _finish_calls(self, interrupted: Sequence[ToolCall] = ()) -> None:
        for call in open_calls(self._progress.entries):
            if call in interrupted and not self._kit.tools.repeatable(call.name):
                result = f"{FAILED}{say('interrupted', self._kit.language)}"
            else:
                result = await self._run_tool(call)
            await self._record(await self._turn.entries.result(call.id, result))

    async def _run_tool(self, call: ToolCall) -> str:
        await self._turn.live.tool(call, "started")
        result = await self._kit.tools.run(call, self._kit.tool_context, timeout_s=self._kit.tool_timeout_s)
        await self._turn.live.tool(call, "failed" if result.startswith(FAILED) else "done")
        return result

    async def _record(self, entry: LogEntry) -> None:
        progress = self._progress
        progress.entries.append(entry)
        await self._journal(progress.step, progress.entries[progress.step :])
        progress.step = len(progress.entries)

    async def _ask(self) -> Answer:
        request = await self._request()
        self._turn.live.begin()
        async with aclosing(self._kit.model.stream(request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextChunk):
                    self._turn.live.add(chunk.text)
                    continue
                self._progress.tokens_in += chunk.usage.tokens_in
                self._progress.tokens_out += chunk.usage.tokens_out
                return chunk
        raise InvalidAnswer("the model's stream ended without an answer")

    async def _request(self) -> Request:
        kit, current = self._kit, self._progress.entries
        allowance = kit.budget_tokens - kit.fixed_tokens
        if sum(entry.tokens for entry in current) > allowance:
            # Counts tens of kilobytes several times over: not on the event loop.
            current = await to_thread.run_sync(shorten_to_fit, current, allowance, kit.tokenizer.count_message)
        built = prompt(
            kit.system, self._turn.history, current, fixed_tokens=kit.fixed_tokens, budget_tokens=kit.budget_tokens
        )
        return Request(
            messages=built.messages, tools=kit.tools.definitions, max_completion_tokens=kit.completion_tokens
        )
