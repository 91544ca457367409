"""The outcome of a command that was queued."""

from dataclasses import dataclass

from daemon.events import Attachment, Inbound, Options


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


def answered_as(inbound: Inbound) -> str:
    """What a reply to ``inbound`` names it by in its chat; nothing in a direct one, where it is plain what is meant."""
    return inbound.id if inbound.chat_kind == "group" and inbound.reminder is None else ""
