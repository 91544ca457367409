"""Checks the configured tools on this machine, for ``millpond doctor`` and ``config check``."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from daemon.errors import ConfigError
from daemon.services import load

if TYPE_CHECKING:
    from daemon.config import Config, McpConfig

BUILTIN = "workers.tools:BUILTIN"
"""Found by import string, as services are: this room may not import the workers."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something that a bot will miss."""

    path: str
    """The key of the configuration."""
    text: str
    fatal: bool
    """Whether the bot cannot start; otherwise it runs without the tool."""


def problems(config: "Config") -> Iterator[Problem]:
    """Tools that do not exist, and tool servers whose program was not found."""
    # Typed as a service, which it is not.
    builtin: Any = load(BUILTIN)
    for name, bot in config.bots.items():
        try:
            builtin.only(bot.tools)
        except ConfigError as error:
            yield Problem(path=f"bots.{name}.tools", text=str(error), fatal=True)
        for server, wanted in bot.mcp.items():
            if wanted.command and not program_found(wanted):
                text = (
                    f"program {wanted.command!r} was not found or cannot be run. Install the program, or "
                    "write its full path."
                )
                yield Problem(path=f"bots.{name}.mcp.{server}.command", text=text, fatal=False)


def program_found(server: "McpConfig") -> bool:
    """Whether the program of a tool server can be run here."""
    given = server.env.get("PATH")
    return shutil.which(server.command, path=given.reveal() if given else os.environ.get("PATH")) is not None
