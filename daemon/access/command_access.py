"""Which commands a person may use in a chat. Pure."""

from daemon.access.admins import is_admin
from daemon.bus import ADMIN_COMMANDS
from daemon.config import GROUP_COMMANDS, BotConfig
from daemon.events import Inbound

DIRECT_COMMANDS = frozenset({"link", "unlink"})
"""Commands about one person's memory, which cannot be used in a group."""


def may(bot: BotConfig, inbound: Inbound, command: str) -> bool:
    """Whether the sender of ``inbound`` may use ``command`` where it was said.

    This function does not check whose data the memory contains: see ``may_take``.
    """
    return allowed(bot, command, in_group=inbound.chat_kind == "group", is_admin=is_admin(bot, inbound))


def allowed(bot: BotConfig, command: str, *, in_group: bool, is_admin: bool) -> bool:
    """Whether an administrator or another person may use ``command`` in a group or in a direct chat."""
    if in_group and command in DIRECT_COMMANDS:
        return False
    if is_admin:
        return True
    if command in ADMIN_COMMANDS:
        return False
    return command not in GROUP_COMMANDS or command in bot.groups_may if in_group else command != "model"


def is_kept_from_members(bot: BotConfig, inbound: Inbound) -> bool:
    """Whether ``inbound`` is a command that affects all members of a group, and that its sender may not use."""
    in_group, command = inbound.chat_kind == "group", inbound.command
    return in_group and command in GROUP_COMMANDS and not may(bot, inbound, command)


def is_own(scope: str, inbound: Inbound) -> bool:
    """Whether the memory of a chat belongs only to the sender."""
    return inbound.chat_kind == "direct" and scope.split(":")[1:2] in (["person"], ["session"])


def may_take(bot: BotConfig, inbound: Inbound, scope: str) -> bool:
    """Whether the sender may export or delete the data of ``scope`` (``/export`` and ``/forget``).

    The scope must belong to the sender, or to a group whose members may use the command. Administrators always may.
    """
    if is_own(scope, inbound) or is_admin(bot, inbound):
        return True
    is_groups = inbound.chat_kind == "group" and scope.split(":")[1:2] in (["group"], ["session"])
    return is_groups and may(bot, inbound, inbound.command)
