"""One arrival on its way through the intake. Pure."""

import msgspec

from channels.arrival import Arrival
from daemon.errors import InboundError
from daemon.sessionkey import SessionKey


class ArrivalCase(msgspec.Struct, frozen=True, kw_only=True):
    """What is judged."""

    arrival: Arrival
    session: SessionKey
    correlation: str


def session_of(channel: str, arrival: Arrival) -> SessionKey | None:
    """The session that an arrival belongs to; None: its IDs cannot stand in a session key."""
    key = SessionKey(channel=channel, chat=arrival.chat, thread=arrival.thread)
    try:
        return SessionKey.parse(str(key))
    except (InboundError, UnicodeEncodeError):
        return None


def text_of(arrival: Arrival, *, bot: str) -> str:
    """The text of the message that an arrival becomes."""
    # A mention without text asks the bot to react to the earlier messages.
    is_bare = arrival.chat_kind == "group" and not arrival.text.strip() and not arrival.attachments
    return f"@{bot}" if is_bare else arrival.text
