"""The menus of commands that clients show, in direct chats and in groups."""

from collections.abc import Mapping

import msgspec
import structlog

from channels.command_menu import menu as words
from channels.telegram.api import Api
from channels.telegram.api_types import Command
from daemon.access import allowed
from daemon.config import BotConfig
from daemon.errors import ChannelError, brief

TIMEOUT_S = 10.0

_commands = msgspec.json.Decoder(list[Command]).decode
_log = structlog.get_logger()


def menus(bot: BotConfig, language: str) -> Mapping[str, list[Command]]:
    """The commands as a client shows them, by the chats that show them (Bot API, ``BotCommandScope``).

    The platform knows the administrators of its groups, and not those of ``bot``, who are often the same.
    """
    commands = [Command(command=name, description=text) for name, text in words(language).items()]
    return {
        "default": commands,
        "all_group_chats": _in_groups(bot, commands, is_admin=False),
        "all_chat_administrators": _in_groups(bot, commands, is_admin=True),
    }


def _in_groups(bot: BotConfig, commands: list[Command], *, is_admin: bool) -> list[Command]:
    return [each for each in commands if allowed(bot, each.command, in_group=True, is_admin=is_admin)]


async def register(api: Api, *, channel: str, bot: BotConfig) -> None:
    """Have the platform show the commands: in the bot's language, and in Chinese to whom that is set.

    What stands there already is not written again. A failure is only logged: everything works without the menu.
    """
    try:
        await _register(api, menus(bot, bot.language))
        if bot.language != "zh":
            await _register(api, menus(bot, "zh"), language_code="zh")
    except (ChannelError, msgspec.DecodeError) as error:
        _log.warning("commands.failed", channel=channel, reason=brief(error))


async def _register(api: Api, wanted: Mapping[str, list[Command]], **language: str) -> None:
    for kind, commands in wanted.items():
        where = {"scope": {"type": kind}, **language}
        if _commands(await api.call("getMyCommands", where, timeout_s=TIMEOUT_S)) != commands:
            await api.call("setMyCommands", {"commands": commands, **where}, timeout_s=TIMEOUT_S)
