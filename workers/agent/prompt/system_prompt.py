"""The parts of a bot's prompts, built once for each process, and its system message."""

import platform
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import msgspec
import structlog
from anyio import to_thread
from msgspec.structs import replace
from structlog.contextvars import bound_contextvars

from daemon.config import BotConfig, Config, ContextConfig
from daemon.errors import ConfigError
from daemon.model import RUNTIME_CONTEXT, enclosed, sends_all_own
from daemon.model.event_stream import Turnstile
from daemon.tokens import THREAD_SIZE, Tokenizer, calibration
from daemon.wording import Language
from daemon.wording import text as say
from workers.agent.prompt.history_messages import HistoryMemo, View
from workers.agent.prompt.message_shortening import Shares, shortened_text
from workers.agent.prompt.prompt_builder import Rules
from workers.agent.prompt.skills import in_full, listed
from workers.agent.prompt.workspace import JOIN, Files, Part, Workspace, bootstrap
from workers.consolidation.consolidation_plan import Thresholds
from workers.message_format import message

# The sections of a system message and their tokens. Pure, except for information about the machine.

JOIN_TOKENS = 5
"""What a join counts, and what a section may count more behind it than alone."""
MESSAGE_TOKENS = 4
"""What is around the message; as ``daemon.tokens`` counts it."""
SKILL_SHARE = 4
"""The list of skills gets at most one part in so many of the workspace's allowance, and so much is kept for those that
stand in the prompt in full."""

READ = "read_file"
"""The tool that skills need."""
FILE_TOOLS = (READ, "write_file", "edit_file", "list_files", "grep")

MEMORY_TITLE, RECALLED_TITLE = "# Memory", "## Relevant Memory"

Count = Callable[[str], int]

_log = structlog.get_logger()


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A part of the system message."""

    part: str
    """What it is: ``identity``, ``bootstrap``, ``memory``, ``skills``, ``recalled``."""
    text: str
    tokens: int
    """With the join before it, or with what is around the message."""


def identity(bot: str, workspace: Path, language: Language, *, tools: Set[str]) -> str:
    """Who the bot is, where it runs, and how it is to behave; no tool is mentioned that is not among ``tools``."""

    def if_any(wanted: Iterable[str], key: str, **values: object) -> str:
        return "" if tools.isdisjoint(wanted) else say(key, language, **values)

    notes = "platform_windows" if platform.system() == "Windows" else "platform_posix"
    history, skills = if_any(("read_file", "grep"), "identity_history"), if_any((READ,), "identity_skills")
    edit_rule = if_any(("write_file", "edit_file"), "identity_edit_rule") if READ in tools else ""
    return say(
        "identity",
        language,
        bot=bot,
        os=platform.system(),
        machine=platform.machine(),
        python=platform.python_version(),
        platform_notes=say(notes, language),
        files=if_any(FILE_TOOLS, "identity_files", workspace=workspace, history=history, skills=skills),
        tool_rule=if_any(tools, "identity_tool_rule"),
        web_rule=if_any(("web_search",), "identity_web_search") + if_any(("web_fetch",), "identity_web_fetch"),
        edit_rule=edit_rule,
        message_rule=if_any(("message",), "identity_message_rule"),
        marker=RUNTIME_CONTEXT,
    )


def of_workspace(
    files: Files, config: ContextConfig, max_tokens: int, count: Count, *, language: Language, lists_skills: bool = True
) -> tuple[list[Section], list[Section]]:
    """Bootstrap files and skills, ``max_tokens`` at most together; what had to be cut is logged.

    A list of skills helps only a bot that can read their files.
    """
    kept_for_joins = 3 * JOIN_TOKENS
    room = max(0, max_tokens - kept_for_joins)
    skills = listed(files.skills, language, room // SKILL_SHARE, count) if lists_skills else ""
    room -= count(skills)
    wanted, _ = in_full(files.skills, room // SKILL_SHARE, count)
    started = _bootstrap(files, config, room - count(wanted), count)
    active, left_out = in_full(files.skills, room - count(started), count)
    for skill in left_out:
        _log.warning(
            "skill.left_out",
            path=skill.path,
            reason="the whole skill does not fit into the prompt; only its name is listed",
        )
    return sections("bootstrap", started, count=count), sections("skills", active, skills, count=count)


def _bootstrap(files: Files, config: ContextConfig, max_tokens: int, count: Count) -> str:
    total_chars = config.bootstrap.total_max_chars
    while True:
        parts = bootstrap(files.bootstrap, config.bootstrap, total_chars=total_chars)
        text = JOIN.join(part.text for part in parts if part.text)
        tokens = count(text)
        if tokens <= max_tokens:
            _warn(parts)
            return text
        total_chars = min(total_chars, len(text)) * max(0, max_tokens) // (tokens + 1)


def _warn(parts: Sequence[Part]) -> None:
    for part in parts:
        if not part.text:
            _log.warning(
                "bootstrap.left_out",
                path=part.name,
                reason=(f"the file ({part.chars:,} characters) does not fit into the prompt"),
            )
        elif part.kept_chars < part.chars:
            sizes = f"the prompt contains {part.kept_chars:,} of the file's {part.chars:,} characters"
            _log.warning("bootstrap.truncated", path=part.name, reason=sizes)


def memory_section(memory: str, max_tokens: int, count: Count, shares: Shares) -> list[Section]:
    """``# Memory``; more than it may take is shown by its beginning and its end."""
    # Models begin the file with its title, which stands here already.
    titled = memory.strip()
    text = (titled.removeprefix(MEMORY_TITLE) if titled.startswith(f"{MEMORY_TITLE}\n") else titled).strip()
    if not text:
        return []

    def section(shown: str) -> str:
        return f"{MEMORY_TITLE}\n\n{enclosed(shown)}"

    # Shortened within its marks, of which it needs both.
    shown, _ = shortened_text(text, max_tokens - JOIN_TOKENS, lambda each: count(section(each)), shares)
    return sections("memory", section(shown), count=count) if shown else []


