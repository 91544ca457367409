"""The request of each model call of a turn."""

import sys
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from typing import Protocol

import msgspec
from anyio import to_thread
from msgspec.structs import replace

from daemon.clock import Clock
from daemon.errors import ContextOverflow
from daemon.events import Continuity, Inbound, LogEntry
from daemon.model import Request
from workers.agent.compaction_wait import CompactionWait
from workers.agent.prompt.history_loader import PromptHistory, PromptMessages, changes_block, shown
from workers.agent.prompt.history_messages import History
from workers.agent.prompt.message_shortening import fitted
from workers.agent.prompt.prompt_builder import Prompt, Rules, Scene, prompt
from workers.agent.prompt.system_prompt import RECALLED_TITLE, Prompts, System
from workers.agent.prompt.user_messages import runtime_context
from workers.consolidation import ConsolidationReport, head_messages
from workers.consolidation.consolidation_plan import HEAD_SHARE
from workers.tools.mcp import MissingServer

THREAD_TOKENS = 4_000
"""A turn in progress above this is put together in a thread: counting and shortening it may take tens of ms."""
KEY_BYTES = 16
"""Of the digest that names a conversation: OpenAI takes at most 64 characters (``prompt_cache_key``)."""
NEAR = 200
"""As many messages of a group are put together on the event loop: each may have to be encoded and counted anew."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in every prompt of a turn, in tokens."""

    fixed_tokens: int
    """The system message without memory, and the tools' definitions."""
    memory_tokens: int
    head_tokens: int
    """What the history begins with, of what was consolidated."""

    @property
    def tokens(self) -> int:
        """All of it."""
        return self.fixed_tokens + self.memory_tokens + self.head_tokens


class RecallSearch(Protocol):
    """Looks for what goes with what was said."""

    def __call__(self, *, current: Sequence[LogEntry], shown: PromptMessages) -> Awaitable[str | None]:
        """What the prompts are to hold beside what is ``shown``; None: nothing was searched. Never raises."""
        ...


def cache_key(bot: str, session: str) -> str:
    """The same for all turns of a conversation; tells nobody who takes part in it."""
    return blake2b(f"{bot}\n{session}".encode(), digest_size=KEY_BYTES).hexdigest()


