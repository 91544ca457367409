"""Which commands a person may use in a chat. Pure."""

from daemon.access.admins import is_admin
from daemon.bus import ADMIN_COMMANDS
from daemon.config import GROUP_COMMANDS, BotConfig
from daemon.events import Inbound

DIRECT_COMMANDS = frozenset({"link", "unlink"})
"""What nobody uses in a group: they are about one person's memory."""


def may(bot: BotConfig, inbound: Inbound, command: str) -> bool:
    """Whether the sender of ``inbound`` may use ``command`` where it was said.

    What a memory holds may be others' all the same: that is checked where it is read or removed.
    """
    in_group = inbound.chat_kind == "group"
    if in_group and command in DIRECT_COMMANDS:
        return False
    if is_admin(bot, inbound):
        return True
    if command in ADMIN_COMMANDS:
        return False
    return command not in GROUP_COMMANDS or command in bot.groups_may if in_group else command != "model"


def is_kept_from_members(bot: BotConfig, inbound: Inbound) -> bool:
    """Whether ``inbound`` is a command by which its sender would change what a group has in common, and may not."""
    in_group, command = inbound.chat_kind == "group", inbound.command
    return in_group and command in GROUP_COMMANDS and not may(bot, inbound, command)


def is_own(scope: str, inbound: Inbound) -> bool:
    """Whether what a chat remembers is nobody's but the sender's."""
    return inbound.chat_kind == "direct" and scope.split(":")[1:2] in (["person"], ["session"])


def may_take(bot: BotConfig, inbound: Inbound, scope: str) -> bool:
    """Whether the sender may have all that ``scope`` holds, or remove some of it: ``/export`` and ``/forget``.

    It is the sender's, or the group's, whose members may; or the sender is an administrator.
    """
    if is_own(scope, inbound) or is_admin(bot, inbound):
        return True
    is_groups = inbound.chat_kind == "group" and scope.split(":")[1:2] in (["group"], ["session"])
    return is_groups and may(bot, inbound, inbound.command)
