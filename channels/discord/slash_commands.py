"""The slash commands that Discord's clients offer."""

from typing import Any

import msgspec
import structlog

from channels.command_menu import CHINESE, menu
from channels.discord.api import Api, Request
from daemon.errors import UNREADABLE, ChannelError, brief
from daemon.wording import Language
from daemon.wording import text as say

TIMEOUT_S = 10.0

CHAT_INPUT, TEXT_OPTION = 1, 3
"""Types of a command and of its option (Interactions, "Application Commands")."""

SERVERS, DIRECT_MESSAGES = 0, 1
"""Contexts in which the commands are offered."""

BY_SERVER = 0
"""The commands are not offered to people who installed the app for themselves: the bot cannot answer them elsewhere."""


class NamedCommand(msgspec.Struct, frozen=True):
    """A command as Discord returns it, as far as it is compared."""

    name: str = ""
    description: str = ""
    description_localizations: dict[str, str] | None = None
    options: tuple[Any, ...] = ()


_commands = msgspec.json.Decoder(list[NamedCommand]).decode
_log = structlog.get_logger()


def commands(language: Language) -> list[dict[str, Any]]:
    """The commands as Discord shows them, in Chinese to people who use Discord in Chinese."""
    option = {"type": TEXT_OPTION, "name": "text", "description": say("command_text", language), "required": False}
    return [
        {
            "type": CHAT_INPUT,
            "name": name,
            "description": text,
            "description_localizations": {"zh-CN": CHINESE[name]},
            "options": [option],
            "contexts": [SERVERS, DIRECT_MESSAGES],
            "integration_types": [BY_SERVER],
        }
        for name, text in menu(language).items()
    ]


async def register(api: Api, app_id: str, *, channel: str, language: Language) -> None:
    """Register the commands, if others are registered. A failure is only logged: commands can be typed as messages."""
    path, wanted = f"/applications/{app_id}/commands", commands(language)
    try:
        query = {"with_localizations": "true"}
        known = _commands(await api.call(Request("GET", path, query=query), timeout_s=TIMEOUT_S))
        if _compared(known) != _compared(msgspec.convert(wanted, list[NamedCommand])):
            await api.call(Request("PUT", path, wanted), timeout_s=TIMEOUT_S)
    except ChannelError as error:
        _log.warning("commands.failed", channel=channel, reason=brief(error))
    except UNREADABLE as error:
        _log.warning("commands.failed", channel=channel, reason=type(error).__name__)


def _compared(found: list[NamedCommand]) -> set[tuple[str, str, str, int]]:
    return {
        (each.name, each.description, (each.description_localizations or {}).get("zh-CN", ""), len(each.options))
        for each in found
    }
