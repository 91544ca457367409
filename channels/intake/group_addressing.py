"""What a message is to the bot, by where it was said. Pure."""

from typing import Literal

from channels.arrival import Arrival
from daemon.config import AccessConfig
from daemon.events import Command

Place = Literal["asked", "overheard", "nothing"]


def place_of(config: AccessConfig, arrival: Arrival, command: Command) -> Place:
    """Whether the bot is asked, only overhears it, or has nothing to do with it.

    In a direct chat it is always asked; in a group as ``config.groups`` says.
    """
    if arrival.chat_kind == "direct" or config.groups == "all":
        return "asked"
    if config.groups == "off":
        return "nothing"
    return "asked" if arrival.mentioned or command else "overheard"
