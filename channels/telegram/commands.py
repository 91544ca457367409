"""The menu of commands that clients show."""

import msgspec
import structlog

from channels.commands import menu as words
from channels.telegram.api import Api
from channels.telegram.types import Command
from daemon.errors import ChannelError, brief

TIMEOUT_S = 10.0

_commands = msgspec.json.Decoder(list[Command]).decode
_log = structlog.get_logger()


def menu(language: str) -> list[Command]:
    """The commands as a client shows them."""
    return [Command(command=name, description=text) for name, text in words(language).items()]


async def register(api: Api, *, channel: str, language: str) -> None:
    """Have the platform show the commands: in the bot's language, and in Chinese to whom that is set.

    What stands there already is not written again. A failure is only logged: everything works without the menu.
    """
    try:
        await _register(api, language, "")
        if language != "zh":
            await _register(api, "zh", "zh")
    except (ChannelError, msgspec.DecodeError) as error:
        _log.warning("commands.failed", channel=channel, reason=brief(error))


async def _register(api: Api, language: str, code: str) -> None:
    wanted = menu(language)
    where = {"language_code": code} if code else {}
    if _commands(await api.call("getMyCommands", where, timeout_s=TIMEOUT_S)) != wanted:
        await api.call("setMyCommands", {"commands": wanted, **where}, timeout_s=TIMEOUT_S)
