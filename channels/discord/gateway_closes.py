"""The intents of the bot, and the meaning of the codes with which the gateway closes a connection. Pure."""

from dataclasses import dataclass
from typing import Literal

from daemon.setup.discord_api import NO_INTENT

INTENTS = (1 << 0) | (1 << 9) | (1 << 12)
"""Servers, messages in servers, direct messages (Gateway, "Intents")."""

MESSAGE_CONTENT = 1 << 15
"""The privileged intent for the text of messages that do not mention the bot."""

TOKEN = "Discord does not accept the token. Check the token"  # noqa: S105 - no token
SHARDS = "the bot is in too many servers for one connection (sharding), which Millpond does not support"

Remedy = Literal["resume", "identify", "without intent", "person"]
"""The next step: resume the session, begin a new one, begin one without the privileged intent, wait for a person."""


@dataclass(frozen=True, kw_only=True)
class Close:
    """The end of a connection."""

    reason: str
    remedy: Remedy = "resume"


KNOWN = {
    4_003: Close(reason="not authenticated", remedy="identify"),
    4_004: Close(reason=TOKEN, remedy="person"),
    4_007: Close(reason="invalid sequence number", remedy="identify"),
    4_008: Close(reason="rate limited"),
    4_009: Close(reason="session timed out", remedy="identify"),
    4_010: Close(reason=SHARDS, remedy="person"),
    4_011: Close(reason=SHARDS, remedy="person"),
    4_012: Close(reason="Discord no longer supports this version of its API. Update Millpond", remedy="person"),
    4_013: Close(reason="Discord does not know the intents of the bot. Update Millpond", remedy="person"),
    4_014: Close(reason=NO_INTENT, remedy="without intent"),
    1_000: Close(reason="closed", remedy="identify"),
    1_001: Close(reason="closed", remedy="identify"),
}
"""Topics, "Gateway Close Event Codes"; after all others, the session can be resumed."""


def close_of(code: int | None) -> Close:
    """The meaning of a code; None: the connection was cut."""
    if code is None:
        return Close(reason="cut")
    return KNOWN.get(code) or Close(reason=f"closed with code {code}")
