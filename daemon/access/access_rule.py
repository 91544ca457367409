"""Whether somebody is heard on a push channel. Pure."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from daemon.bus import ADMIN_COMMANDS
from daemon.config import GROUP_COMMANDS, AccessConfig, BotConfig
from daemon.events import Inbound
from daemon.sessionkey import encode_part

# Who is an administrator of a bot, by the names that its configuration lists.


def is_admin(bot: BotConfig, inbound: Inbound) -> bool:
    """Whether the sender is an admin, see ``is_listed``."""
    return is_listed(bot, channel=inbound.channel, sender=inbound.sender_id)


def is_listed(bot: BotConfig, *, channel: str, sender: str) -> bool:
    """Whether a sender is listed as ``<channel>:<sender>``, or by the sender's id for every channel."""
    # A client of the API says itself who it is: it must not pass for somebody of another channel.
    return _person(channel, sender) in bot.admins or (":" not in sender and sender in bot.admins)


def person_of(inbound: Inbound) -> str:
    """The sender as the configuration names people, ``<channel instance>:<sender>``, each part percent-encoded."""
    return _person(inbound.channel, inbound.sender_id)


def _person(channel: str, sender: str) -> str:
    return f"{encode_part(channel)}:{encode_part(sender)}"


Verdict = Literal["heard", "code", "silent", "banned"]
"""``code``: a stranger who is given a code; ``silent``: not heard, and not told."""


class AccessEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an administrator decided about a person or a group."""

    state: Literal["paired", "banned", "free"]
    """``paired``: let in; ``free``: no longer banned, and a stranger again."""
    name: str = ""
    by: str = ""
    """Who decided it: ``<channel>:<sender>``, or the user of a command line."""
    time: str = ""
    """ISO 8601, UTC."""
    at: str = ""
    """Stream id of the command that said so: an older one that arrives late changes nothing."""


class Speaker(msgspec.Struct, frozen=True, kw_only=True):
    """Who says something, and where; ids as the platform gives them."""

    sender: str
    chat: str
    in_group: bool
    is_admin: bool


def verdict(config: AccessConfig, entries: Mapping[str, AccessEntry], who: Speaker) -> Verdict:
    """Whether ``who`` is heard, by what the configuration and administrators say; a ban has the first word."""
    ids = [who.sender, who.chat] if who.in_group else [who.sender]
    states = {entries[each].state for each in ids if each in entries}
    if "banned" in states:
        return "banned"
    if who.is_admin or config.policy == "open":
        return "heard"
    if config.policy == "closed":
        return "silent"
    if "paired" in states or any(each in config.allow for each in ids):
        return "heard"
    return "code" if config.policy == "pairing" and not who.in_group else "silent"


# Which commands a person may use in a chat. Pure.

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
