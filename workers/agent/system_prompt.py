"""The parts of a bot's prompts, built once for each process, and its system message."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import msgspec
from anyio import to_thread
from structlog.contextvars import bound_contextvars

from daemon.config import BotConfig, Config
from daemon.errors import ConfigError
from daemon.model import sends_all_own
from daemon.model.turnstile import Turnstile
from daemon.tokens import THREAD_SIZE, Tokenizer, calibration
from workers.agent.history import Remembered, View
from workers.agent.message_shortening import Shares
from workers.agent.prompt_builder import Rules
from workers.agent.prompt_sections import (
    READ,
    Section,
    identity,
    memory_section,
    of_workspace,
    recalled_section,
    sections,
    system_message,
)
from workers.agent.workspace import Files, Workspace
from workers.consolidation.consolidation_plan import Thresholds

LEAST_TURN_TOKENS = 512
"""What identity and tools must leave of a budget: with less, a message of a hundred words and a memory do not fit."""
WORKSPACE_SHARE, MEMORY_SHARE, RECALLED_SHARE = 0.3, 0.2, 0.1
"""Of what identity and tools leave: what the workspace's files, memory, and what was recalled may take at most, so that
conversation always has room. Memory keeps itself far below that (``consolidation.memory_max_share``); a person who
edits it may not know."""
RECALLED_LEAST_TOKENS, RECALLED_SHARE_MAX = 800, 0.25
"""In a small window a tenth would hold no hit: then so many tokens, three to six hits, and a quarter at most."""
MEMORIES_MAX = 256
"""Memories of scopes, counted once, that are remembered."""
SYSTEMS_MAX = 16
"""System messages that are remembered: turns that come one after the other often have the same."""
TOOL_LISTS_MAX = 16


@dataclass(frozen=True, kw_only=True)
class System:
    """A system message and its parts, which add up to what it counts."""

    message: bytes
    sections: tuple[Section, ...]
    tokens: int
    """What it counts."""


class Prompts:
    """Makes the system messages of a bot, and knows the rules of its prompts.

    Raises:
        ConfigError: identity and tools leave nothing of the budget.
    """

    def __init__(
        self, name: str, config: Config, *, workspace: Path, tokenizer: Tokenizer, definitions: Sequence[bytes]
    ) -> None:
        bot = config.bots[name]
        self.bot = bot
        self._name = name
        self.workspace = Workspace(workspace)
        self.tokenizer = tokenizer
        self.definitions = tuple(definitions)
        self.turnstile = Turnstile()
        """For whoever puts a prompt together: two hundred whose turns begin at once would do so in one go."""
        self._tools_tokens = lru_cache(TOOL_LISTS_MAX)(partial(_tools_tokens, tokenizer))
        self._config = config
        tools = set(map(_name_of, definitions))
        self._reads_skills = READ in tools
        words = identity(name, workspace, bot.language, tools=tools)
        self._identity = sections("identity", words, count=tokenizer.count, first=True)
        self._files: Files | None = None
        self._of_files: tuple[list[Section], list[Section]] = ([], [])
        self._memory = lru_cache(MEMORIES_MAX)(self._memory_sections)
        self._joined = lru_cache(SYSTEMS_MAX)(_joined)
        self._room = self._room_left(name, bot)
        self.is_recalled_beside = config.memory_search.place == "user"
        """Whether what is recalled stands beside the runtime context, and not in the system message."""
        self.rules = Rules(
            budget_tokens=bot.model.budget_tokens,
            context_budget_tokens=bot.context_budget_tokens,
            micro=config.micro_compact,
            shares=Shares(config.context.head_ratio, config.context.tail_ratio),
            view=View(count=tokenizer.count_message, max_chars=config.micro_compact.max_chars, remembered=Remembered()),
        )

    def tools_tokens(self, definitions: Sequence[bytes]) -> int:
        """What the definitions of tools count."""
        return self._tools_tokens(tuple(definitions))

    def rules_now(self) -> Rules:
        """The rules, with the budget in our tokens as far as the provider's are known by now."""
        budget_tokens = calibration(self.bot.model.name, self.bot.model.base_url).lowered(self.rules.budget_tokens)
        own_of_all = any(sends_all_own(each) for each in self.bot.model.chain)
        if budget_tokens == self.rules.budget_tokens and not own_of_all:
            return self.rules
        return replace(self.rules, budget_tokens=budget_tokens, own_of_all=own_of_all)

    def settle_tokens(self, standing_tokens: int, *, flushed: bool) -> int:
        """Tokens of history from which on a session should be looked at by a consolidation worker.

        Args:
            standing_tokens: what stands in its prompts beside the history.
            flushed: it was flushed since it was last consolidated.
        """
        thresholds = Thresholds.of(
            self.bot.model,
            self._config.memory_flush,
            lowered=calibration(self.bot.model.name, self.bot.model.base_url).lowered,
        )
        awaits_flush = self._config.memory_flush.enabled and not flushed
        at = thresholds.flush_point_tokens if awaits_flush else thresholds.consolidation_start_tokens
        return max(0, at - standing_tokens)

    @property
    def fixed_tokens(self) -> int:
        """What stands in every prompt, as far as it is known by now: system message without memory, and tools."""
        bootstrap, skills = self._of_files
        return self.tools_tokens(self.definitions) + sum(
            section.tokens for section in (*self._identity, *bootstrap, *skills)
        )

    @property
    def recalled_tokens(self) -> int:
        """What may be recalled for a turn; 0: nothing is searched."""
        if not self._config.memory_search.enabled:
            return 0
        least = min(RECALLED_LEAST_TOKENS, RECALLED_SHARE_MAX * self._room)
        return int(max(least, self._room * RECALLED_SHARE))

    def bootstrap_tokens(self) -> int:
        """What the bootstrap files took when a system message was last made."""
        return sum(section.tokens for section in self._of_files[0])

    async def system(self, *, memory: str = "", recalled: str = "") -> System:
        """The system message as it is now.

        Args:
            memory: MEMORY.md of the turn's scope.
            recalled: what was found for this turn, unless it stands beside the runtime context.
        """
        with bound_contextvars(bot=self._name):  # two bots may have files of one name
            bootstrap, skills = await self._workspace_sections()
        # A thread when it may be long; what is remembered comes back at once either way.
        remembered = (
            await to_thread.run_sync(self._memory, memory) if len(memory) > THREAD_SIZE else self._memory(memory)
        )
        found = recalled_section(recalled, self.recalled_tokens, self.tokenizer.count)
        return self._joined((*self._identity, *bootstrap, *remembered, *skills, *found))

    async def _workspace_sections(self) -> tuple[list[Section], list[Section]]:
        files = await self.workspace.files()
        if files is not self._files:
            share = self._config.context.workspace_max_share
            allowed = int(min(share * self.rules.budget_tokens, WORKSPACE_SHARE * self._room))
            make = partial(of_workspace, language=self.bot.language, lists_skills=self._reads_skills)
            # Tens of kilobytes are counted several times over: not on the event loop.
            self._of_files = await to_thread.run_sync(make, files, self._config.context, allowed, self.tokenizer.count)
            self._files = files
        return self._of_files

    def _memory_sections(self, memory: str) -> list[Section]:
        allowed = int(self._room * MEMORY_SHARE)
        return memory_section(memory, allowed, self.tokenizer.count, self.rules.shares)

    def _room_left(self, name: str, bot: BotConfig) -> int:
        fixed_tokens = self.tools_tokens(self.definitions) + sum(section.tokens for section in self._identity)
        left = bot.model.budget_tokens - fixed_tokens
        if left < LEAST_TURN_TOKENS:
            raise ConfigError(
                f"bots.{name}.model.context_window_tokens: the value is too small. A prompt can have "
                f"{bot.model.budget_tokens:,} tokens, and the bot's identity and tools use {fixed_tokens:,} tokens. At "
                f"least {LEAST_TURN_TOKENS} tokens must remain for messages. Increase the window, or list fewer tools "
                f"in "
                f"bots.{name}.tools."
            )
        return left


def _name_of(definition: bytes) -> str:
    return str(msgspec.json.decode(definition)["function"]["name"])


def _joined(found: tuple[Section, ...]) -> System:
    return System(message=system_message(found), sections=found, tokens=sum(section.tokens for section in found))


def _tools_tokens(tokenizer: Tokenizer, definitions: tuple[bytes, ...]) -> int:
    return sum(tokenizer.count(definition.decode()) for definition in definitions)
