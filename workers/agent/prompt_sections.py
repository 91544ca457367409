"""The sections of a system message and their tokens. Pure, except for information about the machine."""

import platform
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import structlog

from daemon.config import ContextConfig
from daemon.model import RUNTIME_CONTEXT, enclosed
from daemon.wording import Language
from daemon.wording import text as say
from workers.agent.bootstrap import JOIN, Part, bootstrap
from workers.agent.message_shortening import Shares, shortened_text
from workers.agent.skills import in_full, listed
from workers.agent.workspace import Files
from workers.message_format import message

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
