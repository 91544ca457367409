"""Who is an administrator of a bot, by the names that its configuration lists."""

from daemon.config import BotConfig
from daemon.events import Inbound
from daemon.sessionkey import encode_part


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
