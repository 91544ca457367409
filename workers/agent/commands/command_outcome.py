"""The outcome of a command that was queued."""

from collections.abc import Collection

import msgspec

from daemon.events import Attachment, Choice, Inbound, Options

NO_REPLY = "NO_REPLY"
"""The answer with which a proactive turn sends nothing."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a command comes to."""

    text: str
    """What is said of it, in no log."""
    start_over: bool = False
    options: Options | None = None
    """To be kept from now on."""
    attachments: tuple[Attachment, ...] = ()
    """Files that go with what is said."""
    choices: tuple[Choice, ...] = ()
    """The answers to what is asked."""


def answered_as(inbound: Inbound) -> str:
    """What a reply to ``inbound`` names it by in its chat; nothing in a direct one, where it is plain what is meant."""
    return inbound.id if inbound.chat_kind == "group" and inbound.reminder is None else ""


def is_silent(inbound: Inbound, answer: str) -> bool:
    """Whether nothing is sent, because a reminder had nothing to report."""
    return inbound.reminder is not None and answer.strip() == NO_REPLY


def is_stopped(inbound: Inbound, covered: Collection[str]) -> bool:
    """Whether a stop takes ``inbound`` back, which was accepted before it: a reminder that waits has its own turn."""
    return inbound.reminder is None or inbound.id in covered
