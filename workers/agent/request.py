"""What each model call of a turn is asked with."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import msgspec
from anyio import to_thread

from daemon.clock import Clock
from daemon.events import Inbound, LogEntry
from daemon.model import Request
from workers.agent.context import Prompt, Rules, Scene, prompt
from workers.agent.progress import Turn, inbounds
from workers.agent.prompts import Prompts, System
from workers.agent.runtime import runtime_context

THREAD_TOKENS = 4_000
"""A turn in progress above this is put together in a thread: counting and shortening it may take tens of ms."""
NEAR = 200
"""As many messages of a group are put together on the event loop: each may have to be encoded and counted anew."""


class Requests:
    """Asks for one turn; what does not change from call to call is made at the first."""

    def __init__(self, prompts: Prompts, clock: Clock, *, said: Sequence[Inbound], history: Sequence[LogEntry]) -> None:
        """Nothing is read yet.

        Args:
            prompts: the bot's.
            clock: tells the time of the runtime context.
            said: the messages that the turn answers, one at least.
            history: the log before the turn, whole turns.
        """
        self._prompts = prompts
        self._clock = clock
        self._said = said
        self._history = history
        self._scene: Scene | None = None
        self._tokens_max = sys.maxsize
        self.system: System | None = None
        """The system message of the calls made so far."""

    @classmethod
    def of(cls, turn: Turn) -> "Requests":
        """The requests of a turn that has begun."""
        begun = turn.claim.begun
        first = begun.head - len(turn.history)
        return cls(
            turn.kit.prompts,
            turn.entries.clock,
            said=inbounds(turn.covered) or [turn.first],
            history=whole_turns(turn.history, first) if first > begun.start else turn.history,
        )

    def shorten(self, tokens_max: int) -> None:
        """From now on no prompt counts more than this, whatever the budget says."""
        self._tokens_max = tokens_max

    async def next(self, current: Sequence[LogEntry], tools: Sequence[bytes]) -> Request:
        """The request for the turn's next model call, with ``tools`` to choose from.

        Raises:
            ContextOverflow: the turn cannot be made to fit.
        """
        built = await self.prompt(current, tools)
        return Request(
            messages=built.messages,
            tools=tools,
            tokens=built.tokens,
            max_completion_tokens=self._prompts.bot.model.completion_tokens,
        )

    async def prompt(self, current: Sequence[LogEntry], tools: Sequence[bytes]) -> Prompt:
        """As ``next``, with what its parts count."""
        if self._scene is None:
            self._scene = await self._set(tools)
        tools_tokens, scene = self._prompts.tools_tokens(tools), self._scene
        if tools_tokens != scene.tools_tokens:
            scene = self._scene = msgspec.structs.replace(scene, tools_tokens=tools_tokens)
        await self._prompts.turnstile.through()
        rules = self._prompts.rules_now()
        if self._tokens_max < rules.budget_tokens:
            rules = replace(rules, budget_tokens=self._tokens_max)
        make = partial(prompt, rules, scene, current)
        return await to_thread.run_sync(make) if _is_heavy(rules, scene, current) else make()

    async def _set(self, tools: Sequence[bytes]) -> Scene:
        bot = self._prompts.bot
        self.system = await self._prompts.system()
        context = runtime_context(self._said, self._clock.now(), time_zone=bot.time_zone, language=bot.language)
        return Scene(
            system=self.system.message,
            system_tokens=self.system.tokens,
            tools_tokens=self._prompts.tools_tokens(tools),
            context=context,
            names=self._said[-1].chat_kind == "group",
            history=self._history,
        )


def _is_heavy(rules: Rules, scene: Scene, current: Sequence[LogEntry]) -> bool:
    last = scene.history[-1].turn if scene.history else 0
    before = sum(entry.tokens for entry in scene.history[-NEAR:] if entry.turn == last)
    now = sum(entry.tokens for entry in current)
    is_close = scene.fixed_tokens + now + before > rules.budget_tokens
    return now > THREAD_TOKENS or is_close or (scene.names and len(scene.history) > NEAR)


def whole_turns(history: Sequence[LogEntry], first: int) -> Sequence[LogEntry]:
    """``history`` without the rest of a turn whose beginning was not read; ``first`` is the index of its first message.

    A turn is named by the index of its own first message.
    """
    if not history or history[0].turn >= first:
        return history
    begins = next((at for at, entry in enumerate(history) if entry.turn != history[0].turn), len(history))
    return history[begins:]
