"""Whether the tools of a bot exist and fit into its prompts, before its first turn."""

from pathlib import Path

import anyio

from daemon.config import BotConfig, Config
from daemon.errors import ConfigError
from daemon.tokens import load
from workers.agent.prompt_sections import identity
from workers.agent.system_prompt import LEAST_TURN_TOKENS, Prompts
from workers.tools import BUILTIN

AROUND_TOKENS = 64
"""More than the sections of the identity and the message cost beside their texts."""


def faults(name: str, bot: BotConfig, workspace: Path) -> list[tuple[str, str]]:
    """Keys of the bot's section and what is wrong with each. Blocks."""
    try:
        tools = BUILTIN.only(bot.tools)
    except ConfigError as error:
        return [("tools", str(error).rstrip("."))]
    # A token is a byte at least: only who is near the limit waits for a vocabulary.
    texts = (identity(name, workspace, bot.language, tools=set(bot.tools)).encode(), *tools.definitions)
    if sum(map(len, texts)) + AROUND_TOKENS + LEAST_TURN_TOKENS <= bot.model.budget_tokens:
        return []
    tokenizer, config = anyio.run(load, bot.model.name), Config(bots={name: bot})
    try:
        Prompts(name, config, workspace=workspace, tokenizer=tokenizer, definitions=tools.definitions)
    except ConfigError as error:
        key = "model.context_window_tokens"
        return [(key, str(error).removeprefix(f"bots.{name}.{key}: ").rstrip("."))]
    return []