def recalled_section(recalled: str, max_tokens: int, count: Count) -> list[Section]:
    """``## Relevant Memory``, the last one, its hits between their marks already; nothing when it is too long."""
    text = f"{RECALLED_TITLE}\n\n{recalled.strip()}" if recalled.strip() else ""
    return [section for section in sections("recalled", text, count=count) if section.tokens <= max_tokens]


def sections(part: str, *texts: str, count: Count, first: bool = False) -> list[Section]:
    """A section for each text that is not empty."""
    around = MESSAGE_TOKENS if first else JOIN_TOKENS
    return [Section(part=part, text=text, tokens=count(text) + around) for text in texts if text]


def system_message(found: Sequence[Section]) -> bytes:
    """The system message of these sections, JSON."""
    return message("system", JOIN.join(section.text for section in found))


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


class System(msgspec.Struct, frozen=True, kw_only=True):
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
            view=View(
                count=tokenizer.count_message, max_chars=config.micro_compact.max_chars, remembered=HistoryMemo()
            ),
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
                f"bots.{name}.model.context_window_tokens: the value is too small. A prompt can have up to "
                f"{bot.model.budget_tokens:,} tokens, and the bot's identity and tools use {fixed_tokens:,} of them. "
                f"At least {LEAST_TURN_TOKENS} tokens must remain for messages. Increase the window, or list fewer "
                f"tools in bots.{name}.tools."
            )
        return left


def _name_of(definition: bytes) -> str:
    return str(msgspec.json.decode(definition)["function"]["name"])


def _joined(found: tuple[Section, ...]) -> System:
    return System(message=system_message(found), sections=found, tokens=sum(section.tokens for section in found))


def _tools_tokens(tokenizer: Tokenizer, definitions: tuple[bytes, ...]) -> int:
    return sum(tokenizer.count(definition.decode()) for definition in definitions)
