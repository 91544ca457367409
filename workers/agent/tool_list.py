"""Lists the built-in tools and the skills of a bot for operators; tool servers are in the heartbeats of workers."""

from pathlib import Path
from typing import Any

import msgspec

from daemon.config import BotConfig
from workers.agent.prompt.skills import Skill
from workers.agent.prompt.workspace import Workspace
from workers.tools import BUILTIN
from workers.tools.exec import EXEC
from workers.tools.registry import first_sentence


async def listed(bot: BotConfig, workspace: Path) -> dict[str, Any]:
    """``builtin``: every tool and whether the bot has it; ``skills``: those that can be read. Ready for JSON."""
    files = await Workspace(workspace).files()
    return {
        "builtin": [_tool(bot, definition) for definition in BUILTIN.definitions],
        "skills": [_skill(skill) for skill in files.skills],
    }


def _tool(bot: BotConfig, definition: bytes) -> dict[str, Any]:
    function = msgspec.json.decode(definition)["function"]
    name, is_exec = function["name"], function["name"] == EXEC.name
    return {
        "name": name,
        "description": first_sentence(function["description"]),
        "enabled": name in bot.tools,
        "approval": is_exec and bot.exec.approval,
        "admins_only": is_exec and bot.exec.allow == "admins",
    }


def _skill(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": first_sentence(skill.description),
        "always": skill.always,
        "missing": [*skill.missing_bins, *skill.missing_env],
    }
