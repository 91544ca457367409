"""A log entry as the API shows it."""

from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from daemon.events import LogEntry


class _Wire(msgspec.Struct, frozen=True, kw_only=True):
    # Raw: what is only passed on is neither decoded nor encoded again.
    role: str
    content: Raw = Raw(b"null")
    tool_calls: Raw | UnsetType = UNSET
    tool_call_id: Raw | UnsetType = UNSET


class Shown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of ``GET …/messages`` and of the event ``message``; a field without a value is left out."""

    index: int
    """Counted from the first message ever stored."""
    role: str
    content: Raw
    """Text, null beside tool calls, or the parts of a message, as the model gets it."""
    time: str
    turn: int
    """The index at which its turn began."""
    tokens: int
    """What it counts in a prompt."""
    id: str = ""
    """On what a person wrote: the message's id."""
    sender: str = ""
    overheard: bool = False
    """Said in a group, and not to the bot: it has no id, and is owed no answer."""
    answers: tuple[str, ...] = ()
    """On the last message of a turn: the ids it answers."""
    dead: tuple[str, ...] = ()
    """As ``answers``: ids that could not be answered."""
    stopped: bool = False
    """A person stopped the turn here."""
    tool_calls: Raw | UnsetType = UNSET
    tool_call_id: Raw | UnsetType = UNSET


_decode = msgspec.json.Decoder(_Wire).decode
encode: Any = msgspec.json.Encoder().encode


def shown(index: int, entry: LogEntry) -> Shown:
    """The entry at ``index`` as it is shown."""
    wire = _decode(entry.wire)
    return Shown(
        index=index,
        role=wire.role,
        content=wire.content,
        time=entry.time,
        turn=entry.turn,
        tokens=entry.tokens,
        id=entry.id,
        sender=entry.sender,
        overheard=bool(entry.person) and not entry.id,
        answers=entry.answers,
        dead=entry.dead,
        stopped=entry.stopped,
        tool_calls=wire.tool_calls,
        tool_call_id=wire.tool_call_id,
    )
