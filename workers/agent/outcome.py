"""What a command that waits for its turn comes to, and who may give which."""

from dataclasses import dataclass

from daemon.config import BotConfig
from daemon.events import Attachment, Inbound, Options
from daemon.sessionkey import encode_part


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a command comes to."""

    text: str
    """What is said of it, in no log."""
    start_over: bool = False
    options: Options | None = None
    """To be kept from now on."""
    attachments: tuple[Attachment, ...] = ()
    """Files that go with what is said."""


def is_admin(bot: BotConfig, inbound: Inbound) -> bool:
    """Whether the sender is an admin: listed as ``<channel>:<sender>``, or by the sender's id for every channel."""
    sender = inbound.sender_id
    # A client of the API says itself who it is: it must not pass for somebody of another channel.
    return person_of(inbound) in bot.admins or (":" not in sender and sender in bot.admins)


def person_of(inbound: Inbound) -> str:
    """The sender as the configuration names people, ``<channel instance>:<sender>``, each part percent-encoded."""
    return f"{encode_part(inbound.channel)}:{encode_part(inbound.sender_id)}"


def answered_as(inbound: Inbound) -> str:
    """What a reply to ``inbound`` names it by in its chat; nothing in a direct one, where it is plain what is meant."""
    return inbound.id if inbound.chat_kind == "group" else ""