class TurnRequests:
    """Asks for one turn; what does not change from call to call is made at the first."""

    def __init__(
        self,
        prompts: Prompts,
        clock: Clock,
        *,
        said: Sequence[Inbound],
        past: PromptHistory,
        room: CompactionWait | None = None,
        recall: RecallSearch | None = None,
    ) -> None:
        """Nothing is made yet.

        Args:
            prompts: the bot's.
            clock: tells the time of the runtime context.
            said: the messages that the turn answers, one at least.
            past: what lies before the turn.
            room: makes room when a prompt does not fit; None: the oldest messages are left out.
            recall: tells what is remembered of what was said; None: nothing is recalled.
        """
        self._prompts = prompts
        self._clock = clock
        self._said = said
        self.past = past
        self._room = room
        self._recall = recall
        self.missing: Sequence[MissingServer] = ()
        """Tool servers that the turn goes without; the prompts name them."""
        self.cache_key = ""
        """As of ``Request``."""
        self._pictures: Sequence[bytes] = ()
        self._recalled = ""
        self._recalled_beside: PromptMessages | None = None
        """The messages that the recalled text does not repeat; None: nothing was searched for the past yet."""
        self._scene: Scene | None = None
        self._tokens_max = sys.maxsize
        self.system: System | None = None
        """The system message of the calls made so far."""

    @property
    def said(self) -> Sequence[Inbound]:
        """The messages that the turn answers."""
        return self._said

    @property
    def standing(self) -> Standing | None:
        """What stands in the prompts beside the history; None before the first one."""
        if self._scene is None or self.system is None:
            return None
        memory_tokens = sum(section.tokens for section in self.system.sections if section.part == "memory")
        return Standing(
            fixed_tokens=self.system.tokens - memory_tokens + self._scene.tools_tokens,
            memory_tokens=memory_tokens,
            head_tokens=self._scene.head_tokens,
        )

    @property
    def recalled_tokens(self) -> int:
        """Of what the prompts hold that was recalled, wherever it stands."""
        if self._prompts.is_recalled_beside:
            return self._prompts.tokenizer.count(self._recalled) if self._recalled else 0
        sections = self.system.sections if self.system else ()
        return sum(section.tokens for section in sections if section.part == "recalled")

    async def compact(self, focus: str) -> ConsolidationReport:
        """Have all but the newest turns consolidated now; later calls of the turn see what is left."""
        if self._room is None:
            return ConsolidationReport()
        report, past = await self._room.compact(focus, self.past)
        self._renew(past)
        return report

    def _renew(self, past: PromptHistory) -> None:
        self.past, self._scene, self._recalled_beside = past, None, None

    def show(self, pictures: Sequence[bytes]) -> None:
        """From now on the message that the turn answers is followed by these, each a part of it, JSON."""
        self._pictures, self._scene = pictures, None

    async def _reminded(
        self, recall: RecallSearch, current: Sequence[LogEntry], tools: Sequence[bytes]
    ) -> tuple[Prompt, PromptMessages]:
        """The prompt with what goes with what was said, beside the messages that fit in any case."""
        self._recalled, self._scene, built = "", None, None
        beside = PromptMessages(past=self.past, first=self.past.first + len(self.past.history))
        with suppress(ContextOverflow):
            built, beside = await self._built(current, tools, reserved_tokens=self._prompts.recalled_tokens)
        self._recalled = await recall(current=current, shown=beside) or ""
        self._recalled_beside = beside
        if built and built.fits and not self._recalled:
            return built, beside
        self._scene = None
        return await self._built(current, tools)

    def hide(self) -> bool:
        """From now on no pictures are shown; whether there were any."""
        had = bool(self._pictures)
        if had:
            self.show(())
        return had

    def leave_out_history(self) -> bool:
        """From now on the prompts hold no older messages and nothing recalled; whether there was any of it."""
        had = bool(self.past.history or self._recalled)
        if had:
            self._renew(replace(self.past, history=History()))
            self._tokens_max = sys.maxsize  # the size is not the cause
            # Recall would bring the same messages back.
            self._recalled, self._recalled_beside = "", PromptMessages(past=self.past, first=sys.maxsize)
        return had

    def shorten(self, tokens_max: int) -> None:
        """From now on no prompt counts more than this, whatever the budget says."""
        self._tokens_max = tokens_max

    def with_more_room(self, request: Request) -> Request:
        """``request`` for an answer of up to twice the length, as far as the model's window allows."""
        model = self._prompts.bot.model
        left = model.context_window_tokens - model.safety_buffer_tokens - request.tokens
        most = max(request.max_completion_tokens, min(2 * request.max_completion_tokens, left))
        return msgspec.structs.replace(request, max_completion_tokens=most, room=2)

    async def next(self, current: Sequence[LogEntry], tools: Sequence[bytes]) -> Request:
        """The request for the turn's next model call, with ``tools`` to choose from.

        Raises:
            ContextOverflow: the turn cannot be made to fit.
        """
        built = await self.prompt(current, tools)
        standing = self.standing
        if built.overflows and self._room is not None and standing is not None:
            past = await self._room.make(
                self.past, fixed_tokens=standing.fixed_tokens, current_tokens=built.current_tokens
            )
            if past is not self.past:
                self._renew(past)
                built = await self.prompt(current, tools)
        return Request(
            messages=built.messages,
            tools=tools,
            tokens=built.tokens,
            current=built.current,
            head=built.head,
            cache_key=self.cache_key,
            max_completion_tokens=self._prompts.bot.model.completion_tokens,
        )

    async def prompt(self, current: Sequence[LogEntry], tools: Sequence[bytes]) -> Prompt:
        """As ``next``, with what its parts count."""
        recall = self._recall if self._prompts.recalled_tokens else None
        if recall and self._recalled_beside is None:
            built, shows = await self._reminded(recall, current, tools)
        else:
            built, shows = await self._built(current, tools)
        if recall and self._recalled_beside and not self._recalled_beside.covers(shows):
            # Later calls of a turn show less. A message that the first call showed may be the one that is meant.
            built, _ = await self._reminded(recall, current, tools)
        return built

    async def _built(
        self, current: Sequence[LogEntry], tools: Sequence[bytes], *, reserved_tokens: int = 0
    ) -> tuple[Prompt, PromptMessages]:
        """The prompt with what was recalled so far, and with ``reserved_tokens`` left free."""
        if self._scene is None:
            self._scene = await self._set(tools)
        tools_tokens, scene = self._prompts.tools_tokens(tools), self._scene
        if tools_tokens != scene.tools_tokens:
            scene = self._scene = msgspec.structs.replace(scene, tools_tokens=tools_tokens)
        await self._prompts.turnstile.through()
        rules = self._prompts.rules_now()
        budget_tokens = min(self._tokens_max, rules.budget_tokens) - reserved_tokens
        if budget_tokens < rules.budget_tokens:
            rules = replace(rules, budget_tokens=budget_tokens)
        make = partial(prompt, rules, scene, current)
        built = await to_thread.run_sync(make) if _is_heavy(rules, scene, current) else make()
        sections = self.system.sections if self.system else ()
        memory = "\n".join(section.text for section in sections if section.part == "memory")
        return built, shown(self.past, scene, built, memory=memory, max_chars=rules.view.max_chars)

    async def _set(self, tools: Sequence[bytes]) -> Scene:
        bot = self._prompts.bot
        past, rules = self.past, self._prompts.rules_now()
        head = [rules.view.counted(wire) for wire in _head(past.continuity)]
        beside = self._prompts.is_recalled_beside
        self.system = await self._prompts.system(memory=past.memory, recalled="" if beside else self._recalled)
        context = runtime_context(
            self._said,
            self._clock.now(),
            time_zone=bot.time_zone,
            language=bot.language,
            missing=self.missing,
            beside=(
                changes_block(past.memory_changes, bot.language),
                f"{RECALLED_TITLE}\n{self._recalled}" if beside and self._recalled else "",
            ),
        )
        return Scene(
            system=self.system.message,
            system_tokens=self.system.tokens,
            tools_tokens=self._prompts.tools_tokens(tools),
            context=context,
            names=self._said[-1].chat_kind == "group",
            history=past.history,
            whole=past.whole,
            pictures=self._pictures,
            # It may have been made for a model with a larger window than the one that people chose since.
            head=fitted(head, int(HEAD_SHARE * rules.budget_tokens), rules.view.count, rules.shares),
        )


def _is_heavy(rules: Rules, scene: Scene, current: Sequence[LogEntry]) -> bool:
    last = scene.history[-1].turn if scene.history else 0
    before = sum(entry.tokens for entry in scene.history[-NEAR:] if entry.turn == last)
    now = sum(entry.tokens for entry in current)
    is_close = scene.fixed_tokens + now + before > rules.budget_tokens
    is_large = now > THREAD_TOKENS or bool(scene.pictures)
    return is_large or is_close or (scene.names and len(scene.history) > NEAR)


def _head(continuity: Continuity | None) -> tuple[bytes, ...]:
    return head_messages(continuity.text, continuity.transcript) if continuity else ()
